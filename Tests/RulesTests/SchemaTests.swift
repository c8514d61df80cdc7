import Foundation
import Testing
import WiFi

@testable import Rules

/// The schema that editors use, and the documents: they have to know what the checker knows, and nothing else.
@Suite struct SchemaTests {
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
    private static let schema = root.appendingPathComponent("Config/schema/rules.schema.json")

    private func load(_ text: String) -> [Diagnostic] {
        RuleSet.load([RuleFile(path: "1.toml", contents: Array(text.utf8))]).diagnostics
    }

    /// What a validator that is not ours says of files, by name; nil where it takes them.
    private func validate(_ files: [(name: String, text: String)]) throws -> [String: String?] {
        let validator = Process()
        validator.executableURL = Self.root.appendingPathComponent("Tests/validate-rules")
        validator.arguments = [Self.schema.path]
        let input = Pipe()
        let output = Pipe()
        validator.standardInput = input
        validator.standardOutput = output
        try validator.run()
        // Read while writing: both are larger than a pipe.
        let lines = try files.map { try JSONEncoder().encode(["name": $0.name, "text": $0.text]) + Data("\n".utf8) }
        Thread.detachNewThread {
            for line in lines { try? input.fileHandleForWriting.write(contentsOf: line) }
            try? input.fileHandleForWriting.close()
        }
        let answers = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        validator.waitUntilExit()
        var results: [String: String?] = [:]
        for line in answers.split(separator: "\n") {
            let parts = line.dropFirst(3).split(separator: ": ", maxSplits: 1)
            results[String(parts.first ?? "")] = line.hasPrefix("ok ") ? .some(nil) : String(parts.last ?? "")
        }
        return results
    }

    @Test(arguments: GoodFile.all) func takesGoodFiles(file: GoodFile) {
        #expect(load(file.text).map(\.description) == [])
    }

    @Test func theSchemaTakesGoodFiles() throws {
        var files = GoodFile.all.enumerated().map { (name: "\($0.offset)", text: $0.element.text) }
        for example in RuleFiles(directories: [ExampleTests.directory], trust: .anyone).files {
            files.append((example.path, String(decoding: example.contents, as: UTF8.self)))
        }
        let results = try validate(files)
        #expect(results.count == files.count)
        for file in files { #expect(results[file.name] == .some(nil), "\(file.text)") }
    }

    /// A schema cannot look things up, compare or reckon; all the rest it has to find.
    @Test func theSchemaRefusesBrokenFiles() throws {
        let files = BrokenFile.all.enumerated().map { (name: "\($0.offset)", text: $0.element.text) }
        let results = try validate(files)
        #expect(results.count == files.count)
        var missed: [String: [String]] = [:]
        for (place, file) in BrokenFile.all.enumerated() where results["\(place)"] == .some(nil) {
            let code = file.diagnostics[0].split(separator: " ")[1]
            missed["\(code.dropLast())", default: []].append(file.name)
        }
        #expect(
            Set(missed.keys).isSubset(of: [
                "weak-evidence", "unknown-network", "unknown-rule", "contradictory", "bad-value", "syntax",
            ]))
        #expect(missed["syntax"] ?? [] == ["deep tables", "deep lists of conditions"])
        #expect(missed["bad-value", default: []].count < 30, "\(missed["bad-value"] ?? [])")
        #expect(missed.values.map(\.count).reduce(0, +) < BrokenFile.all.count / 5)
    }

    // MARK: Keys

    /// The table each key is asked for in, as text before and after the key.
    private static let places: [String: (before: String, after: String)] = [
        "network": ("[network.a]\n", ""), "rule": ("[rule.a]\n", ""), "probe": ("[network.a]\nprobe = { ", " }"),
        "condition": ("[rule.a]\non = { ", " }"), "action": ("[rule.a]\nenter = [{ ", " }]"),
        "proxy": ("[rule.a]\nproxy = { ", " }"), "vpn": ("[rule.a]\nvpn = { ", " }"),
        "unit": ("[rule.a]\nunit = { ", " }"), "firewall": ("[rule.a]\nfirewall = { ", " }"),
        "notify": ("[rule.a]\nnotify = { ", " }"), "second-factor": ("[rule.a]\nsecond-factor = { ", " }"),
        "consequence": ("[rule.a]\nsecond-factor = { on-failure = { ", " } }"),
    ]

    /// The lists of keys are those that are read, so that what follows compares with the truth.
    @Test func theListsOfKeysAreTrue() throws {
        let every = FileChecker.keys.map(\.keys).reduce(into: Set()) { $0.formUnion($1) }
        for (table, keys) in FileChecker.keys {
            let place = try #require(Self.places[table])
            for key in every {
                // A date is no value of any key.
                let problems = load("\(place.before)\(key) = 1979-05-27\(place.after)\n")
                // Only beside a command, which is no reason to call it unknown.
                let isKnown = !problems.contains {
                    [.unknownKey, .badValue].contains($0.code) && !$0.message.contains("belongs to a \"command\"")
                }
                #expect(isKnown == keys.contains(key), "\(key) in \(table): \(problems)")
            }
        }
    }

    private func json() throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(contentsOf: Self.schema)) as? [String: Any])
    }

    private func definition(_ name: String) throws -> [String: Any] {
        let definitions = try #require(try json()["$defs"] as? [String: [String: Any]])
        return try #require(definitions[name], "\(name)")
    }

    /// Where a definition has several forms, the table is the one with properties.
    private func properties(_ name: String) throws -> [String: Any] {
        let definition = try definition(name)
        let forms = [definition] + (definition["anyOf"] as? [[String: Any]] ?? [])
        return try #require(forms.lazy.compactMap { $0["properties"] as? [String: Any] }.first, "\(name)")
    }

    @Test func theSchemaHasEveryKeyAndExplainsIt() throws {
        for (table, keys) in FileChecker.keys {
            let properties = try properties(table == "notify" ? "notification" : table)
            #expect(Set(properties.keys) == keys, "\(table)")
            for (key, value) in properties {
                let value = try #require(value as? [String: Any])
                let reference = (value["$ref"] as? String)?.split(separator: "/").last.map { String($0) }
                let isExplained =
                    try value["description"] != nil || reference.map { try definition($0) }?["description"] != nil
                #expect(isExplained || table == "consequence", "\(key) in \(table)")
            }
        }
    }

    @Test func theSchemaHasEveryWord() throws {
        func words(_ table: String, _ key: String) throws -> Set<String> {
            let property = try #require(try properties(table)[key] as? [String: Any])
            let items = property["items"] as? [String: Any] ?? property
            let forms = [items] + (items["anyOf"] as? [[String: Any]] ?? [])
            return Set(try #require(forms.lazy.compactMap { $0["enum"] as? [String] }.first, "\(table) \(key)"))
        }
        func all<Choice: RawRepresentable<String> & CaseIterable>(_ type: Choice.Type) -> Set<String> {
            Set(type.allCases.map(\.rawValue))
        }
        #expect(try words("network", "security") == Set(Security.ruleNames))
        #expect(try words("rule", "ready") == all(Rule.Readiness.self))
        #expect(try words("proxy", "mode") == all(StateAction.Proxy.Mode.self))
        #expect(try words("proxy", "targets") == all(StateAction.Proxy.Target.self))
        #expect(try words("vpn", "portal") == all(StateAction.VPN.Portal.self))
        #expect(try words("unit", "scope") == all(StateAction.Unit.Scope.self))
        #expect(try words("notification", "urgency") == all(EdgeAction.Notification.Urgency.self))
        #expect(
            Set(try #require(try definition("pam")["enum"] as? [String])) == all(StateAction.SecondFactorDemand.self))
        let builtIn = all(BuiltInNetwork.self)
        let forms = try #require(try definition("condition")["anyOf"] as? [[String: Any]])
        let named = try #require(forms.first?["anyOf"] as? [[String: Any]])
        #expect(Set(named.compactMap { $0["enum"] as? [String] }.joined()) == builtIn)
    }
}
