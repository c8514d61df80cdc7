import Environment
import Netlink
import Platform
import Rules
import WiFi

/// Recorded messages, decoded, reduced and judged again and again on one core.
struct Reducing {
    private let events: RecordedEvents

    init(_ events: RecordedEvents) { self.events = events }

    func run(_ report: inout Report) throws {
        let count = events.events.count
        report.section(
            "Replay: \(count) multicasts of nl80211 from the captures, again and again (CPU time of one thread)")
        let rounds = max(400_000 / count, 1)
        _ = nanosecondsPerMessage(rounds: rounds / 4, ruleSet: nil)
        let best = (0..<5).map { _ in nanosecondsPerMessage(rounds: rounds, ruleSet: nil) }.min() ?? .infinity
        report.add(
            "decoded and reduced", 1e9 / best, "messages/s", key: "replay_messages_per_s", goal: ">= 300,000",
            isMet: 1e9 / best >= 300_000)
        for factor in [1, 2, 4] {
            let cost = (0..<3).map { _ in nanosecondsPerMessage(rounds: rounds / 4 * factor, ruleSet: nil) }.min() ?? 0
            report.add("\(rounds / 4 * factor * count) messages", cost, "ns a message")
        }
        for networks in [10, 1_000, 10_000] {
            let ruleSet = try ruleSet(networks)
            let cost = (0..<3).map { _ in nanosecondsPerMessage(rounds: rounds / 2, ruleSet: ruleSet) }.min() ?? 0
            report.add("with rules, \(networks) networks listed", cost, "ns a message")
        }
    }

    /// So many networks, one of which is that of the recorded CONNECT, and a rule about it.
    private func ruleSet(_ count: Int) throws -> RuleSet {
        var text = ""
        for number in 1..<count { text += "[network.n\(number)]\nssid = [\"Network \(number)\"]\n" }
        let name = NetlinkMessage.split(events.connect).messages.lazy.compactMap { message -> String? in
            guard case .connect(let result)? = try? NL80211Message(message) else { return nil }
            return result.requestElements.flatMap { InformationElements($0).ssid?.hexadecimal }
        }.first
        text +=
            "[network.here]\nssid-hex = [\"\(name ?? "00")\"]\nsecurity = [\"open\", \"personal\", \"enterprise\", \"owe\", \"wep\"]\n"
        text += "[rule.here]\non = \"here\"\nenter = [{ command = [\"/bin/true\"] }]\n"
        let result = RuleSet.load([RuleFile(path: "bench.toml", contents: Array(text.utf8))])
        guard let ruleSet = result.ruleSet else {
            throw MalformedMessage(result.diagnostics.map(\.description).joined(separator: "\n"))
        }
        return ruleSet
    }

    private func nanosecondsPerMessage(rounds: Int, ruleSet: RuleSet?) -> Double {
        var world = World(family: events.family, ruleSet: ruleSet)
        let start = Clock.thread
        for _ in 0..<rounds {
            for event in events.events { world.take(event) }
        }
        let end = Clock.thread
        return Double(end - start) / Double(world.messages)
    }
}

/// What the agent does with a datagram, without its sockets. The kernel's answers are those of a link that comes up.
private struct World {
    private var decoder = ObservationDecoder()
    private var reducer = EnvironmentReducer()
    private var engine: RuleEngine?
    private var time = Timestamp(wall: 1_700_000_000_000_000, boottime: 1_000_000_000)
    private var connections: [Int32: ConnectionResult] = [:]

    init(family: UInt16, ruleSet: RuleSet?) {
        decoder.family = family
        engine = ruleSet.map { RuleEngine(ruleSet: $0) }
        observe(.inventory(Inventory(), nil))
    }

    var messages: UInt64 { decoder.counters.messages }

    mutating func take(_ event: RecordedEvents.Event) {
        let next = time.advanced(by: event.pause)
        while let due = reducer.deadline, due <= next.boottime {
            time = time.advanced(by: max(due - time.boottime, 0))
            observe(.deadline)
        }
        time = next
        for (observation, _) in decoder.decode(event.datagram, from: .generic) {
            guard let observation else { continue }
            if case .wireless(.connect(let result)) = observation { connections[result.index] = result }
            if case .wireless(.disconnect(let index, _, _)) = observation { connections[index] = nil }
            observe(observation)
        }
    }

    private mutating func observe(_ observation: Observation) {
        let reduction = reducer.reduce(observation, at: time)
        if !reduction.changes.isEmpty { _ = engine?.update(reducer.environment, at: time) }
        for query in reduction.queries {
            guard case .association(let index, let generation) = query else { continue }
            observe(.answer(.association(index: index, generation: generation, report(index))))
        }
    }

    private func report(_ index: Int32) -> AssociationReport {
        guard let result = connections[index], result.status == 0, let bssid = result.bssid else {
            return AssociationReport()
        }
        return AssociationReport(
            interface: WirelessInterface(index: index, kind: .station),
            stations: [Station(index: index, address: bssid, isAuthorized: true)],
            entries: [
                ScanEntry(
                    index: index, bssid: bssid, frequency: 2_412, elements: result.requestElements, capability: 0x10,
                    isAssociated: true)
            ])
    }
}
