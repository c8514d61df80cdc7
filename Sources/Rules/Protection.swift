/// What rules do to protection that only shows when all of them are known.
enum Protection {
    /// Notes it in the rules.
    static func settle(_ rules: inout [Rule]) {
        markUnits(&rules)
        markHolds(&rules)
    }

    // MARK: Units

    /// Instances of them are VPNs, whatever they are called by.
    private static let vpnTemplates = ["wg-quick@", "openvpn@", "openvpn-client@"]

    /// A unit that one rule calls protective, or a VPN, is so for every rule: to stop it is no less relaxing where that
    /// is not said again.
    private static func markUnits(_ rules: inout [Rule]) {
        var protective: Set<StateAction.Target> = []
        for rule in rules {
            for action in rule.states { note(action.value, in: &protective) }
            for action in rule.enter + rule.leave {
                switch action.value {
                case .unit(let unit): note(.unit(unit), in: &protective)
                case .vpn(let vpn): note(.vpn(vpn), in: &protective)
                case .secondFactor(let factor): for vpn in factor.vpns { note(.vpn(vpn), in: &protective) }
                case .command, .notify, .lock, .disconnect: break
                }
            }
        }
        for index in rules.indices {
            for place in rules[index].states.indices {
                guard case .unit(let unit) = rules[index].states[place].value else { continue }
                rules[index].states[place].value = .unit(marked(unit, protective))
            }
            mark(&rules[index].enter, protective)
            mark(&rules[index].leave, protective)
        }
    }

    private static func note(_ action: StateAction, in protective: inout Set<StateAction.Target>) {
        switch action {
        case .vpn: protective.insert(action.target)
        case .unit(let unit): if unit.isProtective { protective.insert(action.target) }
        case .proxy, .firewall, .pam: break
        }
    }

    private static func mark(_ actions: inout [Listed<EdgeAction>], _ protective: Set<StateAction.Target>) {
        for place in actions.indices {
            guard case .unit(let unit) = actions[place].value else { continue }
            actions[place].value = .unit(marked(unit, protective))
        }
    }

    private static func marked(
        _ unit: StateAction.Unit, _ protective: Set<StateAction.Target>
    ) -> StateAction.Unit {
        var unit = unit
        let isVPN = unit.scope == .system && vpnTemplates.contains { unit.name.hasPrefix($0) }
        if isVPN || protective.contains(StateAction.unit(unit).target) { unit.isProtective = true }
        return unit
    }

    // MARK: Held rules

    /// A rule that is held by a second factor asks for no network: what it lowers, the second factor does.
    private static func markHolds(_ rules: inout [Rule]) {
        var holders: [String: [Int]] = [:]
        for (index, rule) in rules.enumerated() {
            for case .secondFactor(let factor) in (rule.enter + rule.leave).map(\.value) {
                for name in factor.heldRules { holders[name, default: []].append(index) }
            }
        }
        guard !holders.isEmpty else { return }
        var relaxing = rules.filter { !$0.relaxationsAtBeginning.isEmpty }.map(\.name)
        // Whoever holds one that holds one that lowers protection.
        while let name = relaxing.popLast() {
            for index in holders.removeValue(forKey: name) ?? [] {
                let wasRelaxing = !rules[index].relaxationsAtBeginning.isEmpty
                mark(&rules[index].enter, name)
                mark(&rules[index].leave, name)
                if !wasRelaxing, !rules[index].relaxationsAtBeginning.isEmpty { relaxing.append(rules[index].name) }
            }
        }
    }

    private static func mark(_ actions: inout [Listed<EdgeAction>], _ held: String) {
        for place in actions.indices {
            guard case .secondFactor(var factor) = actions[place].value, factor.heldRules.contains(held) else {
                continue
            }
            factor.isHoldRelaxing = true
            actions[place].value = .secondFactor(factor)
        }
    }
}
