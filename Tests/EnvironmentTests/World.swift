import Netlink
import Platform
import TestSupport
import WiFi

@testable import Environment

/// A machine on trial: octets go in through decoder and reducer, a simulated kernel answers the questions, and what is
/// told comes out as lines.
final class World {
    var kernel: SimulatedKernel
    /// Whether answers wait for `answer()`.
    var isSlow = false
    /// Whether the kernel fails to answer what it is asked of associations.
    var isSilent = false

    /// What a recorder at this machine writes, if there is one.
    private(set) var recording: [UInt8] = []
    private let isRecording: Bool

    private(set) var now = Timestamp(wall: 1_796_000_000_000_000, boottime: 1_000_000_000)
    private(set) var questions: [Query] = []
    private(set) var questionCount = 0
    private(set) var changes: [EnvironmentChange] = []
    private var reducer = EnvironmentReducer()
    private var decoder = ObservationDecoder()

    init(_ kernel: SimulatedKernel = SimulatedKernel(), isRecording: Bool = false) {
        self.kernel = kernel
        self.isRecording = isRecording
        decoder.family = Wire.family
        recording = Recording.head(at: now)
        record(.answer(.inventory(.overrun), kernel.signals(for: .inventory(.overrun))))
        observe(.inventory(kernel.inventory, nil))
    }

    var environment: NetworkEnvironment { reducer.environment }
    var counters: ReceptionCounters { decoder.counters }
    var deadline: Int64? { reducer.deadline }
    var isConnectivityLookedAfter: Bool { reducer.isConnectivityLookedAfter }
    var state: WiFiState? { reducer.environment.interfaces[3]?.wifi }

    // MARK: What happens

    func hear(_ signals: Signal...) {
        for signal in signals { hear(signal) }
    }

    func hear(_ signal: Signal) {
        for (observation, message) in decoder.decode(signal.bytes[...], from: signal.bus == 0 ? .route : .generic) {
            guard let observation else { continue }
            record(.message(bus: signal.bus, message))
            observe(observation)
        }
    }

    func overrun() {
        record(.message(bus: 0, NetlinkMessage(type: 4, payload: [])))
        observe(.lost(.overrun))
    }

    func learn(_ facts: DeviceFacts, of index: Int32) {
        record(.device(index: index, facts))
        observe(.device(index: index, facts))
    }

    /// What no message of the kernel's says.
    func tell(_ fact: Recording.Fact, _ observation: Observation) {
        record(fact)
        observe(observation)
    }

    private func record(_ fact: @autoclosure () -> Recording.Fact) {
        guard isRecording else { return }
        recording += Recording.records(of: fact(), at: now)
    }

    func observe(_ observation: Observation) {
        let reduction = reducer.reduce(observation, at: now)
        changes += reduction.changes
        questions += reduction.queries
        questionCount += reduction.queries.count
        if !isSlow { answer() }
    }

    /// Answers what was asked so far and what that raises.
    func answer() {
        while !questions.isEmpty { answerOne() }
    }

    func answerOne() {
        let question = questions.removeFirst()
        observe(ask(question))
    }

    func ask(_ question: Query) -> Observation {
        switch question {
        case .association where isSilent, .station where isSilent, .radio where isSilent:
            record(.failure(question))
            return .answer(.failed(question))
        case .radio(let index, _):
            record(
                .answer(question, [], isRadioBlocked: kernel.interfaces[index]?.isBlocked ?? false))
        case .announcements(let index, let generation):
            if case .answer(.announcements(_, _, let announcements)) = kernel.answer(question) {
                record(.announcements(index: index, generation: generation, announcements))
            }
        default: record(.answer(question, kernel.signals(for: question)))
        }
        return kernel.answer(question)
    }

    /// Takes a question out, to be answered at another time.
    func takeQuestion(at place: Int = 0) -> Query { questions.remove(at: place) }

    /// Lets time pass; what falls due meanwhile is done in its time. Seconds.
    func pass(_ seconds: Double) {
        let end = now.boottime + Int64(seconds * 1_000_000)
        var rounds = 0
        while let due = reducer.deadline, due <= end {
            now = now.advanced(by: max(due - now.boottime, 0))
            observe(.deadline)
            rounds += 1
            precondition(rounds < 10_000, "deadlines that never end")
        }
        now = now.advanced(by: end - now.boottime)
    }

    // MARK: What is told

    /// What was told of Wi-Fi since the last time.
    func told() -> [String] {
        defer { changes = [] }
        return changes.compactMap(\.line)
    }

    func toldEverything() -> [EnvironmentChange] {
        defer { changes = [] }
        return changes
    }
}

extension Recording.Fact {
    fileprivate static func answer(_ query: Query, _ signals: [Signal]) -> Recording.Fact {
        .answer(query, signals.map { ($0.bus, $0.message) }, isRadioBlocked: false)
    }
}

/// The verbs of mac80211 with wpa_supplicant, in the order of the messages that were recorded.
extension World {
    /// Everything up to CONNECT, and the link that waits for the handshake.
    func associate(_ accessPoint: AccessPoint, on index: Int32 = 3) {
        kernel.interfaces[index]?.association = .init(accessPoint: accessPoint)
        hear(
            .station(accessPoint.bssid, on: index), .authenticate(accessPoint, on: index),
            .associate(accessPoint, on: index), connect(accessPoint, on: index))
        setLink(5, on: index)
    }

    /// CONNECT as the driver sends it.
    func connect(_ accessPoint: AccessPoint, on index: Int32 = 3) -> Signal {
        .connect(
            accessPoint, on: index, request: kernel.interfaces[index]?.driver.reportsRequest ?? true ? [] : nil)
    }

    /// The handshake ends well.
    func authorize(on index: Int32 = 3) {
        kernel.interfaces[index]?.association?.isAuthorized = true
        setLink(6, on: index)
    }

    func join(_ accessPoint: AccessPoint, on index: Int32 = 3) {
        associate(accessPoint, on: index)
        authorize(on: index)
    }

    /// Deauthentication by either side, and the link that goes down with it.
    func disconnect(reason: UInt16 = 3, byAccessPoint: Bool = false, on index: Int32 = 3) {
        if let accessPoint = kernel.interfaces[index]?.association?.accessPoint {
            kernel.interfaces[index]?.association = nil
            hear(.stationRemoved(accessPoint.bssid, on: index), .deauthenticate(accessPoint, reason: reason, on: index))
        }
        hear(.disconnect(reason: reason, byAccessPoint: byAccessPoint, on: index))
        setLink(2, on: index)
    }

    /// Changes the operstate, and tells.
    func setLink(_ state: UInt8, on index: Int32 = 3) {
        kernel.interfaces[index]?.state = state
        if let link = kernel.link(index) { hear(link) }
    }

    /// Sets the interface up or down, and tells.
    func setInterface(isUp: Bool, on index: Int32 = 3) {
        kernel.interfaces[index]?.isUp = isUp
        kernel.interfaces[index]?.state = 2
        if let link = kernel.link(index) { hear(link) }
    }
}

extension EnvironmentChange {
    /// In a few words; nil for what is not about Wi-Fi.
    var line: String? {
        switch kind {
        case .associating(let network): "associating \(network.name)"
        case .joined(let network): "joined \(network.name) \(network.place) \(network.security.rawValue)"
        case .joinFailed(let network, let cause): "failed \(network.name) \(cause.words)"
        case .left(let network, let cause): "left \(network.name) \(cause.words)"
        case .roamed(let network, let previous):
            "roamed \(network.name) \(previous?.lastOctet ?? "-")>\(network.place)"
        case .channelChanged(let network): "channel \(network.name) \(network.frequency ?? 0)"
        case .resynced(let cause): "resynced \(cause.rawValue)"
        case .suspended: "suspended"
        case .resumed: "resumed"
        default: nil
        }
    }
}

extension WiFiNetwork {
    var name: String { ssid.map { String(decoding: $0.octets, as: UTF8.self) } ?? "-" }
    var place: String { bssid?.lastOctet ?? "-" }
}

extension MACAddress {
    fileprivate var lastOctet: String { String("\(self)".suffix(2)) }
}

extension Cause {
    /// Such as `reason 15 by ap`.
    var words: String {
        var words: [String] = []
        if let status { words.append("status \(status)") }
        if let reason { words.append("reason \(reason)") }
        if byAccessPoint == true { words.append("by ap") }
        if let circumstance { words.append(circumstance.rawValue) }
        return words.isEmpty ? "-" : words.joined(separator: " ")
    }
}
