import Environment
import Netlink
import Platform
@testable import Rules
import WiFi

/// A rule set from text that must be right.
func ruleSet(_ text: String) -> RuleSet {
    let result = RuleSet.load([RuleFile(path: "test.toml", contents: Array(text.utf8))])
    guard let ruleSet = result.ruleSet else {
        preconditionFailure(result.diagnostics.map(\.description).joined(separator: "\n"))
    }
    return ruleSet
}

func network(_ name: String, _ security: Security = .wpa2PSK, bssid: UInt8 = 1) -> WiFiNetwork {
    WiFiNetwork(ssid: SSID(utf8: name), bssid: BSSID(octets: [2, 0, 0, 0, 0, bssid]), security: security)
}

extension WiFiState {
    static func joined(_ name: String, _ security: Security = .wpa2PSK, bssid: UInt8 = 1) -> WiFiState {
        .joined(RulesTests.network(name, security, bssid: bssid))
    }
}

/// wlan0 in a state, and other links that are up.
func environment(_ wifi: WiFiState? = .idle, _ others: LinkKind...) -> NetworkEnvironment {
    var environment = NetworkEnvironment()
    if let wifi { environment.set(wifi, on: 3) }
    for (place, kind) in others.enumerated() {
        var interface = Interface(index: Int32(10 + place), name: "\(kind.rawValue)\(place)", kind: kind)
        interface.isAdministrativelyUp = true
        interface.operationalState = .up
        environment.interfaces[interface.index] = interface
    }
    return environment
}

extension NetworkEnvironment {
    mutating func set(_ wifi: WiFiState?, on index: Int32) {
        var interface = Interface(index: index, name: "wlan\(index - 3)", kind: .wifi)
        interface.wifi = wifi
        if wifi?.network != nil, let address = IPAddress("192.0.2.7") {
            interface.addresses = [InterfaceAddress(address: address, prefixLength: 24)]
        }
        interfaces[index] = interface
    }
}

extension Decision {
    /// In a word or two, for comparing.
    var brief: String {
        switch self {
        case .networkEntered(let match): "entered \(match.name) \(match.assurance)"
        case .networkLeft(let match, let stayed): "left \(match.name) \(stayed.microseconds / 1_000) ms"
        case .assuranceChanged(let match, let previous): "\(match.name) \(previous) to \(match.assurance)"
        case .ruleActivated(let rule, _): "activated \(rule.name)"
        case .ruleDeactivated(let rule, _): "deactivated \(rule.name)"
        case .ruleSkipped(let rule, let because): "skipped \(rule.name): \(because)"
        case .cancel(let rule, let edge): "cancel \(rule) \(edge.rawValue)"
        case .run(let request):
            "run \(request.rule.name) \(request.edge.rawValue) \(request.index) for \(request.network?.name ?? "nothing")"
        case .stateChanged(let target, let request): "\(target): \(request?.action.summary ?? "free")"
        case .probe(let request): "probe \(request.identifier) \(request.network) on \(request.interfaceName)"
        case .cancelProbe(let identifier): "cancel probe \(identifier)"
        }
    }
}

/// What a test itself wrote down, and so must be there.
func given<Value>(_ value: Value?) -> Value {
    guard let value else { preconditionFailure("the test gives what cannot be") }
    return value
}

func ip(_ text: String) -> IPAddress { given(IPAddress(text)) }
