import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Actions

/// A pinentry's life: started with the connection as its input and output, gone with whoever wanted it.
@Suite(
    .enabled(if: Files.exists("/usr/bin/dbus-daemon"), "dbus-daemon is not installed"), .serialized,
    .timeLimit(.minutes(5)))
struct PinentryTests {
    init() { #expect(ActionLoop.isRunning) }

    /// The test's end, and the program's.
    private static func pair() throws -> (PinentryConnection, PinentryConnection) {
        var ends: [Int32] = [-1, -1]
        try SystemError.check("socketpair") { socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0, &ends) }
        return (
            PinentryConnection(FileDescriptor(owning: ends[0])), PinentryConnection(FileDescriptor(owning: ends[1]))
        )
    }

    @ActionActor private final class Stage {
        let daemon: TestBus
        let systemd: FakeSystemd
        let pinentry: PinentryUnit

        init() async throws {
            daemon = try await TestBus.started()
            systemd = try FakeSystemd(on: daemon)
            pinentry = PinentryUnit(ServiceManager(Bus(.address(daemon.address)), isOfUser: true))
        }

        func run(_ connection: PinentryConnection) -> Task<PlaceError?, Never> {
            ActionActor.task {
                do throws(PlaceError) {
                    try await self.pinentry.run("/usr/bin/pinentry", on: connection)
                    return nil
                } catch {
                    return error
                }
            }
        }
    }

    @Test @ActionActor func itIsAUnitOfTheUsersManager() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let (systemd, asked) = (stage.systemd, Lock<[BusValue]>([]))
        systemd.service.on("StartTransientUnit") { call in
            asked.withLock { $0 = call.values }
            return systemd.make(call)
        }
        let run = stage.run(try Self.pair().1)
        await stage.systemd.service.called("StartTransientUnit")
        let unit = try #require(stage.systemd.commands.first)
        // Found with the commands that a killed helper left.
        #expect(unit.hasPrefix("vicinity-command-pinentry-"))
        let properties = (asked.withLock { $0 }.dropFirst(2).first?.list ?? []).compactMap { $0.list?.first?.text }
        #expect(properties.contains("StandardInputFileDescriptor") && properties.contains("RuntimeMaxUSec"))
        // The screen is where the manager says.
        #expect(!properties.contains("Environment") && !properties.contains("UnsetEnvironment"))
        stage.systemd.finish(unit)
        #expect(await run.value == nil)
    }

    @Test @ActionActor func whatNobodyWantsIsStopped() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        let run = stage.run(try Self.pair().1)
        await stage.systemd.service.called("StartTransientUnit")
        run.cancel()
        #expect(await run.value == .cancelled)
        await stage.systemd.service.called("StopUnit")
    }

    @Test @ActionActor func whatCannotBeStartedIsSaid() async throws {
        let stage = try await Stage()
        defer { stage.systemd.service.stop() }
        stage.systemd.endJobs(with: "failed")
        guard case .failed(let because)? = await stage.run(try Self.pair().1).value else {
            return #expect(Bool(false))
        }
        #expect(because.contains("/usr/bin/pinentry cannot be run"))
    }

    @Test @ActionActor func withoutSystemdItIsAChild() async throws {
        let (ours, connection) = try Self.pair()
        let pinentry = PinentryProcess()
        let echo = ActionActor.task { try? await pinentry.run("/bin/cat", on: connection) }
        let line = Array("OK\n".utf8)
        #expect(UnixSocket.send(line[...], on: ours.rawValue) == line.count)
        // Not on the loop, which has the program started.
        let heard = Task.detached {
            UnixSocket.limitWaiting(ours.rawValue, seconds: 20)
            var reader = LineReader(ours.rawValue, maximumLine: 100)
            return reader.next().map { Array($0) }
        }
        #expect(await heard.value == Array("OK".utf8))
        // The program sees the end of a connection that this process still has.
        connection.hangUp()
        await echo.value
    }
}
