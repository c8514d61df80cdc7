import ActionProtocol
import Testing

/// Rules, and what was there before them.
final class Workplace {
    static let first = ["office", "automatic"]
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
    static let relaxing = ["/run/vicinity/proxy.env", "/run/vicinity/proxy.json"]
    /// What somebody had set before, as the place writes it.
    private static let former = "http_proxy=http://former.example:1\n"
    /// What somebody sets between.
    static let own = "# my own\nhttp_proxy=http://own.example:2\n"

    let machine: PrivateMachine
    let digest: String
    let before: [String: String]
    /// What has to be there with these wishes.
    private var expected: [[String]: [String: String]] = [:]

    /// - Parameter rules: that are there besides.
    init(more rules: String = "") throws {
        machine = try PrivateMachine()
        try machine.write("/run/rules/rules.d/a.toml", Workplace.rules + rules)
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
            if let expected = expected(wishes) { #expect(machine.files() == expected) }
            if machine.hasSets { #expect(machine.hasElement == wishes.contains("trusted")) }
        }
        helper.kill()
    }

    /// The files of these wishes.
    func expected(_ wishes: [String]) -> [String: String]? { expected[wishes.filter { $0 != "trusted" }] }

    func failures(_ reports: [HelperReport]) -> Set<String> {
        Set(
            reports.compactMap {
                if case .state(let rule, _, .failed) = $0 { rule } else { nil }
            })
    }
}
