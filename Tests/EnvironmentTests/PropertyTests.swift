import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Whatever happens, in whatever order it is read: the invariants hold, and in the end what is known is true.
@Suite struct PropertyTests {
    private static let rounds = 2_000

    @Test(arguments: 0..<4)
    func everySequenceKeepsTheInvariants(part: UInt64) {
        for round in 0..<UInt64(PropertyTests.rounds / 4) {
            let seed = part * 1_000_000 + round
            var trial = Trial(seed: seed)
            trial.run()
            guard trial.complaints.isEmpty else {
                Issue.record(
                    "seed \(seed): \(trial.complaints.joined(separator: "; "))\n\(trial.story.joined(separator: "\n"))")
                return
            }
        }
    }

    /// A trial must be one: most of them see every kind of change.
    @Test func trialsAreEventful() {
        var kinds: [String: Int] = [:]
        var authenticated = 0
        for seed in 0..<200 as Range<UInt64> {
            var trial = Trial(seed: seed)
            trial.run()
            if trial.isAuthenticated { authenticated += 1 }
            for line in trial.told { kinds[String(line.prefix { $0 != " " }), default: 0] += 1 }
        }
        for kind in ["associating", "joined", "failed", "left", "roamed", "resynced", "suspended", "channel"] {
            #expect(kinds[kind] ?? 0 >= 30, "\(kind)")
        }
        #expect(authenticated >= 30)
    }
}

extension Query {
    fileprivate var isForDaemons: Bool { if case .announcements = self { true } else { false } }
}

/// One random course of events.
struct Trial {
    private let world: World
    private var random: SeededGenerator
    /// What the kernel sent and nobody has read yet, by bus.
    private var unread: [UInt16: [Signal]] = [0: [], 16: []]
    private var isOverrun = false
    private var isAsleep = false
    private var checkers: [Int32: Checker] = [:]
    /// What was told of each link's evidence.
    private var evidence: [Int32: LinkEvidence] = [:]
    private var events = 0
    private var pendingLinks: [(due: Int64, index: Int32)] = []
    private var nextIndex: Int32 = 10

    /// Whether a link was seen whose authentication was known.
    private(set) var isAuthenticated = false
    private(set) var complaints: [String] = []
    private(set) var told: [String] = []
    private(set) var story: [String] = []

    /// Access points that know the key, and strangers with the same names that do not.
    private static let honest = [
        AccessPoint("Home", 1), AccessPoint("Home", 2), AccessPoint("Home", 3, .wpa3),
        AccessPoint("Office", 4, .enterprise),
        AccessPoint("Office", 5, .enterprise).with { $0.hasCountry = false },
        AccessPoint("Seven", 6, .wpa3).with { $0.links = [0: .numbered(0x61), 1: .numbered(0x62)] },
    ]
    private static let strangers = [AccessPoint("Home", 0xe1), AccessPoint("Office", 0xe2, .enterprise)]
    private static let drivers = [Driver.mac80211, .mac80211, .mwifiex, .flagless, .listless]

    private static let announcements = LinkAnnouncements(
        searchDomains: .told(["office.example"]),
        profile: AppliedProfile(
            ssid: SSID(utf8: "Office"), demands: EAPDemands(certificationAuthority: true, serverName: true)))

    init(seed: UInt64) {
        random = SeededGenerator(seed)
        var kernel = SimulatedKernel()
        kernel.interfaces = [:]
        for index in 3..<(4 + Int32([0, 0, 1, 2].randomElement(using: &random) ?? 0)) {
            kernel.interfaces[index] = .init(
                name: "wlan\(index - 3)", driver: Trial.drivers.randomElement(using: &random) ?? .mac80211)
        }
        // A network manager that is always late: it has the office's profile applied, wherever the station is.
        for index in kernel.interfaces.keys { kernel.announcements[index] = Trial.announcements }
        world = World(kernel)
        world.isSlow = true
    }

    mutating func run() {
        for _ in 0..<Int.random(in: 5...150, using: &random) {
            step()
            check()
        }
        settle()
    }

    // MARK: What can happen

    private mutating func step() {
        if world.isSilent, random.once(in: 4) { world.isSilent = false }
        if isAsleep, random.once(in: 4) { sleepOrWake() }
        switch Int.random(in: 0..<20, using: &random) {
        case 0..<6: act()
        case 6..<10: read()
        case 10..<15: answer()
        case 15..<18: pass([0.001, 0.03, 0.3, 1.2, 11].randomElement(using: &random) ?? 0.1)
        case 18: disturb()
        default: if random.once(in: 3) { sleepOrWake() }
        }
    }

    /// Something changes in the air or on the machine.
    private mutating func act() {
        guard let index = world.kernel.interfaces.keys.sorted().randomElement(using: &random),
            let interface = world.kernel.interfaces[index]
        else {
            appear()
            return
        }
        events += 1
        guard interface.isUp else {
            world.kernel.interfaces[index]?.isUp = true
            world.kernel.interfaces[index]?.isBlocked = false
            sendLink(index)
            return
        }
        switch (interface.association, Int.random(in: 0..<12, using: &random)) {
        case (nil, 0): send(.station(.numbered(1), on: index), .authenticate(Trial.honest[0], status: 17, on: index))
        case (nil, 1): send(.connect(Trial.honest[1], on: index, status: 16))
        case (nil, 2): send(.disconnect(reason: 3, on: index))
        case (nil, 3...8): associate(index)
        case (let association?, 0...8) where !association.isAuthorized:
            if Trial.isStranger(association.accessPoint.bssid) {
                disconnect(index, reason: 15, byAccessPoint: true)
            } else {
                authorize(index)
            }
        case (_?, 0): disconnect(index, reason: 3, byAccessPoint: random.once(in: 2))
        case (let association?, 1...4):
            disconnect(index, reason: 1, byAccessPoint: false)
            associate(index, like: association.accessPoint)
        case (let association?, 5): roamWithoutLoss(index, like: association.accessPoint)
        case (let association?, 6): associate(index, like: association.accessPoint)
        case (let association?, 7):
            world.kernel.interfaces[index]?.association?.accessPoint.frequency =
                association.accessPoint.frequency == 2412 ? 2462 : 2412
            if association.accessPoint.links.isEmpty {
                send(.channelSwitched(to: association.accessPoint.frequency == 2412 ? 2462 : 2412, on: index))
            }
        case (_?, 8):
            send(.deauthenticate(Trial.honest[0], command: 70, on: index), .station(.numbered(0x99), on: index))
        case (_, 9): if random.once(in: 3) { setDown(index) }
        case (_, 10): random.once(in: 3) ? disappear(index) : rename(index)
        case (_, 11): if random.once(in: 3) { appear() }
        default: break
        }
    }

    static func isStranger(_ bssid: BSSID?) -> Bool { strangers.contains { $0.bssid == bssid } }

    /// - Parameter old: most moves stay on the network.
    private mutating func choose(like old: AccessPoint?) -> AccessPoint {
        let all = Trial.honest + Trial.strangers
        let alike = all.filter { $0.ssid == old?.ssid }
        let candidates = alike.isEmpty || random.once(in: 3) ? all : alike
        return candidates.randomElement(using: &random) ?? all[0]
    }

    private mutating func associate(_ index: Int32, like old: AccessPoint? = nil) {
        let accessPoint = choose(like: old)
        guard let driver = world.kernel.interfaces[index]?.driver else { return }
        story.append("\(index): associates with \(accessPoint.bssid)")
        world.kernel.interfaces[index]?.association = .init(accessPoint: accessPoint)
        send(
            .station(accessPoint.bssid, on: index), .authenticate(accessPoint, on: index),
            .connect(accessPoint, on: index, request: driver.reportsRequest ? [] : nil))
        // The supplicant has the link wait.
        setLink(index, 5)
    }

    private mutating func authorize(_ index: Int32) {
        story.append("\(index): is authorised")
        world.kernel.interfaces[index]?.association?.isAuthorized = true
        setLink(index, 6)
        if let accessPoint = world.kernel.interfaces[index]?.association?.accessPoint, random.once(in: 3) {
            send(.portAuthorized(accessPoint, on: index))
        }
    }

    private mutating func disconnect(_ index: Int32, reason: UInt16, byAccessPoint: Bool) {
        guard let accessPoint = world.kernel.interfaces[index]?.association?.accessPoint else { return }
        story.append("\(index): disconnects")
        world.kernel.interfaces[index]?.association = nil
        send(.stationRemoved(accessPoint.bssid, on: index))
        if !random.once(in: 10) { send(.disconnect(reason: reason, byAccessPoint: byAccessPoint, on: index)) }
        // Told up to a second late.
        pendingLinks.append((world.now.boottime + Int64.random(in: 0...1_000_000, using: &random), index))
    }

    /// iwd on mac80211, or a firmware.
    private mutating func roamWithoutLoss(_ index: Int32, like old: AccessPoint) {
        let accessPoint = choose(like: old)
        story.append("\(index): is moved to \(accessPoint.bssid)")
        world.kernel.interfaces[index]?.association = .init(accessPoint: accessPoint)
        if random.once(in: 2) {
            send(.stationRemoved(old.bssid, on: index), .station(accessPoint.bssid, on: index))
            send(.connect(accessPoint, on: index))
        } else {
            send(.roam(accessPoint, on: index))
        }
        setLink(index, 5)
    }

    private mutating func setLink(_ index: Int32, _ state: UInt8) {
        pendingLinks.removeAll { $0.index == index }
        world.kernel.interfaces[index]?.state = state
        sendLink(index)
    }

    private mutating func setDown(_ index: Int32) {
        story.append("\(index): is set down")
        if world.kernel.interfaces[index]?.association != nil { disconnect(index, reason: 3, byAccessPoint: false) }
        world.kernel.interfaces[index]?.isUp = false
        world.kernel.interfaces[index]?.isBlocked = random.once(in: 2)
        setLink(index, 2)
    }

    private mutating func rename(_ index: Int32) {
        world.kernel.interfaces[index]?.name = "wifi\(Int.random(in: 0..<9, using: &random))"
        sendLink(index)
    }

    private mutating func appear() {
        guard world.kernel.interfaces.count < 3 else { return }
        nextIndex += 1
        let name = "wlan\(nextIndex)"
        story.append("\(nextIndex): appears")
        world.kernel.interfaces[nextIndex] = .init(
            name: name, driver: Trial.drivers.randomElement(using: &random) ?? .mac80211)
        send(.interface(nextIndex, name: name))
        sendLink(nextIndex)
    }

    private mutating func disappear(_ index: Int32) {
        story.append("\(index): disappears")
        if world.kernel.interfaces[index]?.association != nil { disconnect(index, reason: 3, byAccessPoint: false) }
        pendingLinks.removeAll { $0.index == index }
        world.kernel.interfaces[index] = nil
        send(.interfaceRemoved(index), .linkRemoved(index))
    }

    /// What is lost, garbled or not answered.
    private mutating func disturb() {
        switch Int.random(in: 0..<3, using: &random) {
        case 0:
            let bus: UInt16 = random.once(in: 2) ? 0 : 16
            let kept = Int.random(in: 0...(unread[bus]?.count ?? 0), using: &random)
            story.append("the kernel drops \((unread[bus]?.count ?? 0) - kept) messages")
            unread[bus] = unread[bus].map { Array($0.prefix(kept)) }
            isOverrun = true
        case 1:
            story.append("a message is garbled")
            send(Signal(bus: 16, Wire.message(Wire.family, [46, 1, 0, 0] + random.octets(1...40))))
        default:
            story.append("the kernel is \(world.isSilent ? "itself again" : "silent")")
            world.isSilent.toggle()
        }
    }

    private mutating func sleepOrWake() {
        story.append(isAsleep ? "wakes" : "sleeps")
        isAsleep.toggle()
        world.observe(isAsleep ? .suspending : .resumed)
    }

    // MARK: What is read

    private mutating func send(_ signals: Signal...) {
        for signal in signals { unread[signal.bus]?.append(signal) }
    }

    private mutating func sendLink(_ index: Int32) {
        if let link = world.kernel.link(index) { send(link) }
    }

    /// Links first, then nl80211, and losses when the queues are empty, as the observer does.
    private mutating func read() {
        for bus in [0, 16] as [UInt16] {
            for signal in unread[bus] ?? [] { world.hear(signal) }
            unread[bus] = []
        }
        if isOverrun { world.observe(.lost(.overrun)) }
        isOverrun = false
    }

    /// One question is answered; sometimes events are read between answer and delivery.
    private mutating func answer() {
        while let question = world.questions.first, question.isForDaemons || !random.once(in: 6) {
            let answer = world.ask(world.takeQuestion())
            if random.once(in: 8) { act() }
            read()
            world.observe(answer)
        }
    }

    private mutating func pass(_ seconds: Double) {
        let end = world.now.boottime + Int64(seconds * 1_000_000)
        while let next = pendingLinks.min(by: { $0.due < $1.due }), next.due <= end {
            world.pass(Double(max(next.due - world.now.boottime, 0)) / 1_000_000)
            setLink(next.index, 2)
            read()
        }
        world.pass(Double(end - world.now.boottime) / 1_000_000)
    }

    // MARK: What has to hold

    private mutating func check() {
        for change in world.toldEverything() {
            if case .evidenceChanged(let new) = change.kind, let index = change.interface?.index {
                if evidence[index] ?? LinkEvidence() == new { complaints.append("\(index): evidence told twice") }
                evidence[index] = new
            }
            guard let line = change.line else { continue }
            story.append("\(change.interface?.index ?? 0): → \(line)")
            told.append(line)
            guard let index = change.interface?.index else { continue }
            if let complaint = checkers[index, default: Checker()].take(change.kind) { complaints.append(complaint) }
        }
        checkEvidence()
        if world.questionCount > 200 + 40 * events {
            complaints.append("\(world.questionCount) questions, \(events) events")
        }
    }

    /// What is told is what is known, and no network has another one's authentication.
    private mutating func checkEvidence() {
        for (index, interface) in world.environment.interfaces {
            if interface.evidence != evidence[index] ?? LinkEvidence() {
                complaints.append("\(index): evidence not told")
            }
            guard interface.evidence.authentication != nil else { continue }
            isAuthenticated = true
            switch interface.wifi {
            case .joined(let network), .associating(let network):
                if network.ssid != Trial.announcements.profile?.ssid || !network.security.isEnterprise {
                    complaints.append("\(index): authentication of another network")
                }
            case .unknown: break
            case .idle, nil: complaints.append("\(index): authentication without a network")
            }
        }
        evidence = evidence.filter { world.environment.interfaces[$0.key] != nil }
    }

    /// Everything is read and answered, and all time runs out: what is known is what is true.
    private mutating func settle() {
        world.isSilent = false
        if isAsleep { sleepOrWakeNow() }
        read()
        for round in 0..<60 where world.deadline != nil || !world.questions.isEmpty || !pendingLinks.isEmpty {
            while !world.questions.isEmpty { answerQuietly() }
            pass(round < 30 ? 0.5 : 5)
        }
        while !world.questions.isEmpty { answerQuietly() }
        check()
        for (index, interface) in world.kernel.interfaces.sorted(by: { $0.key < $1.key }) {
            let state = world.environment.interfaces[index]?.wifi
            let truth = interface.association.flatMap { interface.isUp && $0.isAuthorized ? $0.accessPoint : nil }
            if state?.network?.bssid != truth?.bssid || state?.network?.ssid?.octets != truth?.ssid {
                complaints.append(
                    "\(index) is \(truth.map { "\($0.bssid)" } ?? "on nothing"), known is \(String(describing: state))")
            }
            if case .unknown = state { complaints.append("\(index) stays unknown") }
        }
        let known = world.environment.interfaces.keys.sorted()
        if known != world.kernel.interfaces.keys.sorted() { complaints.append("interfaces known are \(known)") }
        if let deadline = world.deadline, deadline <= world.now.boottime { complaints.append("a deadline in the past") }
    }

    private mutating func sleepOrWakeNow() {
        isAsleep = false
        world.observe(.resumed)
    }

    private mutating func answerQuietly() {
        let answer = world.ask(world.takeQuestion())
        read()
        world.observe(answer)
    }

    /// The order of what is told of one interface.
    private struct Checker {
        private enum State { case idle, associating, joined }
        private var state = State.idle
        private var name: SSID?

        mutating func take(_ kind: EnvironmentChange.Kind) -> String? {
            switch (kind, state) {
            case (.associating, .idle): state = .associating
            case (.joined(let network), .associating):
                (state, name) = (.joined, network.ssid)
                return stranger(network)
            case (.joinFailed, .associating), (.left, .joined): state = .idle
            case (.roamed(let network, _), .joined):
                return network.ssid == name ? stranger(network) : "roamed to another network"
            case (.channelChanged, .joined): break
            case (.associating, _), (.joined, _), (.joinFailed, _), (.left, _), (.roamed, _), (.channelChanged, _):
                return "\(kind) while \(state)"
            default: break
            }
            return nil
        }

        private func stranger(_ network: WiFiNetwork) -> String? {
            Trial.isStranger(network.bssid) ? "joined a stranger" : nil
        }
    }
}
