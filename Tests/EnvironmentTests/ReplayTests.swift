import Netlink
import Platform
import TestSupport
import Testing
import WiFi

@testable import Environment

/// Captures of a real kernel (6.1, mac80211_hwsim, an nlmon device), replayed: what `iw event` printed at the same time
/// is what is told, without the chatter.
@Suite struct ReplayTests {
    /// Time in ms, interface, what is told of Wi-Fi; the access point's address of roams.
    private func told(_ replay: Replay) -> [String] {
        var replay = replay
        var lines: [String] = []
        while let step = replay.next() {
            for change in step.changes {
                guard let line = change.line else { continue }
                let milliseconds = change.time.wall / 1_000 - 1_796_041_000_000
                var full = "\(milliseconds) \(change.interface?.name ?? "?") \(line)"
                if case .roamed(let network, let previous) = change.kind {
                    full += " \(previous?.description ?? "-") to \(network.bssid?.description ?? "-")"
                }
                lines.append(full)
            }
        }
        return lines
    }

    /// A station that knows the network meets a stranger with its name, twice.
    @Test func evilTwin() throws {
        #expect(
            told(try Replay(try Fixtures.read("evil-twin-wrong-key.pcap"))) == [
                "597090 wlan2 associating Corp-Staff", "601194 wlan2 failed Corp-Staff reason 15 by ap",
                "611419 wlan2 associating Corp-Staff", "615474 wlan2 failed Corp-Staff reason 15 by ap",
            ])
    }

    @Test func scenarios() throws {
        let odd = String(decoding: [0, 0xff, 0x41] as [UInt8], as: UTF8.self)
        #expect(
            told(try Replay(try Fixtures.read("hwsim-scenarios.pcap"))) == [
                // A wrong passphrase, then the right one.
                "159588 wlan2 associating roam-net", "163697 wlan2 failed roam-net reason 15 by ap",
                "169169 wlan2 associating roam-net", "169222 wlan2 joined roam-net 00 wpa2-psk",
                // `wpa_cli roam`, then the access point throws the station out, which comes back at the other.
                "184433 wlan2 roamed roam-net 00>00 02:00:00:00:00:00 to 02:00:00:00:01:00",
                "190360 wlan2 roamed roam-net 00>00 02:00:00:00:01:00 to 02:00:00:00:00:00",
                // `wpa_cli disconnect` and `reconnect`, then the supplicant ends.
                "196455 wlan2 left roam-net reason 3", "199308 wlan2 associating roam-net",
                "199351 wlan2 joined roam-net 00 wpa2-psk", "206531 wlan2 left roam-net reason 3 interface_down",
                // An open network called 00 ff 41; what a capture does not show is not known.
                "217382 wlan3 associating \(odd)", "217393 wlan3 joined \(odd) 00 unknown",
                "223259 wlan3 left \(odd) reason 3",
                // WPA3 on a hidden network, then a wrong password, three times.
                "223613 wlan3 associating hidden one", "223784 wlan3 joined hidden one 00 wpa3-sae",
                "230315 wlan3 left hidden one reason 1",
                "230623 wlan3 associating -", "230623 wlan3 failed - status 1",
                "231818 wlan3 associating -", "231818 wlan3 failed - status 1",
                "232929 wlan3 associating -", "232929 wlan3 failed - status 1",
            ])
    }

    /// Captures of the lab, thinned to the multicasts: what other managers than wpa_supplicant make of it, and what else
    /// there is.
    private static let scenariosOfTheLab: [String: [String]] = [
        // iwd roams without a DISCONNECT.
        "roam-iwd": [
            "wlan0 associating Corp-Staff", "wlan0 joined Corp-Staff 00 wpa2-psk",
            "wlan0 roamed Corp-Staff 00>00 02:00:00:00:01:00 to 02:00:00:00:02:00", "wlan0 left Corp-Staff reason 3",
        ],
        "roam-networkmanager": [
            "wlan0 associating Corp-Staff", "wlan0 joined Corp-Staff 00 wpa2-psk",
            "wlan0 roamed Corp-Staff 00>00 02:00:00:00:01:00 to 02:00:00:00:02:00",
            "wlan0 left Corp-Staff reason 3 interface_down",
        ],
        // Between two networks NetworkManager takes the interface down, so nothing is held back.
        "switch-networkmanager": [
            "wlan0 associating Seven Oaks", "wlan0 joined Seven Oaks 00 wpa2-psk",
            "wlan0 left Seven Oaks reason 3 interface_down", "wlan0 associating Corp-Staff",
            "wlan0 joined Corp-Staff 00 wpa2-psk", "wlan0 left Corp-Staff interface_down",
        ],
        "enterprise-wrong-password": ["wlan0 associating Corp-Staff", "wlan0 failed Corp-Staff reason 23 by ap"],
        "sae-wrong-password": ["wlan0 associating -", "wlan0 failed - status 1"],
        "owe": ["wlan0 associating Library", "wlan0 joined Library 00 owe", "wlan0 left Library reason 3"],
        "rfkill": [
            "wlan0 associating Seven Oaks", "wlan0 joined Seven Oaks 00 wpa2-psk",
            "wlan0 left Seven Oaks reason 3 interface_down", "wlan0 associating Seven Oaks",
            "wlan0 joined Seven Oaks 00 wpa2-psk", "wlan0 left Seven Oaks reason 3",
        ],
        "two-radios": [
            "wlan0 associating Seven Oaks", "wlan0 joined Seven Oaks 00 wpa2-psk", "wlan1 associating Cafe Amp",
            "wlan1 joined Cafe Amp 00 unknown", "wlan0 left Seven Oaks reason 3", "wlan1 left Cafe Amp reason 3",
        ],
    ]

    @Test(arguments: scenariosOfTheLab.keys.sorted())
    func scenarioOfTheLab(_ name: String) throws {
        let lines = told(try Replay(try Fixtures.read("\(name).pcap"))).map { line in
            line.split(separator: " ").dropFirst().joined(separator: " ")
        }
        #expect(lines == Self.scenariosOfTheLab[name])
    }

    @Test func nothingOfARealKernelIsRejected() throws {
        for fixture in Fixtures.captures {
            var replay = try Replay(try Fixtures.read(fixture))
            while replay.next() != nil {}
            #expect(replay.counters.malformed == 0, "\(fixture)")
            #expect(replay.counters.messages > 20, "\(fixture)")
        }
    }

    /// Nobody can read everything again: what is not understood is counted, and what comes after it counts.
    @Test func captureWithARejectedMessage() throws {
        var broken = Signal.connect(home).bytes
        broken[0] = 17
        let bytes = [broken, Signal.interface().bytes, Signal.connect(home).bytes, Signal.link(state: 6).bytes]
        let records = bytes.enumerated().map { place, bytes in
            Capture.record(
                CapturedDatagram(wall: 1_796_041_000_000_000 + Int64(place), bus: place < 3 ? 16 : 0, bytes: bytes[...])
            )
        }
        var replay = try Replay(Capture.fileHeader + records.joined())
        var lines: [String] = []
        while let step = replay.next() { lines += step.changes.compactMap(\.line) }
        #expect(lines == ["associating Home", "joined Home 01 wpa2-psk"])
        #expect(replay.counters.malformed > 0)
    }

    /// A capture that ends in the middle of a packet is replayed up to there.
    @Test func cutCapture() throws {
        let file = try Fixtures.read("evil-twin-wrong-key.pcap")
        let half = told(try Replay(Array(file.prefix(file.count / 2 + 1))))
        #expect((1..<4).contains(half.count))
        #expect(throws: CaptureError.notACapture) { try Replay([]) }
        #expect(throws: CaptureError.cut(atOctet: 20)) { try Replay(Array(file.prefix(21))) }
        #expect(told(try Replay(Array(file.prefix(24)))) == [])
    }
}

/// What `vicinity record` writes.
@Suite struct RecordingTests {
    /// A day with everything that a recorder has to know: questions with and without answers, devices, losses.
    private func day() -> World {
        let world = World(isRecording: true)
        world.learn(DeviceFacts(type: nil, hasHardware: true), of: 5)
        world.learn(DeviceFacts(type: "wlan", hasHardware: true), of: 3)
        world.hear(.link(5, name: "eth0", state: 6, mode: 0), .address("192.0.2.7", on: 5))
        world.kernel.path = .defaultRoute(via: "192.0.2.1", on: 5, length: 32, flags: 0x200)
        world.kernel.neighbour = .neighbour("192.0.2.1", .numbered(1), on: 5)
        world.hear(.defaultRoute(via: "192.0.2.1", on: 5, table: 51_820), .rule())
        world.kernel.route = [.defaultRoute(via: "192.0.2.2", on: 5), .neighbour("192.0.2.2", .numbered(2), on: 5)]
        world.kernel.announcements[5] = LinkAnnouncements(searchDomains: .told(["corp.example", "lab.example"]))
        world.kernel.announcements[3] = LinkAnnouncements(
            searchDomains: .told([]),
            profile: AppliedProfile(
                ssid: SSID(octets: office.ssid), demands: EAPDemands(certificationAuthority: true, serverName: false)))
        world.hear(.address("192.0.2.8", on: 5), world.kernel.route[0])
        world.kernel.route = []
        world.hear(.address("192.0.2.8", on: 5, isRemoved: true))
        let dns = DNSConfiguration(servers: [.loopback], searchDomains: ["corp.example"])
        world.tell(.dns(dns), .dns(dns))
        world.tell(.dns(.init()), .dns(.init()))
        for isMetered in [true, false, nil] { world.tell(.metered(isMetered), .metered(isMetered)) }
        for word in [.local, .portal, .internet, nil] as [Connectivity?] {
            for witness in ConnectivityWitness.allCases {
                world.tell(.connectivity(word, witness), .connectivity(word, witness))
            }
        }
        // What comes while everything is read counts for more than what is read.
        world.isSlow = true
        world.tell(.lost(.managerChanged), .lost(.managerChanged))
        world.setLink(2)
        world.answer()
        world.isSlow = false
        world.join(office)
        world.tell(.deactivated(index: 3), .deactivated(index: 3))
        world.tell(.suspending, .suspending)
        world.tell(.resumed, .resumed)
        world.disconnect(reason: 3)
        world.pass(40)
        world.kernel.interfaces[3]?.scan = [.scanEntry(upstairs, isAssociated: false)]
        world.hear(.authenticate(upstairs, status: 17))
        world.pass(1)
        world.associate(home)
        world.pass(4)
        world.disconnect(reason: 15, byAccessPoint: true)
        world.pass(3)
        world.isSilent = true
        world.associate(home)
        world.pass(0.5)
        world.isSilent = false
        world.authorize()
        world.pass(2)
        world.disconnect(reason: 1)
        world.pass(0.05)
        world.join(upstairs)
        world.pass(2)
        world.kernel.interfaces[3]?.association = nil
        world.kernel.interfaces[3]?.isBlocked = true
        world.hear(.disconnect(reason: 3))
        world.setInterface(isUp: false)
        world.pass(1)
        world.setInterface(isUp: true)
        world.kernel.interfaces[3]?.association = .init(accessPoint: office, isAuthorized: true)
        world.kernel.interfaces[3]?.state = 6
        world.overrun()
        world.pass(1)
        return world
    }

    @Test func replaysToTheSameChanges() throws {
        let world = day()
        let changes = world.toldEverything()
        #expect(changes.count > 15)
        var replay = try Replay(world.recording)
        var replayed: [EnvironmentChange] = []
        while let step = replay.next() { replayed += step.changes }
        // A recording knows one clock.
        #expect(replayed.map(\.time.wall) == changes.map(\.time.wall))
        #expect(replayed.map(\.kind) == changes.map(\.kind))
        #expect(replayed.map(\.interface) == changes.map(\.interface))
        #expect(replay.environment == world.environment)
    }

    /// The day has some of everything that is recorded.
    @Test func theDayIsFull() {
        let kinds = day().toldEverything().map(\.kind)
        let evidence = kinds.compactMap { if case .evidenceChanged(let evidence) = $0 { evidence } else { nil } }
        #expect(evidence.contains { $0.authentication != nil })
        #expect(evidence.contains { $0.searchDomains == ["corp.example", "lab.example"] })
        #expect(evidence.contains { $0.gateways.first?.hardwareAddress == .numbered(2) })
        #expect(evidence.contains { $0.gateways == [] && $0.searchDomains != nil })
        #expect(kinds.contains(.meteredChanged(nil)))
        #expect(kinds.contains(.connectivityChanged(.portal)) && kinds.contains(.connectivityChanged(.internet)))
        #expect(kinds.contains(.suspended))
        #expect(kinds.contains { if case .dnsChanged = $0 { true } else { false } })
    }

    @Test func stampsAreThoseOfTheDay() throws {
        let world = World(isRecording: true)
        #expect(try Replay(world.recording).start?.wall == world.now.wall)
    }

    // MARK: Keys

    private let secret = (0..<32).map { UInt8(0xa0 + $0) }

    private func holdsSecret(_ bytes: [UInt8]) -> Bool {
        // Four octets of it would be too many.
        (0...28).contains { start in
            let part = secret[start..<(start + 4)]
            return bytes.indices.dropLast(3).contains { bytes[$0] == part.first && bytes[$0..<($0 + 4)] == part }
        }
    }

    private func keys() -> [UInt8] {
        // PMKID, FILS KEK, PMK, and a nest with a key.
        Wire.attribute(85, Array(secret.prefix(16))) + Wire.attribute(242, secret) + Wire.attribute(254, secret)
            + Wire.nest(80, Wire.attribute(1, secret)) + Wire.attribute(7, secret) + Wire.attribute(277, secret)
    }

    @Test func keysAreNeverRecorded() throws {
        let roam = Signal.roam(upstairs, secrets: keys())
        #expect(holdsSecret(roam.bytes))
        let record = Recording.records(of: .message(bus: 16, roam.message), at: .now())
        #expect(!holdsSecret(record))
        // All else is there, and every length.
        #expect(
            record.count == Capture.record(CapturedDatagram(wall: 0, bus: 16, bytes: roam.message.bytes[...])).count)
        var datagrams: [CapturedDatagram] = []
        try Capture.read(Capture.fileHeader + record) { datagrams.append($0) }
        let datagram = try #require(datagrams.first)
        let message = try #require(NetlinkMessage.split(datagram.bytes).messages.first)
        #expect(try NL80211Message(message) == NL80211Message(roam.message))
    }

    @Test func keysInAnswersAreNeverRecorded() {
        let roam = Signal.roam(upstairs, secrets: keys())
        let fact = Recording.Fact.answer(
            .association(index: 3, generation: 1), [(16, roam.message)], isRadioBlocked: false)
        #expect(!holdsSecret(Recording.records(of: fact, at: .now())))
    }

    /// What cannot be read to its end may hold a key anywhere, so nothing of it is kept.
    @Test func unreadableMessagesAreNotRecorded() {
        let message = Signal.roam(upstairs, secrets: keys()).message
        for count in 0..<message.payload.count {
            var cut = message
            cut.payload = message.payload.prefix(count)
            #expect(!holdsSecret(Recording.records(of: .message(bus: 16, cut), at: .now())))
        }
        var twice = message
        twice.payload += Wire.attribute(254, secret)
        #expect(Recording.records(of: .message(bus: 16, twice), at: .now()).isEmpty)
    }

    // MARK: Damage

    private func survive(_ file: [UInt8]) {
        guard var replay = try? Replay(file) else { return }
        var steps = 0
        while replay.next() != nil, steps < 10_000 { steps += 1 }
        #expect(steps < 10_000)
    }

    @Test func damagedRecordingsNeverTrap() {
        let file = day().recording
        var random = SeededGenerator(3)
        for _ in 0..<400 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                damaged[Int.random(in: 24..<file.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            survive(
                random.once(in: 4) ? Array(damaged.prefix(Int.random(in: 0...file.count, using: &random))) : damaged)
        }
    }

    @Test func damagedCapturesNeverTrap() throws {
        // From the first association on.
        let file = Array(try Fixtures.read("evil-twin-wrong-key.pcap").prefix(120_000))
        var random = SeededGenerator(4)
        for _ in 0..<25 {
            var damaged = file
            for _ in 0..<Int.random(in: 1...100, using: &random) {
                damaged[Int.random(in: 24..<file.count, using: &random)] = UInt8(truncatingIfNeeded: random.next())
            }
            survive(damaged)
        }
    }

    /// Stamps that leap or step back cost no more than others.
    @Test(arguments: [UInt32(0), 0x7fff_ffff, .max])
    func stampsThatLeap(seconds: UInt32) {
        let world = World(isRecording: true)
        world.associate(home)
        world.pass(60)
        var file = world.recording
        let last = Capture.record(CapturedDatagram(wall: 0, bus: 0, bytes: Signal.rule().bytes[...]))
        file += Wire.number(seconds) + last.dropFirst(4)
        survive(file)
        // The same as a capture in which nobody noted anything.
        let packets = [Signal.interface(), .connect(home)].map {
            Capture.record(CapturedDatagram(wall: world.now.wall, bus: 16, bytes: $0.bytes[...]))
        }
        survive(Capture.fileHeader + packets.joined() + Wire.number(seconds) + last.dropFirst(4))
    }

    @Test(arguments: [
        "lost", "lost nonsense", "dns", "dns -", "dns x y z", "metered", "connectivity",
        "connectivity manager", "connectivity nobody portal", "connectivity manager everything", "deactivated",
        "deactivated x",
        "announcements", "announcements 3 1",
        "announcements 3 1 told", "announcements 3 1 told a b", "announcements 3 1 told a zz 1 1",
        "announcements x 1 told a", "announcements 3 x file -", "answer 1 0 routes x", "failure announcements 3",
        "answer -1 0 path", "answer 99999999999 0 path", "answer 1 0", "answer 1 0 nonsense", "answer x 0 path",
        "answer 1 0 association 3", "answer 1 0 association x 1", "answer 1 0 neighbour 3 x", "failure", "failure path",
        "failure nonsense", "device", "device 3", "device x 1 wlan", "nonsense", "answer 1 0 inventory nonsense",
    ])
    func brokenNotes(text: String) {
        let note = NetlinkMessage(type: 1, payload: Array("vicinity/1 \(text)".utf8)[...])
        let file =
            World(isRecording: true).recording
            + Capture.record(CapturedDatagram(wall: 1_796_000_001_000_000, bus: 0, bytes: note.bytes[...]))
        survive(file)
    }
}

extension IPAddress {
    fileprivate static var loopback: IPAddress {
        guard let address = IPAddress("127.0.0.1") else { preconditionFailure("127.0.0.1 is no address") }
        return address
    }
}
