import Environment
import Testing
import WiFi

@testable import Rules

/// The examples that ship, each in the places that matter to it.
@Suite struct ExampleTests {
    /// A place, and the rules that hold there.
    struct Row: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let environment: NetworkEnvironment
        let proven: Set<String>
        let hour: Int
        let rules: [String]

        init(
            _ description: String, _ links: Interface..., proven: Set<String> = [], hour: Int = 12,
            metered: Bool? = false, rules: [String]
        ) {
            testDescription = description
            var environment = Place.environment()
            for link in links { environment.interfaces[link.index] = link }
            environment.primaryRoute = links.first.map { PrimaryRoute(interfaceIndex: $0.index, gateway: nil) }
            environment.connectivity = links.isEmpty ? .none : .internet
            environment.isMetered = links.isEmpty ? nil : metered
            self.environment = environment
            self.proven = proven
            self.hour = hour
            self.rules = rules
        }
    }

    static let directory = "/" + #filePath.split(separator: "/").dropLast(3).joined(separator: "/") + "/Config/examples"

    private func simulation(_ example: String, _ row: Row) throws -> Simulation {
        let result = RuleSet.load(RuleFiles(paths: ["\(Self.directory)/\(example).toml"]))
        #expect(result.diagnostics.isEmpty)
        return Simulation(
            of: try #require(result.ruleSet), in: row.environment, proven: row.proven, at: Place.hour(row.hour))
    }

    private func check(_ example: String, _ row: Row) throws {
        #expect(try simulation(example, row).rules.filter(\.isActive).map(\.rule.name) == row.rules)
    }

    @Test(
        arguments: [
            Row("certain", Place.wifi("Corp-Staff", .wpa2Enterprise, certain: true), rules: ["office"]),
            Row(
                "802.1X without the server's name", Place.wifi("Corp-Staff", .wpa3Enterprise, certain: false),
                rules: ["office"]),
            Row("the other name", Place.wifi("Internal-Dev", .wpa3SAE), rules: ["office"]),
            Row("evil twin", Place.wifi("Corp-Staff", .open), rules: ["away"]),
            Row("evil twin with a passphrase", Place.wifi("Corp-Staff", .wpa2PSK), rules: ["away"]),
            Row("name in another case", Place.wifi("corp-staff", .wpa2Enterprise), rules: ["away"]),
            Row("home", Place.wifi("Seven Oaks", .wpa2PSK), rules: []),
            Row("home's name without encryption", Place.wifi("Seven Oaks", .owe), rules: ["away"]),
            Row("offline", rules: ["away"]),
            Row("wire", Place.wire(), rules: ["away"]),
            Row("office, and a wire", Place.wifi("Corp-Staff", .wpa2Enterprise), Place.wire(), rules: ["office"]),
        ])
    func office(row: Row) throws {
        try check("office", row)
        // All of it observes.
        let simulation = try simulation("office", row)
        #expect(simulation.actions.isEmpty)
        #expect(simulation.states.isEmpty)
    }

    private static let router = "02:00:5e:00:53:01"

    @Test(
        arguments: [
            Row("home", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), rules: ["nas"]),
            Row(
                "at night", Place.wifi("Seven Oaks 5G", .wpa3SAE, gateway: router), hour: 23,
                rules: ["nas", "nightly-backup"]),
            Row(
                "before dawn", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), hour: 5,
                rules: ["nas", "nightly-backup"]),
            Row("in the morning", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), hour: 6, rules: ["nas"]),
            Row(
                "metered", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), hour: 23, metered: true, rules: ["nas"]),
            Row(
                "nobody knows whether metered", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), hour: 23,
                metered: nil,
                rules: ["nas", "nightly-backup"]),
            Row("evil twin", Place.wifi("Seven Oaks", .open, gateway: router), hour: 23, rules: []),
            Row("evil twin of WEP", Place.wifi("Seven Oaks", .wep, gateway: router), hour: 23, rules: []),
            Row(
                "another gateway", Place.wifi("Seven Oaks", .wpa2PSK, gateway: "02:00:5e:00:53:02"), hour: 23, rules: []
            ),
            Row("gateway not known yet", Place.wifi("Seven Oaks", .wpa2PSK), hour: 23, rules: []),
            Row("neighbour's", Place.wifi("Eight Oaks", .wpa2PSK, gateway: router), rules: []),
            Row("offline", hour: 23, rules: []),
            Row("wire at home", Place.wire(gateway: router), hour: 23, rules: []),
            Row("home, and a wire", Place.wifi("Seven Oaks", .wpa2PSK, gateway: router), Place.wire(), rules: ["nas"]),
        ])
    func home(row: Row) throws {
        try check("home", row)
        let simulation = try simulation("home", row)
        #expect(simulation.states.map(\.action.summary) == (row.rules.isEmpty ? [] : ["unit mnt-nas.mount running"]))
        #expect(simulation.actions.map(\.rule.name) == row.rules.filter { $0 == "nightly-backup" })
    }

    @Test(
        arguments: [
            Row("café", Place.wifi("Café", .open), rules: ["among-strangers", "share-nothing", "tell"]),
            Row("with a passphrase", Place.wifi("Café", .wpa2PSK), rules: ["among-strangers", "share-nothing"]),
            Row(
                "encrypted without a passphrase", Place.wifi("Café", .owe), rules: ["among-strangers", "share-nothing"]),
            Row("strange wire", Place.wire(), rules: ["among-strangers", "share-nothing"]),
            Row(
                "wire, and a café", Place.wire(), Place.wifi("Café"),
                rules: ["among-strangers", "share-nothing", "tell"]),
            Row("offline", rules: []),
        ])
    func cafe(row: Row) throws {
        try check("cafe", row)
        let states = try simulation("cafe", row).states.map(\.action.summary)
        #expect(states == (row.rules.isEmpty ? [] : ["firewall zone public", "unit smbd.service stopped"]))
    }

    /// Beside the example for home: there nothing is strange, unless somebody else is nearby too.
    @Test func cafeAndHome() throws {
        let files = RuleFiles(paths: ["\(Self.directory)/cafe.toml", "\(Self.directory)/home.toml"])
        let set = try #require(RuleSet.load(files).ruleSet)
        let home = Place.wifi("Seven Oaks", .wpa2PSK, gateway: Self.router)
        func active(_ links: Interface...) -> [String] {
            var environment = Place.environment()
            for link in links { environment.interfaces[link.index] = link }
            return Simulation(of: set, in: environment, at: Place.hour(12)).rules.filter(\.isActive).map(\.rule.name)
        }
        #expect(active(home) == ["nas"])
        #expect(active(home, Place.wire()) == ["nas"])
        #expect(active(Place.wifi("Seven Oaks", .open)) == ["among-strangers", "share-nothing", "tell"])
        #expect(active(Place.wifi("Seven Oaks", .wpa2PSK, gateway: "02:00:5e:00:53:02")).contains("among-strangers"))
    }

    private static let domains = ["corp.example"]

    @Test(
        arguments: [
            Row("desk", Place.wire(domains: ["eu.corp.example"], certain: true), rules: ["desk", "find-printers"]),
            Row("802.1X without the server's name", Place.wire(domains: domains, certain: false), rules: ["desk"]),
            Row("cable without 802.1X", Place.wire(domains: domains), rules: []),
            Row("802.1X elsewhere", Place.wire(domains: ["other.example"], certain: true), rules: []),
            Row("domains not known yet", Place.wire(domains: nil, certain: true), rules: []),
            Row("another interface", Place.wire("usb0", domains: domains, certain: true), rules: []),
            Row("desk, and a café", Place.wire(domains: domains, certain: true), Place.wifi("Café"), rules: ["desk"]),
            Row("the domain over Wi-Fi", Place.wifi("Café", domains: domains, certain: true), rules: []),
            Row("offline", rules: []),
        ])
    func wiredDock(row: Row) throws {
        try check("wired-dock", row)
        let states = try simulation("wired-dock", row).states.map(\.action.summary)
        #expect(states == (row.rules.contains("find-printers") ? ["firewall zone work"] : []))
    }

    private static let staff = Place.wifi("Corp-Staff", .wpa2Enterprise, certain: true)
    private static let workshop = Place.wifi("Corp-Workshop", .wpa3SAE)

    @Test(
        arguments: [
            Row("office", staff, rules: []),
            Row(
                "office without the server's name", Place.wifi("Corp-Staff", .wpa2Enterprise, certain: false),
                rules: ["vpn"]),
            Row("office whose profile nobody can read", Place.wifi("Corp-Staff", .wpa3Enterprise), rules: ["vpn"]),
            Row("evil twin", Place.wifi("Corp-Staff", .open, certain: true), rules: ["vpn"]),
            Row("evil twin with a passphrase", Place.wifi("Corp-Staff", .wpa2PSK), rules: ["vpn"]),
            Row("workshop, proven", workshop, proven: ["workshop"], rules: []),
            Row("workshop, not proven", workshop, rules: ["vpn"]),
            Row(
                "open workshop, whatever answers", Place.wifi("Corp-Workshop", .open), proven: ["workshop"],
                rules: ["vpn"]),
            Row("office, and a strange wire", staff, Place.wire(), rules: ["vpn"]),
            Row("strange wire", Place.wire(), rules: ["vpn"]),
            Row("café", Place.wifi("Café"), rules: ["vpn"]),
            Row("offline", rules: ["vpn"]),
        ])
    func vpn(row: Row) throws {
        try check("vpn", row)
        let states = try simulation("vpn", row).states.map(\.action.summary)
        #expect(states == (row.rules.isEmpty ? [] : ["networkmanager corp-vpn up"]))
    }

    @Test(
        arguments: [
            Row("guests of the company", Place.wifi("Corp-Guest", .open), rules: ["remind"]),
            Row("encrypted", Place.wifi("Corp-Guest", .owe), rules: ["remind"]),
            Row("with a passphrase", Place.wifi("Corp-Guest", .wpa2PSK), rules: []),
            Row("hotel", Place.wifi("Hotel Adler", .wpa2PSK), rules: ["remind", "save-data"]),
            Row("train", Place.wifi("Train-WiFi2", .open), rules: ["remind", "save-data"]),
            Row("something like a hotel", Place.wifi("Hotels", .open), rules: []),
            Row("metered", Place.wifi("Phone", .wpa3SAE), metered: true, rules: ["save-data"]),
            Row("nobody knows whether metered", Place.wifi("Phone", .wpa3SAE), metered: nil, rules: []),
            Row("guests, and a wire", Place.wifi("Corp-Guest"), Place.wire(), rules: ["remind"]),
            Row("offline", rules: []),
        ])
    func guest(row: Row) throws { try check("guest", row) }

    /// Whoever copies all of them has one rule set.
    @Test func standBesideEachOther() throws {
        let names = ["cafe", "guest", "home", "office", "vpn", "wired-dock"]
        let files = RuleFiles(directories: [Self.directory], trust: .anyone)
        #expect(files.files.map(\.path) == names.map { "\(Self.directory)/\($0).toml" })
        #expect(RuleSet.load(files).diagnostics.map(\.description) == [])
    }
}
