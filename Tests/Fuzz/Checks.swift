import Feed
import JSON
import Platform

func checkLine(_ line: FeedLine) {
    check(line.octets.count <= FeedLine.maximumLength, "a line of \(line.octets.count) octets")
    check(line.octets.last == 0x0a && line.octets.dropLast().allSatisfy { (0x20...0x7e).contains($0) }, "not ASCII")
    check(
        (try? JSONValue(parsing: line.octets, maximumSize: FeedLine.maximumLength)) != nil,
        "not JSON: \(String(decoding: line.octets, as: UTF8.self))")
}

func check(_ condition: Bool, _ what: @autoclosure () -> String) {
    if !condition { fatalError(what()) }
}
