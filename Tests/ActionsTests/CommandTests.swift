import Actions
import Glibc
import Platform
import Testing

@Suite(.serialized) struct CommandTests {
    @Test func capturesOutputAndEnd() throws {
        let result = try Stage.result(of: .shell("echo out; echo err >&2; exit 3"))
        #expect(result.end == .exited(code: 3))
        #expect(!result.isSuccess)
        #expect(result.output.text == "out\n")
        #expect(result.errors.text == "err\n")
        #expect(result.duration > 0)
        #expect(try Stage.result(of: Command("/bin/true")).isSuccess)
        #expect(try Stage.result(of: .shell("kill -USR1 $$")).end == .killed(signal: SIGUSR1))
    }

    @Test func passesArgumentsUntouched() throws {
        let hostile = ["$(reboot)", "`id`", "a b", "", "-rf", "*", "\"'\\", "\n", "\u{1B}]0;x\u{7}", "Cafe\u{301}"]
        var command = Command("/usr/bin/printf", "[%s]")
        command.arguments += hostile
        #expect(try Stage.result(of: command).output.text == hostile.map { "[\($0)]" }.joined())
    }

    @Test func givesACleanEnvironment() throws {
        #expect(getenv("PATH") != nil)
        var command = Command("/usr/bin/env")
        let bare = try Stage.result(of: command).output.text.split(separator: "\n")
        #expect(bare == ["PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "LANG=C.UTF-8"])
        command.context = Command.Context(
            event: "network.entered", network: "office", ssidHexadecimal: "00ff0a", bssid: "02:00:00:00:00:01",
            interface: "wlan0", rule: "nas")
        let told = try Stage.result(of: command).output.text.split(separator: "\n").dropFirst(2)
        #expect(
            told == [
                "VICINITY_EVENT=network.entered", "VICINITY_NETWORK=office", "VICINITY_SSID_HEX=00ff0a",
                "VICINITY_BSSID=02:00:00:00:00:01", "VICINITY_INTERFACE=wlan0", "VICINITY_RULE=nas",
            ])
    }

    @Test func handsTheEventToStandardInput() throws {
        var command = Command("/bin/cat")
        command.input = Array(#"{"type":"wifi.joined"}"#.utf8) + [0, 0xFF]
        #expect(try Stage.result(of: command).output.octets == command.input)
        command.input = []
        #expect(try Stage.result(of: command).output.octets.isEmpty)
    }

    /// In a process of its own, since what is ignored concerns all of its threads.
    @Test func resetsSignals() async {
        await #expect(processExitsWith: .exitCode(0)) {
            var blocked = sigset_t()
            sigfillset(&blocked)
            pthread_sigmask(SIG_BLOCK, &blocked, nil)
            signal(SIGPIPE, SIG_IGN)
            let result = try Stage.result(of: Command("/bin/grep", "-E", "^Sig(Blk|Ign):", "/proc/self/status"))
            let masks = result.output.text.split(separator: "\n").map { UInt64($0.suffix(16), radix: 16) }
            // Signals 32 and 33 are the C library's own, which it has ignored until the new program takes them over.
            exit(masks.count == 2 && masks.allSatisfy { $0.map { $0 & ~(3 << 31) } == 0 } ? 0 : 1)
        }
    }

    @Test func inheritsNoDescriptor() throws {
        let leaked = dup2(1, 200)
        defer { close(leaked) }
        #expect(fcntl(leaked, F_GETFD) == 0)
        // 3 is the directory that ls reads.
        #expect(try Stage.result(of: Command("/bin/ls", "/proc/self/fd")).output.text == "0\n1\n2\n3\n")
        #expect(try Stage.result(of: Command("/bin/pwd")).output.text == "/\n")
    }

    @Test func leadsAGroupOfItsOwn() throws {
        let result = try Stage.result(of: .shell("cut -d' ' -f1,5 /proc/$$/stat"))
        let numbers = result.output.text.split(whereSeparator: \.isWhitespace)
        #expect(numbers.count == 2 && numbers.first == numbers.last)
    }

    @Test(
        arguments: [
            ("/nowhere/at/all", ENOENT), ("/etc/passwd", EACCES), ("/usr", EACCES), ("/etc/passwd/x", ENOTDIR),
        ] as [(String, Int32)])
    func saysWhyItDidNotStart(program: String, code: Int32) throws {
        #expect(
            try Stage.result(of: Command(program)).end
                == .failedToStart(.system(SystemError("posix_spawn", program, code: code))))
    }

    @Test func refusesNUL() throws {
        let end = try Stage.result(of: Command("/bin/echo", "a\0b")).end
        #expect(end == .failedToStart(.system(SystemError("posix_spawn", "/bin/echo", code: EINVAL))))
    }

    @Test func keepsTheBeginningOfMuchOutput() throws {
        let result = try Stage.result(of: .shell("head -c 70000 /dev/zero | tr '\\0' a; head -c 9000000 /dev/zero >&2"))
        #expect(result.isSuccess)
        #expect(result.output.octets == [UInt8](repeating: UInt8(ascii: "a"), count: 65_536))
        #expect(result.output.lost == 70_000 - 65_536)
        #expect(result.errors.octets.count == 65_536)
        #expect(result.errors.lost == 9_000_000 - 65_536)
    }

    @Test func outlivesItsOutput() throws {
        #expect(try Stage.result(of: .shell("exec >&- 2>&-; sleep 0.1; exit 4")).end == .exited(code: 4))
    }
}
