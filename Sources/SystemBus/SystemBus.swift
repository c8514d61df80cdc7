internal import CSystemd
internal import Glibc
public import Platform

/// A connection to the system bus, driven by an event loop and never waited for. To be used on the loop's thread only.
@safe
public final class SystemBus {
    /// For sd-bus(3). After each call of it that sends something comes `process()`.
    public let connection: OpaquePointer

    private let loop: EventLoop
    private let descriptor: Int32
    private let processed: () -> Void
    private let lost: () -> Void
    private var timer: EventLoop.Timer?
    private var isOpen = true

    /// Begins to connect; nil where there is no bus.
    ///
    /// - Parameters:
    ///   - address: of another bus than the machine's, sd_bus_set_address(3).
    ///   - processed: called after everything that was there has been read.
    ///   - lost: called once when the connection ended, unless by `close()`.
    public init?(
        on loop: EventLoop, address: String? = nil, processed: @escaping () -> Void, lost: @escaping () -> Void
    ) {
        guard let connection = unsafe Self.open(address) else { return nil }
        unsafe self.connection = connection
        self.loop = loop
        self.processed = processed
        self.lost = lost
        descriptor = unsafe sd_bus_get_fd(connection)
        do throws(SystemError) {
            try loop.watch(descriptor) { [unowned self] _ in process() }
        } catch {
            return nil
        }
    }

    private static func open(_ address: String?) -> OpaquePointer? {
        var bus: OpaquePointer?
        guard let address else { return unsafe sd_bus_open_system(&bus) >= 0 ? bus : nil }
        guard unsafe sd_bus_new(&bus) >= 0 else { return nil }
        if unsafe sd_bus_set_address(bus, address) >= 0 && sd_bus_set_bus_client(bus, 1) >= 0 && sd_bus_start(bus) >= 0
        {
            return unsafe bus
        }
        unsafe sd_bus_unref(bus)
        return nil
    }

    deinit {
        close()
        unsafe sd_bus_unref(connection)
    }

    /// Matches and calls end with it.
    public func close() {
        guard isOpen else { return }
        isOpen = false
        if let timer { loop.cancel(timer) }
        timer = nil
        loop.forget(descriptor)
        unsafe sd_bus_close(connection)
    }

    /// sd-bus(3) wants to be called until it has nothing more to do, and says what it waits for then.
    public func process() {
        guard isOpen else { return }
        while isOpen {
            let result = unsafe sd_bus_process(connection, nil)
            if result == 0 { break }
            guard result > 0 else {
                close()
                lost()
                return
            }
        }
        processed()
        guard isOpen else { return }
        let events = unsafe sd_bus_get_events(connection)
        try? loop.change(descriptor, to: events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable)
        schedule()
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = nil
        var due: UInt64 = .max
        guard unsafe sd_bus_get_timeout(connection, &due) >= 0, due != .max else { return }
        // sd-bus counts without the time asleep; the loop's deadline may only be too early.
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let remaining = Int64(clamping: due) - Int64(now.tv_sec) * 1_000_000 - Int64(now.tv_nsec) / 1_000
        timer = loop.schedule(at: Timestamp.now().boottime + max(remaining, 0) + 1_000) { [unowned self] in
            timer = nil
            process()
        }
    }
}
