import Environment
import Feed
import Platform

/// Lines that claim to be the feed: as a program that follows it takes them one by one, and replayed as a file. What
/// comes of them can be told again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    var follower = FeedFollower()
    var encoder = FeedEncoder()
    for line in text.split(separator: 0x0A) {
        switch follower.take(line) {
        case .changed(let change): checkLine(encoder.line(for: FeedEvent(change)))
        case .began, .lost, .other, nil: break
        }
    }
    let now = Timestamp(wall: 0, boottime: 0)
    checkLine(encoder.snapshotLine(of: follower.environment, permission: .full, at: now))
    checkLine(encoder.snapshotLine(of: follower.environment, permission: .hashed, at: now))

    var replay = FeedReplay(text)
    let counters = replay.counters
    check(counters.unreadable <= counters.lines, "more lines that cannot be read than lines")
    var time = Int64.min
    var steps = 0
    while let step = replay.next() {
        steps += 1
        // A line can begin, tell and decide something, and tell of a loss that was before it.
        check(steps <= 8 * (counters.lines + 1), "a replay without an end")
        if case .began = step.event { time = .min }
        check(step.time.boottime >= time, "time steps back")
        time = step.time.boottime
    }
    return 0
}
