import ActionProtocol

/// Lines that claim to be what the agent and the helpers that act for it say to each other, each of which is less
/// trusted than the other in something: what is taken is written the same again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let line = UnsafeBufferPointer(start: start, count: count)
    if let request = HelperRequest(line: line) {
        checkText(request.line, upTo: HelperRequest.maximumSize)
        check(HelperRequest(line: request.line) == request, "another request")
    }
    if let report = HelperReport(line: line) {
        checkText(report.line, upTo: HelperReport.maximumSize)
        check(HelperReport(line: report.line) == report, "another report")
    }
    return 0
}

private func checkText(_ line: [UInt8], upTo limit: Int) {
    check(line.count <= limit, "a line of \(line.count) octets")
    check(line.last == 0x0A && line.dropLast().allSatisfy { (0x20...0x7E).contains($0) }, "not a line of ASCII")
}
