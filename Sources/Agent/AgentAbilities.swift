internal import Actions
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
        action.wishes(on: []).contains(where: \.place.isOfUser)
    }

    /// Whether a part of it is the machine's.
    static func isOfMachine(_ action: StateAction) -> Bool {
        if case .firewall = action { return true }
        return action.wishes(on: []).contains { !$0.place.isOfUser }
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
