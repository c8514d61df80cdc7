import Environment
import Netlink
import Platform
import Testing
import WiFi

@testable import Rules

/// Compares the engine with a second reading of what assurance is worth: one that remembers everything that ever was
/// and, asked what holds, looks through all of it.
@Suite struct AssuranceModelTests {
    private static let networks = """
        [network.office]
        ssid = ["Corp"]
        security = ["enterprise", "personal"]
        [network.lab]
        ssid = ["Lab"]
        security = ["personal"]
        [network.hotel]
        ssid = ["Hotel"]
        dns-suffix = ["hotel.example"]
        [network.dock]
        subnet = ["198.51.100.0/24"]

        """

    private func rules(_ generator: inout SeededGenerator) -> RuleSet {
        let names = ["office", "lab", "hotel", "dock", "any-wifi", "wired", "offline", "unlisted"]
        func condition(_ depth: Int) -> String {
            switch depth > 2 ? 0 : Int.random(in: 0..<6, using: &generator) {
            case 1: "{ not = \(condition(depth + 1)) }"
            case 2: "{ all = [\(condition(depth + 1)), \(condition(depth + 1))] }"
            case 3: "{ any = [\(condition(depth + 1)), \(condition(depth + 1))] }"
            default: "\"\(given(names.randomElement(using: &generator)))\""
            }
        }
        var text = Self.networks
        for number in 0..<8 {
            text += "[rule.r\(number)]\n\(Bool.random(using: &generator) ? "on" : "off") = \(condition(0))\n"
            text += "settle = \"\(given(["0s", "1s", "3s"].randomElement(using: &generator)))\"\nready = \"link\"\n"
            text +=
                given(["notify = \"x\"", "pam = \"skip\"", "pam = \"require\""].randomElement(using: &generator)) + "\n"
            if Bool.random(using: &generator) { text += "accept-weak-evidence = \"a test\"\n" }
        }
        return RuleSet.load([RuleFile(path: "p.toml", contents: Array(text.utf8))]).ruleSet ?? rules(&generator)
    }

    private func place(_ generator: inout SeededGenerator) -> NetworkEnvironment {
        let states: [WiFiState?] = [
            nil, .idle, .unknown, .unknown, .unknown, .associating(network("Corp")), .joined("Corp"),
            .joined("Corp", .wpa2Enterprise), .joined("Corp", .wpa2Enterprise),
            .joined("Corp", .wpa2Enterprise, bssid: 2),
            .joined("Corp", .open), .joined("Lab"), .joined("Hotel", .open), .joined("x", .open),
        ]
        var environment = environment(nil)
        environment.set(given(states.randomElement(using: &generator)), on: 3)
        if Int.random(in: 0..<5, using: &generator) == 0 {
            environment.set(given(states.randomElement(using: &generator)), on: 4)
        }
        if Int.random(in: 0..<5, using: &generator) == 0 {
            environment.interfaces[10] = .up(10, .ethernet)
            let address = given(["198.51.100.3", "203.0.113.3", nil].randomElement(using: &generator))
            if let address {
                environment.interfaces[10]?.addresses = [
                    InterfaceAddress(address: ip(address), prefixLength: 24)
                ]
            }
        }
        for index in environment.interfaces.keys {
            if Int.random(in: 0..<4, using: &generator) > 0 {
                environment.interfaces[index]?.evidence.authentication = .mutual
            }
            environment.interfaces[index]?.evidence.searchDomains =
                given([nil, ["x"], ["a.hotel.example"]].randomElement(using: &generator))
        }
        environment.isSuspended = Int.random(in: 0..<25, using: &generator) == 0
        return environment
    }

    @Test(arguments: 0..<24)
    func decidesAsWhoeverRemembersEverything(seed: Int) {
        var generator = SeededGenerator(state: UInt64(seed) &+ 77)
        let ruleSet = rules(&generator)
        var options = RuleEngine.Options()
        (options.changesPerMinute, options.changesInRow) = (1_000_000, 1_000_000)
        var engine = RuleEngine(ruleSet: ruleSet, options: options)
        var model = Model(ruleSet.rules)
        var now: Int64 = 0
        // Nothing can be said of a place before each link was known once; afterwards a link may come that never was.
        var next = place(&generator)
        while next.interfaces.values.contains(where: { $0.wifi == .unknown }) { next = place(&generator) }
        for step in 0..<300 {
            let until = now + Int64.random(in: 0...4_000_000, using: &generator)
            while let due = engine.nextDeadline, due <= until {
                #expect(due > now)
                // A moment before it, nothing is due yet.
                #expect(model.holding(at: due - 1) == Set(engine.activeRules), "step \(step), before \(due)")
                now = max(due, now + 1)
                _ = engine.advance(to: time(now))
                model.commit(at: now)
                #expect(model.holding(at: now) == Set(engine.activeRules), "step \(step) at \(now)")
            }
            #expect(model.holding(at: until) == Set(engine.activeRules), "step \(step) until \(until)")
            now = until
            _ = engine.update(next, at: time(now))
            model.record(next, at: now)
            #expect(model.holding(at: now) == Set(engine.activeRules), "step \(step) changed at \(now)")
            model.commit(at: now)
            next = place(&generator)
        }
    }

    private func time(_ boottime: Int64) -> Timestamp { Timestamp(wall: Bench.wall + boottime, boottime: boottime) }
}

/// The contract's section on assurance, word by word, without any thought of cost.
private struct Model {
    private struct Moment {
        let time: Int64
        /// What was the case, each unknown link as it was known last.
        var environment: NetworkEnvironment
        var unknown: Set<Int32>

        var links: [Interface] {
            environment.interfaces.values.filter { link in
                link.kind == .wifi ? link.wifi?.network != nil : link.isPhysical && link.isUsable
            }
        }

        /// What a link shows for a described network; nil where it is not on it, `unknown` where nobody can tell yet.
        func level(_ name: String, _ link: Interface) -> Assurance? {
            let wifi = link.wifi?.network
            let enterprise: Assurance =
                wifi?.security == .wpa2Enterprise && link.evidence.authentication == .mutual ? .mutual : .claimed
            switch (name, wifi?.ssid) {
            case ("office", SSID(utf8: "Corp")):
                return wifi?.security == .wpa2Enterprise ? enterprise : wifi?.security == .wpa2PSK ? .keyed : nil
            case ("lab", SSID(utf8: "Lab")): return wifi?.security == .wpa2PSK ? .keyed : nil
            case ("hotel", SSID(utf8: "Hotel")):
                guard let domains = link.evidence.searchDomains else { return .unknown }
                return domains.contains("a.hotel.example") ? enterprise : nil
            case ("dock", _):
                if link.addresses.isEmpty { return .unknown }
                guard link.addresses.contains(where: { $0.address == IPAddress("198.51.100.3") }) else { return nil }
                return wifi == nil && link.evidence.authentication == .mutual ? .mutual : .claimed
            default: return nil
            }
        }

        private static let described = ["office", "lab", "hotel", "dock"]

        /// The links that are on a network, for certain.
        func members(_ name: String) -> [Interface] {
            switch name {
            case "any-wifi": links.filter { $0.kind == .wifi }
            case "wired": links.filter { $0.kind == .ethernet }
            case "unlisted": isUnlisted ? links : []
            default: links.filter { level(name, $0) ?? .unknown > .unknown }
            }
        }

        var isUnlisted: Bool {
            !links.isEmpty && Moment.described.allSatisfy { members($0).isEmpty }
        }

        var isUndecided: Bool { isUnlisted && Moment.described.contains { isDoubtful($0) } }

        func isOn(_ name: String) -> Bool { name == "offline" ? links.isEmpty : !members(name).isEmpty }

        func isDoubtful(_ name: String) -> Bool { links.contains { level(name, $0) == .unknown } }

        /// The most that a link shows for any described network.
        private func best(_ link: Interface) -> Assurance {
            Moment.described.compactMap { level($0, link) }.max() ?? .unknown
        }

        /// Whether being on it may lower protection: it and every other link is that sure.
        func isTrusted(_ name: String, _ demanded: Assurance) -> Bool {
            guard !environment.isSuspended, isOn(name) else { return false }
            let members = members(name)
            let isBuiltIn = !Moment.described.contains(name)
            let own = isBuiltIn ? Assurance.claimed : members.compactMap { level(name, $0) }.min() ?? .unknown
            return own >= demanded
                && links.allSatisfy { link in
                    members.contains { $0.index == link.index } || best(link) >= demanded
                }
        }

        /// Whether the place as a whole is sure enough for protection to go down off something.
        var isTrusted: Bool {
            !environment.isSuspended && !links.isEmpty && links.allSatisfy { best($0) >= .mutual }
        }
    }

    private let rules: [Rule]
    private var history: [Moment] = []
    private var active: Set<String> = []

    init(_ rules: [Rule]) { self.rules = rules }

    mutating func record(_ environment: NetworkEnvironment, at time: Int64) {
        var moment = Moment(time: time, environment: environment, unknown: [])
        for (index, link) in environment.interfaces where link.wifi == .unknown {
            moment.unknown.insert(index)
            var known = history.last?.environment.interfaces[index]
            if known?.wifi == nil { known = nil }
            moment.environment.interfaces[index]?.wifi = known?.wifi ?? .idle
            if let known { moment.environment.interfaces[index]?.evidence = known.evidence }
        }
        history.append(moment)
    }

    mutating func commit(at now: Int64) { active = holding(at: now) }

    func holding(at now: Int64) -> Set<String> {
        Set(rules.filter { shallHold($0, at: now) }.map(\.name))
    }

    /// Since when something has been so without a break, up to the present; it can have begun only while every link
    /// was known, where that is asked for.
    private func since(whileKnown: Bool = false, _ isSo: (Moment) -> Bool) -> Int64? {
        history.reversed().prefix(while: isSo).reversed().first { !whileKnown || $0.unknown.isEmpty }?.time
    }

    private func shallHold(_ rule: Rule, at now: Int64) -> Bool {
        guard let last = history.last else { return false }
        let holds = active.contains(rule.name)
        // Nothing matures while a link is unknown.
        let blurred = since { !$0.unknown.isEmpty }
        func isOld(_ since: Int64?, _ clock: Int64?) -> Bool {
            since.map { (clock ?? now) - $0 >= rule.settle } ?? false
        }
        /// Of 10 s in which a described network may be there, nobody knows whether it is `unlisted`.
        func isWaiting(_ name: String) -> Bool {
            guard name == "unlisted", last.isUndecided, let start = since(\.isUndecided) else { return false }
            return now - start < 10_000_000
        }
        func isDecided(_ name: String, _ moment: Moment) -> Bool {
            guard name == "unlisted", moment.isUndecided else { return true }
            guard let place = history.firstIndex(where: { $0.time == moment.time }) else { return true }
            let start = history[...place].reversed().prefix(while: \.isUndecided).last?.time ?? moment.time
            return moment.time - start >= 10_000_000
        }
        func value(_ name: String, sure: Bool, free: Bool) -> Truth {
            if last.isOn(name), !isWaiting(name) {
                // `unlisted` counts from when it was decided, if that was in the middle of a moment.
                func later(_ start: Int64?) -> Int64? {
                    guard name == "unlisted", let start, let undecided = since(\.isUndecided) else { return start }
                    return max(start, undecided + 10_000_000)
                }
                if !sure {
                    let frozen = since { moment in
                        let members = Set(moment.members(name).map(\.index))
                        return moment.isOn(name)
                            && (members.isEmpty ? !moment.unknown.isEmpty : members.isSubset(of: moment.unknown))
                    }
                    let start = since { $0.isOn(name) && (isDecided(name, $0) || $0.time == history.last?.time) }
                    return isOld(later(start), frozen) ? .yes : .maybe
                }
                let start = since(whileKnown: true) {
                    $0.isTrusted(name, rule.demandedAssurance)
                        && (isDecided(name, $0) || $0.time == history.last?.time)
                }
                return isOld(later(start), blurred) ? .yes : .maybe
            }
            if last.isDoubtful(name) || isWaiting(name) { return .maybe }
            guard free else { return .no }
            if last.environment.isSuspended { return .maybe }
            if rule.acceptedWeakness != nil { return .no }
            return isOld(since(whileKnown: true, \.isTrusted), blurred) ? .no : .maybe
        }
        func truth(sure: Bool, free: Bool) -> Truth {
            rule.condition.evaluate { value($0.name, sure: sure, free: free) }
        }
        switch rule.leaning {
        case .relaxing: return truth(sure: true, free: true) == .yes
        case .tightening: return truth(sure: true, free: holds) != .no
        case .neutral:
            let value = truth(sure: false, free: false)
            return value == .maybe ? holds : value == .yes
        }
    }
}
