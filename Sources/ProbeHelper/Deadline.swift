internal import Glibc
internal import Platform

/// A moment up to which a descriptor is waited for.
struct Deadline {
    let boottime: Int64

    /// - Parameter microseconds: from now.
    init(in microseconds: Int64) {
        boottime = Timestamp.now().boottime + microseconds
    }

    /// In microseconds, never less than none.
    var remaining: Int64 { max(boottime - Timestamp.now().boottime, 0) }

    /// Whether the descriptor became ready for `events` (or failed) in time, poll(2).
    func waits(for descriptor: Int32, _ events: Int32) -> Bool {
        while remaining > 0 {
            var entry = pollfd(fd: descriptor, events: Int16(events), revents: 0)
            // Rounded up, so that the last millisecond is not spent turning round.
            let count = unsafe poll(&entry, 1, Int32(clamping: (remaining + 999) / 1_000))
            if count > 0 { return true }
            if count < 0, errno != EINTR { return false }
        }
        return false
    }

    /// Whether all of it was written in time.
    func writes(_ octets: [UInt8], to descriptor: Int32) -> Bool {
        var rest = octets[...]
        while !rest.isEmpty {
            guard waits(for: descriptor, POLLOUT) else { return false }
            let count = unsafe rest.withUnsafeBytes { unsafe Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }
}
