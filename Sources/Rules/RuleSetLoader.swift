internal import WiFi

/// Turns files into a rule set, or into a list of everything that is wrong with them.
struct RuleSetLoader {
    private var networks: [NetworkDefinition] = []
    private var rules: [Rule] = []
    private var networkPlaces: [String: SourceLocation] = [:]
    private var rulePlaces: [String: SourceLocation] = [:]
    private var checkers: [FileChecker] = []
    /// By the path of the file; the first of several that have it.
    private var checkerPlaces: [String: Int] = [:]
    /// Whether every file could be read.
    var isComplete = true

    static let maximumNameLength = 64
    private static let hintLimit = 20

    mutating func load(_ file: RuleFile) {
        var checker = FileChecker(file: file)
        defer {
            if checkerPlaces[file.path] == nil { checkerPlaces[file.path] = checkers.count }
            checkers.append(checker)
        }
        do throws(TOMLError) {
            for member in try TOMLValue.parse(file.contents) {
                switch member.key {
                case "network": networkSection(member.value, &checker)
                case "rule": ruleSection(member.value, &checker)
                default:
                    checker.unknownKey(member, in: "a rule file", known: ["network", "rule"])
                }
            }
        } catch {
            isComplete = false
            checker.syntaxError(error)
        }
    }

    /// - Parameter reviewing: also says what is doubtful, if nothing is wrong.
    mutating func finish(reviewing: Bool) -> RuleSet.LoadResult {
        resolveReferences()
        Protection.settle(&rules)
        for rule in rules { note(rule.location) { checker, _ in checker.checkLeaning(of: rule) } }
        let ruleSet = RuleSet(networks: networks, rules: rules)
        if isComplete { refuseWeakEvidence(in: ruleSet) }
        if reviewing, checkers.allSatisfy(\.diagnostics.isEmpty) {
            for finding in RuleReview(of: ruleSet).findings {
                note(finding.location) { checker, position in
                    checker.warning(finding.code, position, finding.message)
                }
            }
        }
        let diagnostics = checkers.flatMap { checker in
            checker.diagnostics.sorted { ($0.line, $0.column) < ($1.line, $1.column) } + checker.remark
        }
        let isClean = !diagnostics.contains { $0.severity == .error }
        return RuleSet.LoadResult(ruleSet: isClean ? ruleSet : nil, diagnostics: diagnostics)
    }

    private mutating func refuseWeakEvidence(in ruleSet: RuleSet) {
        for rule in ruleSet.rules {
            for problem in ruleSet.weakEvidence(of: rule) {
                note(problem.location) { checker, position in
                    checker.error(.weakEvidence, position, problem.message)
                }
            }
        }
    }

    /// Says something about a place in one of the files.
    private mutating func note(
        _ location: SourceLocation, _ body: (inout FileChecker, TOMLValue.Position) -> Void
    ) {
        guard let index = checkerPlaces[location.file] else { return }
        body(&checkers[index], TOMLValue.Position(location))
    }

    // MARK: Sections

    private mutating func networkSection(_ value: TOMLValue, _ checker: inout FileChecker) {
        guard case .table(let members) = value.content else {
            return checker.wrongType(value, expected: "tables, each begun with [network.NAME]")
        }
        for member in members {
            guard checker.checkName(member, of: "network") else { continue }
            let location = checker.location(member.position)
            if BuiltInNetwork(rawValue: member.key) != nil {
                checker.error(.reservedName, member.position, "\"\(member.key)\" is the name of a built-in network")
                continue
            }
            if let first = networkPlaces[member.key] {
                checker.error(
                    .duplicateName, member.position,
                    "network \"\(member.key)\" is already defined at \(first)")
                continue
            }
            networkPlaces[member.key] = location
            if let network = checker.network(member) { networks.append(network) }
        }
    }

    private mutating func ruleSection(_ value: TOMLValue, _ checker: inout FileChecker) {
        guard case .table(let members) = value.content else {
            return checker.wrongType(value, expected: "tables, each begun with [rule.NAME]")
        }
        for member in members {
            guard checker.checkName(member, of: "rule") else { continue }
            if let first = rulePlaces[member.key] {
                checker.error(
                    .duplicateName, member.position, "rule \"\(member.key)\" is already defined at \(first)")
                continue
            }
            rulePlaces[member.key] = checker.location(member.position)
            if let rule = checker.rule(member) { rules.append(rule) }
        }
    }

    /// Networks may stand in any file, so references are looked up when all have been read. Where a file could not be
    /// parsed, nobody knows what it would have defined.
    private mutating func resolveReferences() {
        guard isComplete else { return }
        let builtIn = BuiltInNetwork.allCases.map(\.rawValue)
        let known = Set(builtIn).union(networkPlaces.keys)
        // Each hint looks at every name; whoever has more slips than that has made one that repeats.
        var hints = RuleSetLoader.hintLimit
        func limited(_ hint: @autoclosure () -> String) -> String {
            hints -= 1
            return hints < 0 ? "" : hint()
        }
        for index in checkers.indices {
            for reference in checkers[index].references where !known.contains(reference.name) {
                let hint = limited(hint(for: reference.name, among: networkPlaces.keys.sorted() + builtIn))
                checkers[index].error(
                    .unknownNetwork, TOMLValue.Position(reference.location),
                    "no network is called \"\(reference.name)\"\(hint)")
            }
            for reference in checkers[index].ruleReferences where rulePlaces[reference.value] == nil {
                let hint = limited(Spelling.hint(for: reference.value, among: rulePlaces.keys.sorted()))
                checkers[index].error(
                    .unknownRule, TOMLValue.Position(reference.location),
                    "no rule is called \"\(reference.value)\"\(hint)")
            }
        }
    }

    /// What was probably meant by a name that no network has.
    private func hint(for name: String, among names: [String]) -> String {
        if rulePlaces[name] != nil { return "; that is a rule" }
        if let ssid = SSID(utf8: name), let network = networks.first(where: { $0.ssids.contains { $0.value == ssid } })
        {
            return "; that is the SSID of network \"\(network.name)\""
        }
        if name.utf8.contains(UInt8(ascii: ",")) { return "; several names are a list: [\"a\", \"b\"]" }
        let words = name.lowercased().split(separator: " ")
        if words.count > 1, words.contains(where: { ["and", "or", "not"].contains($0) }) {
            return "; conditions are tables: { all = [\"a\", { not = \"b\" }] }, { any = [\"a\", \"b\"] }"
        }
        if name.utf8.first == UInt8(ascii: "!") { return "; off a network is { not = \"a\" }" }
        return Spelling.hint(for: name, among: names)
    }
}
