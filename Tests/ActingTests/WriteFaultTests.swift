import ActionProtocol
import Testing

/// Full disks, read-only ones and broken ones, at each write that `vicinity-act` makes: strace(1) answers in the place of
/// the kernel. It has to be told, no file is half, and the next attempt is as if nothing had been.
@Suite(
    .enabled(if: PrivateMachine.isPossible, "takes root, namespaces, strace and what `swift build` makes"),
    .timeLimit(.minutes(10)))
struct WriteFaultTests {
    struct Fault: CustomTestStringConvertible {
        var call: String
        var error: String
        var words: String
        /// Whether only the files that are being written are meant, and not all that are read.
        var isOfFiles = false
        var testDescription: String { "\(error) of \(call)" }
    }

    private static let faults = [
        Fault(call: "openat", error: "EROFS", words: "Read-only file system", isOfFiles: true),
        Fault(call: "write", error: "ENOSPC", words: "No space left on device", isOfFiles: true),
        Fault(call: "fsync", error: "EIO", words: "Input/output error"),
        Fault(call: "renameat", error: "ENOSPC", words: "No space left on device"),
    ]
    private static let directories = [
        "/etc/apt/apt.conf.d/": [".90vicinity.tmp"], "/run/environment.d/": [".90-vicinity.conf.tmp"],
        "/run/vicinity/": [".proxy.env.tmp", ".proxy.json.tmp"],
        "\(PrivateMachine.state)/": ["journal.json.new", "rules.json.new"],
    ]
    private static let trace = "/run/trace"

    @Test(arguments: faults, [false, true])
    func isToldAndMadeGood(_ fault: Fault, _ isEnd: Bool) async throws {
        let place = try Workplace()
        try place.hold(isEnd ? Workplace.first : [])
        let start = place.machine.remember()
        var count = 0
        while try happens(fault, count + 1, at: place, from: start, to: isEnd ? [] : Workplace.first) {
            count += 1
            // Other tests have no other threads.
            await Task.yield()
        }
        print("\(fault.testDescription), \(isEnd ? "end" : "beginning"): \(count)")
        #expect(count > 0)
    }

    private func happens(
        _ fault: Fault, _ number: Int, at place: Workplace, from start: PrivateMachine.Memory, to wishes: [String]
    ) throws -> Bool {
        let machine = place.machine
        try machine.restore(start)
        machine.forgetLog()
        // By the name that the program says, and by the one that the descriptor has.
        let names = WriteFaultTests.directories.flatMap { directory, names in names + names.map { directory + $0 } }
        let tracer =
            [
                "/usr/bin/strace", "-f", "--seccomp-bpf", "-o", WriteFaultTests.trace, "-e", "trace=\(fault.call)",
                "-e",
                "inject=\(fault.call):error=\(fault.error):when=\(number)",
            ] + (fault.isOfFiles ? names.flatMap { ["-P", $0] } : [])
        let helper = try machine.helper(under: tracer)
        let agent = try #require(helper.connect())
        let reports = try #require(agent.hold(place.digest, wishes))
        guard machine.read(WriteFaultTests.trace)?.contains("(INJECTED)") == true else { return false }

        let told = reports.contains {
            if case .state(_, _, .failed(let because)) = $0 { because.contains(fault.words) } else { false }
        }
        #expect(told || machine.log.contains(fault.words), "\(reports)")
        let known = [place.before, place.expected(Workplace.first) ?? [:]]
        for (path, text) in machine.files() { #expect(known.contains { $0[path] == text }, "\(path) is \(text)") }

        // The agent asks for it again.
        let again = try #require(agent.hold(place.digest, wishes))
        #expect(place.failures(again).isEmpty)
        #expect(machine.files() == place.expected(wishes))
        #expect(agent.hold(place.digest, []) != nil)
        #expect(machine.files() == place.before)
        helper.kill()
        return true
    }

    /// What could not be undone stays to be undone, and the next one does it.
    @Test func failedProtectionIsNotForgotten() throws {
        let place = try Workplace()
        try place.hold(Workplace.first)
        let tracer = [
            "/usr/bin/strace", "-f", "--seccomp-bpf", "-o", "/dev/null", "-e", "trace=unlinkat", "-e",
            "inject=unlinkat:error=EROFS",
        ]
        let helper = try place.machine.helper(["--protect"], under: tracer)
        #expect(helper.status == 75)
        #expect(place.machine.read("\(PrivateMachine.state)/journal.json")?.contains(#""protecting":true"#) == true)
        #expect(place.machine.files() == place.expected(Workplace.first))
        #expect(place.machine.act(["--protect"]) == 0)
        #expect(Workplace.relaxing.allSatisfy { place.machine.read($0) == nil })
        #expect(place.machine.read("\(PrivateMachine.state)/journal.json")?.contains(#""protecting":false"#) == true)
    }
}
