package import Netlink
internal import WiFi

/// What came in and was of no use, so that nothing disappears unseen.
public struct ReceptionCounters: Hashable, Sendable {
    /// Messages taken from the kernel.
    public var messages: UInt64 = 0
    /// Of kinds that say nothing to us.
    public var ignored: UInt64 = 0
    /// Not what their family's policy says; each leads to a new reading of everything.
    public var malformed: UInt64 = 0
    /// Sent by other processes, and dropped.
    public var foreign: UInt64 = 0
    /// Times the kernel dropped messages for us.
    public var overruns: UInt64 = 0

    public init() {}
}

/// Turns datagrams into observations, the same for the kernel's and for recorded ones.
package struct ObservationDecoder {
    package enum Bus {
        case route, generic
    }

    /// nl80211's identifier of this boot; nil while there is no such family.
    package var family: UInt16?
    package var counters = ReceptionCounters()

    package init() {}

    package typealias Decoded = (observation: Observation?, message: NetlinkMessage)

    /// What a datagram says: `lost` where it cannot be understood, nil where it tells of no environment.
    package mutating func decode(_ datagram: ArraySlice<UInt8>, from bus: Bus) -> [Decoded] {
        let (messages, malformed) = NetlinkMessage.split(datagram)
        var decoded: [Decoded] = []
        decoded.reserveCapacity(messages.count + 1)
        for message in messages {
            counters.messages += 1
            do throws(MalformedMessage) {
                let observation = try decode(message, from: bus)
                if observation == nil { counters.ignored += 1 }
                decoded.append((observation, message))
            } catch {
                counters.malformed += 1
                decoded.append((.lost(.malformedMessage), message))
            }
        }
        if malformed != nil {
            counters.messages += 1
            counters.malformed += 1
            decoded.append((.lost(.malformedMessage), NetlinkMessage(type: 0, payload: [])))
        }
        return decoded
    }

    private func decode(_ message: NetlinkMessage, from bus: Bus) throws(MalformedMessage) -> Observation? {
        // What programs ask for shows up in captures; the kernel's own messages are no requests.
        guard message.type >= NetlinkMessage.firstProtocolType, !message.isRequest else { return nil }
        switch bus {
        case .route:
            return try RouteMessage(message).map { .route($0) }
        case .generic:
            guard message.type == family else { return nil }
            let decoded = try NL80211Message(message)
            if case .other = decoded { return nil }
            return .wireless(decoded)
        }
    }
}
