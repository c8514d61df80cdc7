import Actions
import Glibc
import Platform
import Testing

@Suite(.serialized) struct SupervisionTests {
    @Test func endsWhatTakesTooLong() throws {
        let result = try Stage.result(of: .shell("echo begun; sleep 600", timeout: 200_000))
        #expect(result.end == .timedOut)
        #expect(result.output.text == "begun\n")
        #expect((200_000..<4_000_000).contains(result.duration))
    }

    @Test func killsWhatIgnoresTheRequestToEnd() throws {
        let command = Command.shell("trap '' TERM; echo begun; while :; do sleep 0.05; done", timeout: 100_000)
        let result = try Stage.result(of: command, patience: 300_000)
        #expect(result.end == .timedOut)
        #expect((400_000..<5_000_000).contains(result.duration))
    }

    @Test func endsWhatWasStopped() throws {
        let result = try Stage.result(of: .shell("kill -STOP $$", timeout: 200_000))
        #expect(result.end == .timedOut)
        #expect(result.duration < 4_000_000)
    }

    @Test func killsWhatACommandLeavesBehind() throws {
        // The sleepers hold both pipes, one of them deaf to requests.
        let result = try Stage.result(of: .shell("sleep 600 & (trap '' TERM; sleep 600) & echo $!; exit 0"))
        #expect(result.isSuccess)
        #expect(result.duration < 4_000_000)
        let left = try #require(pid_t(result.output.text.dropLast()))
        let stage = try Stage()
        func look() {
            if !isAlive(left) { return stage.loop.stop() }
            stage.loop.schedule(at: Timestamp.now().boottime + 5_000) { look() }
        }
        look()
        stage.play()
        #expect(!isAlive(left))
    }

    @Test func cancelsWhatRunsWithItsChildren() throws {
        let stage = try Stage()
        var results: [CommandResult] = []
        let identifier = stage.runner.run(.shell("sleep 600 & sleep 600; echo never")) {
            results.append($0)
            stage.loop.stop()
        }
        #expect(stage.runner.runningCount == 1)
        stage.runner.cancel(identifier)
        stage.runner.cancel(identifier)
        stage.play()
        #expect(results.map(\.end) == [.cancelled])
        #expect(results.first?.output.text == "")
        stage.runner.cancel(identifier)
        #expect(stage.runner.runningCount == 0)
    }

    @Test func dropsWhatWaits() throws {
        let stage = try Stage(maximumRunning: 1)
        var ends: [String] = []
        func record(_ name: String) -> CommandRunner.Completion {
            { ends.append("\(name) \($0.end)") }
        }
        stage.runner.run(.shell("sleep 600"), completion: record("first"))
        let second = stage.runner.run(Command("/bin/true"), completion: record("second"))
        stage.runner.run(Command("/bin/true"), completion: record("third"))
        stage.runner.run(Command("/bin/true", lane: "other")) {
            record("other")($0)
            stage.loop.stop()
        }
        #expect(stage.runner.waitingCount == 3)
        stage.runner.cancel(second)
        stage.runner.cancelAll(in: "lane")
        #expect(stage.runner.waitingCount == 1)
        #expect(ends.isEmpty)
        stage.play()
        #expect(ends == ["second dropped", "third dropped", "first cancelled", "other exited(code: 0)"])
    }

    @Test func startsTheNextOfALaneWhenTheLastHasEnded() throws {
        let stage = try Stage()
        var said = ""
        // What was cancelled ends before what replaces it begins.
        stage.runner.run(.shell("trap 'sleep 0.2; echo ended; exit' TERM; echo begun; while :; do sleep 0.01; done")) {
            said += $0.output.text
        }
        stage.loop.schedule(at: Timestamp.now().boottime + 300_000) {
            stage.runner.cancelAll(in: "lane")
            for word in ["a", "b", "c"] {
                stage.runner.run(Command("/bin/echo", word)) {
                    said += $0.output.text
                    if word == "c" { stage.loop.stop() }
                }
                #expect(stage.runner.runningCount == 1)
            }
        }
        stage.play()
        #expect(said == "begun\nended\na\nb\nc\n")
    }

    @Test func bringsTheNextOfALaneInSpiteOfAFailure() throws {
        let stage = try Stage()
        var ends: [CommandResult.End] = []
        stage.runner.run(Command("/nowhere")) { ends.append($0.end) }
        #expect(ends.isEmpty)
        stage.runner.run(Command("/bin/false")) { ends.append($0.end) }
        stage.runner.run(Command("/bin/true")) {
            ends.append($0.end)
            stage.loop.stop()
        }
        stage.play()
        #expect(
            ends.contains(.failedToStart(.system(SystemError("posix_spawn", "/nowhere", code: ENOENT))))
                && ends.suffix(2) == [.exited(code: 1), .exited(code: 0)])
    }

    @Test func runsNoMoreThanAllowed() throws {
        let stage = try Stage(maximumRunning: 4)
        var ended = 0
        var most = 0
        for number in 0..<40 {
            stage.runner.run(.shell("sleep 0.02", lane: "\(number)")) { _ in
                ended += 1
                most = max(most, stage.runner.runningCount + 1)
                if ended == 40 { stage.loop.stop() }
            }
        }
        #expect(stage.runner.runningCount == 4)
        #expect(stage.runner.waitingCount == 36)
        stage.play()
        #expect(ended == 40)
        #expect(most == 4)
    }

    /// In a process of its own, where every child and descriptor is the runner's.
    @Test func leaksNothingInThousandsOfCommands() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            let before = descriptors()
            var remaining = 3_000
            var failures = 0
            for number in 0..<remaining {
                let command: Command =
                    switch number % 4 {
                    case 0: Command("/nowhere", lane: "\(number)")
                    case 1: Command("/bin/echo", "x", lane: "\(number % 7)")
                    // A few leave one in a session of its own, out of reach, that holds the pipes.
                    case 2 where number % 40 == 2:
                        .shell("setsid sleep 20 & sleep 0.1; exit 1", lane: "\(number)")
                    case 2: .shell("sleep 600 & exit 1", lane: "\(number)")
                    default: Command("/bin/true", lane: "\(number)")
                    }
                stage.runner.run(command) { result in
                    let expected: Bool =
                        switch (number % 4, result.end) {
                        case (0, .failedToStart), (2, .exited(code: 1)), (3, .exited(code: 0)): true
                        case (1, .exited(code: 0)): result.output.text == "x\n"
                        default: false
                        }
                    if !expected { failures += 1 }
                    remaining -= 1
                    if remaining == 0 { stage.loop.stop() }
                }
            }
            stage.play(limit: 60)
            let hasNoChild = waitpid(-1, nil, WNOHANG) < 0 && errno == ECHILD
            // The test library opens and closes a few of its own meanwhile.
            let hasLeaked = descriptors() > before + 8
            exit(remaining == 0 && failures == 0 && hasNoChild && !hasLeaked ? 0 : 1)
        }
    }

    @Test func startsWithoutStandardDescriptors() async {
        await #expect(processExitsWith: .exitCode(0)) {
            let stage = try Stage()
            for descriptor in Int32(0)...2 { close(descriptor) }
            var command = Command.shell("cat; echo err >&2")
            command.input = Array("in".utf8)
            stage.runner.run(command) { result in
                exit(result.isSuccess && result.output.text == "in" && result.errors.text == "err\n" ? 0 : 1)
            }
            stage.play()
        }
    }
}

private func descriptors() -> Int {
    (0..<1_024).filter { fcntl($0, F_GETFD) >= 0 }.count
}
