internal import Analytics
package import Hashing
internal import Platform
package import Rules
package import WiFi

/// What stands for names of Wi-Fi networks in the analytics log and on the feed.
package struct NameHashing: Sendable {
    package var key: HashKey
    private let names: ListedNames
    /// Whether the log has bare hashes of what files do not list as well.
    private let hashesBarely: Bool

    package init(_ ruleSet: RuleSet, _ configuration: AnalyticsConfiguration?, key: HashKey) {
        names = ListedNames(ruleSet)
        hashesBarely = configuration?.hash == .sha256
        self.key = key
    }

    /// What the log holds.
    ///
    /// - Parameter isPrivate: whether the machine is on a private network, be it that the name does not show it.
    package func logged(_ ssid: SSID, isPrivate: Bool = false) -> String {
        let isOpen = names.isOpen(ssid) || hashesBarely && !isPrivate && !names.isPrivate(ssid)
        return PlaceHash.of(ssid, isOpen: isOpen, by: key)
    }

    /// What readers of the feed are told who may not see the name: whoever reads the log has been chosen for it, and they
    /// have not.
    package func told(_ ssid: SSID) -> String { PlaceHash.of(ssid, isOpen: names.isOpen(ssid), by: key) }
}
