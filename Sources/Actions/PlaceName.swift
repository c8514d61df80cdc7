/// Which place; as text it stands in journals, so that what was put there can be undone without the rule.
public enum PlaceName: Hashable, Sendable {
    // The machine's, in the hands of `vicinity-act`.
    case apt
    /// `/run/environment.d`, for user managers that start later, and what login shells read.
    case environment
    /// `/run/vicinity/proxy.env` and `proxy.json`.
    case proxyFile
    case unit(String)
    /// A connection by its name or UUID.
    case networkManager(String)
    /// firewalld's zone of an interface.
    case zone(interface: String)
    case nftSet(family: String, table: String, name: String, element: String)

    // A user's, in the hands of `vicinity session`.
    case gnome
    case kde
    /// The variables of the user's service manager.
    case userEnvironment
    case userUnit(String)
}

extension PlaceName {
    /// Whose hands it is in.
    public var isOfUser: Bool {
        switch self {
        case .gnome, .kde, .userEnvironment, .userUnit: true
        default: false
        }
    }

    /// Whether a reboot (of a user's place: the end of the last session) takes away what it holds.
    public var isVolatile: Bool {
        switch self {
        case .apt, .gnome, .kde: false
        default: true
        }
    }

    /// Whether who keeps it forgets what it holds, while we may not be there to see that: firewalld does with each
    /// reload and new start. Nothing is there then, which is nobody's choice.
    var isForgotten: Bool { if case .zone = self { true } else { false } }
}

extension PlaceName: CustomStringConvertible {
    public var description: String { words.joined(separator: " ") }

    private var words: [String] {
        switch self {
        case .apt: ["apt"]
        case .environment: ["environment"]
        case .proxyFile: ["proxy-file"]
        case .unit(let name): ["unit", name]
        case .networkManager(let name): ["networkmanager", name]
        case .zone(let interface): ["zone", interface]
        case .nftSet(let family, let table, let name, let element): ["nft-set", family, table, name, element]
        case .gnome: ["gnome"]
        case .kde: ["kde"]
        case .userEnvironment: ["user-environment"]
        case .userUnit(let name): ["user-unit", name]
        }
    }

    /// Reads what `description` says.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false).map(String.init)
        let plain: [PlaceName] = [.apt, .environment, .proxyFile, .gnome, .kde, .userEnvironment]
        switch (words.first, words.count) {
        case ("unit", 2): self = .unit(words[1])
        case ("user-unit", 2): self = .userUnit(words[1])
        // A connection's name may have spaces.
        case ("networkmanager", 2...): self = .networkManager(words.dropFirst().joined(separator: " "))
        case ("zone", 2): self = .zone(interface: words[1])
        case ("nft-set", 5): self = .nftSet(family: words[1], table: words[2], name: words[3], element: words[4])
        default:
            guard let name = plain.first(where: { $0.description == text }) else { return nil }
            self = name
        }
    }
}
