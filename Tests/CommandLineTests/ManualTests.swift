import Foundation
import Rules
import Testing

@testable import CommandLine

/// The manual names what there is.
@Suite(.timeLimit(.minutes(1))) struct ManualTests {
    private func text(_ path: String) throws -> String {
        try String(contentsOf: TableTests.root.appendingPathComponent(path), encoding: .utf8)
    }

    /// What begins with the command's own line, to the next one's.
    private func entries() throws -> [String: String] {
        var entries: [String: String] = [:]
        var current: String?
        for line in try text("packaging/man/vicinity.1.scd").split(separator: "\n") {
            if line.hasPrefix("# ") { current = nil }
            if line.hasPrefix("*"), let name = line.dropFirst().split(separator: "*").first { current = String(name) }
            if let current { entries[current, default: ""] += "\(line)\n" }
        }
        return entries
    }

    @Test func theManualHasEveryCommandAndOption() throws {
        let entries = try entries()
        for command in CommandTable.commands {
            let entry = try #require(entries[command.name], "\(command.name)")
            for option in command.options { #expect(entry.contains("*--\(option.name)*"), "\(option.name)") }
            for case .words(let words) in command.operandKinds {
                for word in words { #expect(entry.contains(word), "\(command.name) \(word)") }
            }
            // And nothing that there is not.
            let named = entry.split(separator: "*").filter { $0.hasPrefix("--") }.map { $0.dropFirst(2) }
            for name in named { #expect(command.options.contains { $0.name == name }, "\(command.name) --\(name)") }
        }
    }

    @Test func statusesAreExplained() throws {
        let explained = Set(
            try text("packaging/man/vicinity.1.scd").split(separator: "\n").compactMap { line in
                line.hasPrefix("|") ? line.split(separator: "*").dropFirst().first.flatMap { Int($0) } : nil
            })
        #expect(explained.isSuperset(of: [0, 1, 64, 77]))
        for command in CommandTable.commands {
            let numbers = command.exitStatus?.split { !$0.isNumber }.compactMap { Int($0) } ?? []
            #expect(explained.isSuperset(of: numbers), "\(command.name)")
        }
    }

    @Test func theAgentsConfigurationIsExplained() throws {
        let page = try text("packaging/man/vicinity.toml.5.scd")
        let nested = [
            "url", "address", "response", "default", "full", "restricted", "enabled", "consent", "hash", "scope",
            "key-file", "rotate", "granularity", "retention",
        ]
        for key in AgentConfiguration.keys + nested {
            #expect(page.contains("\n*\(key)* = "), "\(key)")
        }
    }

    @Test func theFeedsTypesAreExplained() throws {
        let page = try text("packaging/man/vicinity-feed.7.scd")
        // Nobody sends those yet.
        let types = FeedTypes.all.filter { !$0.hasPrefix("join.") }
        for type in types {
            #expect(page.contains("_\(type.replacingOccurrences(of: "_", with: "\\_"))_"), "\(type)")
        }
    }

    private func scdoc(_ source: String) throws -> (status: Int32, page: String) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/scdoc")
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        // A page is shorter than what a pipe holds.
        try input.fileHandleForWriting.write(contentsOf: Data("\(source)\n".utf8))
        try input.fileHandleForWriting.close()
        let page = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, page)
    }

    @Test func everyPageCanBeMade() throws {
        for command in CommandTable.commands {
            let (status, page) = try scdoc(ManualPage.source(of: command))
            #expect(status == 0, "\(command.name)")
            for option in command.options { #expect(page.contains("--\(option.name)"), "\(option.name)") }
        }
        for name in try FileManager.default.contentsOfDirectory(
            atPath: TableTests.root.appendingPathComponent("packaging/man").path)
        {
            #expect(try scdoc(text("packaging/man/\(name)")).status == 0, "\(name)")
        }
    }

    @Test func examplesAreRight() throws {
        for command in CommandTable.commands {
            for (line, meaning) in command.examples {
                // As a shell takes it apart, up to where its input and output go.
                let process = Process()
                process.executableURL = URL(fileURLWithPath: "/bin/sh")
                process.arguments = ["-c", "printf '%s\\n' \(line.split { "|<>".contains($0) }.first ?? "")"]
                let output = Pipe()
                process.standardOutput = output
                try process.run()
                let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                process.waitUntilExit()
                let words = text.split(separator: "\n").map { String($0) }.drop { $0 == "sudo" }
                #expect(words.first == "vicinity" && words.dropFirst().first == command.name && !meaning.isEmpty)
                let arguments = try Arguments(words.dropFirst(2), knowing: command.options)
                #expect(arguments.operands.count <= max(command.operandKinds.count, 1))
            }
        }
    }
}
