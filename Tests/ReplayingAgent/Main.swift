import Agent
import CPlatform
import Environment
import Glibc
import Netlink
import Platform
import TestSupport
import WiFi

/// The agent as vicinityd runs it, but that nl80211 is this program's: for tests that have no radio.
///
/// It reads what its one radio does on standard input: `connect HEX NUMBER`, the name and a number for the access point,
/// `roam HEX NUMBER KEY`, with a key that the driver tells, or `disconnect`.
@main enum ReplayingAgent {
    static func main() throws {
        let words = CommandLine.arguments.dropFirst()
        guard words.count == 4 else { exit(64) }
        var paths = AgentPaths()
        for (path, word) in zip([\AgentPaths.configuration, \.runtime, \.state, \.logs], words) {
            paths[keyPath: path] = word
        }
        vicinity_refuse_core_dumps()
        signal(SIGPIPE, SIG_IGN)
        let radio = try Radio()
        let loop = try EventLoop()
        let agent = Agent(on: loop, paths: paths)
        agent.watcher.replayed = ReplayedEvents(
            descriptor: radio.agentsEnd, family: Wire.family, answer: { radio.answer($0) })
        let signals = try Signals([SIGTERM, SIGHUP], on: loop) { signal in
            if signal == SIGHUP { agent.reload() } else { agent.stop { loop.stop() } }
        }
        try agent.start()
        radio.send(.interface())
        try loop.watch(STDIN_FILENO) { _ in if !radio.read() { loop.forget(STDIN_FILENO) } }
        withExtendedLifetime(signals) { loop.run() }
    }
}

/// One radio, and the access point that it is with.
final class Radio: Sendable {
    let agentsEnd: Int32
    private let kernel: Int32
    private let accessPoint = Lock<AccessPoint?>(nil)
    private let input = Lock([UInt8]())

    init() throws {
        var ends: [Int32] = [-1, -1]
        let kind = Int32(SOCK_SEQPACKET.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        guard socketpair(AF_UNIX, kind, 0, &ends) == 0 else { throw SystemError("socketpair") }
        (kernel, agentsEnd) = (ends[0], ends[1])
    }

    func send(_ signal: Signal) {
        _ = signal.bytes.withUnsafeBytes { Glibc.send(kernel, $0.baseAddress, $0.count, 0) }
    }

    /// - Returns: false at the end.
    func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 4_096)
        let count = Glibc.read(STDIN_FILENO, &buffer, buffer.count)
        guard count > 0 else { return false }
        var lines: [[UInt8]] = []
        input.withLock { input in
            input += buffer[..<count]
            while let end = input.firstIndex(of: UInt8(ascii: "\n")) {
                lines.append(Array(input[..<end]))
                input.removeSubrange(...end)
            }
        }
        for line in lines { take(String(decoding: line, as: UTF8.self).split(separator: " ").map { String($0) }) }
        return true
    }

    private func take(_ words: [String]) {
        guard words.count > 2, let ssid = SSID(hexadecimal: words[1]), let number = UInt8(words[2]) else {
            accessPoint.withLock { $0 = nil }
            return send(.disconnect(reason: 3))
        }
        let new = AccessPoint("", number).with { $0.ssid = ssid.octets }
        accessPoint.withLock { $0 = new }
        if words[0] == "roam", words.count > 3, let key = SSID(hexadecimal: words[3])?.octets {
            // NL80211_ATTR_REKEY_DATA with its KEK, and NL80211_ATTR_PMK.
            send(.roam(new, secrets: Wire.nest(122, Wire.attribute(1, key)) + Wire.attribute(254, key)))
        } else {
            send(.connect(new))
        }
        send(.portAuthorized(new))
    }

    func answer(_ query: Query) -> Answer? {
        let accessPoint = accessPoint.withLock { $0 }
        let station = accessPoint.flatMap { Self.station($0) }
        switch query {
        case .association(let index, let generation):
            var report = AssociationReport(interface: Self.interface(accessPoint))
            report.stations = [station].compactMap { $0 }
            report.entries = [accessPoint.flatMap { Self.entry($0) }].compactMap { $0 }
            return .association(index: index, generation: generation, report)
        case .station(let index, let generation, let address):
            return .station(
                index: index, generation: generation, accessPoint?.bssid == address ? station : nil)
        case .accessPoint(let index, let bssid): return .accessPoint(index: index, bssid: bssid, nil)
        case .radio(let index, let generation):
            return .radio(index: index, generation: generation, isBlocked: false)
        case .path, .neighbour, .routes, .announcements, .inventory: return nil
        }
    }

    private static func message(_ signal: Signal) -> NL80211Message? { try? NL80211Message(signal.message) }

    private static func interface(_ accessPoint: AccessPoint?) -> WirelessInterface? {
        if case .interface(let interface)? = message(.interface(ssid: accessPoint?.ssid)) { interface } else { nil }
    }

    private static func station(_ accessPoint: AccessPoint) -> Station? {
        let told = message(.station(accessPoint.bssid, isAuthorized: true, signal: -40, on: 3))
        if case .station(let station)? = told { return station }
        return nil
    }

    private static func entry(_ accessPoint: AccessPoint) -> ScanEntry? {
        if case .scanEntry(let entry)? = message(.scanEntry(accessPoint, on: 3)) { entry } else { nil }
    }
}
