import Environment
import Netlink
import Platform
import Rules
import WiFi

/// Loading rule files and judging changes with them, by how much is listed.
struct Judging {
    /// The file that a peer reads as well, `Tests/Benchmarks/run`.
    let sample: String

    func run(_ report: inout Report) throws {
        report.section("Rules (CPU time of one thread): as many rules as networks, all kinds of evidence and actions")
        let file = RuleFile(path: "bench.toml", contents: Array(Judging.text(10_000).utf8))
        try Files.replace(sample, with: file.contents, mode: 0o644)
        let load = (0..<5).map { _ in measure { _ = RuleSet.load([file]) } }.min() ?? .infinity
        report.add(
            "10,000 networks and 10,000 rules loaded", load / 1e6, "ms", key: "rules_load_10000_ms", goal: "<= 300",
            isMet: load <= 300e6)
        var first: Double?
        for count in [100, 1_000, 10_000, 100_000] {
            let cost = try nanosecondsPerChange(count) / 1_000
            let isPromised = count != 1_000
            report.add(
                "a change judged with \(count) networks", cost, "µs", key: isPromised ? "judge_\(count)_us" : nil,
                goal: isPromised ? "<= 100" : nil, isMet: cost <= 100)
            if let first { report.add("  by what it is with 100", cost / first, "times") }
            first = first ?? cost
        }
    }

    /// What an organisation lists: sites with names in common and of their own, some known by more than the name.
    private static func text(_ count: Int) -> String {
        var text = ""
        for number in 0..<count {
            text += "[network.n\(number)]\nssid = [\"Site \(number)\"]\n"
            switch number % 4 {
            case 0: text += "security = [\"wpa2-psk\", \"wpa3-sae\"]\nprivate = true\n"
            case 1: text += "security = [\"enterprise\"]\nbssid = [\"02:00:5e:10:00:00/28\"]\n"
            case 2: text += "dns-suffix = [\"n\(number).corp.example\"]\n"
            default: text += "ssid-glob = [\"Guest \(number)-*\"]\nsubnet = [\"10.0.0.0/8\"]\n"
            }
            text += "[rule.r\(number)]\n"
            switch number % 3 {
            case 0: text += "on = \"n\(number)\"\nenter = [{ command = [\"/usr/bin/true\", \"\(number)\"] }]\n"
            case 1: text += "on = { all = [\"n\(number)\", { not = \"vpn\" }] }\nproxy = { mode = \"none\" }\n"
            default: text += "off = \"n\(number)\"\nnotify = \"away\"\n"
            }
        }
        return text
    }

    /// Joining one listed network after the other, through every second of settling.
    private func nanosecondsPerChange(_ count: Int) throws -> Double {
        let result = RuleSet.load([RuleFile(path: "bench.toml", contents: Array(Judging.text(count).utf8))])
        guard let ruleSet = result.ruleSet else {
            throw MalformedMessage(result.diagnostics.map(\.description).joined(separator: "\n"))
        }
        let environments = (0..<64).map { environment(on: $0 * 37 % count) }
        var engine = RuleEngine(ruleSet: ruleSet)
        var time = Timestamp(wall: 1_700_000_000_000_000, boottime: 0)
        // The first judgement looks at every rule.
        _ = engine.update(environments[0], at: time)
        var changes = 0
        var best = Double.infinity
        for _ in 0..<5 {
            changes = 0
            let cost = measure {
                for environment in environments + environments + environments {
                    time = time.advanced(by: 60_000_000)
                    _ = engine.update(environment, at: time)
                    changes += 1
                    while let due = engine.nextDeadline, due < time.boottime + 30_000_000 {
                        time = time.advanced(by: max(due - time.boottime, 0))
                        _ = engine.advance(to: time)
                        changes += 1
                    }
                }
            }
            best = min(best, cost / Double(changes))
        }
        return best
    }

    private func environment(on number: Int) -> NetworkEnvironment {
        var environment = NetworkEnvironment()
        var link = Interface(index: 3, name: "wlan0", kind: .wifi)
        link.wifi = .joined(
            WiFiNetwork(
                ssid: SSID(utf8: "Site \(number)"), bssid: MACAddress("02:00:5e:10:00:01"),
                security: number % 4 == 1 ? .wpa2Enterprise : .wpa2PSK))
        if let address = IPAddress("10.1.2.3") {
            link.addresses = [InterfaceAddress(address: address, prefixLength: 8)]
        }
        link.evidence.searchDomains = ["n\(number).corp.example"]
        environment.interfaces[link.index] = link
        return environment
    }

    /// ns
    private func measure(_ body: () -> Void) -> Double {
        let start = Clock.thread
        body()
        return Double(Clock.thread - start)
    }
}
