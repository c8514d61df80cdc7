import ActionProtocol
import Foundation
import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Acting
@testable import Actions

/// Second factors asked for where polkit cannot, by the programs themselves: `vicinity-act`, `vicinity-factor`, libpam and
/// pam_oath, and a pinentry of the test's that the session's part runs. logind alone is the test's own.
@Suite(
    .enabled(
        if: PrivateMachine.isPossible && ActionLoop.isRunning && AskingStage.isPossible,
        "takes root, namespaces, strace, pam_oath, oathtool and what `swift build` makes"),
    .serialized, .timeLimit(.minutes(10)))
struct AskingTests {
    @Test func theRightCodeIsRightOnceAndTheAgentNeverHasIt() throws {
        let stage = try AskingStage()
        stage.pinentry(code: 0)
        #expect(stage.ask(1) == .right)
        stage.pinentry(code: 0)
        #expect(stage.ask(2) == .wrong)
        stage.pinentry(code: 1)
        #expect(stage.ask(3) == .right)
        // What the person was told.
        #expect(stage.heard.contains("SETDESC Confirm (network office)\n"))
        for code in try [stage.code(0), stage.code(1)] {
            #expect(!stage.said.contains(code) && !stage.machine.log.contains(code))
        }
    }

    @Test func aCrashedOrDismissedDialogueFails() throws {
        let stage = try AskingStage()
        stage.pinentry("kill -KILL $$")
        #expect(stage.ask(1) == .failed(because: "the dialogue ended without an answer; is pinentry installed?"))
        stage.pinentry("echo 'ERR 83886179 Operation cancelled <Pinentry>'")
        #expect(stage.ask(2) == .failed(because: "the person dismissed the question"))
        stage.pinentry("echo D; echo OK")
        #expect(stage.ask(3) == .failed(because: "pinentry says what no pinentry says"))
        stage.hasNoPinentry()
        #expect(stage.ask(4) == .failed(because: "the dialogue ended without an answer; is pinentry installed?"))
    }

    /// Everybody in whose absence there is no answer, killed where the person would give it.
    @Test func whoIsKilledInTheMidstOfItHasNotAnswered() throws {
        let stage = try AskingStage()
        stage.pinentry("sleep 1000")
        stage.begin(1)
        stage.killFactor()
        #expect(stage.answer(1) == .failed(because: "vicinity-factor ended without an answer"))
        #expect(stage.pinentryIsGone())

        stage.begin(2)
        stage.killPinentry()
        #expect(stage.answer(2) == .failed(because: "the dialogue ended without an answer; is pinentry installed?"))

        stage.begin(3)
        stage.endSession()
        #expect(stage.answer(3) == .failed(because: "the dialogue ended without an answer; is pinentry installed?"))

        stage.begin(4)
        stage.killAct()
        #expect(stage.answer(4) == nil && stage.pinentryIsGone())
        #expect(stage.factorIsGone())
    }

    @Test func whatIsNotAskedAnyMoreIsNotShown() throws {
        let stage = try AskingStage()
        stage.pinentry("sleep 1000")
        stage.begin(1)
        stage.agent.ask(.withdraw(id: 1))
        #expect(stage.pinentryIsGone() && stage.factorIsGone())
        // The next one takes the place of one that is open.
        stage.begin(2)
        let former = stage.pinentryProcess
        stage.agent.ask(stage.request(3))
        #expect(stage.agent.next() == .answered(id: 2, .failed(because: "another second factor is asked for instead")))
        #expect(stage.agent.next() == .dialogue(id: 3, user: 0))
        #expect(stage.isGone(former))
        // Nobody who shows it comes.
        stage.agent.ask(.withdraw(id: 3))
        // With the agent everything ends.
        stage.begin(4)
        stage.hangUp()
        #expect(stage.pinentryIsGone() && stage.factorIsGone())
        #expect(!Files.exists(stage.dialogue))
    }

    @Test func nobodyIsAskedForWhatTheRulesDoNotSay() throws {
        let stage = try AskingStage()
        stage.pinentry(code: 0)
        var wrong: [(NamedFactor, String)] = []
        var factor = stage.factor
        factor.rule = "other"
        wrong.append((factor, "the rule does not act"))
        factor = stage.factor
        factor.index = 1
        wrong.append((factor, "the rule has no such second factor"))
        factor.index = 7
        wrong.append((factor, "the rule has no such second factor"))
        factor = stage.factor
        factor.edge = .leave
        wrong.append((factor, "the rule has no such second factor"))
        factor = stage.factor
        factor.network = "Free-WiFi"
        wrong.append((factor, "no rule file has the network that the agent says"))
        factor = stage.factor
        factor.session = "3"
        wrong.append((factor, "the session that was to be asked is not at the screen any more"))
        for (number, (factor, because)) in wrong.enumerated() {
            let id = UInt64(number + 1)
            stage.agent.ask(.ask(id: id, digest: stage.digest, factor))
            #expect(stage.agent.next() == .answered(id: id, .failed(because: because)))
        }
        stage.agent.ask(.ask(id: 90, digest: String(repeating: "0", count: 64), stage.factor))
        #expect(
            stage.agent.next()
                == .answered(
                    id: 90,
                    .failed(because: "vicinity-act reads other rule files than the agent; see `vicinity check`")))
        stage.seat { $0.isLocked = true }
        #expect(stage.ask(91) == .failed(because: "the screen is locked"))
        stage.seat { ($0.isLocked, $0.kind) = (false, "greeter") }
        #expect(stage.ask(92) == .failed(because: "nobody has an active session at this machine's screen"))
        stage.seat { ($0.kind, $0.isRemote) = ("user", true) }
        #expect(stage.ask(93) == .failed(because: "nobody has an active session at this machine's screen"))
        stage.seat { $0.isRemote = false }
        #expect(stage.ask(94) == .right)
    }

    @Test func theServiceHasToDemandAFactorEachTime() throws {
        let stage = try AskingStage()
        stage.pinentry(code: 0)
        stage.service("auth required pam_permit.so\naccount required pam_permit.so\n")
        guard case .failed(let because)? = stage.ask(1) else { return #expect(Bool(false)) }
        #expect(because.hasPrefix("PAM's vicinity asks for a password alone"))
        stage.service(nil)
        guard case .failed(let missing)? = stage.ask(2) else { return #expect(Bool(false)) }
        #expect(missing.contains("there is no PAM service vicinity"))
        stage.service(AskingStage.service)
        #expect(stage.ask(3) == .right)
    }

    /// The dialogue is for the user of the session, whoever else comes first.
    @Test func nobodyElseGetsTheDialogue() throws {
        let stage = try AskingStage()
        stage.pinentry(code: 0)
        stage.agent.ask(stage.request(1))
        #expect(stage.agent.next() == .dialogue(id: 1, user: 0))
        // Hung up on at once, without a word.
        #expect(stage.strangerHears() == "")
        stage.show()
        #expect(stage.answer(1) == .right)
    }

    @Test func aTextConsoleIsAskedByTheMachinesPasswordAgents() throws {
        let stage = try AskingStage()
        stage.seat { $0.type = "tty" }
        stage.agent.ask(stage.request(1))
        stage.answerOnConsole("+\(try stage.code(0))")
        #expect(stage.agent.next() == .answered(id: 1, .right))
        stage.agent.ask(stage.request(2))
        stage.answerOnConsole("-")
        let because = "no password agent gave an answer on the console"
        #expect(stage.agent.next() == .answered(id: 2, .failed(because: because)))
    }
}
