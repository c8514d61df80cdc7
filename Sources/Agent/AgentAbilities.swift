public import Rules

/// What this version of the agent does about the actions that rules ask for; the rest is decided and told.
public enum AgentAbilities {
    public static let limits = "this version carries out commands only, and those as its own user"

    public static func carriesOut(_ action: EdgeAction) -> Bool {
        // Whose process a command is matters too much to be passed over.
        if case .command(let command) = action { command.user == nil } else { false }
    }

    /// Whether any of it is left undone.
    public static func leavesOut(_ rules: some Sequence<Rule>) -> Bool {
        rules.contains { rule in
            !rule.states.isEmpty || (rule.enter + rule.leave).contains { !carriesOut($0.value) }
        }
    }
}
