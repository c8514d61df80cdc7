import ProbeProtocol

/// Lines that claim to be what the agent and its helper say to each other: what is taken is written the same again.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let line = UnsafeBufferPointer(start: start, count: count)
    if let request = ProbeRequest(line: line) {
        check(request.isValid && ProbeRequest(line: request.line) == request, "another request")
    }
    if let answer = ProbeAnswer(line: line) {
        check(ProbeAnswer(line: answer.line) == answer, "another answer")
        check(answer.line.allSatisfy { $0 == 0x0A || (0x20...0x7E).contains($0) }, "what is not printable")
    }
    _ = SPKIPin(String(decoding: line, as: UTF8.self))
    return 0
}
