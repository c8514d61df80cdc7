import Environment
import Netlink
import Platform
import Testing
import WiFi

@testable import Rules

/// Random rules in random places: what must be so whatever happens.
@Suite struct EnginePropertyTests {
    private static let networks = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise", "personal"]
        [network.lab]
        ssid = ["Lab"]
        security = ["personal"]
        probe = { url = "https://lab.example/", spki-sha256 = ["\(String(repeating: "0a", count: 32))"], lifetime = "1m" }
        [network.hotel]
        ssid-glob = ["Hotel*"]
        dns-suffix = ["hotel.example"]
        [network.slow]
        ssid = ["Slow"]
        stable-for = "4s"
        [network.dock]
        subnet = ["198.51.100.0/24"]

        """
    private static let names = [
        "office", "lab", "hotel", "slow", "dock", "any-wifi", "open-wifi", "wired", "offline", "unlisted", "vpn",
    ]

    private func rules(_ generator: inout SeededGenerator) -> RuleSet {
        var text = Self.networks
        func name() -> String { "\"\(given(Self.names.randomElement(using: &generator)))\"" }
        func condition(_ depth: Int) -> String {
            switch depth > 2 ? 0 : Int.random(in: 0..<6, using: &generator) {
            case 1: "{ not = \(condition(depth + 1)) }"
            case 2: "{ all = [\(condition(depth + 1)), \(condition(depth + 1))] }"
            case 3: "{ any = [\(condition(depth + 1)), \(condition(depth + 1))] }"
            default: name()
            }
        }
        for number in 0..<Int.random(in: 1...12, using: &generator) {
            text += "[rule.r\(number)]\n\(Bool.random(using: &generator) ? "on" : "off") = \(condition(0))\n"
            text += "settle = \"\(given(["0s", "1s", "3s"].randomElement(using: &generator)))\"\n"
            text += "priority = \(Int.random(in: 0...1, using: &generator))\n"
            text +=
                given(
                    [
                        "notify = \"x\"", "pam = \"skip\"", "pam = \"require\"",
                        "vpn = { wg-quick = \"a\", state = \"up\" }",
                        "vpn = { wg-quick = \"a\", state = \"down\" }",
                        "proxy = { mode = \"none\" }\nleave = [{ notify = \"y\" }]",
                        "ready = \"link\"\nproxy = { mode = \"auto\" }",
                    ].randomElement(using: &generator)) + "\n"
            if Bool.random(using: &generator) { text += "accept-weak-evidence = \"a test\"\n" }
            if Bool.random(using: &generator) { text += "user-hold = true\n" }
        }
        let result = RuleSet.load([RuleFile(path: "p.toml", contents: Array(text.utf8))])
        // What would be refused, such as vpn down on the open Wi-Fi, is another roll of the dice.
        return result.ruleSet ?? rules(&generator)
    }

    private func place(_ generator: inout SeededGenerator) -> NetworkEnvironment {
        let states: [WiFiState?] = [
            nil, .idle, .unknown, .unknown, .associating(network("Corp")), .joined("Corp"),
            .joined("Corp", .wpa2Enterprise),
            .joined("Corp", .wpa2Enterprise, bssid: 2), .joined("Lab"), .joined("Lab", bssid: 2),
            .joined("Hotel 1", .open),
            .joined("Slow"), .joined("x", .open), .joined("Lab", .open),
        ]
        var environment = environment(nil)
        environment.set(given(states.randomElement(using: &generator)), on: 3)
        if Int.random(in: 0..<8, using: &generator) == 0 {
            environment.set(given(states.randomElement(using: &generator)), on: 4)
        }
        if Int.random(in: 0..<6, using: &generator) == 0 {
            environment.interfaces[10] = .up(10, .ethernet)
            if Bool.random(using: &generator) {
                environment.interfaces[10]?.addresses = [
                    InterfaceAddress(address: ip("198.51.100.3"), prefixLength: 24)
                ]
            }
        }
        if Bool.random(using: &generator) { environment.interfaces[11] = .up(11, .tunnel) }
        for index in environment.interfaces.keys {
            if Bool.random(using: &generator) { environment.interfaces[index]?.evidence.authentication = .mutual }
            environment.interfaces[index]?.evidence.searchDomains =
                given([nil, [], ["a.hotel.example"]].randomElement(using: &generator))
            if Int.random(in: 0..<4, using: &generator) == 0 { environment.interfaces[index]?.addresses = [] }
        }
        environment.isSuspended = Int.random(in: 0..<20, using: &generator) == 0
        return environment
    }

    @Test(arguments: 0..<24)
    func holdsWhateverHappens(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed))
        let ruleSet = rules(&generator)
        var engine = RuleEngine(ruleSet: ruleSet)
        var thorough = engine
        var time = Timestamp(wall: Bench.wall, boottime: 0)
        var active: Set<String> = []
        var entered: Set<String> = []
        var wanted: [StateAction.Target: StateAction] = [:]
        var asked: [UInt64] = []
        for _ in 0..<400 {
            // Either time passes to a deadline, or something happens before it.
            var decisions: [Decision]
            let step = Int64.random(in: 0...3_000_000, using: &generator)
            thorough.hasDecided = false
            let isAnswer = Bool.random(using: &generator)
            // Whoever looks at every rule may also wait for what changes nothing.
            let due = [engine.nextDeadline, thorough.nextDeadline].compactMap { $0 }.min()
            if let due, due <= time.boottime + step {
                time = time.advanced(by: max(due - time.boottime, 0))
                decisions = engine.advance(to: time)
                #expect(thorough.advance(to: time).map(\.brief) == decisions.map(\.brief))
                // A deadline that is not over would be a loop without end.
                #expect(engine.nextDeadline.map { $0 > time.boottime } ?? true)
            } else if isAnswer, let identifier = asked.popLast() {
                time = time.advanced(by: step)
                let isProven = Bool.random(using: &generator)
                decisions = engine.take(isProven, for: identifier, at: time)
                #expect(thorough.take(isProven, for: identifier, at: time).map(\.brief) == decisions.map(\.brief))
            } else if Int.random(in: 0..<6, using: &generator) == 0 {
                time = time.advanced(by: step)
                decisions = override(&engine, &thorough, at: time, &generator)
            } else {
                time = time.advanced(by: step)
                let environment = place(&generator)
                decisions = engine.update(environment, at: time)
                #expect(thorough.update(environment, at: time).map(\.brief) == decisions.map(\.brief))
            }
            for decision in decisions {
                switch decision {
                case .networkEntered(let match): #expect(entered.insert(match.name).inserted)
                case .networkLeft(let match, let stay):
                    #expect(entered.remove(match.name) != nil && stay.microseconds >= 0)
                case .assuranceChanged(let match, let previous):
                    #expect(entered.contains(match.name) && match.assurance != previous)
                case .ruleActivated(let rule, _): #expect(active.insert(rule.name).inserted)
                case .ruleDeactivated(let rule, _): #expect(active.remove(rule.name) != nil)
                case .run(let request): #expect(request.edge == .leave || active.contains(request.rule.name))
                case .stateChanged(let target, let request):
                    #expect(wanted[target] != request?.action)
                    wanted[target] = request?.action
                    if let request { #expect(active.contains(request.rule.name)) }
                case .probe(let request): asked.append(request.identifier)
                case .cancelProbe(let identifier): asked.removeAll { $0 == identifier }
                case .ruleSkipped, .cancel: break
                }
            }
            #expect(Set(engine.activeRules) == active)
            #expect(Set(engine.desiredStates.map(\.action)) == Set(wanted.values))
            for held in engine.holds {
                #expect(held.hold.until > time.boottime)
                #expect(!engine.hasDecided || active.contains(held.rule) == held.hold.isOn)
            }
            checkProtection(engine, ruleSet)
        }
    }

    /// Somebody holds a rule, or releases it.
    private func override(
        _ engine: inout RuleEngine, _ thorough: inout RuleEngine, at time: Timestamp,
        _ generator: inout SeededGenerator
    ) -> [Decision] {
        let name = given(engine.ruleSet.rules.randomElement(using: &generator)).name
        var request = HoldRequest(isOn: Bool.random(using: &generator), by: "alice")
        request.duration = Bool.random(using: &generator) ? Int64.random(in: 1...20_000_000, using: &generator) : nil
        request.endsWithPlace = Bool.random(using: &generator)
        let isReleased = Int.random(in: 0..<3, using: &generator) == 0
        func change(_ engine: inout RuleEngine) -> [Decision] {
            do throws(OverrideError) {
                return isReleased
                    ? try engine.release(name, at: time) : try engine.hold(name, request, at: time)
            } catch {
                #expect(error == .notHeld(rule: name))
                return engine.advance(to: time)
            }
        }
        let decisions = change(&engine)
        #expect(change(&thorough).map(\.brief) == decisions.map(\.brief))
        return decisions
    }

    /// What lowers protection holds only where the evidence is there at this very moment.
    private func checkProtection(_ engine: RuleEngine, _ ruleSet: RuleSet) {
        let judgement = engine.judgement
        for request in engine.desiredStates where request.action.effect == .relaxing {
            let rule = request.rule
            // Somebody's word is enough.
            if engine.hold(ofRule: rule.name)?.isOn == true { continue }
            let truth = rule.condition.evaluate { network in
                if let match = judgement[network.name] {
                    return judgement.isTrusted(match, rule.demandedAssurance) ? .yes : .maybe
                }
                if judgement.doubt(network.name) != nil || judgement.isSuspended { return .maybe }
                return rule.acceptedWeakness != nil || judgement.assurance >= .mutual ? .no : .maybe
            }
            #expect(truth == .yes, "\(rule.name) relaxes: \(engine.because(of: rule))")
        }
    }
}
