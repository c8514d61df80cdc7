internal import Rules
package import SystemBus

/// What can be asked of the agent over the bus. Pure.
package enum ControlRequest: Hashable {
    /// - duration: µs; nil for as long as a rule can be held.
    case hold(rule: String, isOn: Bool, duration: Int64?, endsWithPlace: Bool)
    case release(rule: String)
    case run(rule: String)
    case reload
    /// The caller wants to see where the machine is.
    case requestPermission
    case grantPermission(user: UInt32)
    case revokePermission(user: UInt32)
    case listGrants
    /// Take away what rules have set of the machine's proxy.
    case resetProxy
    /// Whether PAM stacks have to ask for the second factor.
    case factorStatus
    /// The caller wants a second factor of whom it runs for.
    case requireFactor(reason: String)
    case rotateHashKey
    case purgeAnalytics(history: Bool)
    /// What the caller says to being written about.
    case setAnalyticsConsent(Bool)
    case analyticsStatus

    package static var methods: [BusObject.Method] {
        [
            BusObject.Method(
                "Hold", takes: "sbtb", returns: "t",
                parameters: "rule\0on\0microseconds\0until_network_change\0until\0"),
            BusObject.Method("Release", takes: "s", parameters: "rule\0"),
            BusObject.Method("Run", takes: "s", parameters: "rule\0"),
            BusObject.Method("Reload", takes: "", returns: "u", parameters: "problems\0"),
            BusObject.Method("RequestPermission", takes: "", returns: "s", parameters: "permission\0"),
            BusObject.Method("GrantPermission", takes: "u", returns: "s", parameters: "user\0permission\0"),
            BusObject.Method("RevokePermission", takes: "u", returns: "s", parameters: "user\0permission\0"),
            BusObject.Method("ListGrants", takes: "", returns: "au", parameters: "users\0"),
            BusObject.Method("ResetProxy", takes: "", returns: "s", parameters: "removed\0"),
            BusObject.Method("SecondFactorStatus", takes: "", returns: "a{sv}", parameters: "status\0"),
            BusObject.Method(
                "RequireSecondFactor", takes: "s", returns: "s", parameters: "reason\0outcome\0"),
            BusObject.Method("RotateHashKey", takes: "", returns: "s", parameters: "key\0"),
            BusObject.Method("PurgeAnalytics", takes: "b", returns: "u", parameters: "history\0files\0"),
            BusObject.Method("SetAnalyticsConsent", takes: "b", parameters: "consent\0"),
            BusObject.Method("AnalyticsStatus", takes: "", returns: "s", parameters: "json\0"),
        ]
    }

    /// Nil for what no method takes, or a name that no rule can have.
    package init?(_ method: String, _ values: [BusValue]) {
        let rule = values.first?.text ?? ""
        let isName = RuleSet.isName(rule)
        switch (method, values.count) {
        case ("Hold", 4):
            guard isName, let isOn = values[1].flag, let duration = values[2].number, let endsWithPlace = values[3].flag
            else { return nil }
            self = .hold(
                rule: rule, isOn: isOn, duration: duration == 0 ? nil : duration, endsWithPlace: endsWithPlace)
        case ("Release", 1) where isName: self = .release(rule: rule)
        case ("Run", 1) where isName: self = .run(rule: rule)
        case ("Reload", 0): self = .reload
        case ("RequestPermission", 0): self = .requestPermission
        case ("GrantPermission", 1):
            guard let user = ControlRequest.user(values[0]) else { return nil }
            self = .grantPermission(user: user)
        case ("RevokePermission", 1):
            guard let user = ControlRequest.user(values[0]) else { return nil }
            self = .revokePermission(user: user)
        case ("ListGrants", 0): self = .listGrants
        case ("ResetProxy", 0): self = .resetProxy
        case ("SecondFactorStatus", 0): self = .factorStatus
        case ("RequireSecondFactor", 1):
            guard let reason = values[0].text, reason.utf8.count <= FactorCaller.reasonLimit else { return nil }
            self = .requireFactor(reason: reason)
        case ("RotateHashKey", 0): self = .rotateHashKey
        case ("PurgeAnalytics", 1):
            guard let history = values[0].flag else { return nil }
            self = .purgeAnalytics(history: history)
        case ("SetAnalyticsConsent", 1):
            guard let consent = values[0].flag else { return nil }
            self = .setAnalyticsConsent(consent)
        case ("AnalyticsStatus", 0): self = .analyticsStatus
        default: return nil
        }
    }

    /// The rule whose `user-hold` is enough for it; nil where it takes more.
    var heldRule: String? {
        switch self {
        case .hold(let rule, _, _, _), .release(let rule): rule
        case .run, .reload, .requestPermission, .grantPermission, .revokePermission, .listGrants, .resetProxy,
            .factorStatus, .requireFactor, .rotateHashKey, .purgeAnalytics, .setAnalyticsConsent, .analyticsStatus:
            nil
        }
    }

    /// Whether it is about second factors.
    var isOfFactor: Bool {
        switch self {
        case .factorStatus, .requireFactor: true
        default: false
        }
    }

    /// Why a method took nothing of what it was given.
    static func problem(with method: String) -> String {
        method == "RequireSecondFactor"
            ? "a reason has \(FactorCaller.reasonLimit) octets at most" : "no rule can have that name"
    }

    /// What the person is told who is asked: `hold the rule nas on`
    var purpose: String {
        switch self {
        case .hold(let rule, let isOn, _, _): "hold the rule \(rule) \(isOn ? "on" : "off")"
        case .release(let rule): "release the rule \(rule)"
        case .run(let rule): "run the actions of the rule \(rule)"
        case .reload: "read the rule files again"
        case .requestPermission: "let your programs see which networks this machine is on"
        case .grantPermission(let user): "let the user with the number \(user) see which networks this machine is on"
        case .revokePermission(let user): "let the user with the number \(user) no longer see which networks it is on"
        case .listGrants: "see who may see which networks this machine is on"
        case .resetProxy: "take away the proxy that rules have set on this machine"
        case .factorStatus: "see whether a second factor is needed"
        case .requireFactor: "have a second factor asked for"
        case .rotateHashKey: "destroy the key with which names of networks are hashed, and make another"
        case .purgeAnalytics(let history):
            "delete the analytics log of this machine\(history ? ", and its history" : "")"
        case .setAnalyticsConsent(let consent):
            "\(consent ? "agree" : "object") to a log of which networks this machine is on"
        case .analyticsStatus: "see whether there is a log of which networks this machine is on"
        }
    }

    /// What polkit is asked about.
    var action: String {
        if case .requestPermission = self { ControlService.locationAction } else { ControlService.action }
    }

    /// The last number stands for nobody, chown(2).
    private static func user(_ value: BusValue) -> UInt32? {
        value.number.flatMap { UInt32(exactly: $0) }.flatMap { $0 == .max ? nil : $0 }
    }
}
