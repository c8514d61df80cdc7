import ActionProtocol
import Foundation
import Testing

/// `vicinity-act` killed between every two steps that it makes on disk: strace(1) does it, nothing in the program knows.
/// What comes next finds the machine as it has to be, to the octet.
@Suite(
    .enabled(if: PrivateMachine.isPossible, "takes root, namespaces, strace and what `swift build` makes"),
    .timeLimit(.minutes(10)))
struct KillTests {
    /// What is wanted before and when it is killed.
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case beginning, end, another, protection

        var former: [String] {
            switch self {
            case .beginning: []
            case .end, .another: Workplace.first
            case .protection: Workplace.first + ["trusted"]
            }
        }
        var wanted: [String] {
            switch self {
            case .beginning: Workplace.first
            case .another: Workplace.second
            case .end, .protection: []
            }
        }
        var testDescription: String { rawValue }
    }

    /// Each syscall has a counter of its own.
    @Test(arguments: Change.allCases)
    func killedAnywhere(_ change: Change) async throws {
        let place = try Workplace()
        try place.hold(change.former)
        let start = place.machine.remember()
        // After an fsync comes a rename, and one after it: fsync alone stops at every state but those of the first file.
        let calls = change == .beginning ? ["fsync", "rename", "renameat"] : ["fsync"]
        for call in calls {
            var count = 0
            while try place.isKilled(change, at: call, count + 1, from: start) {
                count += 1
                // Other tests have no other threads.
                await Task.yield()
            }
            print("kill points of \(change.rawValue), \(call): \(count)")
            #expect(count >= (call == "fsync" ? 6 : 2), "\(call) was hardly reached")
        }
    }

    /// Others read what is in it. A second step, which makes that possible, might never come.
    @Test func aDirectoryIsMadeInOneStep() throws {
        let machine = try Workplace().machine
        let directory = "/run/environment.d"
        try FileManager.default.removeItem(atPath: machine.outside(directory))
        let helper = try machine.helper(under: [
            "/usr/bin/strace", "-f", "-o", "/dev/null", "-P", directory, "-e", "trace=chmod,fchmodat", "-e",
            "inject=chmod,fchmodat:signal=KILL",
        ])
        let agent = try #require(helper.connect())
        #expect(agent.hold(try #require(agent.digest()), Workplace.first) != nil)
        let attributes = try FileManager.default.attributesOfItem(atPath: machine.outside(directory))
        #expect(attributes[.posixPermissions] as? Int == 0o755)
    }
}

extension Workplace {
    /// Whether it came to the call so often; then what follows was looked at.
    func isKilled(_ change: KillTests.Change, at call: String, _ number: Int, from start: PrivateMachine.Memory) throws
        -> Bool
    {
        try machine.restore(start)
        let tracer = [
            "/usr/bin/strace", "-f", "-o", "/dev/null", "-e", "trace=\(call)", "-e",
            "inject=\(call):signal=KILL:when=\(number)",
        ]
        if change == .protection {
            let helper = try machine.helper(["--protect"], under: tracer)
            guard helper.status == nil else { return false }
        } else {
            let helper = try machine.helper(under: tracer)
            if let agent = helper.connect(), agent.hold(digest, change.wanted) != nil {
                helper.kill()
                return false
            }
            #expect(helper.status == nil)
        }
        let killed = machine.remember()

        try hold(change == .end || change == .protection ? Workplace.first : change.wanted, [])
        try machine.restore(killed)
        try hold([])
        try machine.restore(killed)
        try protect(change)
        // A rename stops where an fsync did, or will.
        guard call == "fsync" else { return true }
        try machine.restore(killed)
        try leaveAlone()
        return true
    }

    /// Without an agent nothing that lowers protection stays, and everything else is one or the other, never half of it.
    private func protect(_ change: KillTests.Change) throws {
        #expect(machine.act(["--protect"]) == 0)
        let files = machine.files()
        #expect(!files.keys.contains { $0.hasPrefix("/run/vicinity/") })
        #expect(!machine.hasElement)
        for path in [Workplace.apt, Workplace.environment] {
            let known = [before, expected(change.former), expected(change.wanted)].map { $0?[path] }
            let isKnown = known.contains(files[path])
            #expect(isKnown, "\(path) is \(files[path] ?? "gone")")
        }
        try hold([])
    }

    /// What somebody has set since stays.
    private func leaveAlone() throws {
        try machine.write(Workplace.environment, Workplace.own)
        let helper = try machine.helper()
        let agent = try #require(helper.connect())
        #expect(agent.hold(digest, []) != nil)
        var wanted = before
        wanted[Workplace.environment] = Workplace.own
        #expect(machine.files() == wanted)
        helper.kill()
    }
}
