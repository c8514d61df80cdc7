import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Actions

/// Commands as units of a systemd whose answers are lost, or who is not heard of for a while: no unit is left running
/// that nobody waits for.
@Suite(
    .enabled(if: Files.exists("/usr/bin/dbus-daemon"), "dbus-daemon is not installed"), .serialized,
    .timeLimit(.minutes(5)))
struct LostUnitTests {
    init() { #expect(ActionLoop.isRunning) }

    @ActionActor private final class Stage {
        let daemon: TestBus
        let systemd: FakeSystemd
        let commands: CommandUnits
        private(set) var starts = 0

        init(callLimit: Int64 = 60_000_000, slack: Int64 = 20_000_000) async throws {
            daemon = try await TestBus.started()
            systemd = try FakeSystemd(on: daemon)
            let bus = Bus(.address(daemon.address), limit: callLimit)
            commands = CommandUnits(
                ServiceManager(bus, isOfUser: false),
                limits: CommandUnits.Limits(
                    slack: slack, patience: min(slack, 5_000_000), firstRetry: 5_000, lastRetry: 20_000))
        }

        func run(timeout: Int64 = 30_000_000) -> Task<CommandResult, Never> {
            ActionActor.task {
                await self.commands.run(Command("/bin/x", timeout: timeout), id: 7, user: nil) { self.starts += 1 }
            }
        }

        /// The bus dies after systemd has heard what it is asked.
        func loseAnswer(of member: String, _ answer: @escaping FakeService.Behaviour) {
            systemd.service.on(member) { [daemon] call in
                _ = answer(call)
                daemon.end()
                return .nothing
            }
        }

        /// The bus is there again, and systemd on it.
        func comeBack(with units: Bool = true) async throws {
            systemd.service.on("StartTransientUnit", nil)
            systemd.service.on("StopUnit", nil)
            systemd.service.vanish()
            systemd.forget(units: !units)
            try await daemon.restart()
            systemd.service.appear()
        }
    }

    private static let unit = "vicinity-command-7.service"

    @Test @ActionActor func aCommandRunsToItsEnd() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let run = stage.run()
        await stage.systemd.service.called("StartTransientUnit")
        stage.systemd.finish(Self.unit, status: 3)
        #expect(await run.value.end == .exited(code: 3))
        #expect(stage.starts == 1 && stage.systemd.commands.isEmpty)
    }

    @Test @ActionActor func aUnitWhoseStartWasNotAnsweredIsFoundByItsName() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        stage.loseAnswer(of: "StartTransientUnit") { systemd.make($0) }
        let run = stage.run()
        await systemd.service.called("StartTransientUnit")
        try await stage.comeBack()
        await systemd.service.called("RefUnit")
        systemd.finish(Self.unit, status: 4)
        #expect(await run.value.end == .exited(code: 4))
        #expect(stage.starts == 1 && systemd.commands.isEmpty)
        #expect(systemd.service.calls(of: "StartTransientUnit").count == 1)
    }

    /// It was cancelled before anybody knew whether it runs.
    @Test @ActionActor func aUnitWhoseStartWasNotAnsweredIsEndedWhereItIsNotWantedAnyMore() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        stage.loseAnswer(of: "StartTransientUnit") { systemd.make($0) }
        let run = stage.run()
        await systemd.service.called("StartTransientUnit")
        run.cancel()
        #expect(systemd.commands == [Self.unit])
        try await stage.comeBack()
        #expect(await run.value.end == .cancelled)
        #expect(systemd.commands.isEmpty)
    }

    @Test @ActionActor func aSystemdThatEndsBeforeItAnswersHasStartedItAllTheSame() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        systemd.service.on("StartTransientUnit") { call in
            _ = systemd.make(call)
            systemd.service.crash()
            return .nothing
        }
        let run = stage.run()
        await systemd.service.called("StartTransientUnit")
        systemd.forget()
        systemd.service.appear()
        await systemd.service.called("RefUnit")
        systemd.finish(Self.unit)
        #expect(await run.value.end == .exited(code: 0))
        #expect(systemd.commands.isEmpty)
    }

    @Test @ActionActor func aUnitThatIsNotThereAnyMoreIsLost() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        stage.loseAnswer(of: "StartTransientUnit") { _ in .nothing }
        let run = stage.run()
        await stage.systemd.service.called("StartTransientUnit")
        try await stage.comeBack(with: false)
        guard case .lost(let because) = await run.value.end else {
            Issue.record("it is told to have ended")
            return
        }
        #expect(because.contains("does not know it any more"))
        #expect(stage.starts == 0)
    }

    @Test @ActionActor func aBusThatGoesInTheMiddleEndsNothing() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let run = stage.run()
        // It is being waited for.
        await stage.systemd.service.called("Get", times: 2)
        stage.daemon.end()
        try await stage.comeBack()
        await stage.systemd.service.called("RefUnit")
        stage.systemd.finish(Self.unit, status: 5)
        #expect(await run.value.end == .exited(code: 5))
        #expect(stage.starts == 1)
    }

    @Test @ActionActor func aBusThatDoesNotComeBackIsNotWaitedForWithoutEnd() async throws {
        let stage = try await Stage(slack: 50_000)
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        stage.loseAnswer(of: "StartTransientUnit") { systemd.make($0) }
        let result = await stage.run(timeout: 50_000).value
        guard case .lost = result.end else {
            Issue.record("\(result.end)")
            return
        }
        // What runs on is ended when there is a bus again.
        #expect(systemd.commands == [Self.unit])
        try await stage.comeBack()
        await systemd.service.called("StopUnit")
    }

    @Test(arguments: [true, false]) @ActionActor func anEndThatFailedIsAskedForAgain(crashes: Bool) async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        let run = stage.run()
        await systemd.service.called("StartTransientUnit")
        systemd.service.on("StopUnit") { _ in
            if crashes { systemd.service.crash() }
            return .error("org.freedesktop.DBus.Error.LimitsExceeded", "busy")
        }
        run.cancel()
        await systemd.service.called("StopUnit", times: crashes ? 1 : 3)
        systemd.service.on("StopUnit", nil)
        if crashes {
            systemd.forget()
            systemd.service.appear()
        }
        #expect(await run.value.end == .cancelled)
        #expect(systemd.commands.isEmpty)
    }

    @Test @ActionActor func whatAKilledHelperLeftIsEndedEvenWhereThatFailsFirst() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let systemd = stage.systemd
        _ = systemd.make(
            .init(member: "StartTransientUnit", values: [.text("vicinity-command-1.service")]))
        systemd.service.on("ListUnitsByPatterns") { _ in .error("org.freedesktop.DBus.Error.LimitsExceeded", "busy") }
        await stage.commands.stopLeftovers()
        #expect(systemd.commands.count == 1)
        // What was begun meanwhile is nobody's leftover.
        let run = stage.run()
        await systemd.service.called("StartTransientUnit")
        systemd.service.on("ListUnitsByPatterns", nil)
        await systemd.service.called("StopUnit")
        #expect(systemd.service.calls(of: "StopUnit").map { $0.text(0) } == ["vicinity-command-1.service"])
        systemd.finish(Self.unit)
        #expect(await run.value.end == .exited(code: 0))
    }
}
