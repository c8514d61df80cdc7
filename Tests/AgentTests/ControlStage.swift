import ActionProtocol
import Environment
import Foundation
import Glibc
import Platform
import Rules
import SystemBus
import TestSupport
import Testing

@testable import Agent

/// A bus daemon of the test's own, and who calls something on it.
typealias ControlBus = TestBus

extension TestBus {
    /// Copies a program to where anybody can run it. By a process of its own: what this one has open for writing, those
    /// that other tests start at the same time have as well, and nobody can run that.
    static func copyProgram(_ path: String, to directory: String) throws {
        let copy = try Process.run(URL(fileURLWithPath: "/bin/cp"), arguments: ["-p", path, directory])
        copy.waitUntilExit()
        #expect(copy.terminationStatus == 0)
    }

    enum Caller {
        /// Who runs the tests.
        case tester
        /// Somebody who is not root.
        case stranger
    }

    struct Outcome {
        let status: Int32
        let output: String
        let complaint: String
    }

    func start(_ words: [String], as caller: Caller) throws -> Running {
        let running = Running()
        let isRoot = getuid() == 0
        let prefix =
            caller == .stranger && isRoot
            ? ["/usr/bin/setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : ["/usr/bin/env"]
        running.process.executableURL = URL(fileURLWithPath: prefix[0])
        running.process.arguments = Array(prefix.dropFirst()) + words
        running.process.environment = ProcessInfo.processInfo.environment
            .merging(["DBUS_SYSTEM_BUS_ADDRESS": address, "LC_ALL": "C.UTF-8"]) { $1 }
        running.process.standardOutput = running.output
        running.process.standardError = running.complaint
        running.process.standardInput = FileHandle.nullDevice
        try running.process.run()
        return running
    }

    final class Running {
        let process = Process()
        let output = Pipe()
        let complaint = Pipe()

        func outcome() throws -> Outcome {
            let text = try output.fileHandleForReading.readToEnd() ?? Data()
            let words = try complaint.fileHandleForReading.readToEnd() ?? Data()
            process.waitUntilExit()
            return Outcome(
                status: process.terminationStatus, output: String(decoding: text, as: UTF8.self),
                complaint: String(decoding: words, as: UTF8.self))
        }
    }

    /// The name of the error, or what was answered, of a caller who has nobody asked.
    func send(_ method: String, _ arguments: String..., as caller: Caller = .stranger) throws -> String {
        try sending(method, arguments, as: caller).outcome().answer
    }

    func sending(_ method: String, _ arguments: [String], as caller: Caller = .stranger) throws -> Running {
        try start(
            ["dbus-send", "--bus=\(address)", "--print-reply", "--reply-timeout=20000", "--dest=io.vicinity"]
                + ["/io/vicinity", "io.vicinity.Manager1.\(method)"] + arguments, as: caller)
    }

    /// What busctl says, of a caller who can wait for a person.
    func ask(_ words: String..., as caller: Caller = .stranger) throws -> Outcome {
        try start(["busctl", "--address=\(address)"] + words, as: caller).outcome()
    }
}

extension ControlBus.Outcome {
    var answer: String {
        if status == 0 {
            return output.split(separator: "\n").dropFirst().joined().trimmingCharacters(in: .whitespaces)
        }
        return complaint.split(separator: ":").first.map { String($0.drop { $0 != " " }.dropFirst()) } ?? ""
    }
}

/// polkit, as a test wants it.
final class FakePolkit: @unchecked Sendable {
    enum Answer {
        case yes, no, challenge, dismissed, garbage, refusal
        /// A person says yes.
        case person
        /// Waits for `release`.
        case nothing
    }

    struct Question: Sendable {
        let kind: String
        let subject: String
        /// Who the subject is taken for; nil: whose it is.
        let user: Int64?
        let action: String
        let message: String
        let mayAsk: Bool
    }

    private struct State {
        var answer: Answer
        /// What comes of asking a person, one after the other.
        var asked: [Answer] = []
        var questions: [Question] = []
        var cancelled: [String] = []
    }

    private let state: Lock<State>
    private let loop: EventLoop
    private var bus: SystemBus?
    private var object: BusObject?
    private var waiting: [(call: BusCall, cancellation: String)] = []

    /// - Parameter asked: what comes of asking a person, one after the other; then, and of everything else, `answer`.
    init(_ answer: Answer, asked: [Answer] = [], on bus: ControlBus) throws {
        state = Lock(State(answer: answer, asked: asked))
        loop = try EventLoop()
        let ready = DispatchSemaphore(value: 0)
        let address = bus.address
        loop.perform { [self] in
            let bus = SystemBus(on: loop, address: address)
            let object = BusObject(
                "/org/freedesktop/PolicyKit1/Authority", "org.freedesktop.PolicyKit1.Authority",
                [
                    .init(
                        "CheckAuthorization", takes: "(sa{sv})sa{ss}us",
                        returns: answer == .garbage ? "b" : "(bba{ss})", parameters: ""),
                    .init("CancelCheckAuthorization", takes: "s", parameters: ""),
                ], on: bus
            ) { [self] in take($0) }
            bus.onConnect = {
                try? object.export()
                bus.own("org.freedesktop.PolicyKit1") { if $0 == .ours { ready.signal() } }
            }
            self.bus = bus
            self.object = object
            bus.connect()
        }
        try loop.start()
        #expect(ready.wait(timeout: .now() + 20) == .success)
    }

    /// To be called at the end of a test.
    func stop() {
        let ended = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            waiting = []
            object?.withdraw()
            bus?.close()
            (object, bus) = (nil, nil)
            loop.stop()
            ended.signal()
        }
        #expect(ended.wait(timeout: .now() + 20) == .success)
    }

    var questions: [Question] { state.withLock { $0.questions } }
    var cancelled: [String] { state.withLock { $0.cancelled } }

    func release(with answer: Answer) {
        state.withLock { $0.answer = answer }
        loop.perform { [self] in
            for (call, cancellation) in waiting { self.answer(call, answer, cancellation) }
            waiting = []
        }
    }

    /// A person answers who was asked.
    ///
    /// - Parameter asked: what comes of asking again.
    func respond(_ answer: Answer, then asked: [Answer] = []) {
        let done = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            state.withLock { $0.asked = asked + $0.asked }
            for (call, cancellation) in waiting { self.answer(call, answer, cancellation) }
            waiting = []
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
    }

    private func take(_ call: BusCall) {
        guard call.method == "CheckAuthorization" else {
            let cancellation = call.values.first?.text ?? ""
            state.withLock { $0.cancelled.append(cancellation) }
            call.answer()
            for wait in waiting where wait.cancellation == cancellation {
                wait.call.refuse("org.freedesktop.PolicyKit1.Error.Cancelled", "cancelled")
            }
            return waiting.removeAll { $0.cancellation == cancellation }
        }
        let subject = call.values[0].list
        // As polkitd 122, which such a question ends.
        guard subject?[0].text != "unix-session" else {
            return call.refuse("org.freedesktop.DBus.Error.NoReply", "Message recipient disconnected without replying")
        }
        let question = Question(
            kind: subject?[0].text ?? "",
            subject: subject?[1]["name"]?.text ?? subject?[1]["pid"]?.number.map { "\($0)" } ?? "",
            user: subject?[1]["uid"]?.number, action: call.values[1].text ?? "",
            message: call.values[2]["polkit.message"]?.text ?? "", mayAsk: call.values[3].number == 1)
        let answer = state.withLock { state in
            state.questions.append(question)
            if question.mayAsk, !state.asked.isEmpty { return state.asked.removeFirst() }
            guard state.answer == .person else { return state.answer }
            return question.mayAsk ? .yes : .challenge
        }
        self.answer(call, answer, call.values[4].text ?? "")
    }

    private func answer(_ call: BusCall, _ answer: Answer, _ cancellation: String) {
        func result(_ isAuthorized: Bool, _ isChallenge: Bool, _ details: [String: String] = [:]) {
            call.answer([.structure([.flag(isAuthorized), .flag(isChallenge), .strings(details)])])
        }
        switch answer {
        case .yes: result(true, false)
        case .no: result(false, false)
        case .challenge: result(false, true)
        case .dismissed: result(false, false, ["polkit.dismissed": "true"])
        case .garbage: call.answer([.flag(true)])
        case .refusal: call.refuse("org.freedesktop.PolicyKit1.Error.Failed", "no such action")
        case .nothing, .person: waiting.append((call, cancellation))
        }
    }
}

/// The service, and a rule engine that does what it is asked, on a loop of their own.
final class ControlStage: @unchecked Sendable, Controlled {
    private let loop: EventLoop
    private var engine: RuleEngine
    private var service: ControlService?
    private var permissions: PermissionBook?
    let grants = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max)).json"
    private let state = Lock(State())

    private struct State {
        var holds: [String] = []
        var ran: [String] = []
        var problems: [String?] = []
        var reset = ActionEnd(.succeeded)
        var factor = FactorStatus(FactorStanding(.unsaid))
    }

    private var system: SystemBus?
    private var broker: SecondFactorBroker?
    private var lastFactor: UInt64 = 0

    private static let rules = """
        [rule.nas]
        on = "any-wifi"
        enter = [ { command = ["/bin/true"] } ]
        [rule.mine]
        on = "any-wifi"
        user-hold = true
        enter = [ { command = ["/bin/true"] } ]
        [rule.idle]
        on = "any-wifi"
        """

    /// - Parameter isReady: whether to wait until the service has its name.
    init(on bus: ControlBus, limit: UInt64 = 10_000_000, isReady: Bool = true) throws {
        loop = try EventLoop()
        let rules = RuleSet.load([RuleFile(path: "a.toml", contents: Array(ControlStage.rules.utf8))]).ruleSet
        engine = RuleEngine(ruleSet: try #require(rules))
        _ = engine.update(NetworkEnvironment(), at: .now())
        let address = bus.address
        let told = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            let permissions = PermissionBook(at: grants, on: loop) { _ in }
            permissions.start(PermissionConfiguration())
            self.permissions = permissions
            let system = SystemBus(on: loop, address: address)
            let broker = SecondFactorBroker(on: loop, system) { nil }
            system.onConnect = { [unowned broker] in broker.connected() }
            system.connect()
            (self.system, self.broker) = (system, broker)
            let service = ControlService(of: self, permissions, on: loop, address: address, limit: limit) {
                [self] problem in
                state.withLock { $0.problems.append(problem) }
                told.signal()
            }
            self.service = service
            service.start()
        }
        try loop.start()
        #expect(told.wait(timeout: .now() + 20) == .success)
        if isReady { #expect(problems == [nil]) }
    }

    /// To be called at the end of a test.
    func stop() {
        let ended = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            service?.stop()
            broker?.stop()
            system?.close()
            (service, broker, system) = (nil, nil, nil)
            permissions = nil
            unlink(grants)
            loop.stop()
            ended.signal()
        }
        #expect(ended.wait(timeout: .now() + 20) == .success)
    }

    /// `nas on by alice`
    var holds: [String] { state.withLock { $0.holds } }
    var ran: [String] { state.withLock { $0.ran } }
    var problems: [String?] { state.withLock { $0.problems } }

    /// The numbers of those who were granted to see where the machine is.
    var granted: [UInt32] {
        let done = DispatchSemaphore(value: 0)
        let result = Lock([UInt32]())
        loop.perform { [self] in
            let users = permissions?.granted ?? []
            result.withLock { $0 = users }
            done.signal()
        }
        done.wait()
        return result.withLock { $0 }
    }

    /// The administrator forbids it to everybody.
    func restrict() {
        let done = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            var configuration = PermissionConfiguration()
            configuration.level = .restricted
            permissions?.use(configuration)
            done.signal()
        }
        done.wait()
    }

    /// Puts other rules in place.
    func replace(_ body: @escaping @Sendable (String) -> String) {
        let done = DispatchSemaphore(value: 0)
        loop.perform { [self] in
            let text = body(ControlStage.rules)
            if let rules = RuleSet.load([RuleFile(path: "a.toml", contents: Array(text.utf8))]).ruleSet {
                _ = engine.replace(with: rules, at: .now())
            }
            done.signal()
        }
        done.wait()
    }

    /// What the agent would say of the second factor.
    func factorIs(_ status: FactorStatus) { state.withLock { $0.factor = status } }

    func factorStatus(_ done: @escaping (FactorStatus) -> Void) {
        loop.schedule(at: Timestamp.now().boottime) { [self] in done(state.withLock { $0.factor }) }
    }

    func requireFactor(_ caller: FactorCaller, _ done: @escaping (FactorEnd) -> Void) -> UInt64 {
        lastFactor += 1
        let demand = FactorDemand(lastFactor, by: caller)
        broker?.demand(demand, done)
        return demand.identifier
    }

    func withdrawFactor(_ identifier: UInt64) { broker?.cancel(identifier) }

    /// A rule has somebody asked.
    func ruleDemands(_ rule: String) {
        onLoop { [self] in
            let factor = EdgeAction.SecondFactor(message: "Confirm")
            broker?.demand(
                FactorDemand(identifier: 1, rule: rule, edge: .enter, network: nil, factor: factor)
            ) { _ in }
        }
    }

    /// Whether a rule's demand has not been met.
    var hasOpenDemand: Bool {
        let answer = Lock(false)
        onLoop { [self] in answer.withLock { $0 = broker?.hasOpenDemand ?? false } }
        return answer.withLock { $0 }
    }

    private func onLoop(_ body: @escaping @Sendable () -> Void) {
        let done = DispatchSemaphore(value: 0)
        loop.perform {
            body()
            done.signal()
        }
        #expect(done.wait(timeout: .now() + 20) == .success)
    }

    func mayUsersHold(_ rule: String) -> Bool {
        engine.ruleSet.rule(named: rule)?.mayBeHeldByUser ?? false && engine.hold(ofRule: rule)?.isUsers ?? true
    }

    func hold(_ rule: String, _ request: HoldRequest) throws(OverrideError) -> Int64 {
        let now = Timestamp.now()
        _ = try engine.hold(rule, request, at: now)
        note()
        return engine.hold(ofRule: rule)?.end(from: now) ?? 0
    }

    func release(_ rule: String, by user: String) throws(OverrideError) {
        _ = try engine.release(rule, at: .now())
        note()
    }

    func run(_ rule: String, by user: String) throws(OverrideError) {
        let decisions = try engine.run(rule)
        state.withLock { $0.ran.append("\(rule) \(decisions.count) by \(user)") }
    }

    func reload(_ done: @escaping (Int) -> Void) { done(7) }

    /// How the machine's proxy is taken away.
    func resetIs(_ end: ActionEnd) { state.withLock { $0.reset = end } }

    func resetProxy(by user: String, _ done: @escaping (ActionEnd) -> Void) {
        loop.schedule(at: Timestamp.now().boottime) { [self] in
            done(
                state.withLock { state in
                    state.ran.append("reset by \(user)")
                    return state.reset
                })
        }
    }

    private func note() {
        let holds = engine.holds.map { "\($0.rule) \($0.hold.isOn ? "on" : "off") by \($0.hold.holder)" }
        state.withLock { $0.holds = holds }
    }
}

/// Waits until it is so, for twenty seconds at most.
func until(_ condition: () -> Bool) {
    let end = Timestamp.now().boottime + 20_000_000
    while !condition() {
        guard Timestamp.now().boottime < end else {
            Issue.record("nothing happened")
            return
        }
        sched_yield()
    }
}
