internal import Environment
internal import Netlink

/// A host to reach over a link, to prove that the machine is inside.
public struct ProofRequest: Hashable, Sendable {
    /// Tells the answers apart; never used twice.
    public let identifier: UInt64
    public let network: String
    public let interfaceIndex: Int32
    public let interfaceName: String
    public let probe: ProbeDefinition
}

/// What has been proven over which link, and when it has to be proven again. Pure: it says what to ask and takes in
/// what came of it.
///
/// A proof is worth nothing on another association, after the address or the gateway it was made with is gone, or after
/// its lifetime. It is repeated before it ends; a repetition that fails ends it at once.
struct ProofBook: Sendable {
    private var entries: [Proof: Entry] = [:]
    private var lastIdentifier: UInt64 = 0

    /// What a proof was made of.
    private struct Basis: Equatable {
        /// The Wi-Fi association: another access point is another network until it has shown itself.
        let association: NetworkMatch.Link
        let addresses: Set<InterfaceAddress>
        let gateways: Set<IPAddress>

        /// Nil while the link has no address to ask from.
        init?(_ interface: Interface) {
            addresses = interface.addresses.filter { !$0.address.isLinkLocal }
            guard !addresses.isEmpty else { return nil }
            var link = NetworkMatch.Link(interface)
            // What changes with every scan is none of it.
            link.wifi?.signal = nil
            link.wifi?.frequency = nil
            association = link
            gateways = Set(interface.evidence.gateways.map(\.address))
        }

        func isKept(by new: Basis) -> Bool {
            association == new.association && addresses.isSubset(of: new.addresses)
                && gateways.isSubset(of: new.gateways)
        }
    }

    private struct Entry {
        var basis: Basis
        let probe: ProbeDefinition
        /// µs of boot time; nil where nothing is proven.
        var provenUntil: Int64?
        /// The answer that is awaited.
        var running: UInt64?
        /// When to ask next, where no answer is awaited.
        var nextAttempt: Int64
        var failures = 0
        /// Whether the link was unknown since: it may have come back to another access point of the same address,
        /// which not every driver would tell.
        var isInterrupted = false
    }

    /// How long to wait after the first failure, the second and so on, in µs.
    private static let pauses: [Int64] = [5_000_000, 15_000_000, 60_000_000, 300_000_000]

    enum Step {
        case ask(ProofRequest)
        case forget(UInt64)
    }

    var proofs: Set<Proof> { Set(entries.filter { $0.value.provenUntil != nil }.keys) }

    /// When to call `update` again at the latest.
    var deadline: Int64? {
        entries.values.compactMap { entry in
            let attempt = entry.running == nil ? entry.nextAttempt : nil
            return [attempt, entry.provenUntil].compactMap { $0 }.min()
        }.min()
    }

    /// Takes in which links are unknown now: they keep what they have until they are known again, and then have to
    /// prove it anew. Whoever sleeps keeps nothing.
    mutating func interrupt(_ links: Set<Int32>, isSuspended: Bool) {
        guard !entries.isEmpty, isSuspended || !links.isEmpty else { return }
        for proof in entries.keys where isSuspended || links.contains(proof.interfaceIndex) {
            entries[proof]?.isInterrupted = true
            if isSuspended { entries[proof]?.provenUntil = nil }
        }
    }

    /// Takes in where the machine is, when every link is known.
    mutating func update(
        _ judgement: Judgement, _ environment: NetworkEnvironment, in ruleSet: RuleSet, at now: Int64
    ) -> [Step] {
        var steps: [Step] = []
        var wanted: Set<Proof> = []
        if !judgement.isSuspended {
            for match in judgement.matches where match.builtIn == nil {
                guard let network = ruleSet.network(named: match.name), let probe = network.probe else { continue }
                for link in match.links {
                    guard let interface = environment.interfaces[link.interfaceIndex],
                        network.canBeProven(on: interface),
                        let basis = Basis(interface)
                    else { continue }
                    let proof = Proof(network: match.name, interfaceIndex: link.interfaceIndex)
                    wanted.insert(proof)
                    steps += keep(proof, basis, probe, link, at: now)
                }
            }
        }
        let obsolete = entries.filter { !wanted.contains($0.key) }
        for running in obsolete.compactMap(\.value.running).sorted() { steps.append(.forget(running)) }
        for proof in obsolete.keys { entries[proof] = nil }
        return steps
    }

    private mutating func keep(
        _ proof: Proof, _ basis: Basis, _ probe: ProbeDefinition, _ link: NetworkMatch.Link, at now: Int64
    ) -> [Step] {
        var steps: [Step] = []
        var entry = entries[proof] ?? Entry(basis: basis, probe: probe, nextAttempt: now)
        if entry.isInterrupted || entry.probe != probe || !entry.basis.isKept(by: basis) {
            if let running = entry.running { steps.append(.forget(running)) }
            entry = Entry(basis: basis, probe: probe, nextAttempt: now)
        } else if entry.basis != basis {
            // Something was added: what was proven stays so until the repetition, which is due now.
            entry.basis = basis
            entry.nextAttempt = now
        }
        if let end = entry.provenUntil, end <= now { entry.provenUntil = nil }
        if entry.running == nil, entry.nextAttempt <= now {
            lastIdentifier += 1
            entry.running = lastIdentifier
            steps.append(
                .ask(
                    ProofRequest(
                        identifier: lastIdentifier, network: proof.network, interfaceIndex: link.interfaceIndex,
                        interfaceName: link.interfaceName, probe: probe)))
        }
        entries[proof] = entry
        return steps
    }

    /// Takes in an answer; one that is not awaited any more says nothing.
    mutating func take(_ isProven: Bool, for identifier: UInt64, at now: Int64) {
        guard let (proof, entry) = entries.first(where: { $0.value.running == identifier }), !entry.isInterrupted
        else { return }
        var new = entry
        new.running = nil
        if isProven {
            new.failures = 0
            new.provenUntil = now + entry.probe.lifetime
            new.nextAttempt = now + entry.probe.lifetime / 5 * 4
        } else {
            new.provenUntil = nil
            new.nextAttempt = now + ProofBook.pauses[min(entry.failures, ProofBook.pauses.count - 1)]
            new.failures += 1
        }
        entries[proof] = new
    }
}
