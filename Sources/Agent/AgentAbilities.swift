internal import Rules

/// Who carries out what.
enum AgentAbilities {
    enum Performer {
        case root, sessions
        /// This process.
        case agent
    }

    static func performer(of action: EdgeAction) -> Performer {
        switch action {
        case .command, .vpn, .lock, .disconnect: .root
        case .unit(let unit): unit.scope == .user ? .sessions : .root
        case .notify: .sessions
        case .secondFactor: .agent
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
}
