/// A user's own rules: what they can ask for.
extension RuleSet {
    /// Reads a user's own rule files, `$XDG_CONFIG_HOME/vicinity/rules.d`, which can ask for nothing that is the
    /// machine's.
    public static func loadOfUser(_ files: RuleFiles, reviewing: Bool = false) -> LoadResult {
        let result = load(files, reviewing: reviewing)
        let refused = (result.ruleSet?.rules ?? []).flatMap { rule in
            rule.states.compactMap { refusal(of: $0.value, in: rule, at: $0.location) }
                + (rule.enter + rule.leave).compactMap { refusal(of: $0.value, in: rule, at: $0.location) }
        }
        guard !refused.isEmpty else { return result }
        return LoadResult(ruleSet: nil, diagnostics: result.diagnostics + refused)
    }

    private static func refusal(of state: StateAction, in rule: Rule, at location: SourceLocation) -> Diagnostic? {
        switch state {
        case .proxy(let proxy):
            guard proxy.targets.isDisjoint(with: [.gnome, .kde, .environment]) else { return nil }
            return refusal(
                "sets a proxy for the machine only: say targets = [\"gnome\", \"kde\", \"environment\"]", rule, location
            )
        case .unit(let unit):
            guard unit.scope != .user else { return nil }
            return refusal("is about a unit of the machine's: say scope = \"user\"", rule, location)
        case .vpn: return refusal("is about a VPN, which is the machine's", rule, location)
        case .firewall: return refusal("is about the firewall, which is the machine's", rule, location)
        case .pam: return refusal("is about PAM stacks, which are the machine's", rule, location)
        }
    }

    private static func refusal(of action: EdgeAction, in rule: Rule, at location: SourceLocation) -> Diagnostic? {
        switch action {
        case .command(let command):
            command.user == nil ? nil : refusal("runs a command as somebody else", rule, location)
        case .unit(let unit): refusal(of: StateAction.unit(unit), in: rule, at: location)
        case .vpn(let vpn): refusal(of: StateAction.vpn(vpn), in: rule, at: location)
        case .notify: nil
        case .lock: refusal("locks sessions, which only the administrator's rules do", rule, location)
        case .secondFactor: refusal("asks for a second factor, which only the administrator's rules do", rule, location)
        }
    }

    private static func refusal(_ problem: String, _ rule: Rule, _ location: SourceLocation) -> Diagnostic {
        Diagnostic(
            file: location.file, line: location.line, column: location.column, code: .notPermitted,
            message: "rule \"\(rule.name)\" \(problem)")
    }
}
