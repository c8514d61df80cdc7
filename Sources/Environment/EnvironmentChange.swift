public import Netlink
public import Platform
public import WiFi

/// A typed difference between two environments.
public struct EnvironmentChange: Hashable, Sendable {
    /// When the fact was read from the kernel. A held event keeps the time of its fact.
    public var time: Timestamp
    /// The interface concerned, by the name it had then; nil for changes of the whole machine.
    public var interface: InterfaceReference?
    public var kind: Kind

    public init(time: Timestamp, interface: InterfaceReference? = nil, kind: Kind) {
        self.time = time
        self.interface = interface
        self.kind = kind
    }

    public enum Kind: Hashable, Sendable {
        /// Associated, not yet authorised. Ends in `joined` or `joinFailed`.
        case associating(WiFiNetwork)
        case joined(WiFiNetwork)
        case joinFailed(WiFiNetwork, Cause)
        case left(WiFiNetwork, Cause)
        /// Authorised again on the same network.
        case roamed(WiFiNetwork, previous: BSSID?)
        case channelChanged(WiFiNetwork)
        case linkUp
        case linkDown
        case addressChanged(added: [InterfaceAddress], removed: [InterfaceAddress])
        case routeChanged(PrimaryRoute?)
        case dnsChanged(DNSConfiguration)
        case connectivityChanged(Connectivity)
        case meteredChanged(Bool?)
        /// What the network behind a physical link shows of itself.
        case evidenceChanged(LinkEvidence)
        /// Everything was read again; the changes before this one are the difference.
        case resynced(ResyncCause)
        case suspended
        case resumed
    }
}

/// An interface as a change names it.
public struct InterfaceReference: Hashable, Sendable {
    public var index: Int32
    public var name: String

    public init(index: Int32, name: String) {
        self.index = index
        self.name = name
    }
}

/// Why an association ended or never came to be.
public struct Cause: Hashable, Sendable {
    /// IEEE 802.11-2020, 9.4.1.9.
    public var status: UInt16?
    /// IEEE 802.11-2020, 9.4.1.7.
    public var reason: UInt16?
    /// Whether the access point ended it; nil where nobody says.
    public var byAccessPoint: Bool?
    public var circumstance: Circumstance?

    public enum Circumstance: String, Hashable, Sendable {
        /// No answer from the access point.
        case timedOut = "timed_out"
        /// A radio kill switch.
        case rfkill
        case suspend
        case interfaceDown = "interface_down"
        case interfaceRemoved = "interface_removed"
        /// Found when everything was read again.
        case resync
        /// Another attempt took its place.
        case superseded
        /// The link was there, but no longer authorised.
        case unauthorized
    }

    public init(
        status: UInt16? = nil, reason: UInt16? = nil, byAccessPoint: Bool? = nil, circumstance: Circumstance? = nil
    ) {
        self.status = status
        self.reason = reason
        self.byAccessPoint = byAccessPoint
        self.circumstance = circumstance
    }
}

/// Why everything was read again.
public enum ResyncCause: String, Hashable, Sendable {
    /// The kernel dropped messages for want of room in our socket.
    case overrun
    /// A message was not understood, so something may have been missed.
    case malformedMessage = "malformed_message"
    /// nl80211 appeared or went, with the module that provides it.
    case familyChanged = "family_changed"
    case resume
    /// A network manager came, went or was started anew, which may have changed links without a word.
    case managerChanged = "manager_changed"
}
