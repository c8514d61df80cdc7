@testable import Actions
import Foundation
import Platform
@testable import Rules
import SystemBus
import TestSupport
import Testing

/// A tree of its own for a test.
final class ProxyRoot {
    let path = NSTemporaryDirectory() + "proxy-\(UInt32.random(in: 0 ... .max))"

    init() throws {
        for directory in ["etc/apt/apt.conf.d", "run/vicinity", "home/.config", "bus"] {
            try FileManager.default.createDirectory(atPath: "\(path)/\(directory)", withIntermediateDirectories: true)
        }
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Every file, with its contents, and links that lead nowhere.
    var files: [String: String] {
        var found: [String: String] = [:]
        for case let name as String in FileManager.default.enumerator(atPath: path) ?? .init() {
            if let text = try? String(contentsOfFile: "\(path)/\(name)", encoding: .utf8) { found[name] = text }
        }
        return found
    }

    /// Runs a program of the system's and tells what it said.
    func output(_ arguments: [String], _ variables: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: arguments[0])
        process.arguments = Array(arguments.dropFirst())
        process.environment = ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"].merging(variables) { $1 }
        let pipe = Pipe()
        process.standardOutput = pipe
        try process.run()
        let data = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        return String(decoding: data, as: UTF8.self)
    }

    /// What APT makes of the tree, whole.
    func aptDump() throws -> [String] {
        try output([
            "/usr/bin/apt-config", "-o", "Dir::Etc::parts=\(path)/etc/apt/apt.conf.d", "-c",
            "\(path)/etc/apt/apt.conf.d/90vicinity", "dump",
        ]).split(separator: "\n").map(String.init)
    }
}

private func manual(_ change: (inout StateAction.Proxy) -> Void = { _ in }) -> StateAction.Proxy {
    var proxy = StateAction.Proxy(mode: .manual)
    proxy.http = "http://proxy.corp.example:3128"
    proxy.https = "http://proxy.corp.example:3129"
    proxy.exclusions = ["localhost", ".corp.example", "10.0.0.0/8", "::1", "deb.corp.example"]
    change(&proxy)
    return proxy
}

/// What must not get through anywhere.
private let hostileValues = [
    "http://ok:1\";DPkg::Post-Invoke {\"touch /tmp/PWN\";};#", "http://h:1\"", "http://h\\:1", "http://h;x:1",
    "http://h#x:1", "http://h\n:1", "http://h:1\nLD_PRELOAD=/x", "http://h:1\r", "http://h\0:1", "http://$(id):1",
    "http://`id`:1", "http://%n:1", "http://a b:1", "http://h]:1", "http://h':1", "http://ä:1", "http://u:p@h:1",
    "http://${IFS}:1", "http://h:1 ", " http://h:1", "http://h:0", "http://h:99999", "[$e]x", "",
]

@Suite(.serialized) struct ProxyTests {
    init() { #expect(ActionLoop.isRunning) }

    @ActionActor private func settings(_ place: PlaceName, _ proxy: StateAction.Proxy) throws -> Settings {
        try #require(try proxy.wishes().first { $0.place == place }?.settings)
    }

    // MARK: Hostile values

    @Test(arguments: hostileValues) func ruleFilesRefuse(_ value: String) {
        // As TOML's basic string, in which everything can be said.
        let text = value.unicodeScalars.map {
            "\\U" + String(repeating: "0", count: 8 - String($0.value, radix: 16).count)
                + String($0.value, radix: 16)
        }.joined()
        for key in ["http", "https", "socks", "pac"] {
            let rule = "[network.n]\nssid = [\"n\"]\n[rule.r]\non = \"n\"\nproxy = { \(key) = \"\(text)\" }\n"
            let file = RuleFile(path: "t.toml", contents: Array(rule.utf8))
            #expect(RuleSet.load([file]).ruleSet == nil, "\(key)")
        }
    }

    @Test(arguments: hostileValues) @ActionActor func wishesRefuse(_ value: String) {
        for path in [\StateAction.Proxy.http, \.https, \.socks, \.pac] {
            let proxy = manual { $0[keyPath: path] = value }
            #expect(throws: PlaceError.self) { try proxy.wishes() }
        }
        if value != "" {
            #expect(throws: PlaceError.self) { try manual { $0.exclusions = [value] }.wishes() }
        }
    }

    /// Writers are given the values directly, past every check before them.
    @Test(arguments: hostileValues.filter { !$0.isEmpty }) @ActionActor func writersRefuse(_ value: String) async throws
    {
        let root = try ProxyRoot()
        let before = root.files
        let places: [(any Place, [String])] = [
            (APTPlace(root: root.path), [APTPlace.http, APTPlace.https, APTPlace.direct, value]),
            (EnvironmentPlace(root: root.path), ProxyVariables.names + [value]),
            (ProxyFilePlace(root: root.path), ["mode", "http", "https", "socks", "pac", "no-proxy", value]),
        ]
        for (place, names) in places {
            for name in names {
                await #expect(throws: PlaceError.self, "\(name)") { try await place.write([name: .value(value)]) }
            }
        }
        #expect(root.files == before)
    }

    /// What a user had there before may be anything, and one line stays one line.
    @Test(arguments: hostileValues) @ActionActor func desktopsKeepToTheirKey(_ value: String) throws {
        let root = try ProxyRoot()
        let place = KDEPlace(directory: "\(root.path)/home/.config", isDesktop: true, bus: nil)
        let name = "httpProxy"
        do {
            try place.write([name: .value(value), "ProxyType": .value("1")])
            #expect(root.files["home/.config/kioslaverc"]?.split(separator: "\n").count == 3)
            #expect(try place.read(["ProxyType"]) == ["ProxyType": .value("1")])
        } catch {
            #expect(root.files.isEmpty)
        }
        if let text = try? GNOMEPlace.text(["http/host": .value(value)]) {
            #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count == 3)
            #expect(text.hasPrefix("[http]\nhost="))
        }
        #expect(throws: (any Error).self) { try GNOMEPlace.text(["http]\nx": .value("1")]) }
    }

    // MARK: APT

    @Test @ActionActor func aptReadsWhatWasWritten() throws {
        let root = try ProxyRoot()
        let place = APTPlace(root: root.path)
        let wanted = try settings(.apt, manual())
        try place.write(wanted)
        #expect(try place.read(Set(wanted.keys)) == wanted)
        let dump = try root.aptDump().filter { $0.contains("::Proxy") }
        #expect(
            Set(dump) == [
                "Acquire::http::Proxy \"http://proxy.corp.example:3128\";",
                "Acquire::https::Proxy \"http://proxy.corp.example:3129\";",
                "Acquire::http::Proxy::localhost \"DIRECT\";", "Acquire::https::Proxy::localhost \"DIRECT\";",
                "Acquire::http::Proxy::deb.corp.example \"DIRECT\";",
                "Acquire::https::Proxy::deb.corp.example \"DIRECT\";",
            ])
        try place.write(wanted.mapValues { _ in .unset })
        #expect(root.files.isEmpty)
    }

    @Test @ActionActor func aptKnowsSocksAndDirect() throws {
        let root = try ProxyRoot()
        let place = APTPlace(root: root.path)
        var proxy = StateAction.Proxy(mode: .manual)
        proxy.socks = "socks5://[2001:db8::1]:1080"
        try place.write(try settings(.apt, proxy))
        #expect(try root.aptDump().contains("Acquire::https::Proxy \"socks5h://[2001:db8::1]:1080\";"))
        try place.write(try settings(.apt, StateAction.Proxy(mode: .none)))
        #expect(try root.aptDump().contains("Acquire::http::Proxy \"DIRECT\";"))
        proxy.socks = "socks4://h:1080"
        #expect(try proxy.wishes().allSatisfy { $0.place != .apt })
        // HTTPS would go around the proxy.
        proxy.http = "http://h:1"
        #expect(try proxy.wishes().allSatisfy { $0.place != .apt })
        proxy.https = "http://h:1"
        #expect(try proxy.wishes().contains { $0.place == .apt })
        try FileManager.default.removeItem(atPath: "\(root.path)/etc/apt")
        #expect(try place.read([APTPlace.http]) == nil)
    }

    // MARK: Files

    @Test(arguments: StateAction.Proxy.Mode.allCases) @ActionActor
    func filesHoldEachMode(_ mode: StateAction.Proxy.Mode) async throws {
        let root = try ProxyRoot()
        let proxy =
            switch mode {
            case .manual: manual()
            case .pac:
                {
                    var proxy = StateAction.Proxy(mode: .pac); proxy.pac = "https://pac.example/p.pac"; return proxy
                }()
            case .auto, .none: StateAction.Proxy(mode: mode)
            }
        let places = MachineProxyPlaces(root: root.path)
        let wishes = try proxy.wishes().filter { !$0.place.isOfUser }
        // Again and again, as after accidents.
        for _ in 0..<2 {
            for (name, settings) in wishes {
                let place = try #require(places.place(name))
                try await place.write(settings)
                let held = try await place.read(Set(settings.keys))
                #expect(held == settings, "\(name)")
            }
        }
        #expect(!root.files.keys.contains { $0.hasSuffix(".tmp") })
        #expect(wishes.contains { $0.place == .environment } == (mode == .manual || mode == .none))
        for (name, settings) in wishes {
            try await places.place(name)?.write(settings.mapValues { _ in .unset })
        }
        #expect(root.files.isEmpty)
    }

    @Test @ActionActor func linksAndStrangersAreNotFollowed() throws {
        let root = try ProxyRoot()
        let victim = "\(root.path)/victim"
        try "untouched".write(toFile: victim, atomically: true, encoding: .utf8)
        let directory = "\(root.path)/run/vicinity"
        for name in ["proxy.json", "proxy.env", ".proxy.json.tmp", ".proxy.env.tmp"] {
            try FileManager.default.createSymbolicLink(atPath: "\(directory)/\(name)", withDestinationPath: victim)
        }
        let place = ProxyFilePlace(root: root.path)
        #expect(try place.read(["mode"]) == ["mode": .unset])
        try place.write(["mode": .value("none")])
        #expect(try place.read(["mode"]) == ["mode": .value("none")])
        #expect(root.files["victim"] == "untouched")
        // What others can write is not believed.
        chmod("\(directory)/proxy.json", 0o666)
        #expect(try place.read(["mode"]) == ["mode": .unset])
    }

    // MARK: The survey

    @Test @ActionActor func surveyTellsOursFromOthers() async throws {
        let root = try ProxyRoot()
        let places = MachineProxyPlaces(root: root.path)
        func states() async -> [ProxySurvey.Row.State] {
            await ProxySurvey(ProxySurvey.machine, in: places, machine: places).rows.map(\.state)
        }
        #expect(await states() == [.empty, .empty, .empty])
        for (name, settings) in try manual().wishes() where !name.isOfUser {
            try await places.place(name)?.write(settings)
        }
        #expect(await states() == [.ours, .ours, .ours])
        try APTPlace(root: root.path).write([APTPlace.http: .value("http://other.example:1")])
        #expect(await states() == [.ours, .foreign, .ours])
        try FileManager.default.removeItem(atPath: "\(root.path)/etc/apt")
        #expect(await states() == [.ours, .absent, .ours])
    }

    // MARK: KDE

    private static let kioslaverc = """
        # mine
        [General]
        x=1

        [Proxy Settings]
        AuthMode=0
        ProxyType=4
        httpProxy[$e]=$HTTP_PROXY
        NoProxyFor = a\\sb

        [Other][Sub]
        ProxyType=9

        """

    @Test @ActionActor func kdeComesBackByteForByte() throws {
        for text in [
            Self.kioslaverc, "", "[$Version]\nupdate_info=x\n", "[General]\nx=1\n", "[Proxy Settings]\nAuthMode=0\n",
        ] {
            let root = try ProxyRoot()
            let path = "\(root.path)/home/.config/kioslaverc"
            let elsewhere = "\(root.path)/dotfile"
            if !text.isEmpty {
                try text.write(toFile: elsewhere, atomically: true, encoding: .utf8)
                try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: elsewhere)
            }
            let place = KDEPlace(directory: "\(root.path)/home/.config", isDesktop: true, bus: nil)
            let wanted = try settings(.kde, manual())
            let before = try #require(try place.read(Set(wanted.keys)))
            try place.write(wanted)
            #expect(try place.read(Set(wanted.keys)) == wanted)
            try place.write(before)
            #expect(try place.read(Set(wanted.keys)) == before)
            let after = root.files["dotfile"] ?? root.files["home/.config/kioslaverc"] ?? ""
            // A blank beside the sign is nobody's value, and not kept.
            #expect(after == text.replacingOccurrences(of: "NoProxyFor = a", with: "NoProxyFor=a"))
        }
    }

    @Test(arguments: [
        "# x\n[$i]\n[Proxy Settings]\n", "[$ie]\n", "[Proxy Settings][$i]\n", "[Proxy Settings]\nProxyType[$i]=0\n",
    ])
    @ActionActor func kdeDoesNotWriteWhatIsFrozen(_ text: String) throws {
        let root = try ProxyRoot()
        try text.write(toFile: "\(root.path)/etc/kioslaverc", atomically: true, encoding: .utf8)
        let place = KDEPlace(
            directory: "\(root.path)/home/.config", systemDirectories: ["\(root.path)/etc"], isDesktop: true, bus: nil)
        #expect(throws: PlaceError.self) { try place.write(["ProxyType": .value("1")]) }
        #expect(root.files.keys.filter { $0.hasPrefix("home") }.isEmpty)
    }

    @Test @ActionActor func kdeTellsRunningProgramsOrSaysThatItCouldNot() async throws {
        let root = try ProxyRoot()
        let directory = "\(root.path)/home/.config"
        let deaf = KDEPlace(directory: directory, isDesktop: true, bus: Bus(.address("unix:path=\(root.path)/none")))
        #expect(throws: PlaceError.self) { try deaf.write(["ProxyType": .value("0")]) }
        #expect(try deaf.read(["ProxyType"]) == ["ProxyType": .value("0")])
        let session = try GNOMEPlaceTests.Session()
        let (bus, listener) = (Bus(.address(session.address)), Bus(.address(session.address)))
        let watch = try listener.watch("path='/KIO/Scheduler',interface='org.kde.KIO.Scheduler'")
        // The daemon has heard of the match before it answers.
        _ = try await listener.call(
            "org.freedesktop.DBus", "/", "org.freedesktop.DBus", "GetId", limit: 120_000_000)
        try KDEPlace(directory: directory, isDesktop: true, bus: bus).write(["ProxyType": .value("1")])
        #expect(try await watch.first(until: Timestamp.now().boottime + 120_000_000) { $0.values } == [.text("")])
        // What is queued on a connection goes with it.
        withExtendedLifetime((bus, listener)) {}
    }

    @Test(.enabled(if: Files.exists("/usr/bin/kreadconfig5"), "kreadconfig5 is not installed")) @ActionActor
    func kdeReadsWhatWasWritten() throws {
        let root = try ProxyRoot()
        let directory = "\(root.path)/home/.config"
        try Self.kioslaverc.write(toFile: "\(directory)/kioslaverc", atomically: true, encoding: .utf8)
        let wanted = try settings(.kde, manual())
        try KDEPlace(directory: directory, isDesktop: true, bus: nil).write(wanted)
        for (key, setting) in wanted {
            let read = try root.output(
                ["/usr/bin/kreadconfig5", "--file", "kioslaverc", "--group", "Proxy Settings", "--key", key],
                ["HOME": "\(root.path)/home"])
            let value = if case .value(let value) = setting { value } else { "" }
            #expect(read == "\(value)\n", "\(key)")
        }
    }

    // MARK: Variables

    private nonisolated static let generator =
        "/usr/lib/systemd/user-environment-generators/30-systemd-environment-d-generator"

    /// systemd's own reader: of what is taken away nothing inherited remains.
    @Test(.enabled(if: Files.exists(generator), "there is no systemd here")) @ActionActor
    func userManagersReadWhatWasWritten() throws {
        for proxy in [manual(), StateAction.Proxy(mode: .none)] {
            let root = try ProxyRoot()
            let wanted = try settings(.environment, proxy)
            try EnvironmentPlace(root: root.path).write(wanted)
            let home = "\(root.path)/home/.config/environment.d"
            try FileManager.default.createSymbolicLink(
                atPath: home, withDestinationPath: "\(root.path)/run/environment.d")
            let said = try root.output(
                [Self.generator], ["HOME": "\(root.path)/home", "http_proxy": "old", "ftp_proxy": "old"])
            let lines = said.split(separator: "\n").map { $0.replacingOccurrences(of: "\"", with: "") }
            for (name, setting) in wanted {
                let value = if case .value(let value) = setting { value } else { "?" }
                #expect(lines.contains("\(name)=\(value)"), "\(name)")
            }
        }
    }

    @Test @ActionActor func kdeIsAbsentElsewhere() throws {
        let root = try ProxyRoot()
        #expect(try KDEPlace(directory: "\(root.path)/home/.config", isDesktop: false, bus: nil).read(["x"]) == nil)
    }
}
