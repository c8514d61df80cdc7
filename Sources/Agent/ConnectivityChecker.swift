internal import Environment
internal import Netlink
internal import Platform
internal import ProbeProtocol
internal import Probing
internal import Rules
internal import WiFi

/// Looks how far packets get where no network manager does, by asking for the page of the agent's configuration over the
/// link that leads to the internet.
final class ConnectivityChecker {
    private let loop: EventLoop
    private let prober: Prober
    private var check: ConnectivityCheck?
    private var way: WayOut?
    private var pace = CheckPace()
    private var running: Prober.Identifier?
    private var timer: EventLoop.Timer?
    private var found: Connectivity?
    /// Nobody knows how a roam ends, and what is asked meanwhile gets no answer.
    private var isRoaming = false

    /// Told what was found; nil where it is known no longer.
    var onResult: (Connectivity?) -> Void = { _ in }

    init(on loop: EventLoop, with prober: Prober) {
        self.loop = loop
        self.prober = prober
    }

    /// - Parameters:
    ///   - check: nil: nobody is to be asked.
    ///   - isManaged: whether a network manager looks by itself.
    func follow(_ environment: NetworkEnvironment, _ check: ConnectivityCheck?, isManaged: Bool) {
        let check = isManaged || environment.isSuspended ? nil : check
        let way = check == nil ? nil : WayOut(environment, after: self.way)
        let hasRoamed = isRoaming
        isRoaming = way.flatMap { environment.interfaces[$0.index] }?.wifi == .unknown
        if check != self.check || way != self.way {
            let former = found
            stop()
            (self.check, self.way, found, pace) = (check, way, nil, CheckPace())
            ask()
            if former != nil { onResult(nil) }
        } else if hasRoamed, !isRoaming, running == nil, timer == nil {
            ask()
        } else if let found, found != .local, environment.connectivity == .local, running == nil {
            // What was found was of another association, and is not believed any more.
            stop()
            ask()
        }
    }

    func stop() {
        if let running { prober.cancel(running) }
        if let timer { loop.cancel(timer) }
        (running, timer) = (nil, nil)
    }

    private func ask() {
        guard let check, let way else { return }
        let question = ProbeQuestion(
            interfaceIndex: UInt32(bitPattern: way.index), interfaceName: way.name, serverName: check.host,
            port: check.port, address: check.address, purpose: .page(path: check.path, response: check.response))
        running = prober.probe(question) { [unowned self] outcome in
            // Of one that was called off nothing is known.
            guard outcome != .cancelled else { return }
            running = nil
            let found = Connectivity(outcome)
            if found == .local, isRoaming { return }
            self.found = found
            let delay = pace.delay(after: found)
            timer = loop.schedule(at: Timestamp.now().boottime + delay) { [unowned self] in
                timer = nil
                ask()
            }
            onResult(found)
        }
    }
}

/// The link over which packets leave for the internet, in the network that it is in.
struct WayOut: Hashable {
    let index: Int32
    let name: String
    private let ssid: SSID?
    private let gateway: IPAddress?

    /// - Parameter former: stays during a roam, and where packets leave through a tunnel, as long as that link is there.
    init?(_ environment: NetworkEnvironment, after former: WayOut?) {
        guard let route = environment.primaryRoute, let interface = environment.interfaces[route.interfaceIndex] else {
            return nil
        }
        let isTunnel = !interface.isPhysical
        guard let link = isTunnel ? former.flatMap({ environment.interfaces[$0.index] }) : interface,
            link.isConnected, link.addresses.contains(where: { !$0.address.isLinkLocal })
        else { return nil }
        if link.wifi == .unknown {
            guard let former, former.index == link.index else { return nil }
            self = former
            return
        }
        (index, name) = (link.index, link.name)
        ssid = link.wifi?.network?.ssid
        gateway = isTunnel ? former?.gateway : route.gateway
    }
}

/// How long to wait between one check and the next (µs): somebody who signs in at a portal wants to go on, and a server
/// that does not answer is not to be pressed.
struct CheckPace {
    private static let short: Int64 = 10_000_000
    private static let long: Int64 = 300_000_000
    /// So many checks follow each other quickly at a portal, then six times as slowly.
    private static let quickChecks = 30

    private var count = 0
    private var last: Connectivity?

    mutating func delay(after found: Connectivity) -> Int64 {
        count = found == last ? count + 1 : 1
        last = found
        return switch found {
        case .internet: CheckPace.long
        case .portal: count <= CheckPace.quickChecks ? CheckPace.short : CheckPace.short * 6
        case .local, .none: min(CheckPace.short << min(count - 1, 5), CheckPace.long)
        }
    }
}

extension Connectivity {
    fileprivate init(_ outcome: ProbeOutcome) {
        switch outcome {
        case .online: self = .internet
        case .captured: self = .portal
        default: self = .local
        }
    }
}
