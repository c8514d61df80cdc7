import Analytics
import Environment
import Foundation
import Hashing
import Netlink
import Testing
import WiFi

@testable import Enrichment

/// What stands for names, and by what the machine is reached.
@Suite struct LabelTests {
    private final class Place {
        let directory = NSTemporaryDirectory() + "vicinity-labels-\(UInt64.random(in: 0 ... .max))"
        var sources = EnvironmentLabeler.Sources()

        init(_ rules: String, key: [UInt8]? = Array(0..<32)) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: false)
            try rules.write(toFile: directory + "/a.toml", atomically: true, encoding: .utf8)
            if let key { try Data(key).write(to: URL(fileURLWithPath: directory + "/hash.key")) }
            sources.rules = directory + "/a.toml"
            sources.configuration = directory
            sources.hashKey = directory + "/hash.key"
            sources.socket = directory + "/none.sock"
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }
    }

    private static let rules = """
        [network.office]
        ssid = ["Corp-Staff", "Both", "Corp_nomap"]
        security = ["wpa2-enterprise"]
        [network.guest]
        ssid-glob = ["Guest-*"]
        [network.home]
        ssid = ["Seven Oaks", "Both"]
        ssid-glob = ["Corp-S?cret"]
        security = ["wpa2-psk"]
        private = true
        """

    private func label(_ name: String, _ place: Place) throws -> String? {
        NameLabels(place.sources).label(of: try #require(SSID(utf8: name)))
    }

    @Test func onlyWhatIsListedForEverybodyIsHashedPlainly() throws {
        let place = try Place(Self.rules)
        // printf %s Corp-Staff | sha256sum
        #expect(
            try label("Corp-Staff", place)
                == "sha256:\(SHA256.hexadecimal(Array("Corp-Staff".utf8)))")
        let key = try #require(HashKey(Array(0..<32)))
        for name in ["Both", "Guest-1", "Seven Oaks", "Corp-Secret", "Unheard of", "corp-staff"] {
            #expect(try label(name, place) == key.hash(Array(name.utf8)), "\(name)")
        }
        for name in ["Corp_nomap", "home_nomap", "a_optout_b"] { #expect(try label(name, place) == "nomap") }
    }

    @Test func withoutTheKeyOnlyWhatIsEverybodysIsTold() throws {
        for key in [nil, [], Array(0..<31)] as [[UInt8]?] {
            let place = try Place(Self.rules, key: key)
            #expect(try label("Seven Oaks", place) == nil)
            #expect(try label("Corp-Staff", place)?.hasPrefix("sha256:") == true)
        }
        // Wrong files say of no name that it is everybody's.
        #expect(try label("Corp-Staff", Place("[network.office", key: nil)) == nil)
    }

    /// The host's own may still be there, and says nothing to who has the organisation's.
    @Test func anOrganisationsKeyIsTheOneThatCounts() throws {
        let place = try Place(Self.rules)
        let file = place.directory + "/shared.key"
        func configure(_ text: String) throws {
            try text.write(toFile: place.directory + "/vicinity.toml", atomically: true, encoding: .utf8)
        }
        try configure("[analytics]\nscope = \"organisation\"\nkey-file = \"\(file)\"\n")
        #expect(try label("Seven Oaks", place) == nil)
        try Data(Array(1..<33)).write(to: URL(fileURLWithPath: file))
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: file)
        let key = try #require(HashKey(Array(1..<33)))
        #expect(try label("Seven Oaks", place) == key.hash(Array("Seven Oaks".utf8)))
        // Nobody can say whose it is.
        try configure("[analytics\n")
        #expect(try label("Seven Oaks", place) == nil)
    }

    // MARK: Where the machine is

    private func environment(_ kinds: [Int32: LinkKind], route: Int32? = nil) -> NetworkEnvironment {
        var environment = NetworkEnvironment()
        for (index, kind) in kinds {
            var interface = Interface(index: index, name: "if\(index)", kind: kind)
            interface.isAdministrativelyUp = true
            interface.operationalState = .up
            if kind == .wifi {
                interface.wifi = .joined(
                    WiFiNetwork(ssid: SSID(utf8: "net\(index)"), bssid: nil, security: .wpa2PSK))
            }
            environment.interfaces[index] = interface
        }
        environment.primaryRoute = route.map { PrimaryRoute(interfaceIndex: $0, gateway: nil) }
        return environment
    }

    @Test func theTypeIsThatOfTheWayOut() {
        let kinds: [Int32: LinkKind] = [1: .loopback, 2: .ethernet, 3: .wifi, 4: .tunnel, 5: .cellular, 6: .virtual]
        #expect(environment(kinds, route: 2).networkType == .ethernet)
        #expect(environment(kinds, route: 3).networkType == .wifi)
        #expect(environment(kinds, route: 4).networkType == .vpn)
        #expect(environment(kinds, route: 5).networkType == .cellular)
        // Through a bridge, or nowhere: what there is a link by.
        #expect(environment(kinds, route: 6).networkType == .wifi)
        #expect(environment(kinds).networkType == .wifi)
        #expect(environment([2: .ethernet]).networkType == .ethernet)
        #expect(environment([1: .loopback, 6: .virtual]).networkType == .none)
        var idle = environment([3: .wifi])
        idle.interfaces[3]?.wifi = .idle
        #expect(idle.networkType == .none && idle.joinedInterface == nil)
        #expect(environment([3: .wifi, 7: .wifi], route: 7).joinedInterface?.index == 7)
        #expect(environment([3: .wifi, 7: .wifi, 2: .ethernet], route: 2).joinedInterface?.index == 3)
    }

    /// By whatever this machine has.
    @Test func theKernelIsAsked() throws {
        let place = try Place(Self.rules)
        let labels = try EnvironmentLabeler(place.sources).labels
        let watcher = try EnvironmentWatcher.read()
        #expect(labels.networkType == watcher.networkType)
        #expect((labels.wifiEnvironment == nil) == (watcher.joinedInterface == nil))
    }

    // MARK: Lines

    private func enriched(_ text: String, _ labels: EnvironmentLabels) -> String {
        var enricher = LineEnricher()
        enricher.use(labels)
        var output: [UInt8] = []
        enricher.enrich(0..<text.utf8.count, of: Array(text.utf8), into: &output) { _ in true }
        return String(decoding: output, as: UTF8.self)
    }

    @Test func bothAreAddedWhereTheyAreMissing() {
        let labels = EnvironmentLabels(wifiEnvironment: "sha256:ab", networkType: .wifi)
        #expect(enriched(#"{"a":1}"#, labels) == #"{"a":1,"wifi_environment":"sha256:ab","network_type":"wifi"}"#)
        #expect(enriched("{ }\r\n", labels) == "{ \"wifi_environment\":\"sha256:ab\",\"network_type\":\"wifi\"}\r\n")
        #expect(enriched(#"{"network_type":0}"#, labels) == #"{"network_type":0,"wifi_environment":"sha256:ab"}"#)
        #expect(enriched(#"{"wifi_environment":0}"#, labels) == #"{"wifi_environment":0,"network_type":"wifi"}"#)
        #expect(
            enriched(#"{"x":{"network_type":0}}"#, .init(wifiEnvironment: nil, networkType: .none))
                == #"{"x":{"network_type":0},"network_type":"none"}"#)
    }
}
