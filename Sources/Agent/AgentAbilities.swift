public import Rules

/// Who carries out what.
public enum AgentAbilities {
    public static let limits = "this version asks for no second factor, nor answers whether one is needed"

    enum Performer {
        case root, sessions, nobody
    }

    static func performer(of action: EdgeAction) -> Performer {
        switch action {
        case .command, .vpn, .lock: .root
        case .unit(let unit): unit.scope == .user ? .sessions : .root
        case .notify: .sessions
        case .secondFactor: .nobody
        }
    }

    /// Whether a part of it is a user's.
    static func isOfSession(_ action: StateAction) -> Bool {
        switch action {
        case .proxy(let proxy): !proxy.targets.isDisjoint(with: [.gnome, .kde, .environment])
        case .unit(let unit): unit.scope == .user
        case .vpn, .firewall, .pam: false
        }
    }

    /// Whether a part of it is the machine's.
    static func isOfMachine(_ action: StateAction) -> Bool {
        switch action {
        case .proxy(let proxy): !proxy.targets.isDisjoint(with: [.apt, .environment, .file])
        case .unit(let unit): unit.scope == .system
        case .vpn, .firewall: true
        // Nobody's place: whoever asks is answered from what holds.
        case .pam: false
        }
    }

    public static func carriesOut(_ action: EdgeAction) -> Bool { performer(of: action) != .nobody }

    public static func carriesOut(_ action: StateAction) -> Bool { isOfMachine(action) || isOfSession(action) }

    /// Whether any of it is left undone.
    public static func leavesOut(_ rules: some Sequence<Rule>) -> Bool {
        rules.contains { rule in
            rule.states.contains { !carriesOut($0.value) }
                || (rule.enter + rule.leave).contains { !carriesOut($0.value) }
        }
    }
}
