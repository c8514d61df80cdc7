import Environment
import Feed
import JSON
import Netlink
import Platform
import WiFi

/// One event of every type that the encoder knows, with values at their limits.
enum Samples {
    static let time = Timestamp(wall: 1_796_041_159_588_123, boottime: 123_456_789)
    static let interface = InterfaceReference(index: 4, name: "wlan0")

    /// ESC ] of a terminal, an override of the writing direction, a NUL, octets that are no UTF-8.
    static let hostile = must(SSID(octets: Array("\u{1b}]0;x\u{7}\u{202e}".utf8) + [0, 0xff, 0x9b]))
    static let bssid = must(BSSID("02:00:00:00:00:00"))

    static var network: WiFiNetwork {
        WiFiNetwork(
            ssid: SSID(utf8: "Corp-Staff"), bssid: bssid, security: .wpa2PSK, frequency: 2_412, signal: -30)
    }

    static var networks: [WiFiNetwork] {
        [
            network,
            WiFiNetwork(ssid: nil, bssid: nil, security: .unknown),
            WiFiNetwork(ssid: hostile, bssid: bssid, security: .open, frequency: 5_955, signal: -128),
            WiFiNetwork(ssid: SSID(octets: [UInt8](repeating: 0xff, count: 32)), bssid: bssid, security: .owe),
            WiFiNetwork(
                ssid: SSID(utf8: "café ☕"), bssid: bssid, security: .wpa3SAE, frequency: 6_115, signal: 0,
                links: [0: bssid, 2: must(BSSID("02:00:00:00:02:00"))]),
        ]
    }

    static var changes: [EnvironmentChange.Kind] {
        var kinds: [EnvironmentChange.Kind] = []
        let causes = [
            Cause(status: 17), Cause(reason: 15, byAccessPoint: true), Cause(reason: 3, byAccessPoint: false),
            Cause(), Cause(circumstance: .rfkill), Cause(circumstance: .suspend), Cause(circumstance: .timedOut),
            Cause(circumstance: .interfaceDown), Cause(circumstance: .interfaceRemoved), Cause(circumstance: .resync),
            Cause(circumstance: .superseded), Cause(circumstance: .unauthorized),
        ]
        for network in networks {
            kinds += [
                .associating(network), .joined(network), .channelChanged(network),
                .roamed(network, previous: bssid), .roamed(network, previous: nil),
            ]
            for cause in causes { kinds += [.left(network, cause), .joinFailed(network, cause)] }
        }
        let addresses = (0..<200).map {
            InterfaceAddress(
                address: must(IPAddress(octets: [UInt8](repeating: UInt8($0), count: 16))), prefixLength: 128)
        }
        let dns = DNSConfiguration(
            servers: addresses.map(\.address),
            searchDomains: (0..<300).map { String(repeating: "x", count: $0) } + ["\u{1b}[2J"])
        return kinds + [
            .linkUp, .linkDown, .suspended, .resumed, .addressChanged(added: addresses, removed: addresses),
            .routeChanged(nil),
            .routeChanged(PrimaryRoute(interfaceIndex: 4, gateway: IPAddress("192.0.2.1"), gatewayMAC: bssid)),
            .routeChanged(PrimaryRoute(interfaceIndex: 4, gateway: nil)), .dnsChanged(dns), .dnsChanged(.init()),
            .connectivityChanged(.none), .connectivityChanged(.local), .connectivityChanged(.portal),
            .connectivityChanged(.internet), .resynced(.overrun), .resynced(.malformedMessage),
            .resynced(.familyChanged), .resynced(.resume), .evidenceChanged(LinkEvidence()),
            .evidenceChanged(crowdedEvidence),
        ]
    }

    /// More than a line has room for, and as long as it can be.
    static var crowdedEvidence: LinkEvidence {
        var evidence = LinkEvidence()
        evidence.gateways = (0..<200).map {
            Gateway(
                address: must(IPAddress(octets: [UInt8](repeating: 0xf0, count: 15) + [$0])), hardwareAddress: bssid)
        }
        evidence.searchDomains = (0..<300).map { String(repeating: "\u{1}", count: $0) }
        evidence.authentication = EAPDemands(certificationAuthority: true, serverName: false)
        return evidence
    }

    static var bodies: [FeedEvent.Body] {
        let network = FeedEvent.NetworkFact(name: "office", assurance: "keyed", previous: "claimed")
        let long = String(repeating: "\u{1b}\u{1f4a9}", count: 3_000)
        let rule = FeedEvent.RuleFact(name: long, file: "/" + long, line: 3, because: long)
        var action = FeedEvent.ActionFact(
            id: 1, rule: long, index: 0, kind: "command", exit: 1, durationMilliseconds: 12, because: long)
        action.user = long
        (action.output, action.outputLost) = (Array(long.utf8.prefix(8 << 10)), 1 << 40)
        (action.errors, action.errorsLost) = ([UInt8](repeating: 0xff, count: 8 << 10), Int.max >> 1)
        let factor = FeedEvent.SecondFactorFact(rule: long, network: long, user: long, because: long)
        return [
            .networkEntered(.init(name: "office", assurance: "claimed")), .networkLeft(network, minutes: 3),
            .networkAssuranceChanged(network), .ruleActivated(rule), .ruleDeactivated(rule), .ruleSkipped(rule),
            .actionStarted(.init(id: 1, rule: "r", index: 0, kind: "command")), .actionSucceeded(action),
            .actionFailed(action), .actionCancelled(action), .actionReverted(action),
            .secondFactorRequested(.init(rule: "r", network: nil)), .secondFactorPassed(factor),
            .secondFactorFailed(factor), .secondFactorExpired(factor), .agentStarted(version: "0.1.0"),
            .agentReloaded(problems: 2), .agentStopped,
        ]
    }

    static var events: [FeedEvent] {
        changes.map { FeedEvent(EnvironmentChange(time: time, interface: interface, kind: $0)) }
            + [true, false, nil].map { FeedEvent(EnvironmentChange(time: time, kind: .meteredChanged($0))) }
            + bodies.map { FeedEvent($0, at: time) }
    }

    static var explanations: [Explanation] {
        let long = String(repeating: "\u{1b}\u{1f4a9}", count: 3_000)
        var all = Explanation(
            kind: .rule, name: long, truth: .maybe, text: long, file: long, line: 7, since: time,
            lines: [String](repeating: long, count: 1_000))
        all.isOfLastGoodRules = true
        all.omitted = 3
        return [
            all, Explanation(kind: .network, name: "wired", truth: .yes, text: "on wired, claimed"),
            Explanation(kind: nil, name: "offce", truth: .no, text: "no rule and no network is called \"offce\""),
        ]
    }

    static var summaries: [ReplaySummary] {
        let long = String(repeating: "\u{1b}\u{1f4a9}", count: 3_000)
        var summary = ReplaySummary()
        summary.decisions = 7
        summary.differences = [ReplaySummary.Difference](
            repeating: .init(time: time, subject: .network, name: long, recorded: long, replayed: long), count: 100)
        return [ReplaySummary(), summary]
    }

    /// More of everything than a line has room for.
    static var crowdedEnvironment: NetworkEnvironment {
        var environment = NetworkEnvironment()
        for index in 1...300 as ClosedRange<Int32> {
            var interface = Interface(
                index: index, name: String(repeating: "w", count: 15), kind: index % 3 == 0 ? .wifi : .virtual)
            interface.addresses = Set(
                (0..<50).map {
                    InterfaceAddress(
                        address: must(IPAddress(octets: [UInt8](repeating: 0xfe, count: 15) + [$0])), prefixLength: 64)
                })
            if index % 3 == 0 {
                interface.evidence = crowdedEvidence
                interface.wifi = .joined(
                    WiFiNetwork(
                        ssid: SSID(octets: [UInt8](repeating: 0x80, count: 32)), bssid: bssid,
                        security: .wpa3Enterprise192, frequency: 5_955, signal: -128))
            }
            environment.interfaces[index] = interface
        }
        environment.dns = DNSConfiguration(
            searchDomains: [String](repeating: String(repeating: "d", count: 253), count: 50))
        return environment
    }
}

private func must<Value>(_ value: Value?) -> Value {
    guard let value else { fatalError("a sample that is none") }
    return value
}

extension FeedLine {
    var json: JSONValue? { try? JSONValue(parsing: octets, maximumSize: 1 << 20) }
}
