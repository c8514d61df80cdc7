public import Netlink
public import ProbeProtocol

/// Whether a server can be reached over one interface, and holds the key or shows the page that it should.
public struct ProbeQuestion: Hashable, Sendable {
    public var interfaceIndex: UInt32
    public var interfaceName: String
    /// Told to the server, and looked up where there is no address.
    public var serverName: String
    public var port: UInt16
    /// Nil: asked of the name servers of this link.
    public var address: IPAddress?
    public var purpose: ProbeRequest.Purpose
    /// For everything, look-up included; microseconds, no more than three seconds.
    public var timeout: Int64

    public init(
        interfaceIndex: UInt32, interfaceName: String, serverName: String, port: UInt16 = 443,
        address: IPAddress? = nil, purpose: ProbeRequest.Purpose, timeout: Int64 = 3_000_000
    ) {
        self.interfaceIndex = interfaceIndex
        self.interfaceName = interfaceName
        self.serverName = serverName
        self.port = port
        self.address = address
        self.purpose = purpose
        self.timeout = timeout
    }
}

/// What came of a probe. Everything but `proven` proves nothing of a key, everything but `online` and `captured` tells
/// nothing of a page.
public enum ProbeOutcome: Hashable, Sendable {
    /// The server holds the key of this pin.
    case proven(SPKIPin)
    /// The server holds another key.
    case pinMismatch(seen: SPKIPin)
    /// The server showed its own page.
    case online
    /// Somebody else answered in its place, as a captive portal does.
    case captured
    /// What came was no HTTP, or said that the server is in trouble.
    case unexpected
    /// Nobody listens there.
    case refused
    /// No way leads there from this interface.
    case unreachable
    case timedOut
    /// No handshake came about; the reason in printable ASCII.
    case tlsFailed(reason: String)
    /// The interface is not there, or is another by now.
    case interfaceGone
    /// The question asks for what cannot be: no pin, a name that is none.
    case badRequest
    /// systemd-resolved does not run here, or got nothing from a name server of this link.
    case noResolver
    /// The link's name servers have no address for the name.
    case nameUnknown
    /// The helper could not be asked, died, or talked nonsense.
    case failed(reason: String)
    /// By whoever asked.
    case cancelled
}

extension ProbeOutcome {
    /// For people.
    public var explanation: String {
        switch self {
        case .proven: "proven"
        case .pinMismatch(let seen): "the server showed another key (\(seen)): a stranger's, or a new one"
        case .online: "the internet answers"
        case .captured: "somebody else answered in the server's place"
        case .unexpected: "no answer that means anything"
        case .refused: "nobody listens there"
        case .unreachable: "no way leads there from this interface"
        case .timedOut: "no answer in time"
        case .tlsFailed(let reason): "no handshake (\(reason))"
        case .interfaceGone: "the interface is gone"
        case .badRequest: "the probe asks for what cannot be"
        case .noResolver: "systemd-resolved does not look names up for this link; give the probe an \"address\""
        case .nameUnknown: "the link's name servers do not know the host"
        case .failed(let reason): "the helper failed (\(reason))"
        case .cancelled: "not needed any more"
        }
    }

    /// What the helper says, as far as it may be believed: that a key is proven only where that key was asked for.
    init(_ answer: ProbeAnswer, to purpose: ProbeRequest.Purpose) {
        switch (answer, purpose) {
        case (.proven(let pin), .key(let pins)) where pins.contains(pin): self = .proven(pin)
        case (.online, .page): self = .online
        case (.captured, .page): self = .captured
        case (.unexpected, .page): self = .unexpected
        case (.proven, _), (.online, _), (.captured, _), (.unexpected, _):
            self = .failed(reason: "the helper answered what was not asked")
        case (.pinMismatch(let seen), _): self = .pinMismatch(seen: seen)
        case (.refused, _): self = .refused
        case (.unreachable, _): self = .unreachable
        case (.timedOut, _): self = .timedOut
        case (.tlsFailed(let reason), _): self = .tlsFailed(reason: reason)
        case (.interfaceGone, _): self = .interfaceGone
        case (.badRequest, _): self = .badRequest
        }
    }
}
