import Foundation
import Testing

@testable import CommandLine

/// The shells themselves say what they would offer.
@Suite(.timeLimit(.minutes(1))) struct CompletionTests {
    private static let build = TableTests.root.appendingPathComponent(".build/debug").path

    /// What a shell prints that is given the script of ours and then a line of its own.
    private func shell(_ words: [String], _ script: String, _ question: String) throws -> [String] {
        let file = NSTemporaryDirectory() + "vicinity-completion-\(UInt64.random(in: 0 ... .max))"
        defer { try? FileManager.default.removeItem(atPath: file) }
        try script.write(toFile: file, atomically: true, encoding: .utf8)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.environment = ["PATH": "\(Self.build):/usr/bin:/bin", "HOME": "/nonexistent", "LC_ALL": "C.UTF-8"]
        process.arguments = words + [question.replacingOccurrences(of: "SCRIPT", with: file)]
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        let complaint = String(decoding: try errors.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0 && complaint.isEmpty, "\(complaint)")
        return text.split(whereSeparator: \.isNewline).map { String($0) }
    }

    private func bash(_ words: [String]) throws -> [String] {
        let list = words.map { "'\($0)'" }.joined(separator: " ")
        return try shell(
            ["bash", "--norc", "-c"], BashCompletion.script,
            "source SCRIPT; COMP_WORDS=(vicinity \(list)); COMP_CWORD=\(words.count); _vicinity; "
                + "printf '%s\\n' \"${COMPREPLY[@]}\"")
    }

    private func fish(_ words: [String]) throws -> [String] {
        try shell(
            ["fish", "--no-config", "-c"], FishCompletion.script,
            "source SCRIPT; complete -C 'vicinity \(words.joined(separator: " "))'"
        ).map { String($0.prefix { $0 != "\t" }) }
    }

    private static let cases: [(words: [String], offered: [String])] = [
        (["wat"], ["watch"]), (["watch", "--form"], ["--format"]), (["watch", "--format", ""], ["json", "text"]),
        (["hold", "nas", "o"], ["off", "on"]), (["hold", "--for", "2h", "nas", "o"], ["off", "on"]),
        (["hold", "nas", "on", ""], []), (["help", "simu"], ["simulate"]),
        (["simulate", "--security", "wpa2-"], ["wpa2-enterprise", "wpa2-psk"]),
        (["watch", "--type", "wifi.jo"], ["wifi.join_failed", "wifi.joined"]), (["why", "open-"], ["open-wifi"]),
        (["status", "--vpn"], []), (["release", "watch"], []),
    ]

    @Test(arguments: cases) func bashOffers(words: [String], offered: [String]) throws {
        #expect(try bash(words).sorted() == offered)
    }

    @Test func bashTakesOptionsApart() throws {
        #expect(try bash(["watch", "--format", "=", "j"]) == ["json"])
        #expect(try bash(["watch", "--format", "="]) == ["json", "text"])
        #expect(try bash(["hold", "--for", "=", "2h", "nas", "o"]).sorted() == ["off", "on"])
    }

    @Test(arguments: cases) func fishOffers(words: [String], offered: [String]) throws {
        #expect(try fish(words).sorted() == offered)
    }

    /// What zsh's `_arguments` is given, which takes a terminal to be asked itself.
    @Test func zshIsGivenEveryOption() throws {
        for command in CommandTable.commands {
            let specifications = try shell(
                ["zsh", "-f", "-c"], ZshCompletion.script,
                """
                compdef() { :; }
                _arguments() { [[ $1 == -C ]] && { state=arguments; return 1; }; print -rl -- "$@"; }
                source SCRIPT; words=(\(command.name)); _vicinity
                """)
            #expect(
                specifications.count == command.options.count + command.operandKinds.count + 1, "\(command.name)")
            for option in command.options {
                let start = "--\(option.name)\(option.value == nil ? "[" : "=[")"
                #expect(specifications.contains { $0.hasPrefix(start) || $0.hasPrefix("*\(start)") }, "\(start)")
            }
        }
    }
}
