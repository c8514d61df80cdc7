import Foundation
import Glibc
import Platform
import ProbeProtocol
import Probing
import Testing

extension ProbingTests {
    /// The prober against helpers that do not do what they should.
    @Suite(.serialized) struct HelperTests {
        private let pin: SPKIPin
        private let scratch: Scratch

        init() throws {
            pin = try #require(Identity.elliptic).pin
            scratch = try Scratch()
        }

        /// What comes of a helper that is this script.
        private func result(of script: String, timeout: Int64 = 2_000_000) throws -> Stage.Result {
            let name = "helper-\(UInt32.random(in: 0 ... .max))"
            let path = try scratch.script(name, "#!/bin/sh\n\(script)\n")
            return try Stage.result(of: .local(443, pin, timeout: timeout), paths: .helper(path))
        }

        @Test func believesAWellFormedAnswer() throws {
            let proven = try result(of: "echo '{\"outcome\":\"proven\",\"pin\":\"\(pin)\"}'").outcome
            #expect(proven == .proven(pin))
            #expect(try result(of: "echo '{\"outcome\":\"refused\"}'; sleep 60").outcome == .refused)
            // Read once it has ended as well.
            #expect(try result(of: "printf '{\"outcome\":\"unreachable\"}\\n'; exit 3").outcome == .unreachable)
        }

        @Test func asksWhatWasAsked() throws {
            let seen = "\(scratch.path)/seen"
            _ = try result(of: "cat >\(seen); echo '{\"outcome\":\"refused\"}'")
            let request = try #require(ProbeRequest(line: try Files.read(seen, limit: 4_096)))
            #expect(request.interfaceName == "lo" && request.interfaceIndex == 1 && request.port == 443)
            #expect(request.serverName == "inside.example" && request.addresses == ["127.0.0.1"])
            #expect(request.purpose == .key([pin]) && (1_800...2_000).contains(request.time))
        }

        @Test func givesTheHelperNothingOfItsOwn() throws {
            let seen = "\(scratch.path)/seen"
            let inherited = open("/dev/null", O_RDONLY)
            defer { close(inherited) }
            _ = try result(
                of:
                    "exec >\(seen); tr '\\0' '\\n' </proc/$$/environ; readlink /proc/self/fd/?; exec grep SigBlk /proc/self/status"
            )
            let lines = String(decoding: try Files.read(seen, limit: 4_096), as: UTF8.self).split(separator: "\n")
            #expect(lines.count == 5)
            #expect(lines.first == "LANG=C.UTF-8" && lines.last == "SigBlk:\t0000000000000000")
            // The socket, the file above, and standard error: a word there would be one in our journal.
            #expect(lines.dropFirst().first?.hasPrefix("socket:") == true)
            #expect(Array(lines.dropFirst(2).prefix(2)) == [seen[...], "/dev/null"])
        }

        @Test func believesNothingElse() throws {
            let other = try #require(Identity.other).pin
            let scripts = [
                "echo nonsense", "echo", "echo '{}'", "printf '\\377\\376\\n'", "echo '{\"outcome\":\"proven\"}'",
                // What was not asked for.
                "echo '{\"outcome\":\"proven\",\"pin\":\"\(other)\"}'",
                // More than one answer.
                "printf '{\"outcome\":\"proven\",\"pin\":\"\(pin)\"}\\n{\"outcome\":\"refused\"}\\n'",
                // A megabyte, with and without an end of line.
                "head -c 1048576 /dev/zero", "yes '{' | head -c 1048576",
                // None.
                "exit 0", "exit 1", "kill -9 $$", "kill -SEGV $$",
                // Half of one.
                "printf '{\"outcome\":\"proven\",\"pin\":\"\(pin)\"}'",
            ]
            for script in scripts {
                let result = try result(of: script)
                #expect(result.outcome.failure != nil, "\(script): \(result.outcome)")
                #expect(result.duration < 1.5, "\(script)")
            }
        }

        @Test func killsWhatHangs() throws {
            let scripts = [
                "sleep 600", "trap '' TERM HUP INT; while :; do sleep 1; done", "kill -STOP $$",
                "printf '{\"outcome\":'; sleep 600", "sleep 600 & exit 0",
                // Out of reach of the group; it keeps the socket open, and the answer never comes.
                "setsid sleep 3 & exit 0",
            ]
            for script in scripts {
                let result = try result(of: script, timeout: 300_000)
                let isOver = result.outcome == .timedOut || result.outcome.failure != nil
                #expect(isOver, "\(script): \(result.outcome)")
                #expect(result.duration < 1.0, "\(script)")
            }
        }

        @Test func waitsNoLongerThanThreeSecondsWhateverIsAsked() throws {
            let result = try result(of: "exec sleep 600", timeout: 600_000_000)
            #expect(result.outcome == .timedOut)
            #expect((3.1...3.5).contains(result.duration))
        }

        @Test func tellsWhenThereIsNoHelper() throws {
            let outcome = try Stage.outcome(of: .local(443, pin), paths: .helper("/nonexistent/helper"))
            #expect(outcome.failure == "posix_spawn /nonexistent/helper: No such file or directory")
        }

        @Test func cancelsWhatRunsAndWhatWaits() throws {
            let path = try scratch.script("cancelled", "#!/bin/sh\nsleep 600\n")
            let stage = try Stage(paths: .helper(path))
            var outcomes: [Int: ProbeOutcome] = [:]
            let identifiers = (0..<6).map { number in
                stage.prober.probe(.local(443, pin)) { outcomes[number] = $0 }
            }
            #expect(stage.prober.waitingCount == 6)
            stage.play(
                until: {
                    guard stage.prober.runningCount == 4, children(named: path).count == 4 else { return false }
                    for number in [5, 2, 2] { stage.prober.cancel(identifiers[number]) }
                    #expect(outcomes.isEmpty, "called back from within cancel")
                    return true
                },
                {
                    guard outcomes.count == 2, stage.prober.waitingCount == 0, stage.prober.runningCount == 4 else {
                        return false
                    }
                    #expect(outcomes == [2: .cancelled, 5: .cancelled])
                    stage.prober.cancelAll()
                    return true
                },
                { outcomes.count == 6 })
            #expect(outcomes.values.allSatisfy { $0 == .cancelled })
            #expect(children(named: path).isEmpty)
            stage.prober.cancel(identifiers[0])
        }

        @Test func probesNoMoreThanFourAtATime() throws {
            let identity = try #require(Identity.elliptic)
            let server = try TLSServer(identity)
            let path = try scratch.script("slowly", "#!/bin/sh\nsleep 0.1\nexec \(ProbePaths.spawning.helper)\n")
            let stage = try Stage(paths: .helper(path))
            var outcomes: [ProbeOutcome] = []
            var most = 0
            for _ in 0..<20 {
                stage.prober.probe(.local(server.port, identity.pin)) { outcomes.append($0) }
            }
            stage.play {
                most = max(most, stage.prober.runningCount)
                return outcomes.count == 20 && stage.prober.runningCount == 0
            }
            #expect(outcomes == Array(repeating: .proven(identity.pin), count: 20))
            #expect(most == 4)
        }

        /// Who waits loses no time: four that hang, and a fifth that is answered.
        @Test func countsTimeFromTheStart() throws {
            let path = try scratch.script(
                "some",
                "#!/bin/sh\nread line\ncase $line in *443*) sleep 600;; *) echo '{\"outcome\":\"refused\"}';; esac\n")
            let stage = try Stage(paths: .helper(path))
            var outcomes: [ProbeOutcome] = []
            for _ in 0..<4 { stage.prober.probe(.local(443, pin, timeout: 600_000)) { outcomes.append($0) } }
            stage.prober.probe(.local(444, pin, timeout: 600_000)) { outcomes.append($0) }
            stage.play { outcomes.count == 5 }
            #expect(outcomes.first == .timedOut && outcomes.contains(.refused))
            #expect(outcomes.filter { $0 == .timedOut }.count == 4)
        }

        /// In a process of its own, where every child and descriptor is the prober's.
        @Test func leaksNothing() async {
            await #expect(processExitsWith: .exitCode(0)) {
                let pin = try #require(SPKIPin(octets: [UInt8](repeating: 1, count: 32)))
                let scratch = try Scratch()
                let path = try scratch.script(
                    "some",
                    """
                    #!/bin/sh
                    read line
                    case $line in
                    *:1,*) echo '{"outcome":"refused"}'; sleep 60;;
                    *:2,*) kill -9 $$;;
                    *:3,*) sleep 60 & exit 0;;
                    *) exec sleep 60;;
                    esac

                    """)
                let stage = try Stage(paths: .helper(path))
                let descriptors = { (0..<1_024).filter { fcntl($0, F_GETFD) >= 0 }.count }
                let before = descriptors()
                var answered = 0
                for number in 0..<200 {
                    var question = ProbeQuestion.local(UInt16(number % 4 + 1), pin, timeout: 100_000)
                    // Not started at all.
                    if number % 10 == 9 { question.purpose = .key([]) }
                    stage.prober.probe(question) { _ in answered += 1 }
                }
                stage.play(limit: 60) { answered == 200 }
                let hasNoChild = waitpid(-1, nil, WNOHANG) < 0 && errno == ECHILD
                // The test library opens and closes a few of its own meanwhile.
                try? FileManager.default.removeItem(atPath: scratch.path)
                exit(answered == 200 && hasNoChild && descriptors() <= before + 8 ? 0 : 1)
            }
        }
    }
}
