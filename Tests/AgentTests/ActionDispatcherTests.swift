import ActionProtocol
import Environment
import Feed
import Foundation
import Glibc
import Platform
import Rules
import Testing

@testable import Agent

/// A helper on a socket that answers as the test says.
final class FakeHelper {
    let path: String
    private let loop: EventLoop
    private let listener: FileDescriptor
    private(set) var requests: [HelperRequest] = []
    private var channels: [LineChannel] = []
    var answer: (HelperRequest) -> [HelperReport] = { _ in [] }
    var onRequest: () -> Void = {}

    init(on loop: EventLoop) throws {
        self.loop = loop
        path = "/tmp/vicinity-dispatcher-\(getpid())-\(UInt32.random(in: 0...UInt32.max)).sock"
        listener = try UnixSocket.listen(at: path, mode: 0o600)
        try loop.watch(listener.rawValue) { [unowned self] _ in accept() }
    }

    deinit {
        loop.forget(listener.rawValue)
        unlink(path)
    }

    private func accept() {
        while let connection = try? UnixSocket.accept(on: listener.rawValue) {
            guard
                let channel = try? LineChannel(
                    connection, on: loop, maximumLine: HelperRequest.maximumSize, maximumWaiting: 1 << 20)
            else { continue }
            channel.onLine = { [unowned self, unowned channel] line in
                guard let request = HelperRequest(line: line) else { return }
                requests.append(request)
                for report in answer(request) { channel.send(report.line) }
                onRequest()
            }
            channels.append(channel)
        }
    }

    /// As a helper that is killed.
    func hangUp() {
        for channel in channels { channel.close() }
        channels = []
    }

    var digests: [String] {
        requests.compactMap { if case .hold(_, let digest, let states) = $0, !states.isEmpty { digest } else { nil } }
    }
}

/// A dispatcher with a rule that holds, and everything that it tells.
private final class Stage {
    static let first = String(repeating: "1", count: 64)
    static let second = String(repeating: "2", count: 64)

    let loop: EventLoop
    let helper: FakeHelper
    let dispatcher: ActionDispatcher
    private var engine: RuleEngine
    private let ruleSet: RuleSet
    private let environment = NetworkEnvironment()
    let runs: [ActionRequest]
    var events: [String] = []
    /// Why what failed did.
    private(set) var reasons: [String] = []
    private var steps: ArraySlice<() -> Bool>?
    private var isLate = false

    /// - Parameter target: what the rule sets a proxy for.
    init(target: String = "apt") throws {
        loop = try EventLoop()
        helper = try FakeHelper(on: loop)
        dispatcher = ActionDispatcher(helper: helper.path, on: loop)
        let rules = """
            [network.office]
            ssid = ["Corp-Staff"]
            [rule.away]
            off = "office"
            settle = "0s"
            proxy = { mode = "none", targets = ["\(target)"] }
            enter = [ { command = ["/bin/true"] } ]
            """
        ruleSet = try #require(RuleSet.load([RuleFile(path: "a.toml", contents: Array(rules.utf8))]).ruleSet)
        engine = RuleEngine(ruleSet: ruleSet)
        runs = engine.update(environment, at: .now()).compactMap { if case .run(let run) = $0 { run } else { nil } }
        helper.onRequest = { [unowned self] in look() }
        dispatcher.publish = { [unowned self] event in
            events.append(event.type)
            if case .actionFailed(let fact) = event.body, let because = fact.because { reasons.append(because) }
            look()
        }
    }

    func use(_ digest: String) { dispatcher.use(ruleSet, digest: digest) }
    func hold() { dispatcher.hold(engine.desiredStates, in: environment) }

    private func look() {
        while let step = steps?.first, step() { steps?.removeFirst() }
        if steps?.isEmpty == true { loop.stop() }
    }

    /// Runs the loop until each of these has been so, one after the other; once for a stage. A test that hangs ends
    /// after 20 s and fails.
    func play(until steps: (() -> Bool)...) throws {
        self.steps = steps[...]
        loop.schedule(at: Timestamp.now().boottime + 20_000_000) { [unowned self] in
            isLate = true
            loop.stop()
        }
        look()
        loop.run()
        try #require(!isLate, "\(events) \(helper.requests)")
    }
}

private func held(_ request: HelperRequest) -> [HelperReport] {
    guard case .hold(let pass, _, let states) = request else { return [] }
    return states.map { .state(rule: $0.rule, index: $0.index, .held) } + [.settled(pass: pass)]
}

@Suite struct ActionDispatcherTests {
    @Test func aStateIsToldOnce() throws {
        let stage = try Stage()
        stage.helper.answer = held
        stage.use(Stage.first)
        stage.hold()
        try stage.play { stage.events.count == 2 }
        stage.hold()
        #expect(stage.events == ["action.started", "action.succeeded"])
        #expect(stage.helper.digests == [Stage.first])
    }

    /// What is asked for may be the same by other files; the helper, who refused it, has not been told so.
    @Test func whatWasRefusedForOtherFilesIsSaidAgainWhenTheyHaveBeenRead() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            guard case .hold(let pass, let digest, _) = request, digest != Stage.second else { return held(request) }
            return [.outdated(digest: Stage.second, .hold(pass: pass))]
        }
        stage.dispatcher.onOutdated = {
            stage.use(Stage.second)
            stage.hold()
        }
        stage.use(Stage.first)
        stage.hold()
        try stage.play { stage.events.contains("action.succeeded") }
        #expect(stage.events == ["action.started", "action.succeeded"])
        #expect(stage.helper.digests == [Stage.first, Stage.second])
    }

    @Test func aHelperThatKeepsReadingOtherFilesIsAskedToOnceAndThenToldOf() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            guard case .hold(let pass, _, _) = request else { return [] }
            return [.outdated(digest: Stage.second, .hold(pass: pass))]
        }
        var reloads = 0
        stage.dispatcher.onOutdated = {
            reloads += 1
            stage.use(Stage.first)
            stage.hold()
        }
        stage.use(Stage.first)
        stage.hold()
        try stage.play { stage.events.contains("action.failed") }
        stage.hold()
        #expect(stage.events == ["action.started", "action.failed"])
        #expect(reloads == 1)
        #expect(stage.helper.digests == [Stage.first, Stage.first])
    }

    @Test func anActionThatWasRefusedIsNotKeptWaitingWhereTheFilesAreTheSame() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            guard case .run(let id, _, _) = request else { return [] }
            return [.outdated(digest: Stage.second, .action(id: id))]
        }
        stage.dispatcher.onOutdated = { stage.use(Stage.first) }
        stage.use(Stage.first)
        stage.dispatcher.run(try #require(stage.runs.first))
        try stage.play { stage.events == ["action.failed"] }
        #expect(stage.dispatcher.running.isEmpty)
    }

    @Test func whatRunsInAHelperThatDiesHasFailedAndWhatHoldsIsSaidToTheNext() throws {
        let stage = try Stage()
        stage.helper.answer = { request in
            guard case .run(let id, _, _) = request else { return held(request) }
            return [.started(id: id)]
        }
        stage.use(Stage.first)
        stage.hold()
        stage.dispatcher.run(try #require(stage.runs.first))
        var said = 0
        try stage.play(
            until: {
                guard stage.events.filter({ $0 == "action.started" }).count == 2, stage.events.count == 3 else {
                    return false
                }
                stage.helper.answer = { request in
                    said += 1
                    return held(request)
                }
                stage.helper.hangUp()
                return true
            }, { stage.events.contains("action.failed") && said == 1 })
        #expect(said == 1)
        #expect(stage.helper.digests == [Stage.first, Stage.first])
        #expect(stage.events.filter { $0 == "action.failed" }.count == 1)
    }

    /// Root's helper may begin by this: it learns first what shall hold.
    @Test func aDaemonThatWasStartedAnewIsSaidToTheHelperAfterWhatShallHold() throws {
        let stage = try Stage()
        stage.helper.answer = held
        stage.use(Stage.first)
        stage.dispatcher.verify(.firewalld)
        stage.hold()
        stage.dispatcher.verify(.firewalld)
        try stage.play { stage.helper.requests.last == .verify(.firewalld) && stage.events.count == 2 }
        #expect(stage.helper.requests.count == 3)
        #expect(stage.helper.digests == [Stage.first, Stage.first])
    }

    /// One of an earlier pass says nothing of the files that the present one was asked by.
    @Test func aRefusalOfAnEarlierPassIsNoFailureOfTheNext() throws {
        let stage = try Stage()
        var isFirst = true
        stage.helper.answer = { request in
            guard case .hold(let pass, _, _) = request else { return [] }
            defer { isFirst = false }
            guard isFirst else {
                // As if both had been on their way.
                let refusal = HelperReport.outdated(digest: Stage.second, .hold(pass: pass - 1))
                return [refusal, refusal] + held(request)
            }
            return [.outdated(digest: Stage.second, .hold(pass: pass))]
        }
        var reloads = 0
        stage.dispatcher.onOutdated = {
            reloads += 1
            stage.use(Stage.second)
            stage.hold()
        }
        stage.use(Stage.first)
        stage.hold()
        try stage.play { stage.events.count == 2 }
        #expect(stage.events == ["action.started", "action.succeeded"])
        #expect(reloads == 1)
    }

    /// Otherwise everybody would believe for ever that it holds.
    @Test func whatASessionHeldIsToldWhenItEnds() throws {
        let stage = try Stage(target: "gnome")
        let path = stage.helper.path + ".session"
        try stage.dispatcher.listen(try UnixSocket.listen(at: path, mode: 0o666))
        defer { unlink(path) }
        stage.use(Stage.first)
        stage.hold()
        // It ends when it has been told what shall hold. Root has no session.
        let session = Process()
        let user =
            getuid() == 0 ? ["/usr/bin/setpriv", "--reuid", "nobody", "--regid", "nogroup", "--clear-groups"] : []
        let words =
            user + [
                "/usr/bin/python3", "-c",
                "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]); s.recv(1)", path,
            ]
        session.executableURL = URL(fileURLWithPath: words[0])
        session.arguments = Array(words.dropFirst())
        try session.run()
        defer { session.waitUntilExit() }
        try stage.play { stage.events.count >= 2 }
        #expect(stage.events == ["action.started", "action.failed"])
        #expect(stage.reasons.count == 1 && stage.reasons.first?.hasPrefix("the session of ") == true)
    }
}
