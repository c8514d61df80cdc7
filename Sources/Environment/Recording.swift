public import Netlink
public import Platform
internal import WiFi

/// What a recording holds: a capture of netlink traffic that any tool reads, in which notes (`NLMSG_NOOP`) say which
/// of our questions the answers after them belong to. Replayed, it gives the same changes again.
public enum Recording {
    /// One thing the kernel told.
    public enum Fact: Sendable {
        case message(bus: UInt16, NetlinkMessage)
        /// A question, and the messages that answered it. The buses number their messages alike.
        case answer(Query, [(bus: UInt16, message: NetlinkMessage)], isRadioBlocked: Bool)
        /// A question that the kernel did not answer.
        case failure(Query)
        case device(index: Int32, DeviceFacts)
        /// What makes everything be read again, where no message says so.
        case lost(ResyncCause)
        case dns(DNSConfiguration)
        case suspending
        case resumed
        case metered(Bool?)
        case connectivity(Connectivity?, ConnectivityWitness)
        case deactivated(index: Int32)
        /// What daemons answered, of which there are no messages.
        case announcements(index: Int32, generation: UInt32, LinkAnnouncements)
    }

    /// What a note says.
    enum Note {
        case start
        case answer(Query, count: Int, isRadioBlocked: Bool)
        case failure(Query)
        case observation(Observation)

        var isStart: Bool { if case .start = self { true } else { false } }
    }

    private static let mark = "vicinity/1"

    // MARK: Writing

    /// The head of a file.
    public static func head(at time: Timestamp) -> [UInt8] {
        Capture.fileHeader + record(note: mark, at: time)
    }

    /// A fact as records of the file, without key material.
    public static func records(of fact: Fact, at time: Timestamp) -> [UInt8] {
        switch fact {
        case .message(let bus, let message):
            return record(message, bus, at: time) ?? []
        case .device(let index, let facts):
            return record(note: "\(mark) device \(index) \(facts.hasHardware ? 1 : 0) \(facts.type ?? "")", at: time)
        case .failure(let query):
            return record(note: "\(mark) failure \(text(of: query))", at: time)
        case .answer(let query, let messages, let isRadioBlocked):
            let records = messages.compactMap { record($0.message, $0.bus, at: time) }
            let text = "\(mark) answer \(records.count) \(isRadioBlocked ? 1 : 0) \(text(of: query))"
            return record(note: text, at: time) + records.joined()
        case .dns(let configuration):
            let servers = configuration.servers.map(\.description)
            let domains = configuration.searchDomains.filter { !$0.contains { $0 == "," || $0 == " " } }
            let text = "\(mark) dns \(list(servers)) \(list(domains))"
            return record(note: text, at: time)
        case .lost(let cause): return record(note: "\(mark) lost \(cause.rawValue)", at: time)
        case .suspending: return record(note: "\(mark) suspending", at: time)
        case .resumed: return record(note: "\(mark) resumed", at: time)
        case .metered(let isMetered):
            return record(note: "\(mark) metered \(isMetered.map { $0 ? "1" : "0" } ?? none)", at: time)
        case .connectivity(let word, let witness):
            return record(note: "\(mark) connectivity \(witness.rawValue) \(word?.rawValue ?? none)", at: time)
        case .deactivated(let index): return record(note: "\(mark) deactivated \(index)", at: time)
        case .announcements(let index, let generation, let announcements):
            let text = "\(mark) announcements \(index) \(generation) \(text(of: announcements))"
            return record(note: text, at: time)
        }
    }

    private static func record(_ message: NetlinkMessage, _ bus: UInt16, at time: Timestamp) -> [UInt8]? {
        var message = message
        if bus == NetlinkSocket.Bus.generic.number, message.type != GenericNetlinkFamily.controller.identifier {
            // What cannot be read to its end may hold a key anywhere.
            guard let redacted = NL80211Message.redacted(message) else { return nil }
            message = redacted
        }
        return Capture.record(CapturedDatagram(wall: time.wall, bus: bus, bytes: message.bytes[...]))
    }

    private static func record(note: String, at time: Timestamp) -> [UInt8] {
        let message = NetlinkMessage(type: 1, payload: Array(note.utf8)[...])
        return Capture.record(CapturedDatagram(wall: time.wall, bus: 0, bytes: message.bytes[...]))
    }

    private static let none = "-"

    /// One word.
    private static func list(_ words: [String]) -> String { words.isEmpty ? none : words.joined(separator: ",") }

    private static func text(of announcements: LinkAnnouncements) -> String {
        let domains =
            switch announcements.searchDomains {
            case .told(let names): "told \(list(names))"
            case .unknown: "unknown \(none)"
            case .file: "file \(none)"
            }
        guard let profile = announcements.profile else { return domains }
        let (ca, name) = (profile.demands.certificationAuthority, profile.demands.serverName)
        return "\(domains) \(profile.ssid?.hexadecimal ?? none) \(ca ? 1 : 0) \(name ? 1 : 0)"
    }

    private static func text(of query: Query) -> String {
        switch query {
        case .association(let index, let generation): "association \(index) \(generation)"
        case .station(let index, let generation, let address): "station \(index) \(generation) \(address)"
        case .accessPoint(let index, let bssid): "access-point \(index) \(bssid)"
        case .radio(let index, let generation): "radio \(index) \(generation)"
        case .path: "path"
        case .neighbour(let address, let index): "neighbour \(index) \(address)"
        case .routes(let index): "routes \(index)"
        case .announcements(let index, let generation): "announcements \(index) \(generation)"
        case .inventory(let cause): "inventory \(cause.rawValue)"
        }
    }

    // MARK: Reading

    /// The note in a message; nil for all other messages.
    static func note(in message: NetlinkMessage) -> Note? {
        guard message.type == 1 else { return nil }
        let words = String(decoding: message.payload, as: UTF8.self).split(separator: " ").map { String($0) }
        guard words.first == mark else { return nil }
        let index = words.count > 2 ? Int32(words[2]) : nil
        switch words.dropFirst().first {
        case nil: return .start
        case "device":
            guard words.count >= 4, let index else { return nil }
            let facts = DeviceFacts(type: words.count > 4 ? words[4] : nil, hasHardware: words[3] == "1")
            return .observation(.device(index: index, facts))
        case "dns":
            guard words.count == 4 else { return nil }
            let servers = list(words[2]).compactMap { IPAddress($0) }
            return .observation(.dns(DNSConfiguration(servers: servers, searchDomains: list(words[3]))))
        case "lost":
            guard words.count == 3 else { return nil }
            return ResyncCause(rawValue: words[2]).map { .observation(.lost($0)) }
        case "suspending": return .observation(.suspending)
        case "resumed": return .observation(.resumed)
        case "metered":
            guard words.count == 3 else { return nil }
            return .observation(.metered(words[2] == none ? nil : words[2] == "1"))
        case "connectivity":
            guard words.count == 4, let witness = ConnectivityWitness(rawValue: words[2]) else { return nil }
            let word = Connectivity(rawValue: words[3])
            return word == nil && words[3] != none ? nil : .observation(.connectivity(word, witness))
        case "deactivated": return index.map { .observation(.deactivated(index: $0)) }
        case "announcements":
            guard words.count >= 6, let index, let generation = UInt32(words[3]),
                let announcements = announcements(Array(words[4...]))
            else { return nil }
            return .observation(.answer(.announcements(index: index, generation: generation, announcements)))
        case "answer":
            guard words.count >= 5, let count = Int(words[2]), count >= 0, let query = query(Array(words[4...]))
            else { return nil }
            return .answer(query, count: count, isRadioBlocked: words[3] == "1")
        case "failure": return query(Array(words.dropFirst(2))).map { .failure($0) }
        default: return nil
        }
    }

    private static func list(_ word: String) -> [String] {
        word == none ? [] : word.split(separator: ",").map { String($0) }
    }

    private static func announcements(_ words: [String]) -> LinkAnnouncements? {
        var announcements = LinkAnnouncements()
        switch words[0] {
        case "told": announcements.searchDomains = .told(DomainName.list(list(words[1])))
        case "file": announcements.searchDomains = .file
        case "unknown": break
        default: return nil
        }
        guard words.count == 5 else { return words.count == 2 ? announcements : nil }
        let ssid = SSID(hexadecimal: words[2])
        guard words[2] == none || ssid != nil else { return nil }
        announcements.profile = AppliedProfile(
            ssid: ssid, demands: EAPDemands(certificationAuthority: words[3] == "1", serverName: words[4] == "1"))
        return announcements
    }

    private static func query(_ words: [String]) -> Query? {
        let index = words.count > 1 ? Int32(words[1]) : nil
        switch (words.first, words.count) {
        case ("path", 1): return .path
        case ("inventory", 2): return ResyncCause(rawValue: words[1]).map { .inventory($0) }
        case ("routes", 2): return index.map { .routes(index: $0) }
        case ("announcements", 3):
            guard let index, let generation = UInt32(words[2]) else { return nil }
            return .announcements(index: index, generation: generation)
        case ("association", 3):
            guard let index, let generation = UInt32(words[2]) else { return nil }
            return .association(index: index, generation: generation)
        case ("radio", 3):
            guard let index, let generation = UInt32(words[2]) else { return nil }
            return .radio(index: index, generation: generation)
        case ("station", 4):
            guard let index, let generation = UInt32(words[2]), let address = MACAddress(words[3]) else { return nil }
            return .station(index: index, generation: generation, address: address)
        case ("access-point", 3):
            guard let index, let bssid = BSSID(words[2]) else { return nil }
            return .accessPoint(index: index, bssid: bssid)
        case ("neighbour", 3):
            guard let index, let address = IPAddress(words[2]) else { return nil }
            return .neighbour(address, index: index)
        default: return nil
        }
    }
}

/// Puts the messages of an answer together again; the same for the kernel's answers and for recorded ones.
enum AnswerAssembly {
    static func association(_ messages: [NL80211Message]) -> AssociationReport {
        var report = AssociationReport()
        for message in messages {
            switch message {
            case .interface(let interface): report.interface = interface
            case .station(let station): report.stations.append(station)
            case .scanEntry(let entry) where entry.isAssociated: report.entries.append(entry)
            default: continue
            }
        }
        return report
    }

    static func path(_ messages: [RouteMessage]) -> PathReport {
        for case .route(let route, false) in messages where route.kind == 1 && route.interfaceIndex != nil {
            return .route(route)
        }
        return .unreachable
    }

    static func neighbour(_ messages: [RouteMessage]) -> Neighbour? {
        for case .neighbour(let neighbour, false) in messages { return neighbour }
        return nil
    }

    static func routes(_ messages: [RouteMessage]) -> [RouteEntry] {
        messages.compactMap { if case .route(let route, false) = $0 { route } else { nil } }
    }

    /// - Parameter wireless: of each station interface its own answers, told apart by their index.
    static func inventory(_ messages: [RouteMessage], wireless: [NL80211Message]) -> Inventory {
        var inventory = Inventory()
        inventory.path = .unreachable
        for message in messages {
            switch message {
            case .link(let link): inventory.links.append(link)
            case .address(let address, false): inventory.addresses.append(address)
            // The way to the internet comes as the host route of a look-up.
            case .route(let route, false) where route.destinationLength > 1: inventory.path = .route(route)
            case .route(let route, false): inventory.routes.append(route)
            case .neighbour(let neighbour, false): inventory.neighbours.append(neighbour)
            default: continue
            }
        }
        for message in wireless {
            switch message {
            case .interface(let interface) where !inventory.wireless.contains { $0.index == interface.index }:
                inventory.wireless.append(interface)
            case .interface(let interface):
                inventory.associations[interface.index] = AssociationReport(interface: interface)
            case .station(let station): inventory.associations[station.index]?.stations.append(station)
            case .scanEntry(let entry) where entry.isAssociated:
                inventory.associations[entry.index]?.entries.append(entry)
            default: continue
            }
        }
        return inventory
    }
}
