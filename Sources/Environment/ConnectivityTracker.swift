/// Who says how far packets get.
public enum ConnectivityWitness: String, Hashable, Sendable, CaseIterable {
    /// NetworkManager, which looks by itself where it is set up to.
    case manager
    /// A check of our own, made where nobody else looks.
    case check
}

/// How far packets get, by what the kernel says and whoever tried.
///
/// What was said is about the way to the internet at that moment: over another physical link, or in another network, it
/// says nothing.
struct ConnectivityTracker: Sendable {
    private var words: [ConnectivityWitness: Connectivity] = [:]
    /// The physical link that the words are about.
    private var link: Int32?

    /// Whether somebody looks who knows better than a check of our own.
    var isManaged: Bool { words[.manager] != nil }

    /// Whether a network manager looks, be it that there is nothing to look at now.
    private(set) var isLookedAfter = false

    /// - Parameter word: nil where the witness knows nothing any more. That there is no network may mean, from a manager,
    ///   that it looks after none.
    mutating func take(_ word: Connectivity?, from witness: ConnectivityWitness) {
        if witness == .manager { isLookedAfter = word != nil }
        words[witness] = word == Connectivity.none ? nil : word
    }

    /// The way to the internet leads over this physical link from now on.
    ///
    /// - Returns: whether what was known is void, and has to be asked again.
    mutating func follow(_ link: Int32) -> Bool {
        guard link != self.link else { return false }
        defer { self.link = link }
        return self.link != nil && forget()
    }

    /// The network behind this link was left.
    mutating func left(_ link: Int32) -> Bool { link == self.link ? forget() : false }

    private mutating func forget() -> Bool {
        words = [:]
        return true
    }

    /// - Parameter isConnected: whether a physical link has an address to talk from.
    func judge(isConnected: Bool) -> Connectivity {
        isConnected ? words[.manager] ?? words[.check] ?? .local : .none
    }
}
