import Environment
import Feed
import Netlink
import Platform

/// Files that claim to be captures, replayed to their end.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let file = Array(UnsafeBufferPointer(start: start, count: count))
    var datagrams = 0
    try? Capture.read(file) { datagram in
        datagrams += 1
        _ = Capture.record(datagram)
    }
    check(datagrams <= file.count / 16, "more datagrams than fit")
    guard var replay = try? Replay(file) else { return 0 }
    var encoder = FeedEncoder()
    var steps = 0
    while let step = replay.next() {
        for change in step.changes { checkLine(encoder.line(for: FeedEvent(change))) }
        steps += 1
        // A few waits can follow each datagram, but not for ever.
        check(steps <= 1_000 + datagrams * 100, "a replay without an end")
    }
    checkLine(encoder.snapshotLine(of: replay.environment, permission: .full, at: replay.start ?? .now()))
    return 0
}
