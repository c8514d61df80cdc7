internal import Netlink
internal import Platform
internal import SystemBus
internal import WiFi

/// Asks the daemons that look after links what they know of the networks behind them, and notices when that changes.
///
/// systemd-resolved is asked over the bus. Its files in /run/systemd/resolve/netif are readable by itself alone (mode
/// 0700), and leave out the links that systemd-networkd manages. But it announces the change of a link's servers only,
/// never that of its domains; those show in its resolv.conf(5), and come with the addresses, after which the reducer
/// asks again.
final class AnnouncementReader {
    /// What is being asked about one link.
    private struct Round {
        let query: Query
        let link: Interface
        var domains = LinkAnnouncements.SearchDomains.file
        var profile: AppliedProfile?
    }

    private let bus: SystemBus
    private let loop: EventLoop
    private let observe: (Observation) -> Void
    private var rounds: [Int32: Round] = [:]
    /// What was asked while a round was going on: only the last question counts.
    private var waiting: [Int32: (query: Query, link: Interface)] = [:]
    /// NetworkManager's devices, as far as they were asked about.
    private var devices: [String: Int32] = [:]
    private var check = NetworkManager.ConnectivityCheck()
    /// What was told last; nil: nothing.
    private var isMetered: Bool??
    private var hint: EventLoop.Timer?

    /// Changes come in swarms, one property after the other (µs).
    private static let hintDelay: Int64 = 50_000

    init(_ bus: SystemBus, on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.bus = bus
        self.loop = loop
        self.observe = observe
    }

    deinit { if let hint { loop.cancel(hint) } }

    // MARK: Changes

    func addMatches() {
        // By the interfaces that matter: others tell of each access point's signal.
        for interface in [NetworkManager.device, NetworkManager.ip4, NetworkManager.ip6] {
            bus.match(NetworkManager.changes(of: interface)) { [unowned self] _, _ in hintSoon() }
        }
        bus.match(NetworkManager.changes(of: NetworkManager.name)) { [unowned self] _, values in
            guard values.count > 1 else { return }
            if let metered = values[1]["Metered"] { tell(isMetered: NetworkManager.isMetered(metered)) }
            if check.take(values[1]) { observe(.connectivity(check.word, .manager)) }
        }
        bus.match("sender='\(NetworkManager.name)',interface='\(NetworkManager.device)',member='StateChanged'") {
            [unowned self] path, values in
            guard values.count > 1, values[0] != values[1] else { return }
            // In order with the answers: none that was made before comes after it.
            if values[1] == NetworkManager.activated, let index = devices[path] {
                observe(.deactivated(index: index))
            }
            if values[0] == NetworkManager.activated { observe(.announcementsChanged(index: devices[path])) }
            askState()
        }
        bus.match(Resolver.changes) { [unowned self] _, _ in hintSoon() }
        askState()
    }

    /// NetworkManager came or went, and what it said is void.
    func managerChanged() {
        forgetDevices()
        askState()
    }

    func lost() {
        forgetDevices()
        forgetState()
    }

    private func forgetDevices() {
        for index in devices.values.sorted() { observe(.deactivated(index: index)) }
        devices = [:]
    }

    /// What it says of the machine as a whole.
    private func askState() {
        bus.properties(NetworkManager.name, NetworkManager.path, of: NetworkManager.name) { [weak self] reply in
            guard let self else { return }
            guard case .values(let values) = reply, let state = values.first else { return forgetState() }
            tell(isMetered: state["Metered"].flatMap { NetworkManager.isMetered($0) })
            check = NetworkManager.ConnectivityCheck()
            check.take(state)
            observe(.connectivity(check.word, .manager))
        }
    }

    private func forgetState() {
        check = NetworkManager.ConnectivityCheck()
        tell(isMetered: nil)
        observe(.connectivity(nil, .manager))
    }

    private func tell(isMetered: Bool?) {
        guard self.isMetered != .some(isMetered) else { return }
        self.isMetered = isMetered
        observe(.metered(isMetered))
    }

    private func hintSoon() {
        guard hint == nil else { return }
        hint = loop.schedule(at: Timestamp.now().boottime + AnnouncementReader.hintDelay) { [unowned self] in
            hint = nil
            observe(.announcementsChanged(index: nil))
        }
    }

    // MARK: Questions

    func answer(_ query: Query, about link: Interface) {
        guard rounds[link.index] == nil else {
            waiting[link.index] = (query, link)
            return
        }
        rounds[link.index] = Round(query: query, link: link)
        guard bus.isConnected else {
            if bus.exists { rounds[link.index]?.domains = .unknown }
            loop.schedule(at: Timestamp.now().boottime) { [weak self] in self?.finish(link.index) }
            return
        }
        askResolver(link.index)
    }

    private func askResolver(_ index: Int32) {
        bus.call(Resolver.name, Resolver.path, Resolver.manager, "GetLink", [.signed(index)]) { [weak self] reply in
            guard let self else { return }
            guard case .values(let values) = reply, let path = values.first?.text else {
                if case .failed = reply, bus.exists { rounds[index]?.domains = .unknown }
                askManager(index)
                return
            }
            bus.properties(Resolver.name, path, of: Resolver.link) { [weak self] reply in
                guard let self else { return }
                rounds[index]?.domains = .unknown
                if case .values(let values) = reply, let properties = values.first {
                    rounds[index]?.domains = Resolver.domains(properties)
                }
                askManager(index)
            }
        }
    }

    private func askManager(_ index: Int32) {
        guard let name = rounds[index]?.link.name else { return finish(index) }
        let (manager, path) = (NetworkManager.name, NetworkManager.path)
        bus.call(manager, path, manager, "GetDeviceByIpIface", [.text(name)]) { [weak self] reply in
            guard let self else { return }
            guard case .values(let values) = reply, let device = values.first?.text else { return finish(index) }
            devices = devices.filter { $0.value != index }
            devices[device] = index
            bus.properties(manager, device, of: NetworkManager.device) { [weak self] reply in
                guard let self else { return }
                guard case .values(let values) = reply, let properties = values.first else { return finish(index) }
                consider(device, properties, index)
            }
        }
    }

    /// - Parameter device: the path of NetworkManager's object.
    private func consider(_ device: String, _ properties: BusValue, _ index: Int32) {
        // One of another machine's or namespace's links may have the name.
        let address = properties["HwAddress"]?.text.flatMap { MACAddress($0) }
        guard let round = rounds[index], address == nil || address == round.link.hardwareAddress ?? address,
            let state = properties["State"]
        else { return finish(index) }
        guard state == NetworkManager.activated else {
            if state != NetworkManager.unmanaged, round.domains == .file { rounds[index]?.domains = .unknown }
            return finish(index)
        }
        // The profile as it is in use; the stored one may have been changed since.
        bus.call(NetworkManager.name, device, NetworkManager.device, "GetAppliedConnection", [.unsigned(0)]) {
            [weak self] reply in
            guard let self else { return }
            if case .values(let values) = reply, let settings = values.first {
                rounds[index]?.profile = NetworkManager.profile(settings)
            }
            if case .told = rounds[index]?.domains { return finish(index) }
            rounds[index]?.domains = .unknown
            let configurations = [("Ip4Config", NetworkManager.ip4), ("Ip6Config", NetworkManager.ip6)].compactMap {
                property, interface in
                properties[property]?.text.map { (path: $0, interface: interface) }
            }
            askDomains(configurations[...], [], index)
        }
    }

    /// One configuration after the other; only all of them together say that there is no domain.
    private func askDomains(
        _ configurations: ArraySlice<(path: String, interface: String)>, _ found: [String], _ index: Int32
    ) {
        guard let (path, interface) = configurations.first else {
            rounds[index]?.domains = .told(DomainName.list(found))
            return finish(index)
        }
        // Where there is none of this family.
        guard path != "/" else { return askDomains(configurations.dropFirst(), found, index) }
        bus.properties(NetworkManager.name, path, of: interface) { [weak self] reply in
            guard let self else { return }
            guard case .values(let values) = reply, let properties = values.first else { return finish(index) }
            askDomains(configurations.dropFirst(), found + NetworkManager.domains(properties), index)
        }
    }

    private func finish(_ index: Int32) {
        guard let round = rounds.removeValue(forKey: index),
            case .announcements(_, let generation) = round.query
        else { return }
        let next = waiting.removeValue(forKey: index)
        let announcements = LinkAnnouncements(searchDomains: round.domains, profile: round.profile)
        observe(.answer(.announcements(index: index, generation: generation, announcements)))
        // Of another network than before it may say the same, and not repeat itself.
        if bus.isConnected { askState() }
        if let next { answer(next.query, about: next.link) }
    }
}

/// systemd-resolved on the bus, org.freedesktop.resolve1(5).
enum Resolver {
    static let name = "org.freedesktop.resolve1"
    static let path = "/org/freedesktop/resolve1"
    static let manager = "org.freedesktop.resolve1.Manager"
    static let link = "org.freedesktop.resolve1.Link"
    static let changes =
        "sender='\(name)',path_namespace='\(path)',interface='org.freedesktop.DBus.Properties',"
        + "member='PropertiesChanged'"

    /// What it holds of a link; a link without servers and domains is one that nobody told it of.
    static func domains(_ properties: BusValue) -> LinkAnnouncements.SearchDomains {
        guard let domains = properties["Domains"]?.list else { return .unknown }
        if domains.isEmpty, properties["DNS"]?.list?.isEmpty ?? true { return .unknown }
        // Those that only route questions are the machine's own making, as `~.` is.
        let searched = domains.compactMap { domain -> String? in
            guard let pair = domain.list, pair.count == 2, pair[1].flag == false else { return nil }
            return pair[0].text
        }
        return .told(DomainName.list(searched))
    }
}

/// NetworkManager on the bus, and what its values mean, NetworkManager(8).
enum NetworkManager {
    static let name = "org.freedesktop.NetworkManager"
    static let path = "/org/freedesktop/NetworkManager"
    static let device = "org.freedesktop.NetworkManager.Device"
    static let ip4 = "org.freedesktop.NetworkManager.IP4Config"
    static let ip6 = "org.freedesktop.NetworkManager.IP6Config"
    /// `NM_DEVICE_STATE_*`
    static let unmanaged = BusValue.number(10)
    static let activated = BusValue.number(100)

    static func changes(of interface: String) -> String {
        "sender='\(name)',interface='org.freedesktop.DBus.Properties',member='PropertiesChanged',arg0='\(interface)'"
    }

    /// `NM_METERED_*`: yes, no, and its guesses of both.
    static func isMetered(_ value: BusValue) -> Bool? {
        switch value.number {
        case 1, 3: true
        case 2, 4: false
        default: nil
        }
    }

    /// Whether it looks how far packets get, and what it found last.
    struct ConnectivityCheck {
        private var isAvailable = false
        private var isEnabled = false
        private var state: Int64?

        /// Takes in properties, or those of them that changed; false where none is of it.
        @discardableResult
        mutating func take(_ properties: BusValue) -> Bool {
            let values = ["ConnectivityCheckAvailable", "ConnectivityCheckEnabled", "Connectivity"].map {
                properties[$0]
            }
            isAvailable = values[0]?.flag ?? isAvailable
            isEnabled = values[1]?.flag ?? isEnabled
            state = values[2]?.number ?? state
            return values.contains { $0 != nil }
        }

        /// Where it does not look, a default route is `full` to it; and `none` may mean that it looks after no link.
        var word: Connectivity? {
            guard isAvailable, isEnabled else { return nil }
            switch state {  // NM_CONNECTIVITY_*
            case 1: return Connectivity.none
            case 2: return .portal
            case 3: return .local
            case 4: return .internet
            default: return nil
            }
        }
    }

    /// The domain that a network says it is, and those it says to search.
    ///
    /// A VPN has a device of its own, except for IPsec without an interface, whose domains NetworkManager adds to those
    /// of the link below; nothing tells them apart.
    static func domains(_ configuration: BusValue) -> [String] {
        ["Searches", "Domains"].flatMap { configuration[$0]?.list ?? [] }.compactMap(\.text)
    }

    /// What an applied connection demands by 802.1X; nil where it has no such setting.
    static func profile(_ settings: BusValue) -> AppliedProfile? {
        guard let setting = settings["802-1x"] else { return nil }
        var ssid: SSID?
        if let wireless = settings["802-11-wireless"] {
            // Without its name it cannot be told which network it is for.
            guard let name = wireless["ssid"]?.octets.flatMap({ SSID(octets: $0) }) else { return nil }
            ssid = name
        }
        // A profile of one user's alone was made without an administrator, who might choose another authority.
        let isPersonal = settings["connection"]?["permissions"]?.list?.isEmpty == false
        let none = EAPDemands(certificationAuthority: false, serverName: false)
        return AppliedProfile(ssid: ssid, demands: isPersonal ? none : demands(setting))
    }

    private static func demands(_ setting: BusValue) -> EAPDemands {
        // Only in these a certificate of the server's is checked by the demands of the profile: where the server may
        // choose another method, or the link may come up without any (wired, `optional`), nothing is demanded.
        let methods = (setting["eap"]?.list ?? []).compactMap(\.text)
        let isVerified =
            !methods.isEmpty && methods.allSatisfy { ["tls", "peap", "ttls"].contains($0) }
            && setting["optional"]?.flag != true
        guard isVerified else { return EAPDemands(certificationAuthority: false, serverName: false) }
        let authority =
            setting["ca-cert"]?.octets?.isEmpty == false || setting["ca-path"]?.text?.isEmpty == false
            || setting["system-ca-certs"]?.flag == true
        let names = ["domain-suffix-match", "domain-match", "subject-match"].contains {
            setting[$0]?.text?.isEmpty == false
        }
        let alternatives = setting["altsubject-matches"]?.list?.isEmpty == false
        return EAPDemands(certificationAuthority: authority, serverName: names || alternatives)
    }
}
