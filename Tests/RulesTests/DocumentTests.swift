import Foundation
import Testing

@testable import Rules

/// The documents name every key that the checker knows, where it belongs, and no other.
@Suite struct DocumentTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    private static let keys =
        FileChecker.keys + [
            ("vicinity.toml", Set(AgentConfiguration.keys)), ("connectivity", Set(FileChecker.connectivityKeys)),
            ("permission", Set(FileChecker.permissionKeys)), ("analytics", Set(FileChecker.analyticsKeys)),
        ]

    private func lines(_ path: String) throws -> [String] {
        try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8)
            .split(separator: "\n", omittingEmptySubsequences: false).map { String($0) }
    }

    /// What stands between two marks, such as `a` and `b` in "`a` `b`".
    private func marked(_ text: some StringProtocol, by mark: Character) -> [String] {
        text.split(separator: mark, omittingEmptySubsequences: false).enumerated()
            .compactMap { $0.offset % 2 == 1 ? String($0.element) : nil }
    }

    /// The first column of each table, by what stands above it.
    private func columns() throws -> [String: Set<String>] {
        var columns: [String: Set<String>] = [:]
        var table: String?
        for line in try lines("docs/rules.md") {
            guard line.hasPrefix("|") else {
                table = nil
                continue
            }
            let cell = line.dropFirst().prefix { $0 != "|" }
            if let name = table {
                columns[name, default: []].formUnion(marked(cell, by: "`"))
            } else {
                table = marked(cell, by: "`").first ?? cell.trimmingCharacters(in: .whitespaces)
            }
        }
        return columns
    }

    @Test func theReferenceHasEveryKey() throws {
        let columns = try columns()
        for (table, keys) in Self.keys { #expect(columns[table] == keys, "\(table)") }
    }

    @Test func theReferenceHasEveryCodeAndBuiltInNetwork() throws {
        let columns = try columns()
        #expect(columns["code"] == Set(Diagnostic.Code.allCases.map(\.rawValue)))
        #expect(columns["built in"] == Set(BuiltInNetwork.allCases.map(\.rawValue)))
        #expect(columns["assurance"] == Set((0...4).compactMap { Assurance(rawValue: $0)?.description }))
    }

    @Test func theManualHasEveryKey() throws {
        var found: [String: Set<String>] = [:]
        var table: String?
        for line in try lines("packaging/man/vicinity.rules.5.scd") {
            if line.hasPrefix("; keys: ") {
                table = String(line.dropFirst(8))
            } else if line.hasPrefix("#") {
                table = nil
            } else if line.hasPrefix("*"), !line.hasPrefix("*Exactly once.*"), let table {
                found[table, default: []].formUnion(marked(line, by: "*"))
            }
        }
        #expect(Set(found.keys) == Set(Self.keys.map(\.table)))
        for (table, keys) in Self.keys { #expect(found[table] == keys, "\(table)") }
    }

    /// Numbers that are said in several places.
    @Test func theDocumentsHaveTheDefaults() throws {
        let reference = try lines("docs/rules.md").joined(separator: " ")
        let manual = try lines("packaging/man/vicinity.rules.5.scd").joined(separator: " ")
        for text in [reference, manual] {
            #expect(text.contains("more than \(RuleEngine.Options().changesPerMinute) times within a minute"))
        }
        let rule = Rule(name: "a", location: SourceLocation(file: "", line: 1, column: 1))
        #expect(rule.settle == 2_000_000 && rule.readiness == .address)
        #expect(
            reference.contains(#"`"2s"` unless said. That it has left"#)
                && reference.contains(#"`"address"` (unless said)"#))
        #expect(EdgeAction.Command.defaultTimeout == 30_000_000 && reference.contains(#"`"30s"` unless said; then"#))
        #expect(ProbeDefinition.defaultLifetime == 600_000_000 && reference.contains(#"`"10m"` unless said; it is"#))
        let factor = EdgeAction.SecondFactor(message: "")
        #expect(factor.timeout == 120_000_000 && factor.attempts == 3 && factor.grace == 0)
    }

    /// What the page shows is right, piece by piece.
    @Test func theReferencesExamplesAreRight() throws {
        var blocks: [String] = [""]
        for line in try lines("docs/rules.md") {
            if line.hasPrefix("    ") {
                blocks[blocks.count - 1] += line.dropFirst(4) + "\n"
            } else if !blocks[blocks.count - 1].isEmpty {
                blocks.append("")
            }
        }
        let whole = try #require(blocks.first { $0.contains("[network.office]") })
        #expect(RuleSet.load([RuleFile(path: "x", contents: Array(whole.utf8))]).diagnostics.isEmpty)
        let office = "[network.office]\nssid = [\"Corp\"]\nsecurity = [\"wpa2-psk\"]\n"
        let pin = String(repeating: "0a", count: 32)
        for (start, before) in [
            ("on = {", "\(office)[rule.a]\n"), ("probe = {", office),
            ("accept-weak-evidence", "\(office)[rule.a]\non = \"office\"\npam = \"skip\"\n"),
        ] {
            let block = try #require(blocks.first { $0.hasPrefix(start) })
            let text = before + block.replacingOccurrences(of: "…", with: pin)
            #expect(
                RuleSet.load([RuleFile(path: "x", contents: Array(text.utf8))]).diagnostics.map(\.description) == [])
        }
        // A diagnostic as it is printed.
        let shown = try #require(blocks.first { $0.contains("offcie") })
        let broken = office + "\n# a\n# b\n\n[rule.a]\non = \"offcie\"\n"
        let result = RuleSet.load([RuleFile(path: "office.toml", contents: Array(broken.utf8))])
        #expect(result.diagnostics.map { $0.description + "\n" } == [shown])
    }
}
