import Glibc
import Testing

@testable import Actions

/// What nft lists, and what a rule asks for.
struct SetElementTests {
    @Test(arguments: [
        ("192.0.2.7", "192.0.2.7"), ("10.1.2.3/8", "10.0.0.0-10.255.255.255"), ("192.0.2.0/32", "192.0.2.0"),
        ("2001:db8::/127", "2001:db8::-2001:db8::1"), ("192.0.2.1-192.0.2.9", "192.0.2.1-192.0.2.9"), ("443", "443"),
        ("1000-2000", "1000-2000"), ("wlan0", "wlan0"), ("wg-office", "wg-office"), ("10.0.0.0/33", "10.0.0.0/33"),
        ("192.0.2.9-192.0.2.1", "192.0.2.9-192.0.2.1"),
    ])
    func isReadAsItIsMeant(text: String, meaning: String) { #expect("\(SetElement(text))" == meaning) }

    @Test func isInWhatIsListedAroundIt() {
        #expect(SetElement("10.1.0.0/16").isCovered(by: SetElement("10.0.0.0/8")))
        #expect(!SetElement("10.0.0.0/8").isCovered(by: SetElement("10.1.0.0/16")))
        #expect(!SetElement("10.0.0.1").isCovered(by: SetElement("::/0")))
        #expect(!SetElement("wlan0").isCovered(by: SetElement("wlan1")))
    }
}

/// How systemd's words about a service are read.
struct TransientUnitTests {
    private func end(_ hasStarted: Bool, _ result: String, _ code: Int64, _ status: Int64) -> CommandResult.End {
        CommandResult.End(
            Command("/bin/x"), user: "alice", hasStarted: hasStarted, result: result, code: code, status: status)
    }

    @Test func itsEndIsTold() {
        #expect(end(true, "success", 1, 0) == .exited(code: 0))
        // A program may end with what systemd uses for itself.
        #expect(end(true, "exit-code", 1, 203) == .exited(code: 203))
        #expect(end(false, "exit-code", 1, 203) == .failedToStart(.program("/bin/x")))
        #expect(end(false, "exit-code", 1, 217) == .failedToStart(.user("alice")))
        #expect(end(true, "signal", 2, 9) == .killed(signal: 9))
        #expect(end(true, "timeout", 2, 15) == .timedOut)
    }

    @Test func itsObjectIsFoundByItsName() {
        #expect(
            ServiceManager.path(of: "vicinity-command-7.service")
                == "/org/freedesktop/systemd1/unit/vicinity_2dcommand_2d7_2eservice")
        #expect(ServiceManager.path(of: "7.mount").hasSuffix("/unit/_37_2emount"))
    }

    @Test func aNotificationHasNoMarkUp() {
        #expect(Notifications.escape("<a href=\"x\">&'") == "&lt;a href=&quot;x&quot;&gt;&amp;&#39;")
    }
}
