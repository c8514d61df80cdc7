/// What becomes of a module's result, the second word of a PAM line, pam.conf(5).
public struct PAMControl: Hashable, Sendable {
    public enum Action: Hashable, Sendable {
        case ignore, bad, die, ok, done, reset
        /// So many of the modules that follow are left out.
        case jump(Int)
    }

    /// By the name of the result: `success`, `user_unknown`, …
    public let actions: [String: Action]
    /// For every other result.
    public let otherwise: Action

    /// A keyword, or `[value=action …]`.
    public init?(_ text: String) {
        switch text.lowercased() {
        case "required": self = PAMControl(passing: .ok, otherwise: .bad)
        case "requisite": self = PAMControl(passing: .ok, otherwise: .die)
        case "sufficient": self = PAMControl(passing: .done, ignored: nil, otherwise: .ignore)
        case "optional": self = PAMControl(passing: .ok, ignored: nil, otherwise: .ignore)
        default:
            guard text.hasPrefix("["), text.hasSuffix("]") else { return nil }
            var actions: [String: Action] = [:]
            for pair in text.dropFirst().dropLast().split(whereSeparator: { $0 == " " || $0 == "\t" }) {
                let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let action = PAMControl.action(parts[1]) else { return nil }
                actions[parts[0].lowercased()] = action
            }
            // What is not named fails, `_pam_parse_control`.
            otherwise = actions.removeValue(forKey: "default") ?? .bad
            self.actions = actions
        }
    }

    private init(passing: Action, ignored: Action? = .ignore, otherwise: Action) {
        var actions: [String: Action] = ["success": passing, "new_authtok_reqd": passing]
        actions["ignore"] = ignored
        self.actions = actions
        self.otherwise = otherwise
    }

    private static func action(_ text: Substring) -> Action? {
        switch text.lowercased() {
        case "ignore": .ignore
        case "bad": .bad
        case "die": .die
        case "ok": .ok
        case "done": .done
        case "reset": .reset
        default: Int(text).flatMap { $0 > 0 ? .jump($0) : nil }
        }
    }

    public func action(on result: String) -> Action { actions[result] ?? otherwise }
}
