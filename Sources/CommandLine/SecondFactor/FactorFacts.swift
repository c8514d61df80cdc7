internal import PAM

/// What the checks of second factors go by: gathered at the edge, so that every check is a function of values.
struct FactorFacts {
    /// Services that let people in, or unlock, or make them somebody else.
    static let knownServices =
        ["sudo", "sudo-i", "su", "login", "polkit-1", "vicinity"] + displayManagers + lockers

    private static let displayManagers = [
        "gdm-password", "gdm-fingerprint", "gdm-smartcard", "lightdm", "sddm", "kde", "kde-fingerprint",
        "kde-smartcard",
    ]

    /// Services that run side by side with one, so that the weakest decides: GDM's, and those of KDE's locker.
    static let siblings = [
        "gdm-password": ["gdm-fingerprint", "gdm-smartcard"], "kde": ["kde-fingerprint", "kde-smartcard"],
    ]

    /// Those that run as the user, who cannot read what is root's.
    static let lockers = [
        "swaylock", "i3lock", "hyprlock", "gtklock", "waylock", "xscreensaver", "xsecurelock", "xfce4-screensaver",
        "mate-screensaver", "cinnamon-screensaver",
    ]

    struct Service {
        var name: String
        var stack: Result<PAMStack, PAMStackError>
        /// Whether somebody asked about it.
        var isNamed = false
        /// What pamtester came to; nil where it was not tried.
        var trial: Trial?
    }

    enum Trial: Equatable {
        case passed, failed
        /// Why it could not be tried.
        case impossible(String)
    }

    var services: [Service] = []
    /// By the name that lines have for them: whether their files are there.
    var modules: [String: Bool] = [:]
    /// The file of who is enrolled, by path.
    var files: [String: UsersFile] = [:]

    struct UsersFile: Equatable {
        var file: DoctorFacts.FileFact
        /// By module; nil where it cannot be read.
        var isListed: [String: Bool] = [:]
    }

    /// `second-factor-needed`.
    var helper = DoctorFacts.FileFact.missing
    /// Whose enrolment is looked for.
    var user = "?"
    var home = "/"
    /// Whether fingers of the user's are enrolled; nil where that cannot be seen.
    var hasFingers: Bool?
    var hasTester = false
    var isRoot = false
    /// Whether a rule has second factors asked for.
    var isPushed = false
}
