import Dispatch
import Feed
import Glibc
import Platform
import Rules
import SystemBus
import TestSupport
import Testing

@testable import Agent

/// logind with one seat and what it shows.
final class FakeSeat: @unchecked Sendable {
    private static let session = "org.freedesktop.login1.Session"
    static let path = "/org/freedesktop/login1/session/_32"

    struct Session {
        var id = "2"
        var user: UInt32 = 1_000
        var leader: UInt32 = 4_711
        var kind = "user"
        var type = "wayland"
        var isRemote = false
        var isActive = true
        var isLocked = false
    }

    /// Nil: the seat shows none.
    private let shown: Lock<Session?>
    /// The session that programs belong to; nil: none does.
    private let programs = Lock<String?>("2")
    private var fake: FakeService?

    init(on bus: TestBus, _ session: Session?) throws {
        shown = Lock(session)
        fake = try FakeService("org.freedesktop.login1", at: bus.address) { [unowned self] in answer($0) }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    /// Changes it and says so.
    func change(_ body: (inout Session) -> Void) {
        let session = shown.withLock { shown in
            var session = shown ?? Session()
            body(&session)
            shown = session
            return session
        }
        service.emit(
            FakeSeat.path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [.text(FakeSeat.session), .properties(["LockedHint": .flag(session.isLocked)]), .texts([])])
    }

    func programsBelong(to session: String?) { programs.withLock { $0 = session } }

    /// Nobody is there any more.
    func leave() {
        shown.withLock { $0 = nil }
        service.emit(
            "/org/freedesktop/login1/seat/seat0", "org.freedesktop.DBus.Properties", "PropertiesChanged",
            [
                .text("org.freedesktop.login1.Seat"),
                .properties(["ActiveSession": .structure([.text(""), .path("/")])]), .texts([]),
            ])
    }

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        let session = shown.withLock { $0 }
        switch (call.member, call.path) {
        case ("Get", "/org/freedesktop/login1/seat/seat0"):
            return .value(
                .variant(.structure([.text(session?.id ?? ""), .path(session == nil ? "/" : FakeSeat.path)])))
        case ("GetSessionByPID", "/org/freedesktop/login1"):
            guard programs.withLock({ $0 }) != nil else {
                return .error("org.freedesktop.login1.NoSessionForPID", "PID 7 does not belong to any known session")
            }
            return .value(.path("/org/freedesktop/login1/session/own"))
        case ("Get", "/org/freedesktop/login1/session/own"):
            return .value(.variant(.text(programs.withLock { $0 } ?? "")))
        case ("GetAll", FakeSeat.path):
            guard let session else {
                return .error("org.freedesktop.DBus.Error.UnknownObject", "Unknown object '\(call.path)'.")
            }
            return .value(
                .properties([
                    "Id": .text(session.id), "User": .structure([.unsigned(session.user), .path("/user")]),
                    "Leader": .unsigned(session.leader),
                    "Name": .text("ada"), "Class": .text(session.kind), "Type": .text(session.type),
                    "Remote": .flag(session.isRemote), "Active": .flag(session.isActive),
                    "LockedHint": .flag(session.isLocked),
                ]))
        default: return .unknown
        }
    }
}

/// A broker on a loop of its own, with a bus, a logind and a polkit of the test's.
final class FactorStage: @unchecked Sendable {
    let bus: TestBus
    let seat: FakeSeat?
    let polkit: FakePolkit?
    private let loop: EventLoop
    private var system: SystemBus?
    private var broker: SecondFactorBroker?
    private let state = Lock(State())

    private struct State {
        var events: [String] = []
        var reasons: [String] = []
        var users: [String?] = []
        var ends: [UInt64: FactorEnd.Outcome] = [:]
        var stackProblem: String?
    }

    /// - Parameters:
    ///   - answer: what polkit says where nobody is asked; nil: there is no polkit.
    ///   - asked: what comes of asking a person; after these nobody answers.
    ///   - session: at the screen; nil: none.
    ///   - hasLogin: whether there is a logind.
    ///   - problem: of the PAM stack.
    init(
        _ answer: FakePolkit.Answer? = .challenge, asked: [FakePolkit.Answer] = [],
        session: FakeSeat.Session? = FakeSeat.Session(), hasLogin: Bool = true, problem: String? = nil,
        limit: UInt64 = 10_000_000
    ) throws {
        let bus = try TestBus()
        self.bus = bus
        seat = hasLogin ? try FakeSeat(on: bus, session) : nil
        polkit = try answer.map { try FakePolkit($0, asked: asked + [.nothing], on: bus) }
        loop = try EventLoop()
        state.withLock { $0.stackProblem = problem }
        try loop.start()
        onLoop { [self] in
            let system = SystemBus(on: loop, address: bus.address)
            let broker = SecondFactorBroker(on: loop, system, limit: limit) { [self] in
                state.withLock { $0.stackProblem }
            }
            broker.publish = { [self] in note($0) }
            system.onConnect = { [unowned broker] in broker.connected() }
            system.connect()
            (self.system, self.broker) = (system, broker)
        }
    }

    /// To be called at the end of a test.
    func stop() {
        onLoop { [self] in
            broker?.stop()
            system?.close()
            (broker, system) = (nil, nil)
            loop.stop()
        }
        polkit?.stop()
        seat?.service.stop()
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.perform {
            body()
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
    }

    private func note(_ event: FeedEvent) {
        let fact: FeedEvent.SecondFactorFact? =
            switch event.body {
            case .secondFactorRequested(let fact), .secondFactorPassed(let fact), .secondFactorFailed(let fact),
                .secondFactorExpired(let fact):
                fact
            default: nil
            }
        state.withLock { state in
            state.events.append(event.type)
            state.users.append(fact?.user)
            if let because = fact?.because { state.reasons.append(because) }
        }
    }

    // MARK: What is demanded

    func demand(
        _ identifier: UInt64 = 1, rule: String = "work", network: String? = "office", timeout: Int64 = 60_000_000,
        grace: Int64 = 0
    ) {
        var factor = EdgeAction.SecondFactor(message: "Confirm")
        (factor.timeout, factor.grace) = (timeout, grace)
        let demand = FactorDemand(identifier: identifier, rule: rule, edge: .enter, network: network, factor: factor)
        onLoop { [self] in
            broker?.demand(demand) { [self] end in state.withLock { $0.ends[identifier] = end.outcome } }
        }
    }

    func cancel(_ identifier: UInt64 = 1) { onLoop { [self] in broker?.cancel(identifier) } }

    var hasOpenDemand: Bool {
        let answer = Lock(false)
        onLoop { [self] in answer.withLock { $0 = broker?.hasOpenDemand ?? false } }
        return answer.withLock { $0 }
    }

    func stackIs(_ problem: String?) { state.withLock { $0.stackProblem = problem } }

    // MARK: What happened

    var events: [String] { state.withLock { $0.events.map { String($0.dropFirst("second_factor.".count)) } } }
    var reasons: [String] { state.withLock { $0.reasons } }
    var users: [String?] { state.withLock { $0.users } }
    var ends: [UInt64: FactorEnd.Outcome] { state.withLock { $0.ends } }

    /// The dialogues that were shown.
    var prompts: [FakePolkit.Question] { polkit?.questions.filter(\.mayAsk) ?? [] }

    func until(_ condition: () -> Bool, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws {
        let end = Timestamp.now().boottime + 20_000_000
        while !condition() {
            try #require(
                Timestamp.now().boottime < end, "\(events) \(reasons) \(ends)", sourceLocation: sourceLocation)
            sched_yield()
        }
    }

    /// Until the demand has ended, and how.
    func end(_ identifier: UInt64 = 1, sourceLocation: Testing.SourceLocation = #_sourceLocation) throws
        -> FactorEnd.Outcome?
    {
        try until({ ends[identifier] != nil }, sourceLocation: sourceLocation)
        return ends[identifier]
    }
}
