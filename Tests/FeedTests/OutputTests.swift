import Feed
import JSON
import Testing

@Suite struct OutputTests {
    private func failed(_ output: [UInt8], _ errors: [UInt8]) -> FeedLine {
        var action = FeedEvent.ActionFact(id: 1, rule: "r", index: 0, kind: "command", exit: 1)
        (action.output, action.outputLost) = (output, 0)
        (action.errors, action.errorsLost) = (errors, 5)
        var encoder = FeedEncoder()
        return encoder.line(for: FeedEvent(.actionFailed(action), at: Samples.time))
    }

    @Test func tellsWhatWasWritten() {
        let action = failed(Array("one\ntwo".utf8), Array("caf\u{e9} \\ ".utf8) + [0xff, 0x1b]).json?["action"]
        #expect(action?["output"]?.string == "one\ntwo")
        #expect(action?["output_lost"]?.integer == 0)
        #expect(action?["errors"]?.string == "caf\u{e9} \\\\ \\xff\\x1b")
        #expect(action?["errors_lost"]?.integer == 5)
    }

    @Test func aCommandThatWroteNothingHasNone() {
        let action = FeedEvent.ActionFact(id: 1, rule: "r", index: 0, kind: "command")
        var encoder = FeedEncoder()
        let json = encoder.line(for: FeedEvent(.actionSucceeded(action), at: Samples.time)).json?["action"]
        #expect(json?["output"] == nil && json?["errors"] == nil && json?["errors_lost"] == nil)
    }

    @Test func theEndIsKept() {
        let text = (0..<1_000).map { "\u{20ac}\($0)" }.joined()
        let action = failed(Array(text.utf8), []).json?["action"]
        let shown = action?["output"]?.string ?? ""
        #expect(text.hasSuffix(shown) && shown.utf8.count > 1_400 && shown.utf8.count <= 1_500)
        #expect(action?["output_lost"]?.integer == Int64(text.utf8.count - shown.utf8.count))
    }

    @Test func linesStayShort() {
        for octet in [0x00, 0x0a, 0x1b, 0x5c, 0x80, 0xff] as [UInt8] {
            let octets = [UInt8](repeating: octet, count: 8 << 10)
            let line = failed(octets, octets)
            #expect(line.octets.count <= FeedLine.maximumLength)
            #expect(line.json?["action"]?["errors"]?.string?.isEmpty == false)
        }
        for event in Samples.events {
            var encoder = FeedEncoder()
            #expect(encoder.line(for: event).octets.count <= FeedLine.maximumLength)
        }
    }

    @Test func watchShowsTheLastLine() throws {
        let line = failed([], Array("first\n\u{1b}[2Jno such \\ file\n".utf8))
        let text = try #require(FeedText(isColored: false).text(of: line.octets))
        #expect(text.hasSuffix("\\x1b[2Jno such \\\\ file"))
        #expect(!text.utf8.contains(0x1b) && !text.hasSuffix("first"))
    }
}
