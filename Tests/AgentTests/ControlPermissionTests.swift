import Agent
import Glibc
import TestSupport
import Testing

/// Who may let a user see where the machine is, on a bus of the test's own with a polkit of its own.
@Suite(
    .enabled(if: getuid() == 0, "takes root: somebody who is not has to call"), .serialized, .timeLimit(.minutes(10)))
struct ControlPermissionTests {
    private static let nobody: UInt32 = 65_534
    private static let notAuthorized = "io.vicinity.Error.NotAuthorized"

    @Test func aUserAsksForPermission() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.yes, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        #expect(try bus.send("RequestPermission") == "string \"full\"")
        #expect(stage.granted == [Self.nobody])
        // Who has it is asked nothing.
        #expect(try bus.send("RequestPermission") == "string \"full\"")
        #expect(polkit.questions.map(\.action) == ["io.vicinity.read-location"])
        #expect(polkit.questions.first?.message.contains("which networks this machine is on") == true)
        // Everybody may give back what is theirs.
        #expect(try bus.send("RevokePermission", "uint32:\(Self.nobody)") == "string \"not-determined\"")
        #expect(stage.granted.isEmpty && polkit.questions.count == 1)
        // Root asks for nothing.
        #expect(try bus.send("RequestPermission", as: .tester) == "string \"full\"")
        #expect(stage.granted.isEmpty)
    }

    @Test(arguments: [
        (FakePolkit.Answer.no, notAuthorized), (.dismissed, notAuthorized), (.garbage, notAuthorized),
        (.refusal, notAuthorized), (.challenge, "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"),
    ])
    func whateverIsNoYesGrantsNothing(answer: FakePolkit.Answer, error: String) throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(answer, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        #expect(try bus.send("RequestPermission") == error)
        #expect(try bus.send("GrantPermission", "uint32:\(Self.nobody)") == error)
        #expect(try bus.send("RevokePermission", "uint32:7") == error)
        #expect(try bus.send("ListGrants") == error)
        #expect(stage.granted.isEmpty)
        let manage = "io.vicinity.manage"
        #expect(polkit.questions.map(\.action) == ["io.vicinity.read-location", manage, manage, manage])
    }

    @Test func rootGrantsAndRevokes() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        #expect(try bus.send("GrantPermission", "uint32:7", as: .tester) == "string \"full\"")
        #expect(try bus.send("GrantPermission", "uint32:7", as: .tester) == "string \"full\"")
        #expect(try bus.send("ListGrants", as: .tester).contains("uint32 7"))
        #expect(try bus.send("RevokePermission", "uint32:7", as: .tester) == "string \"not-determined\"")
        let invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        #expect(try bus.send("GrantPermission", "uint32:4294967295", as: .tester) == invalid)
        #expect(try bus.send("GrantPermission", "string:7", as: .tester) == invalid)
        #expect(stage.granted.isEmpty)
    }

    /// What the administrator forbids polkit is not asked about.
    @Test func whoIsRestrictedIsAskedNothing() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.yes, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        stage.restrict()
        #expect(try bus.send("RequestPermission") == "io.vicinity.Error.Restricted")
        #expect(
            try bus.send("GrantPermission", "uint32:\(Self.nobody)", as: .tester) == "io.vicinity.Error.Restricted")
        #expect(stage.granted.isEmpty && polkit.questions.isEmpty)
    }

    /// The person took so long that it is forbidden by now.
    @Test func aLateYesGrantsNothingThatIsForbiddenMeanwhile() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        let caller = try bus.sending("RequestPermission", [])
        until { !polkit.questions.isEmpty }
        stage.restrict()
        polkit.release(with: .yes)
        #expect(try caller.outcome().answer == "io.vicinity.Error.Restricted")
        #expect(stage.granted.isEmpty)
    }

    @Test func whatCannotBeKeptIsNotGranted() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer {
            rmdir(stage.grants + ".new")
            stage.stop()
        }
        #expect(mkdir(stage.grants + ".new", 0o700) == 0)
        #expect(try bus.send("GrantPermission", "uint32:7", as: .tester) == "io.vicinity.Error.NotKept")
        #expect(stage.granted.isEmpty)
    }
}
