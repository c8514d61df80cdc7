import ActionProtocol
import Agent
import Foundation
import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

/// Who may have what done by hand, on a bus of the test's own with a polkit of its own.
@Suite(
    .enabled(if: getuid() == 0, "takes root: somebody who is not has to call"), .serialized, .timeLimit(.minutes(10)))
struct ControlServiceTests {
    private let nas = ["string:nas", "boolean:true", "uint64:0", "boolean:false"]
    private let mine = ["string:mine", "boolean:true", "uint64:0", "boolean:false"]

    private func hold(_ bus: ControlBus, _ arguments: [String], as caller: ControlBus.Caller = .stranger) throws
        -> String
    {
        try bus.sending("Hold", arguments, as: caller).outcome().answer
    }

    // MARK: The object

    @Test func itTellsWhatItIs() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let text = try bus.ask("introspect", "io.vicinity", "/io/vicinity", "io.vicinity.Manager1").output
        let methods = text.split(separator: "\n").map { $0.split(separator: " ").prefix(4).joined(separator: " ") }
        #expect(
            methods.filter { $0.hasPrefix(".") } == [
                ".AnalyticsStatus method - s", ".GrantPermission method u s", ".Hold method sbtb t",
                ".ListGrants method - au", ".PurgeAnalytics method b u", ".Release method s -", ".Reload method - u",
                ".RequestPermission method - s", ".RequireSecondFactor method s s", ".ResetProxy method - s",
                ".RevokePermission method u s", ".RotateHashKey method - s", ".Run method s -",
                ".SecondFactorStatus method - a{sv}", ".SetAnalyticsConsent method b -",
            ])
        let names = try bus.ask("introspect", "--xml-interface", "io.vicinity", "/io/vicinity").output
        for name in ["rule", "on", "microseconds", "until_network_change"] {
            #expect(names.contains("<arg type=\"\(["rule": "s", "microseconds": "t"][name] ?? "b")\" name=\"\(name)\""))
        }
    }

    @Test func otherArgumentsThanAMethodTakesAreRefused() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        #expect(try bus.send("Hold", "string:nas", as: .tester) == invalid)
        #expect(try bus.send("Hold", "int32:1", "boolean:true", "uint64:0", "boolean:true", as: .tester) == invalid)
        #expect(try bus.send("Run", "string:", as: .tester) == invalid)
        #expect(try bus.send("Run", "string:\u{e9}", as: .tester) == invalid)
        #expect(try bus.send("Run", "string:$(polkit.message)", as: .tester) == invalid)
        #expect(try bus.send("Run", "string:" + String(repeating: "a", count: 65), as: .tester) == invalid)
        #expect(try bus.send("Walk", as: .tester) == "org.freedesktop.DBus.Error.UnknownMethod")
        #expect(stage.holds.isEmpty && stage.ran.isEmpty)
    }

    // MARK: Who may

    @Test func rootIsAskedNothing() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let answer = try hold(bus, nas, as: .tester)
        let end = try #require(Int64(answer.split(separator: " ").last ?? ""))
        let seconds = (end - Timestamp.now().wall) / 1_000_000
        #expect((28_700...28_800).contains(seconds))
        #expect(stage.holds == ["nas on by root"])
        #expect(try bus.send("Run", "string:nas", as: .tester) == "")
        #expect(stage.ran == ["nas 1 by root"])
        #expect(try bus.send("Reload", as: .tester) == "uint32 7")
        #expect(try bus.send("Release", "string:nas", as: .tester) == "")
        #expect(stage.holds.isEmpty)
    }

    @Test func whatCannotBeDoneHasErrorsOfItsOwn() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        func error(_ name: String) -> String { "io.vicinity.Error.\(name)" }
        #expect(try bus.send("Release", "string:nas", as: .tester) == error("NotHeld"))
        #expect(try bus.send("Release", "string:nsa", as: .tester) == error("UnknownRule"))
        #expect(try bus.send("Run", "string:idle", as: .tester) == error("NothingToRun"))
        stage.resetIs(ActionEnd(.failed, because: "apt still holds http"))
        #expect(try bus.send("ResetProxy", as: .tester) == error("NotReset"))
        #expect(
            try hold(bus, ["string:nas", "boolean:true", "uint64:28800000001", "boolean:false"], as: .tester)
                == error("TooLong"))
        #expect(
            try hold(bus, ["string:nas", "boolean:true", "uint64:18446744073709551615", "boolean:false"], as: .tester)
                == error("TooLong"))
        #expect(
            try bus.ask("call", "io.vicinity", "/io/vicinity", "io.vicinity.Manager1", "Run", "s", "nsa", as: .tester)
                .complaint == "Call failed: no rule is called \"nsa\"; did you mean \"nas\"?\n")
    }

    @Test func othersNeedPolkitsYes() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.yes, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        #expect(try hold(bus, nas).hasPrefix("uint64 "))
        #expect(stage.holds == ["nas on by nobody"])
        #expect(try bus.send("Run", "string:mine") == "")
        #expect(try bus.send("Reload") == "uint32 7")
        #expect(try bus.send("Release", "string:nas") == "")
        var end = ActionEnd(.succeeded)
        end.output = Array("apt: http\n".utf8)
        stage.resetIs(end)
        #expect(try bus.send("ResetProxy").contains("apt: http"))
        #expect(stage.ran.last == "reset by nobody")
        #expect(
            polkit.questions.map(\.message) == [
                "Authentication is required to hold the rule nas on",
                "Authentication is required to run the actions of the rule mine",
                "Authentication is required to read the rule files again",
                "Authentication is required to release the rule nas",
                "Authentication is required to take away the proxy that rules have set on this machine",
            ])
        #expect(
            polkit.questions.allSatisfy {
                $0.kind == "system-bus-name" && $0.subject.hasPrefix(":1.") && $0.action == "io.vicinity.manage"
                    && !$0.mayAsk
            })
        #expect(Set(polkit.questions.map(\.subject)).count == 5)
    }

    @Test(
        arguments: [
            (FakePolkit.Answer.no, "io.vicinity.Error.NotAuthorized"),
            (.challenge, "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"),
            (.dismissed, "io.vicinity.Error.NotAuthorized"), (.garbage, "io.vicinity.Error.NotAuthorized"),
            (.refusal, "io.vicinity.Error.NotAuthorized"),
        ])
    func whateverIsNoYesIsANo(answer: FakePolkit.Answer, error: String) throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(answer, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        for (method, arguments) in [
            ("Hold", nas), ("Release", ["string:nas"]), ("Run", ["string:nas"]), ("Reload", []), ("ResetProxy", []),
            // Whether a rule exists is nothing for everybody.
            ("Run", ["string:no-such-rule"]), ("Hold", ["string:nsa"] + nas.dropFirst()),
        ] {
            let answer = try bus.sending(method, arguments).outcome().answer
            #expect(answer == error, "\(method)")
        }
        #expect(stage.holds.isEmpty && stage.ran.isEmpty)
    }

    @Test func withoutPolkitOnlyRootMay() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        #expect(try hold(bus, nas) == "io.vicinity.Error.NotAuthorized")
        #expect(try hold(bus, nas, as: .tester).hasPrefix("uint64 "))
    }

    @Test func aPolkitThatNeverAnswersRefuses() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus, limit: 100_000)
        defer {
            stage.stop()
            polkit.stop()
        }
        #expect(try hold(bus, nas) == "io.vicinity.Error.NotAuthorized")
        until { !polkit.cancelled.isEmpty }
        #expect(polkit.cancelled.first?.hasPrefix("vicinity-") == true)
        // A yes that comes late changes nothing.
        polkit.release(with: .yes)
        #expect(try hold(bus, nas).hasPrefix("uint64 "))
        #expect(polkit.questions.count == 2)
    }

    /// A polkit that goes away in the middle of it.
    @Test func aPolkitThatDiesRefuses() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let caller = try bus.sending("Hold", nas)
        until { !polkit.questions.isEmpty }
        polkit.stop()
        #expect(try caller.outcome().answer == "io.vicinity.Error.NotAuthorized")
        #expect(stage.holds.isEmpty)
    }

    @Test func aPersonIsAskedOnlyIfTheCallerWaitsForOne() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.dismissed, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        let call = ["call", "io.vicinity", "/io/vicinity", "io.vicinity.Manager1", "Run", "s", "nas"]
        for isReady in ["yes", "no"] {
            let words = ["busctl", "--address=\(bus.address)", "--allow-interactive-authorization=\(isReady)"] + call
            #expect(try bus.start(words, as: .stranger).outcome().complaint == "Call failed: nobody authenticated\n")
        }
        #expect(polkit.questions.map(\.mayAsk) == [true, false])
    }

    @Test func theCommandHasAPersonAskedWherePolkitDemandsThat() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.person, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        let program = Self.packaging.deletingLastPathComponent().appendingPathComponent(".build/debug/vicinity").path
        try ControlBus.copyProgram(program, to: bus.directory)
        func vicinity(_ words: String...) throws -> ControlBus.Outcome {
            try bus.start([bus.directory + "/vicinity"] + words, as: .stranger).outcome()
        }
        #expect(try vicinity("hold", "nas", "on").status == 0)
        #expect(stage.holds == ["nas on by nobody"])
        #expect(polkit.questions.map(\.mayAsk) == [false, true])
        // Nobody is asked twice in vain.
        polkit.release(with: .no)
        let refused = try vicinity("release", "nas")
        #expect(refused.status == 77 && refused.complaint == "vicinity: polkit refuses io.vicinity.manage\n")
        #expect(polkit.questions.count == 3)
        polkit.release(with: .challenge)
        let alone = try vicinity("run", "nas")
        #expect(alone.status == 77 && alone.complaint.contains("no authentication agent runs in your session"))
        #expect(polkit.questions.count == 5 && stage.ran.isEmpty)
    }

    // MARK: Rules that users may hold

    @Test func anybodyMayHoldWhatUsersMayHoldAndNothingElse() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.no, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        #expect(try hold(bus, mine).hasPrefix("uint64 "))
        #expect(try bus.send("Release", "string:mine") == "")
        #expect(polkit.questions.isEmpty)
        #expect(try bus.send("Run", "string:mine") == "io.vicinity.Error.NotAuthorized")
        // What an administrator holds is not theirs.
        #expect(try hold(bus, mine, as: .tester).hasPrefix("uint64 "))
        #expect(try bus.send("Release", "string:mine") == "io.vicinity.Error.NotAuthorized")
        #expect(try hold(bus, mine) == "io.vicinity.Error.NotAuthorized")
        #expect(stage.holds == ["mine on by root"])
        #expect(try bus.send("Release", "string:mine", as: .tester) == "")
        stage.replace { $0.replacing("user-hold = true", with: "") }
        #expect(try hold(bus, mine) == "io.vicinity.Error.NotAuthorized")
    }

    // MARK: Floods

    @Test func whoeverFloodsKeepsNobodyElseOut() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        let callers = try (0..<10).map { _ in try bus.sending("Hold", nas) }
        until { polkit.questions.count == WaitingCalls.askedPerUser }
        #expect(try bus.send("Reload", as: .tester) == "uint32 7")
        #expect(try hold(bus, mine).hasPrefix("uint64 "))
        // Those beyond the limit have an answer already; the others get theirs.
        let refused = try hold(bus, nas)
        #expect(refused == "org.freedesktop.DBus.Error.LimitsExceeded")
        polkit.release(with: .no)
        let answers = try callers.map { try $0.outcome().answer }
        #expect(
            Set(answers).isSubset(of: [
                "io.vicinity.Error.NotAuthorized", "org.freedesktop.DBus.Error.LimitsExceeded",
            ]))
        #expect(answers.filter { $0.hasSuffix("NotAuthorized") }.count >= WaitingCalls.askedPerUser)
        #expect(polkit.questions.count == answers.filter { $0.hasSuffix("NotAuthorized") }.count)
        #expect(stage.holds == ["mine on by nobody"])
        // There is room again.
        #expect(try hold(bus, nas) == "io.vicinity.Error.NotAuthorized")
    }

    @Test func everyCallOfOneConnectionIsAnswered() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let loop = try EventLoop()
        let client = SystemBus(on: loop, address: bus.address)
        defer { client.close() }
        client.connect()
        var answers: [String] = []
        for _ in 0..<500 {
            client.call(
                "io.vicinity", "/io/vicinity", "io.vicinity.Manager1", "Run", [.text("nas")],
                limit: 20_000_000
            ) { reply in
                switch reply {
                case .values: answers.append("done")
                case .failed(let error, _): answers.append(error ?? "nothing")
                case .absent: answers.append("absent")
                }
                if answers.count == 500 { loop.stop() }
            }
        }
        loop.run()
        let done = answers.filter { $0 == "done" }.count
        #expect(answers.filter { $0 != "done" }.allSatisfy { $0 == "org.freedesktop.DBus.Error.LimitsExceeded" })
        #expect(done >= WaitingCalls.perSender && done == stage.ran.count)
    }

    // MARK: The name

    @Test func aNameThatIsRefusedIsAProblem() throws {
        let bus = try ControlBus(denying: "<deny own=\"io.vicinity\"/>")
        let stage = try ControlStage(on: bus, isReady: false)
        defer { stage.stop() }
        let problem = stage.problems.first ?? nil
        #expect(problem?.contains("AccessDenied") == true && problem?.contains("io.vicinity.conf") == true)
    }

    // MARK: What is packaged

    private static let packaging = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent("packaging")

    /// A bus that lets nobody have a name but whom the packaged file lets.
    @Test func thePackagedFileLetsTheAgentsUserAloneHaveTheName() throws {
        let path = Self.packaging.appendingPathComponent("dbus/io.vicinity.conf").path
        let file = try String(contentsOfFile: path, encoding: .utf8)
        for (user, isAllowed) in [("vicinity", false), ("root", true)] {
            let bus = try ControlBus(
                denying: "<deny own=\"*\"/></policy><include>agent.conf</include><policy user=\"x\">"
            ) {
                try file.replacing("user=\"vicinity\"", with: "user=\"\(user)\"")
                    .write(toFile: $0 + "/agent.conf", atomically: true, encoding: .utf8)
            }
            let stage = try ControlStage(on: bus, isReady: false)
            defer { stage.stop() }
            #expect((stage.problems == [nil]) == isAllowed)
            if isAllowed { #expect(try bus.send("Reload", as: .tester) == "uint32 7") }
        }
    }

    @Test func thePackagedActionTakesAnAdministratorAndIsOursToAskAbout() throws {
        let path = Self.packaging.appendingPathComponent("polkit/io.vicinity.policy").path
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.contains("<action id=\"\(ControlService.action)\">"))
        #expect(text.contains("<annotate key=\"org.freedesktop.policykit.owner\">unix-user:vicinity</annotate>"))
        for subject in ["any", "inactive", "active"] {
            #expect(text.contains("<allow_\(subject)>auth_admin</allow_\(subject)>"))
        }
    }

    // MARK: The bus

    @Test func theSecondWaitsForTheName() throws {
        let bus = try ControlBus()
        let first = try ControlStage(on: bus)
        let second = try ControlStage(on: bus, isReady: false)
        defer { second.stop() }
        #expect(second.problems.first??.contains("another process") == true)
        first.stop()
        until { second.problems.count == 2 }
        #expect(second.problems.last == .some(nil))
        #expect(try bus.send("Reload", as: .tester) == "uint32 7")
    }

    @Test func aBusThatGoesAwayIsAProblem() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            polkit.stop()
            stage.stop()
        }
        let caller = try bus.sending("Hold", nas)
        until { !polkit.questions.isEmpty }
        bus.end()
        until { stage.problems.count == 2 }
        #expect(stage.problems.last??.contains("bus is gone") == true)
        _ = try caller.outcome()
        #expect(stage.holds.isEmpty)
    }

    @Test func theNameComesBackWithTheBus() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        bus.end()
        until { stage.problems.count == 2 }
        #expect(stage.problems.last??.contains("bus is gone") == true)
        try bus.start()
        until { stage.problems.count == 3 }
        #expect(stage.problems.last == .some(nil))
        #expect(try bus.send("Reload", as: .tester) == "uint32 7")
    }

    @Test func withoutABusThereIsAProblem() throws {
        let bus = try ControlBus()
        bus.end()
        let stage = try ControlStage(on: bus, isReady: false)
        defer { stage.stop() }
        #expect(stage.problems.first??.contains("no system bus") == true)
    }
}
