import Netlink
import Testing

@testable import Rules

/// `[connectivity]` of the agent's configuration.
@Suite struct ConnectivityCheckTests {
    private func load(_ text: String) -> (check: ConnectivityCheck?, problems: [String]) {
        let result = AgentConfiguration.load([RuleFile(path: "v", contents: Array("[connectivity]\n\(text)".utf8))])
        return (result.configuration?.connectivity, result.diagnostics.map(\.description))
    }

    @Test func nobodyIsAskedUnlessSaid() {
        #expect(AgentConfiguration().connectivity == nil)
        #expect(load("").check == nil && load("").problems.isEmpty)
    }

    @Test func pagesAreRead() {
        #expect(
            load("url = \"http://Check.example/nm/check_network-status.txt\"").check
                == ConnectivityCheck(host: "check.example", port: 80, path: "/nm/check_network-status.txt"))
        #expect(
            load("url = \"http://check.example:8080\"\naddress = \"2001:db8::7\"\nresponse = \"OK\"").check
                == ConnectivityCheck(
                    host: "check.example", port: 8_080, path: "/", address: IPAddress("2001:db8::7"), response: "OK"))
        // Nobody needs to be asked for a number.
        #expect(load("url = \"http://[2001:db8::7]/\"").check?.address == IPAddress("2001:db8::7"))
    }

    @Test(arguments: [
        ("url = \"https://check.example/\"", "expected http: a captive portal cannot answer for an https server"),
        ("url = \"http://check.example/a?b\"", "expected \"http://HOST/PATH\""),
        ("url = \"http://check.example/a b\"", "expected \"http://HOST/PATH\""),
        ("url = \"http://user:secret@check.example/\"", "expected \"http://HOST/PATH\""),
        ("url = \"http://check.example/\\r\\nX: y\"", "expected \"http://HOST/PATH\""),
        ("url = \"http://check.example/\(String(repeating: "a", count: 1_024))\"", "at most 1,024 characters"),
        ("url = \"ftp://check.example/\"", "expected \"http://HOST/PATH\""),
        ("url = \"\"", "expected \"http://HOST/PATH\""),
        ("url = 3", "expected"), ("response = \"OK\"", "needs \"url\""),
        ("url = \"http://c.example/\"\nresponse = \"é\"", "printable ASCII"),
        ("url = \"http://c.example/\"\nresponse = \"\"", "printable ASCII"),
        ("url = \"http://c.example/\"\naddress = \"c.example\"", "expected an IP address"),
        ("url = \"http://c.example/\"\naddress = \"::\"", "expected an IP address"),
        ("uri = \"http://c.example/\"", "did you mean \"url\""),
    ])
    func mistakesAreTold(text: String, expected: String) throws {
        let (check, problems) = load(text)
        #expect(check == nil)
        #expect(problems.count == 1 && problems[0].hasPrefix("v:") && problems[0].contains(expected), "\(problems)")
    }
}
