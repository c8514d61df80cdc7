internal import Platform
internal import SystemBus

/// What only the system bus tells: that the machine is about to sleep or woke up, that a network manager came, went or
/// was started anew, after which its links have to be read again, and what daemons know of the networks behind links.
///
/// Without a bus there is nothing to observe and nothing is lost but that. Everything happens on the loop's thread.
final class SystemBusObserver {
    /// Who changes Wi-Fi links behind the kernel's back, by the names they own.
    private static let managers = ["fi.w1.wpa_supplicant1", "net.connman.iwd", NetworkManager.name]

    private let bus: SystemBus
    private let announcements: AnnouncementReader
    private let sleep: SleepWatch
    private let observe: (Observation) -> Void

    init(on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.observe = observe
        bus = SystemBus(on: loop)
        announcements = AnnouncementReader(bus, on: loop, observe)
        sleep = SleepWatch(bus, on: loop, observe)
        bus.onConnect = { [unowned self] in addMatches() }
        bus.onReturn = { observe(.lost(.managerChanged)) }
        bus.onLoss = { [unowned self] in announcements.lost() }
        bus.connect()
    }

    /// Asks whoever looks after the link.
    func answer(_ query: Query, about link: Interface) { announcements.answer(query, about: link) }

    private func addMatches() {
        sleep.addMatches()
        for name in SystemBusObserver.managers {
            bus.watchOwner(of: name) { [unowned self] _ in
                if name == NetworkManager.name { announcements.managerChanged() }
                observe(.lost(.managerChanged))
            }
        }
        bus.watchOwner(of: Resolver.name) { [unowned self] _ in observe(.announcementsChanged(index: nil)) }
        announcements.addMatches()
    }
}
