import Environment
import Netlink
import Platform
import WiFi

/// nl80211's multicasts out of the captures, each once, in their order.
struct RecordedEvents {
    struct Event {
        /// µs since the event before.
        var pause: Int64
        var datagram: ArraySlice<UInt8>
    }

    private(set) var events: [Event] = []
    private(set) var family: UInt16 = 0
    /// A CONNECT that names its network, and what ends it.
    private(set) var connect: ArraySlice<UInt8> = []
    private(set) var disconnect: ArraySlice<UInt8> = []
    private(set) var interface: ArraySlice<UInt8> = []

    init(in directory: String) throws {
        for name in Files.names(in: directory).sorted() where name.hasSuffix(".pcap") {
            try read(Files.read("\(directory)/\(name)", limit: 1 << 28))
        }
        guard let pair = pairs().first else { throw MalformedMessage("\(directory): no CONNECT with a DISCONNECT") }
        (connect, disconnect, interface) = pair
    }

    private mutating func read(_ file: [UInt8]) throws {
        var family: UInt16?
        var datagrams: [CapturedDatagram] = []
        try Capture.read(file) { if $0.bus == 16 { datagrams.append($0) } }
        var counts: [UInt16: Int] = [:]
        for datagram in datagrams {
            for message in NetlinkMessage.split(datagram.bytes).messages where message.type > 16 {
                counts[message.type, default: 0] += 1
            }
        }
        family = counts.max { $0.value < $1.value }?.key
        guard let family, self.family == 0 || self.family == family else { return }
        self.family = family
        var last: CapturedDatagram?
        for datagram in datagrams {
            // An nlmon device shows a multicast once for every socket that listens.
            guard datagram.bytes != last?.bytes, isEvent(datagram.bytes) else { continue }
            events.append(
                Event(
                    pause: max(datagram.wall - (last?.wall ?? datagram.wall), 0),
                    datagram: ArraySlice(Array(datagram.bytes))))
            last = datagram
        }
    }

    private func isEvent(_ datagram: ArraySlice<UInt8>) -> Bool {
        let messages = NetlinkMessage.split(datagram).messages
        return !messages.isEmpty
            && messages.allSatisfy { message in
                guard message.type == family, message.sequence == 0, let decoded = try? NL80211Message(message) else {
                    return false
                }
                if case .other = decoded { return false }
                return true
            }
    }

    private func pairs() -> [(ArraySlice<UInt8>, ArraySlice<UInt8>, ArraySlice<UInt8>)] {
        let decoded = events.map {
            ($0.datagram, NetlinkMessage.split($0.datagram).messages.compactMap { try? NL80211Message($0) })
        }
        var pairs: [(ArraySlice<UInt8>, ArraySlice<UInt8>, ArraySlice<UInt8>)] = []
        for (datagram, messages) in decoded {
            guard case .connect(let result)? = messages.first, result.status == 0,
                let elements = result.requestElements,
                let ssid = InformationElements(elements).ssid, !ssid.isHidden
            else { continue }
            let end = decoded.first { if case .disconnect(result.index, _, _)? = $0.1.first { true } else { false } }
            guard let end else { continue }
            let interface = decoded.first {
                if case .interface(let interface)? = $0.1.first { interface.index == result.index } else { false }
            }
            pairs.append((datagram, end.0, interface?.0 ?? []))
        }
        return pairs
    }
}
