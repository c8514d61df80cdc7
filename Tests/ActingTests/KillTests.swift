import ActionProtocol
import Foundation
import Testing

/// `vicinity-act` killed between every two steps that it makes on disk: strace(1) does it, nothing in the program knows.
/// What comes next finds the machine as it has to be, to the octet.
@Suite(
    .enabled(if: PrivateMachine.isPossible, "takes root, namespaces, strace and what `swift build` makes"),
    .timeLimit(.minutes(3)))
struct KillTests {
    /// What is wanted before and when it is killed.
    enum Change: String, CaseIterable, CustomTestStringConvertible {
        case beginning, end, another, protection

        var former: [String] { self == .beginning ? [] : Workplace.first }
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
    func killedAnywhere(_ change: Change) throws {
        let place = try Workplace()
        try place.hold(change.former)
        let start = place.machine.remember()
        // After an fsync comes a rename, and one after it: fsync alone stops at every state but those of the first file.
        let calls = change == .beginning ? ["fsync", "rename", "renameat", "unlinkat"] : ["fsync"]
        for call in calls {
            var count = 0
            while try place.isKilled(change, at: call, count + 1, from: start) { count += 1 }
            print("kill points of \(change.rawValue), \(call): \(count)")
            #expect(count >= (call == "fsync" ? 6 : 2), "\(call) was hardly reached")
        }
    }
}

/// Rules, and what was there before them.
private final class Workplace {
    static let first = ["office", "automatic", "trusted"]
    static let second = ["other"]

    private static let rules = """
        [network.office]
        ssid = ["Corp-Staff"]
        security = ["wpa2-enterprise"]
        [rule.office]
        on = "office"
        proxy = { http = "http://proxy.corp.example:3128", no-proxy = ["corp.example"], targets = ["apt", "environment"] }
        [rule.other]
        on = "office"
        priority = 1
        proxy = { https = "http://other.corp.example:8080", targets = ["apt", "environment"] }
        [rule.automatic]
        on = "office"
        priority = 2
        proxy = { mode = "auto", targets = ["file"] }
        [rule.trusted]
        on = "office"
        firewall = { nft-set = "inet filter trusted", element = "\(PrivateMachine.element)" }
        """

    static let environment = "/run/environment.d/90-vicinity.conf"
    static let apt = "/etc/apt/apt.conf.d/90vicinity"
    private static let relaxing = ["/run/vicinity/proxy.env", "/run/vicinity/proxy.json"]
    /// What somebody had set before, as the place writes it.
    private static let former = "http_proxy=http://former.example:1\n"
    /// What somebody sets between.
    private static let own = "# my own\nhttp_proxy=http://own.example:2\n"

    let machine: PrivateMachine
    let digest: String
    let before: [String: String]
    /// What has to be there with these wishes.
    private var expected: [[String]: [String: String]] = [:]

    init() throws {
        machine = try PrivateMachine()
        try machine.write("/run/rules/rules.d/a.toml", Workplace.rules)
        try machine.write(Workplace.environment, Workplace.former)
        try machine.write("/etc/apt/apt.conf.d/10own", "APT::Own \"1\";\n")
        before = machine.files()
        let helper = try machine.helper()
        digest = try #require(helper.connect()?.digest())
        expected[[]] = before
        helper.kill()
        for wishes in [Workplace.first, Workplace.second, []] {
            try hold(wishes)
            expected[wishes] = machine.files()
        }
        #expect(machine.files() == before)
        let (first, second) = (expected[Workplace.first] ?? [:], expected[Workplace.second] ?? [:])
        #expect(first[Workplace.apt]?.contains("\"http://proxy.corp.example:3128\";") == true)
        #expect(first[Workplace.environment]?.hasPrefix("http_proxy=http://proxy.corp.example:3128\n") == true)
        #expect(Workplace.relaxing.allSatisfy { first[$0] != nil && second[$0] == nil })
        #expect(second[Workplace.apt]?.contains("\"http://other.corp.example:8080\";") == true)
        #expect(second[Workplace.environment]?.contains("https_proxy=http://other.corp.example:8080\n") == true)
    }

    /// By a helper that nobody kills before it has done that.
    func hold(_ wishes: [String]...) throws {
        let helper = try machine.helper()
        let agent = try #require(helper.connect())
        for wishes in wishes {
            let reports = try #require(agent.hold(digest, wishes))
            // Without nftables the rule is to fail, and nothing else.
            #expect(failures(reports).subtracting(machine.hasSets ? [] : ["trusted"]).isEmpty)
            if let expected = expected[wishes] { #expect(machine.files() == expected) }
            if machine.hasSets { #expect(machine.hasElement == wishes.contains("trusted")) }
        }
        helper.kill()
    }

    private func failures(_ reports: [HelperReport]) -> Set<String> {
        Set(
            reports.compactMap {
                if case .state(let rule, _, .failed) = $0 { rule } else { nil }
            })
    }

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
            let helper = try machine.helper(under: tracer, ["--protect"])
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
        try machine.restore(killed)
        try leaveAlone()
        return true
    }

    /// Without an agent nothing that lowers protection stays, and everything else is one or the other, never half of it.
    private func protect(_ change: KillTests.Change) throws {
        #expect(machine.act(["--protect"]) == 0)
        let files = machine.files()
        #expect(Workplace.relaxing.allSatisfy { files[$0] == nil })
        #expect(!machine.hasElement)
        for path in [Workplace.apt, Workplace.environment] {
            let known = [before[path], expected[change.former]?[path], expected[change.wanted]?[path]]
            let isKnown = known.contains(files[path])
            #expect(isKnown, "\(path) is \(files[path] ?? "gone")")
        }
        #expect(Set(files.keys).isSubset(of: Set(before.keys).union([Workplace.apt])))
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
