/// Whether a stack really asks for a second factor.
extension PAMStack {
    /// Modules that are one, and cannot be answered with what a password is answered with.
    public static let factors: Set<String> = ["pam_oath", "pam_u2f", "pam_google_authenticator", "pam_fprintd"]

    /// What lets a module pass somebody who has no factor.
    public static let loopholes: Set<String> = [
        "nullok", "nouserok", "no_usersfile_okay", "null_usersfile_okay", "user_unknown=ignore",
    ]

    /// The lines of second factors.
    public var factorModules: [Module] { modules.filter { PAMStack.factors.contains($0.name) } }

    /// Whether nobody gets through without a second factor: whatever the other modules say, the stack fails where those
    /// of the factors do.
    public var demandsFactor: Bool { demands(PAMStack.factors) }

    /// Whether nobody gets through without one of these second factors.
    public func demands(_ factors: Set<String>) -> Bool {
        modules.contains { factors.contains($0.name) } && !canBePassed(without: factors)
    }

    /// Whether there is a way through for whom has none of these second factors, whatever else they know.
    public func canBePassed(without factors: Set<String>) -> Bool {
        canBePassed { PAMStack.results(of: $0, without: factors) }
    }

    /// Whether there is a way through where each module can say what `results` has of it.
    func canBePassed(_ results: (Module) -> Set<String>) -> Bool {
        PAMStack.ends(items, from: [Standing()], results).contains { $0.standing.isSuccess }
    }

    /// What libpam remembers on its way, `_pam_dispatch_aux`.
    private struct Standing: Hashable {
        enum Impression: Hashable {
            case undefined, positive, negative
        }

        var impression = Impression.undefined
        /// Whether the result that counts is a success.
        var isPassing = false

        var isSuccess: Bool { impression == .positive && isPassing }
    }

    private struct End: Hashable {
        var standing: Standing
        /// `done` or `die`.
        var isDecided: Bool
    }

    /// Every way in which the items can end.
    private static func ends(
        _ items: [Item], from starts: Set<Standing>, _ results: (Module) -> Set<String>
    ) -> Set<End> {
        // By the place of the next item.
        var reached: [Set<Standing>] = Array(repeating: [], count: items.count + 1)
        reached[0] = starts
        var ends: Set<End> = []
        for (place, item) in items.enumerated() {
            for standing in reached[place] {
                switch item {
                case .substack(let inner):
                    // A decision within it is one for the substack only.
                    for end in PAMStack.ends(inner, from: [standing], results) {
                        reached[place + 1].insert(end.standing)
                    }
                case .module(let module):
                    for result in results(module) {
                        let isPassing = result == "success"
                        let action = module.control.action(on: result)
                        guard case .jump(let count) = action else {
                            let end = apply(action, isPassing, isIgnored: result == "ignore", to: standing, starts)
                            if end.isDecided { ends.insert(end) } else { reached[place + 1].insert(end.standing) }
                            continue
                        }
                        let target = place + 1 + count
                        // Beyond the end there is nothing to jump to, and libpam fails.
                        if target <= items.count {
                            reached[target].insert(standing)
                        } else {
                            reached[items.count].insert(Standing(impression: .negative))
                        }
                    }
                }
            }
        }
        return ends.union(reached[items.count].map { End(standing: $0, isDecided: false) })
    }

    private static func apply(
        _ action: PAMControl.Action, _ isPassing: Bool, isIgnored: Bool, to standing: Standing, _ starts: Set<Standing>
    ) -> End {
        var standing = standing
        switch action {
        case .ignore, .jump: return End(standing: standing, isDecided: false)
        case .reset: return End(standing: starts.first ?? Standing(), isDecided: false)
        case .ok, .done:
            if standing.impression == .undefined || standing.isSuccess, !isIgnored {
                standing = Standing(impression: .positive, isPassing: isPassing)
            }
            return End(standing: standing, isDecided: action == .done && standing.impression == .positive)
        case .bad, .die:
            standing = Standing(impression: .negative)
            return End(standing: standing, isDecided: action == .die)
        }
    }

    /// What a module can say where no second factor is given: for all but those that are one, anything.
    static func results(of module: Module, without factors: Set<String>) -> Set<String> {
        let anything = module.anything
        if module.maySkip, factors.contains(module.name) { return anything }
        switch module.name {
        case "pam_deny": return ["auth_err"]
        case "pam_permit": return ["success"]
        // In this very moment it is needed.
        case "pam_exec" where module.isHelper:
            return anything.subtracting(["success", "new_authtok_reqd"])
        case let name where factors.contains(name) && loopholes.isDisjoint(with: module.arguments):
            return anything.subtracting(["success", "new_authtok_reqd", "ignore"])
        default: return anything
        }
    }
}

extension PAMStack.Module {
    /// The program that asks the agent.
    public static let helper = "/usr/libexec/vicinity/second-factor-needed"

    /// Whether it asks the agent if the second factor may be skipped.
    public var isHelper: Bool { command == PAMStack.Module.helper }

    /// What pam_exec(8) runs: the first of its arguments that is no option of its own.
    var command: String? {
        guard name == "pam_exec" else { return nil }
        let options: Set<String> = ["debug", "expose_authtok", "quiet", "quiet_log", "seteuid", "stdout"]
        return arguments.first { word in
            !options.contains(word) && !word.hasPrefix("log=") && !word.hasPrefix("type=")
        }
    }

    /// Every result that makes a difference.
    var anything: Set<String> { Set(control.actions.keys).union(["success", "ignore", "auth_err"]) }

    /// The value of an argument `KEY=…`; nil where there is none.
    public func value(of key: String) -> String? {
        arguments.first { $0.hasPrefix("\(key)=") }.map { String($0.dropFirst(key.utf8.count + 1)) }
    }
}
