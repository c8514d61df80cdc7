/// What is wrong with a line, or a stack, that is to ask for a second factor.
public enum PAMRemark: Hashable, Sendable {
    public typealias Module = PAMStack.Module

    /// By an argument, or a result in its control, who has no factor passes.
    case loophole(Module, String)
    /// `-auth`: who removes the module's file removes the factor.
    case mayBeMissing(Module)
    /// The stack can be passed without the factor because this line is enough.
    case passedBy(Module)
    /// It can be passed, and no line alone is to blame but those of the factor, which are not required.
    case canBePassed
    /// The agent is asked, and there is no factor for which its answer could matter.
    case helperWithoutFactor(Module)
    /// The agent is asked, and no line of a factor follows at once.
    case helperElsewhere(Module)
    /// Where the agent lets the factor be skipped, so many lines are left out; nil where that is no jump.
    case helperJump(Module, found: Int?, factors: Int)
    /// Where the factor is needed, the line of the helper fails the stack, factor or not.
    case helperFails(Module)
    /// Where the agent lets the factor be skipped, nothing else has to be known either.
    case openWhereSkipped(Module)
    /// Which factor a person has stands in a file that is the person's own; nil where the module's default is one.
    case ownFile(Module, String?)
    /// pam_oath without the file that it looks into.
    case noUsersFile(Module)
    /// pam_access(8) can ask the resolver, and so whoever answers for it.
    case accessByHost(Module)
}

extension PAMStack {
    /// What asks for a secret or a thing, and fails where it is not given.
    private static let authenticators = factors.union([
        "pam_unix", "pam_sss", "pam_ldap", "pam_krb5", "pam_winbind", "pam_pkcs11", "pam_systemd_home",
        "pam_radius_auth",
    ])

    /// The files that say who has which factor, by the argument that names one, and the module's own choice.
    public static let usersFileKeys = [
        "pam_oath": "usersfile", "pam_u2f": "authfile", "pam_google_authenticator": "secret",
    ]

    /// What is wrong. Of a stack without factor, helper and pam_access: nothing.
    public var remarks: [PAMRemark] {
        var remarks = factorModules.flatMap(PAMStack.remarks(on:))
        remarks += modules.filter { $0.name == "pam_access" && !$0.arguments.contains("nodns") }.map {
            .accessByHost($0)
        }
        remarks += PAMStack.helperRemarks(items, hasFactor: !factorModules.isEmpty)
        // What has a name of its own already makes it passable.
        let isExplained = remarks.contains {
            switch $0 {
            case .loophole, .mayBeMissing: true
            default: false
            }
        }
        if !factorModules.isEmpty, !demandsFactor, !isExplained { remarks += waysPast }
        if let helper = modules.first(where: \.isHelper), isOpenWhereSkipped {
            remarks.append(.openWhereSkipped(helper))
        }
        return remarks
    }

    private static func remarks(on module: Module) -> [PAMRemark] {
        var remarks: [PAMRemark] = []
        if let argument = module.arguments.first(where: loopholes.contains) {
            remarks.append(.loophole(module, argument))
        }
        if case .ignore = module.control.action(on: "user_unknown"), module.control.actions["user_unknown"] != nil {
            remarks.append(.loophole(module, "user_unknown=ignore"))
        }
        if module.maySkip { remarks.append(.mayBeMissing(module)) }
        guard let key = usersFileKeys[module.name] else { return remarks }
        switch module.value(of: key) {
        case let path? where isOwn(path): remarks.append(.ownFile(module, path))
        case nil where module.name == "pam_oath": remarks.append(.noUsersFile(module))
        case nil: remarks.append(.ownFile(module, nil))
        default: break
        }
        return remarks
    }

    /// Whether a path leads to where a person can put something else in its place.
    private static func isOwn(_ path: String) -> Bool {
        let ours = ["~", "/home/", "${HOME}", "$HOME", "%h", "/tmp/", "/var/tmp/"]
        return ours.contains { path.hasPrefix($0) } || !(path.hasPrefix("/") || path.hasPrefix("$"))
    }

    // MARK: Past the factor

    /// The lines each of which is enough; none where it is the factor's own control that lets people past.
    private var waysPast: [PAMRemark] {
        guard !PAMStack(items: PAMStack.requiring(items)).demandsFactor else { return [.canBePassed] }
        let lines = modules.filter { !PAMStack.factors.contains($0.name) && !$0.isHelper }
        let enough = lines.filter { line in
            !canBePassed { module in
                let results = PAMStack.results(of: module, without: PAMStack.factors)
                return module == line ? results.subtracting(["success", "new_authtok_reqd"]) : results
            }
        }
        // Nothing passes without the last line either, as pam_permit is, which lets nobody past anything.
        let jumping = enough.filter { line in
            switch line.control.action(on: "success") {
            case .done, .jump, .reset: true
            case .ignore, .bad, .die, .ok: false
            }
        }
        return jumping.isEmpty ? [.canBePassed] : jumping.map { .passedBy($0) }
    }

    /// The same with every factor required.
    private static func requiring(_ items: [Item]) -> [Item] {
        items.map { item in
            switch item {
            case .substack(let inner): return .substack(requiring(inner))
            case .module(var module):
                if factors.contains(module.name) { module.control = PAMControl("required") ?? module.control }
                return .module(module)
            }
        }
    }

    /// Whether who knows nothing gets through where the agent says that the factor may be skipped, and only there.
    private var isOpenWhereSkipped: Bool {
        func isOpen(maySkip: Bool) -> Bool {
            canBePassed { module in
                if module.isHelper { return maySkip ? ["success"] : ["system_err"] }
                switch module.name {
                case "pam_deny": return ["auth_err"]
                case "pam_permit": return ["success"]
                // They look at who asks and where, not at what is known.
                case "pam_rootok", "pam_succeed_if", "pam_wheel", "pam_access", "pam_exec", "pam_listfile":
                    return ["auth_err", "ignore"]
                case let name where PAMStack.authenticators.contains(name): return ["auth_err"]
                default: return module.anything
                }
            }
        }
        return isOpen(maySkip: true) && !isOpen(maySkip: false)
    }

    // MARK: The helper

    /// The lines that are left out where the factor may be skipped have to be those of the factor, and all of them.
    private static func helperRemarks(_ items: [Item], hasFactor: Bool) -> [PAMRemark] {
        var remarks: [PAMRemark] = []
        for (place, item) in items.enumerated() {
            switch item {
            case .substack(let inner): remarks += helperRemarks(inner, hasFactor: hasFactor)
            case .module(let module):
                guard module.isHelper else { continue }
                guard hasFactor else {
                    remarks.append(.helperWithoutFactor(module))
                    continue
                }
                let following = items[(place + 1)...].prefix { next in
                    if case .module(let next) = next { factors.contains(next.name) } else { false }
                }
                guard !following.isEmpty else {
                    remarks.append(.helperElsewhere(module))
                    continue
                }
                if case .jump(let count) = module.control.action(on: "success") {
                    if count != following.count {
                        remarks.append(.helperJump(module, found: count, factors: following.count))
                    }
                } else {
                    remarks.append(.helperJump(module, found: nil, factors: following.count))
                }
                // What pam_exec says of a program that does not exit with 0.
                switch module.control.action(on: "system_err") {
                case .bad, .die: remarks.append(.helperFails(module))
                default: break
                }
            }
        }
        return remarks
    }
}
