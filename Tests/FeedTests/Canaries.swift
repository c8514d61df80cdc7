import Environment
import Feed
import Foundation
import Glibc
import Hashing
import Netlink
import Platform
import WiFi

/// Names and addresses that no reader may find who may not see where the machine is, and every event and part of a
/// snapshot with as many of them as it can hold.
enum Canaries {
    static let ssid = octets("Canary-Net-7f3a")
    static let bssids = ["02:ca:fe:ba:be:01", "02:ca:fe:ba:be:02", "02:ca:fe:ba:be:03", "02:ca:fe:ba:be:04"]
    static let addresses = ["203.0.113.77", "2001:db8:ca:1::77", "203.0.113.1", "198.51.100.53", "2001:db8:ca:1::1"]
    static let domain = "canary-domain.example"
    static let network = "canary-private"
    static let rule = "canary-rule"
    static let file = "/etc/vicinity/rules.d/canary-file.toml"
    static let user = "canary-user"
    /// A name that systemd gives has the hardware address in it.
    static let interface = InterfaceReference(index: 4, name: "wlx02cafebabe09")
    /// Free text has all of them.
    static let text = ([String(decoding: ssid, as: UTF8.self), domain, network, rule, file, user] + bssids + addresses)
        .joined(separator: " ")

    /// Nothing of this may be told, in none of these forms.
    static let forms: [String] = {
        let names = [String(decoding: ssid, as: UTF8.self), domain, network, rule, file, user, "canary"]
        let macs = (bssids + ["02:ca:fe:ba:be:09"]).map { $0.split(separator: ":").map { UInt8($0, radix: 16) ?? 0 } }
        let ips = addresses.compactMap { IPAddress($0)?.octets }
        var forms: [String] = names + addresses
        for octets in names.dropLast().map({ Array($0.utf8) }) + macs + ips {
            let data = Data(octets)
            let hex = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }
            forms += ["", ":", "-", ".", " "].map { hex.joined(separator: $0) }
            forms.append(stride(from: 0, to: hex.count - 1, by: 2).map { hex[$0] + hex[$0 + 1] }.joined(separator: "."))
            // However many octets stand before it, the middle of its base64 is the same.
            for padding in 0..<3 {
                let text = (Data(repeating: 0, count: padding) + data).base64EncodedString()
                forms.append(String(text.dropFirst(padding == 0 ? 0 : 4).prefix(max((octets.count - 3) / 3 * 4, 5))))
            }
            forms.append(SHA256.hexadecimal(octets))
        }
        return forms.map { $0.lowercased() }
    }()

    static func octets(_ text: String) -> [UInt8] { Array(text.utf8) }

    /// The forms that are in a text.
    static func found(in octets: some Sequence<UInt8>) -> [String] {
        let text = String(decoding: Array(octets), as: UTF8.self).lowercased()
        return forms.filter { strstr(text, $0) != nil }
    }

    // MARK: Where they are

    static let time = Timestamp.now()
    static var wifi: WiFiNetwork {
        var network = WiFiNetwork(
            ssid: SSID(octets: ssid), bssid: mac(0), security: .wpa2PSK, frequency: 2_412, signal: -30,
            links: [0: mac(0), 1: mac(1)])
        network.akm = AKM(parsing: "00-0f-ac:2")
        return network
    }

    static var evidence: LinkEvidence {
        var evidence = LinkEvidence()
        evidence.gateways = [Gateway(address: ip(2), hardwareAddress: mac(2)), Gateway(address: ip(4))]
        evidence.searchDomains = [domain]
        evidence.authentication = EAPDemands(certificationAuthority: true, serverName: true)
        return evidence
    }

    static var kinds: [EnvironmentChange.Kind] {
        let cause = Cause(reason: 3, byAccessPoint: true)
        let addresses = [0, 1].map { InterfaceAddress(address: ip($0), prefixLength: 24) }
        return [
            .associating(wifi), .joined(wifi), .joinFailed(wifi, cause), .left(wifi, cause),
            .roamed(wifi, previous: mac(1)), .channelChanged(wifi), .linkUp, .linkDown,
            .addressChanged(added: addresses, removed: addresses),
            .routeChanged(PrimaryRoute(interfaceIndex: 4, gateway: ip(2), gatewayMAC: mac(2))),
            .dnsChanged(DNSConfiguration(servers: [ip(3)], searchDomains: [domain])),
            .evidenceChanged(evidence), .connectivityChanged(.portal), .meteredChanged(true), .resynced(.overrun),
            .suspended, .resumed,
        ]
    }

    static var bodies: [FeedEvent.Body] {
        let network = FeedEvent.NetworkFact(name: network, assurance: "keyed", previous: "claimed")
        let rule = FeedEvent.RuleFact(name: rule, file: file, line: 7, because: text)
        var action = FeedEvent.ActionFact(
            id: 7, rule: Canaries.rule, index: 1, kind: "command", exit: 1, durationMilliseconds: 7, because: text)
        action.user = user
        (action.output, action.outputLost) = (octets(text), 3)
        (action.errors, action.errorsLost) = (octets(text), 3)
        var strange = action
        strange.kind = text
        return [
            .networkEntered(network), .networkLeft(network, minutes: 7), .networkAssuranceChanged(network),
            .ruleActivated(rule), .ruleDeactivated(rule), .ruleSkipped(rule), .actionStarted(action),
            .actionSucceeded(action), .actionFailed(action), .actionCancelled(action), .actionReverted(action),
            .actionFailed(strange), .agentStarted(version: "0.1.0"), .agentReloaded(problems: 7), .agentStopped,
        ]
    }

    static var events: [FeedEvent] {
        kinds.map { kind in
            switch kind {
            case .routeChanged, .dnsChanged, .connectivityChanged, .meteredChanged, .resynced, .suspended, .resumed:
                FeedEvent(EnvironmentChange(time: time, kind: kind))
            default: FeedEvent(EnvironmentChange(time: time, interface: interface, kind: kind))
            }
        } + bodies.map { FeedEvent($0, at: time) }
    }

    static var environment: NetworkEnvironment {
        var environment = NetworkEnvironment()
        let states: [WiFiState?] = [.joined(wifi), .associating(wifi), .idle, .unknown, nil]
        for (index, state) in states.enumerated() {
            var link = Interface(
                index: Int32(index + 1), name: interface.name, kind: state == nil ? .tunnel : .wifi)
            link.addresses = [InterfaceAddress(address: ip(0), prefixLength: 24)]
            link.hardwareAddress = mac(3)
            link.wifi = state
            link.evidence = evidence
            environment.interfaces[link.index] = link
        }
        environment.primaryRoute = PrimaryRoute(interfaceIndex: 1, gateway: ip(2), gatewayMAC: mac(2))
        environment.dns = DNSConfiguration(servers: [ip(3)], searchDomains: [domain])
        environment.connectivity = .internet
        return environment
    }

    static func snapshot(_ encoder: FeedEncoder, _ permission: FeedPermission) -> FeedLine {
        encoder.snapshotLine(of: environment, permission: permission) { fields in
            for key in ["networks", "rules", "actions", "holds"] {
                // A key is known when it is written.
                switch key {
                case "networks": fields.names("networks", [network, "wired"])
                case "rules": fields.names("rules", [rule, "away"])
                case "actions": fields.names("actions", [text])
                default: fields.names("holds", [text])
                }
            }
            fields.held([.init(rule: rule, isOn: true, holder: user, end: time.wall, endsWithPlace: true)])
            fields.counters([("messages", 7), (text, 1)])
            fields.problems([text])
        }
    }

    static var explanations: [Explanation] {
        [
            Explanation(kind: .rule, name: rule, truth: .yes, text: text, file: file, line: 7, lines: [text]),
            Explanation(kind: .network, name: network, truth: .yes, text: text, file: file, line: 7, lines: [text]),
            Explanation(
                kind: .rule, name: "away", truth: .yes, text: text, file: file, line: 7, since: time, lines: [text]),
            Explanation(kind: nil, name: "awya", truth: .no, text: text),
        ]
    }

    /// With a key and the names that may be told.
    static let disclosure: FeedDisclosure = {
        let key = HashKey.random()
        return FeedDisclosure(networks: ["wired", "office"], rules: ["away"]) { key.hash($0.octets) }
    }()

    private static func mac(_ index: Int) -> MACAddress {
        guard let address = BSSID(bssids[index]) else { fatalError("no address: \(bssids[index])") }
        return address
    }

    private static func ip(_ index: Int) -> IPAddress {
        guard let address = IPAddress(addresses[index]) else { fatalError("no address: \(addresses[index])") }
        return address
    }
}
