import Environment
import Netlink
import Testing
import WiFi

@testable import Agent

/// Over which link, and how often.
@Suite struct ConnectivityCheckerTests {
    private func link(_ index: Int32, _ kind: LinkKind, ssid: String? = nil, address: String? = "192.0.2.7")
        -> Interface
    {
        var link = Interface(index: index, name: "\(kind.rawValue)\(index)", kind: kind)
        link.isAdministrativelyUp = true
        link.operationalState = .up
        if let address = address.flatMap({ IPAddress($0) }) {
            link.addresses = [InterfaceAddress(address: address, prefixLength: 24)]
        }
        if let ssid {
            link.wifi = .joined(WiFiNetwork(ssid: SSID(utf8: ssid), bssid: nil, security: .open))
        }
        return link
    }

    private func environment(_ links: Interface..., route: Int32?, gateway: String = "192.0.2.1") -> NetworkEnvironment
    {
        var environment = NetworkEnvironment()
        for link in links { environment.interfaces[link.index] = link }
        environment.primaryRoute = route.map { PrimaryRoute(interfaceIndex: $0, gateway: IPAddress(gateway)) }
        return environment
    }

    private func way(_ environment: NetworkEnvironment, after former: WayOut? = nil) -> WayOut? {
        WayOut(environment, after: former)
    }

    @Test func theWayIsTheLinkOfTheRoute() {
        let (wire, wifi) = (link(2, .ethernet), link(3, .wifi, ssid: "Cafe"))
        #expect(way(environment(wire, wifi, route: 3))?.name == "wifi3")
        #expect(way(environment(wire, wifi, route: 2))?.index == 2)
        #expect(way(environment(wire, wifi, route: nil)) == nil)
        #expect(way(environment(wire, route: 9)) == nil)
        #expect(way(environment(link(3, .wifi, address: nil), route: 3)) == nil)
        #expect(way(environment(link(3, .wifi, address: "fe80::1"), route: 3)) == nil)
        var (unplugged, stranger) = (wire, wifi)
        unplugged.operationalState = .down
        stranger.wifi = .associating(WiFiNetwork(ssid: SSID(utf8: "Cafe"), bssid: nil, security: .open))
        #expect(way(environment(unplugged, route: 2)) == nil)
        #expect(way(environment(stranger, route: 3)) == nil)
    }

    /// The link is down for a moment, and which network it is in is not known until it has ended.
    @Test func aRoamIsTheSameWay() {
        let cafe = link(3, .wifi, ssid: "Cafe")
        let before = way(environment(cafe, route: 3))
        var roaming = cafe
        roaming.operationalState = .dormant
        #expect(way(environment(roaming, route: 3), after: before) == before)
        roaming.wifi = .unknown
        #expect(way(environment(roaming, route: 3), after: before) == before)
        #expect(way(environment(roaming, route: 3)) == nil)
        let another = way(environment(link(4, .wifi, ssid: "Cafe"), route: 4))
        #expect(way(environment(roaming, route: 3), after: another) != another)
    }

    @Test func anotherNetworkIsAnotherWay() {
        let cafe = way(environment(link(3, .wifi, ssid: "Cafe"), route: 3))
        #expect(cafe != way(environment(link(3, .wifi, ssid: "Hotel"), route: 3)))
        #expect(cafe != way(environment(link(3, .wifi, ssid: "Cafe"), route: 3, gateway: "192.0.2.254")))
        // A roam is none, nor is an address more.
        #expect(cafe == way(environment(link(3, .wifi, ssid: "Cafe", address: "192.0.2.8"), route: 3)))
    }

    /// Which is a way through the link below, as long as that is there.
    @Test func aTunnelIsNoWay() {
        let (wifi, tunnel) = (link(3, .wifi, ssid: "Cafe"), link(6, .tunnel))
        let cafe = way(environment(wifi, route: 3))
        #expect(way(environment(wifi, tunnel, route: 6), after: cafe) == cafe)
        #expect(way(environment(wifi, tunnel, route: 6)) == nil)
        #expect(way(environment(tunnel, route: 6), after: cafe) == nil)
    }

    private func delays(_ found: Connectivity, _ count: Int) -> [Int64] {
        var pace = CheckPace()
        return (0..<count).map { _ in pace.delay(after: found) / 1_000_000 }
    }

    @Test func whoeverSignsInIsNotKeptWaiting() {
        #expect(delays(.portal, 31) == Array(repeating: 10, count: 30) + [60])
    }

    @Test func aServerThatDoesNotAnswerIsNotPressed() {
        #expect(delays(.local, 8) == [10, 20, 40, 80, 160, 300, 300, 300])
        #expect(delays(.internet, 3) == [300, 300, 300])
    }

    @Test func aChangeBeginsAnew() {
        var pace = CheckPace()
        for _ in 0..<9 { _ = pace.delay(after: .local) }
        #expect(pace.delay(after: .portal) == 10_000_000)
        #expect(pace.delay(after: .local) == 10_000_000)
    }
}
