import Environment
import Netlink
import Platform
import Testing
import WiFi

@testable import Rules

/// What happens once a transition happens once, whatever is restarted, reloaded or lost on the way.
@Suite struct RestartTests {
    private static let text = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise"]
        [network.hotel]
        ssid = ["Hotel"]
        dns-suffix = ["hotel.example"]

        """
        + [
            ("on", "office"), ("off", "office"), ("on", "hotel"), ("off", "hotel"), ("on", "unlisted"),
            ("on", "any-wifi"),
        ]
        .enumerated().flatMap { number, condition in
            ["notify = \"x\"", "pam = \"skip\"", "pam = \"require\""].enumerated().map { place, action in
                """
                [rule.r\(number)\(place)]
                \(condition.0) = "\(condition.1)"
                settle = "\(place + number % 2)s"
                ready = "\(number % 2 == 0 ? "address" : "link")"
                accept-weak-evidence = "a test"
                \(action)
                enter = [{ notify = "in" }]
                leave = [{ notify = "out" }]

                """
            }
        }.joined()

    private func place(_ generator: inout SeededGenerator) -> NetworkEnvironment {
        let states: [WiFiState] = [
            .idle, .unknown, .associating(network("Corp")), .joined("Corp", .wpa2Enterprise),
            .joined("Corp", .wpa2Enterprise, bssid: 2), .joined("Hotel", .open), .joined("x", .open),
        ]
        var environment = environment(states.randomElement(using: &generator) ?? .idle)
        environment.interfaces[3]?.evidence.authentication = Bool.random(using: &generator) ? .mutual : nil
        environment.interfaces[3]?.evidence.searchDomains =
            [nil, ["x"], ["hotel.example"]].randomElement(using: &generator) ?? nil
        if Int.random(in: 0..<4, using: &generator) == 0 { environment.interfaces[3]?.addresses = [] }
        return environment
    }

    @Test(arguments: 0..<20)
    func everyTransitionRunsItsActionsOnce(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed) &+ 500)
        let rules = ruleSet(Self.text)
        var options = RuleEngine.Options()
        (options.changesPerMinute, options.changesInRow) = (1_000, 1_000)
        var engine = RuleEngine(ruleSet: rules, options: options)
        var now: Int64 = 0
        var last = NetworkEnvironment()
        /// The edge that ran last, and whether the rule has been on both sides since.
        var edges: [String: Rule.Edge] = [:]
        var crossed: Set<String> = []
        for step in 0..<400 {
            let until = now + Int64.random(in: 0...3_000_000, using: &generator)
            var decisions: [Decision] = []
            while let due = engine.nextDeadline, due <= until {
                #expect(due > now)
                now = max(due, now + 1)
                check(engine.advance(to: time(now)), engine, &edges, &crossed, step)
            }
            now = until
            switch Int.random(in: 0..<8, using: &generator) {
            case 0 where last.interfaces[3]?.wifi != .unknown && !last.interfaces.isEmpty:
                // Killed and started again where it was, with or without what others have to be asked for.
                engine = RuleEngine(
                    ruleSet: rules, options: options, resuming: engine.resumableRules, pending: engine.pendingRules,
                    isResuming: true,
                    holds: Dictionary(uniqueKeysWithValues: engine.holds.map { ($0.rule, $0.hold) }))
                var early = last
                if Bool.random(using: &generator) { early.interfaces[3]?.evidence = LinkEvidence() }
                decisions = engine.update(early, at: time(now))
            case 1: decisions = engine.replace(with: rules, at: time(now))
            case 2:
                let name = given(rules.rules.randomElement(using: &generator)).name
                var request = HoldRequest(isOn: Bool.random(using: &generator), by: "alice")
                request.duration = Int64.random(in: 1...10_000_000, using: &generator)
                request.endsWithPlace = Bool.random(using: &generator)
                decisions = (try? engine.hold(name, request, at: time(now))) ?? []
            case 3:
                let name = engine.holds.randomElement(using: &generator)?.rule
                decisions = name.flatMap { try? engine.release($0, at: time(now)) } ?? []
            default:
                last = place(&generator)
                decisions = engine.update(last, at: time(now))
            }
            check(decisions, engine, &edges, &crossed, step)
        }
    }

    private func check(
        _ decisions: [Decision], _ engine: RuleEngine, _ edges: inout [String: Rule.Edge], _ crossed: inout Set<String>,
        _ step: Int
    ) {
        for case .run(let request) in decisions where request.index == 0 {
            let name = request.rule.name
            // Twice the same only where it was on the other side meanwhile, and had no time to say so.
            #expect(
                edges[name] != request.edge || crossed.contains(name), "\(name) \(request.edge) again, step \(step)")
            edges[name] = request.edge
            crossed.remove(name)
        }
        let holding = Set(engine.resumableRules)
        for (name, edge) in edges where holding.contains(name) == (edge == .leave) { crossed.insert(name) }
    }

    private func time(_ boottime: Int64) -> Timestamp { Timestamp(wall: Bench.wall + boottime, boottime: boottime) }
}
