import Platform

@testable import Feed

/// What anybody may say on the feed's socket: a request that is taken is written the same again, and asks for nothing
/// beyond what a request can.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let line = Array(UnsafeBufferPointer(start: start, count: count))
    guard let request = FeedRequest(line[...]) else { return 0 }
    check(line.count <= FeedRequest.maximumLength, "a request of \(line.count) octets")
    if let why = request.why { check(FeedRequest.isName(why), "a question about what can be no name") }
    let written = request.line
    check(written.last == 0x0A && written.dropLast().allSatisfy { (0x20...0x7E).contains($0) }, "not a line of ASCII")
    var encoder = FeedEncoder()
    let event = FeedEvent(.agentReloaded(problems: 0), at: Timestamp(wall: 0, boottime: 0))
    let isWanted = request.filter.admits(encoder.line(for: event))
    check(!isWanted || request.filter.interface == nil, "a line about no interface for a reader who wants one's")
    // With escapes it may be longer than what is read.
    guard written.count <= FeedRequest.maximumLength else { return 0 }
    guard let again = FeedRequest(written.dropLast()) else { fatalError("its own line is none") }
    check(
        again.since?.instance == request.since?.instance && again.since?.sequence == request.since?.sequence
            && again.filter.types == request.filter.types && again.filter.interface == request.filter.interface
            && again.follows == request.follows && again.why == request.why, "another request")
    return 0
}
