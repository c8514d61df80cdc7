internal import ProbeProtocol
internal import WiFi

/// What is doubtful in a rule set that is right: for those who write rules, not for the agent.
struct RuleReview {
    struct Finding {
        let location: SourceLocation
        let code: Diagnostic.Code
        let message: String
    }

    private let ruleSet: RuleSet
    private(set) var findings: [Finding] = []
    /// Of the rules that want something of one target any two can be at odds; nobody reads more than a few of them.
    private static let comparisonLimit = 20_000
    /// Conditions that are tried out; a review that takes minutes is asked for once.
    private var trials = 300_000

    init(of ruleSet: RuleSet) {
        self.ruleSet = ruleSet
        reviewNames()
        for rule in ruleSet.rules where rule.isEnabled { review(rule) }
        reviewTargets()
    }

    private mutating func add(_ code: Diagnostic.Code, _ location: SourceLocation, _ message: String) {
        findings.append(Finding(location: location, code: code, message: message))
    }

    // MARK: Names

    private static let pinOfNothing = SPKIPin("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=")

    /// Names that a person could take for each other, and names that are not what they seem to be.
    private mutating func reviewNames() {
        var seen: [NameSkeleton: Listed<SSID>] = [:]
        for network in ruleSet.networks {
            if let probe = network.probe, let pin = Self.pinOfNothing, probe.pins.contains(pin) {
                add(
                    .badValue, probe.location,
                    "a pin is the SHA-256 of nothing, so no key was read where it was computed")
            }
            reviewPrivacy(of: network)
            for entry in network.ssids {
                for oddity in entry.value.oddities {
                    add(.oddName, entry.location, "the name \(oddity): is that so on the air?")
                }
                guard let skeleton = entry.value.skeleton else { continue }
                guard let first = seen[skeleton] else {
                    seen[skeleton] = entry
                    continue
                }
                guard first.value != entry.value else { continue }
                let difference = explanation(of: entry.value, lookingLike: first.value)
                add(.lookalike, entry.location, "the name looks like the one at \(first.location), and \(difference)")
            }
        }
    }

    /// Networks with a passphrase and nothing else are mostly somebody's own.
    private mutating func reviewPrivacy(of network: NetworkDefinition) {
        guard !network.isPrivate, let name = network.ssids.first, let security = network.security?.value,
            security.allowsPersonal, security.classes.allSatisfy(\.isPersonal),
            security.suites.allSatisfy({ $0.family == .personal || $0.family == .sae })
        else { return }
        add(
            .guessableName, name.location,
            "the analytics log has the bare hash of this name, which whoever guesses it undoes, and a network that only "
                + "takes a passphrase is mostly somebody's own: private = true has it hashed with a key")
    }

    // MARK: Rules

    private mutating func review(_ rule: Rule) {
        if let reason = rule.acceptedWeakness {
            reviewWeakness(rule, reason)
        }
        reviewCommands(rule)
        switch possibilities(of: rule.condition) {
        case .some(let values) where values == [false]:
            add(.unreachable, rule.location, "rule \"\(rule.name)\" can never hold: its condition contradicts itself")
        case .some(let values) where values == [true]:
            add(.unreachable, rule.location, "rule \"\(rule.name)\" always holds: its condition excludes nothing")
        default: break
        }
    }

    /// What only a shell would understand.
    private mutating func reviewCommands(_ rule: Rule) {
        for action in rule.enter + rule.leave {
            guard case .command(let command) = action.value, let program = command.arguments.first else { continue }
            if program.contains(where: \.isWhitespace) {
                add(
                    .unsafeCommand, action.location,
                    "the program is the file \"\(program)\": is that so? No shell takes it apart, so each word "
                        + "stands in quotes of its own")
            } else if let word = command.arguments.dropFirst().first(where: { Self.isShell($0) }) {
                add(
                    .unsafeCommand, action.location,
                    "no shell sees \"\(word)\": the program gets it as it is. What takes a shell belongs into a script"
                )
            }
        }
    }

    private static func isShell(_ word: String) -> Bool {
        ["|", "||", "&", "&&", ";", ">", ">>", "<", "2>&1"].contains(word)
            || word.hasPrefix("$VICINITY_") || word.hasPrefix("${VICINITY_")
    }

    private mutating func reviewWeakness(_ rule: Rule, _ reason: String) {
        let effects = rule.relaxationsAtBeginning + rule.relaxationsAtEnd
        guard let effect = effects.first else {
            add(
                .weakEvidence, rule.location,
                "rule \"\(rule.name)\" accepts weak evidence, but nothing of it lowers protection")
            return
        }
        var strict = rule
        strict.acceptedWeakness = nil
        let weak = ruleSet.weakEvidence(of: strict)
        guard let first = weak.first else {
            add(
                .weakEvidence, rule.location,
                "rule \"\(rule.name)\" need not accept weak evidence: without that, \"\(effect.value)\" waits for a "
                    + "network that is \"mutual\" or \"proven\"")
            return
        }
        add(
            .weakEvidence, first.location,
            "\"\(effect.value)\" lowers protection by weak evidence here, since \"\(reason)\"")
    }

    // MARK: Conditions

    /// The values that a condition can have; nil where it mentions too much to tell.
    private mutating func possibilities(of condition: Condition) -> Set<Bool>? {
        let names = Array(Set(condition.networks.map(\.name))).sorted()
        guard names.count <= 12 else { return nil }
        var values: Set<Bool> = []
        for bits in 0..<(1 << names.count) where values.count < 2 {
            trials -= 1
            guard trials > 0 else { return nil }
            let on = Set(names.indices.filter { bits >> $0 & 1 == 1 }.map { names[$0] })
            guard isPossible(on, among: names) else { continue }
            values.insert(condition.evaluate { on.contains($0.name) ? .yes : .no } == .yes)
        }
        return values
    }

    /// Whether a machine can be on just these of the networks.
    private func isPossible(_ on: Set<String>, among names: [String]) -> Bool {
        let builtIn = Set(on.compactMap { BuiltInNetwork(rawValue: $0) })
        let links: Set<BuiltInNetwork> = [.anyWiFi, .openWiFi, .wired, .cellular, .unlisted]
        let described = on.filter { BuiltInNetwork(rawValue: $0) == nil }
        if builtIn.contains(.offline), !builtIn.isDisjoint(with: links) || !described.isEmpty { return false }
        if builtIn.contains(.unlisted), !described.isEmpty { return false }
        if builtIn.contains(.openWiFi), names.contains(BuiltInNetwork.anyWiFi.rawValue), !builtIn.contains(.anyWiFi) {
            return false
        }
        let isOnWiFi = described.contains { ruleSet.network(named: $0)?.hasNames ?? false }
        return !(isOnWiFi && names.contains(BuiltInNetwork.anyWiFi.rawValue) && !builtIn.contains(.anyWiFi))
    }

    /// Whether two rules can hold at once while the machine has one link.
    private mutating func canHoldTogether(_ left: Rule, _ right: Rule) -> Bool {
        let both = Condition.all([left.condition, right.condition])
        let names = Array(Set(both.networks.map(\.name))).sorted()
        guard names.count <= 12 else { return false }
        let builtIn = names.filter { BuiltInNetwork(rawValue: $0) != nil }
        let places: [String?] = [nil] + names.filter { BuiltInNetwork(rawValue: $0) == nil }
        for bits in 0..<(1 << builtIn.count) {
            let properties = Set(builtIn.indices.filter { bits >> $0 & 1 == 1 }.map { builtIn[$0] })
            for place in places {
                trials -= 1
                guard trials > 0 else { return false }
                let on = place.map { properties.union([$0]) } ?? properties
                if isPossible(on, among: names), both.evaluate({ on.contains($0.name) ? .yes : .no }) == .yes {
                    return true
                }
            }
        }
        return false
    }

    // MARK: Targets

    /// Rules that want something else of one target at the same time, and nothing but their order decides.
    private mutating func reviewTargets() {
        var wishes: [StateAction.Target: [(rule: Rule, action: Listed<StateAction>)]] = [:]
        for rule in ruleSet.rules where rule.isEnabled {
            for action in rule.states { wishes[action.value.target, default: []].append((rule, action)) }
        }
        var comparisons = 0
        for (_, rivals) in wishes.sorted(by: { $0.key < $1.key }) {
            for (place, later) in rivals.enumerated() {
                var found: (rule: Rule, action: Listed<StateAction>)?
                for earlier in rivals[..<place] where found == nil {
                    comparisons += 1
                    guard comparisons <= RuleReview.comparisonLimit else { break }
                    if earlier.action.value != later.action.value, earlier.rule.priority == later.rule.priority,
                        !earlier.action.value.isUndeniable, !later.action.value.isUndeniable,
                        canHoldTogether(earlier.rule, later.rule)
                    {
                        found = earlier
                    }
                }
                guard let earlier = found else { continue }
                let (wish, other) = (later.action.value.summary, earlier.action.value.summary)
                add(
                    .contradictory, later.action.location,
                    "\"\(wish)\" and \(wish == other ? "another" : "\"\(other)\"") of rule "
                        + "\"\(earlier.rule.name)\" (\(earlier.action.location)) can be wanted at once: the later "
                        + "rule has its way; \"priority\" would say which one is meant to")
            }
        }
    }
}
