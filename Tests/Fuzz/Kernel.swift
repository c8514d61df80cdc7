@testable import Environment
import Feed
import JSON
import Netlink
import Platform
import WiFi

/// Octets → datagrams, answers and the passing of time → the reducer → lines of the feed.
///
/// What no input may do, besides crash: make `joined` and `left` not alternate, make the published state differ from
/// what was told, leave a deadline in the past, lose a message uncounted, or write a line that is none.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var world = World()
    var input = Input(UnsafeBufferPointer(start: start, count: count))
    world.observe(.inventory(Inventory(), nil))
    while let kind = input.octet() { world.step(kind, &input) }
    world.finish()
    return 0
}

/// Records of the input: a kind, what to wait (ms), a length, and so many octets.
struct Input {
    private var rest: ArraySlice<UInt8>

    init(_ buffer: UnsafeBufferPointer<UInt8>) { rest = Array(buffer)[...] }

    mutating func octet() -> UInt8? { rest.popFirst() }

    mutating func number() -> Int { Int(octet() ?? 0) | Int(octet() ?? 0) << 8 }

    mutating func octets(_ count: Int) -> ArraySlice<UInt8> {
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count)
    }
}

struct World {
    /// That of the seeds.
    static let family: UInt16 = 33

    private var decoder = ObservationDecoder()
    private var reducer = EnvironmentReducer()
    private var encoder = FeedEncoder()
    private var time = Timestamp(wall: 1_700_000_000_000_000, boottime: 1_000_000_000)
    private var queries: [Query] = []
    private var joined: Set<Int32> = []
    private var isStarted = false

    init() { decoder.family = World.family }

    mutating func step(_ kind: UInt8, _ input: inout Input) {
        time = time.advanced(by: Int64(input.number()) * 1_000)
        let octets = input.octets(input.number())
        switch kind {
        case 0: receive(octets, from: .generic)
        case 1: receive(octets, from: .route)
        case 2: fireDeadline()
        case 3: answer(octets)
        case 4: observe(.inventory(inventory(octets), .overrun))
        case 5:
            observe(
                .device(
                    index: Int32(octets.first ?? 0),
                    DeviceFacts(type: ["wlan", "wwan", "bluetooth", nil].randomElement(octets), hasHardware: true)))
        case 6: observe(.suspending)
        case 7: observe(.resumed)
        case 8: observe(.dns(ResolverConfiguration.parse(Array(octets))))
        case 9: observe(.lost(.overrun))
        case 10: if !queries.isEmpty { observe(.answer(.failed(queries.removeFirst()))) }
        default: break
        }
    }

    private mutating func receive(_ datagram: ArraySlice<UInt8>, from bus: ObservationDecoder.Bus) {
        let before = decoder.counters
        let decoded = decoder.decode(datagram, from: bus)
        let after = decoder.counters
        let useful = decoded.count { decoded in
            switch decoded.observation {
            case .wireless, .route: true
            default: false
            }
        }
        check(
            after.messages - before.messages
                == UInt64(useful) + after.ignored - before.ignored + after.malformed - before.malformed,
            "a message is neither used, ignored nor malformed")
        for (observation, message) in decoded {
            _ = NL80211Message.redacted(message)
            _ = message.errorReport
            _ = try? GenericNetlinkNotification(message)
            if let observation { observe(observation) }
        }
    }

    /// The passing of time until the reducer wants nothing of it any more.
    private mutating func fireDeadline() {
        guard let due = reducer.deadline else { return }
        time = time.advanced(by: max(due - time.boottime, 0))
        observe(.deadline)
        check(reducer.deadline ?? .max > time.boottime, "a deadline that was reached is still due")
    }

    private mutating func answer(_ octets: ArraySlice<UInt8>) {
        guard !queries.isEmpty else { return }
        let query = queries.removeFirst()
        switch query {
        case .association(let index, let generation):
            observe(
                .answer(
                    .association(
                        index: index, generation: generation,
                        octets.isEmpty ? nil : AnswerAssembly.association(wireless(octets)))))
        case .station(let index, let generation, _):
            let stations = AnswerAssembly.association(wireless(octets)).stations
            observe(.answer(.station(index: index, generation: generation, stations.first)))
        case .accessPoint(let index, let bssid):
            var entry: ScanEntry?
            for case .scanEntry(let found) in wireless(octets) { entry = found }
            observe(.answer(.accessPoint(index: index, bssid: bssid, entry)))
        case .radio(let index, let generation):
            observe(.answer(.radio(index: index, generation: generation, isBlocked: octets.first == 1)))
        case .path: observe(.answer(.path(octets.isEmpty ? .unknown : AnswerAssembly.path(route(octets)))))
        case .routes(let index):
            observe(.answer(.routes(index: index, AnswerAssembly.routes(route(octets)))))
        case .announcements(let index, let generation):
            let announcements = LinkAnnouncements(
                searchDomains: octets.isEmpty
                    ? .file : .told(DomainName.list([String(decoding: octets, as: UTF8.self)])),
                profile: AppliedProfile(
                    ssid: SSID(octets: octets),
                    demands: EAPDemands(certificationAuthority: true, serverName: octets.count % 2 == 0)))
            observe(.answer(.announcements(index: index, generation: generation, announcements)))
        case .neighbour: observe(.answer(.neighbour(AnswerAssembly.neighbour(route(octets)))))
        case .inventory(let cause): observe(.inventory(inventory(octets), cause))
        }
    }

    private func inventory(_ octets: ArraySlice<UInt8>) -> Inventory {
        AnswerAssembly.inventory(route(octets), wireless: wireless(octets))
    }

    private func wireless(_ octets: ArraySlice<UInt8>) -> [NL80211Message] {
        NetlinkMessage.split(octets).messages.filter { $0.type == World.family }
            .compactMap { try? NL80211Message($0) }
    }

    private func route(_ octets: ArraySlice<UInt8>) -> [RouteMessage] {
        NetlinkMessage.split(octets).messages.compactMap { try? RouteMessage($0) }
    }

    mutating func observe(_ observation: Observation) {
        let reduction = reducer.reduce(observation, at: time)
        queries += reduction.queries
        for change in reduction.changes { tell(change) }
        if !isStarted {
            isStarted = true
            joined = Set(reducer.environment.interfaces.values.filter { $0.wifi?.network != nil }.map(\.index))
        }
        for interface in reducer.environment.interfaces.values {
            switch interface.wifi {
            case .joined, .unknown: check(joined.contains(interface.index), "joined, and nobody was told")
            case .idle, .associating, nil: check(!joined.contains(interface.index), "left, and nobody was told")
            }
        }
        // As few as live: one that answers a question asks at most a few.
        if queries.count > 64 { queries.removeFirst(queries.count - 64) }
    }

    private mutating func tell(_ change: EnvironmentChange) {
        let index = change.interface?.index ?? -1
        switch change.kind {
        case .joined: check(joined.insert(index).inserted, "joined twice")
        case .left: check(joined.remove(index) != nil, "left what was not joined")
        case .roamed: check(joined.contains(index), "roamed without being joined")
        case .associating, .joinFailed: check(!joined.contains(index), "an attempt while joined")
        default: break
        }
        checkLine(encoder.line(for: FeedEvent(change)))
    }

    func finish() {
        checkLine(encoder.snapshotLine(of: reducer.environment, permission: .full))
    }
}

extension [String?] {
    /// One of them, by the last octet.
    func randomElement(_ octets: ArraySlice<UInt8>) -> String? { self[Int(octets.last ?? 0) % count] }
}
