internal import SystemBus

/// polkit, which decides who may do what: `org.freedesktop.PolicyKit1.Authority`. Whatever is no clear yes is a no.
final class PolicyAuthority {
    enum Verdict: Hashable {
        case authorized
        /// A person could show that they may, and was not asked since the caller did not want that.
        case needsPerson
        /// A person was to be asked, and there is nobody: no agent of polkit's runs where the caller is.
        case nobodyToAsk
        case denied
        /// The person who was asked did not want to.
        case dismissed
        case absent
        /// No answer that can be understood, or none in time; with the error's name.
        case failed(String?)
    }

    private static let name = "org.freedesktop.PolicyKit1"
    private static let path = "/org/freedesktop/PolicyKit1/Authority"
    private static let interface = "org.freedesktop.PolicyKit1.Authority"
    /// What a person may take, µs.
    private static let patience: UInt64 = 120_000_000

    private let bus: SystemBus
    private let limit: UInt64
    private var lastIdentifier: UInt64 = 0

    /// - Parameter limit: how long a decision may take for which no person is asked, µs.
    init(_ bus: SystemBus, limit: UInt64) {
        self.bus = bus
        self.limit = limit
    }

    /// Asks whether whoever has the unique name `sender` may do `action`. The name is nobody else's ever, unlike the
    /// number of a process.
    ///
    /// - Parameters:
    ///   - details: what the person who is asked is told besides.
    ///   - mayAsk: whether a person may be asked.
    func check(
        _ sender: String, _ action: String, _ details: [String: String], mayAsk: Bool,
        _ body: @escaping (Verdict) -> Void
    ) {
        lastIdentifier += 1
        let cancellation = "vicinity-\(lastIdentifier)"
        bus.call(
            PolicyAuthority.name, PolicyAuthority.path, PolicyAuthority.interface, "CheckAuthorization",
            [
                .structure([.text("system-bus-name"), .properties(["name": .text(sender)])]), .text(action),
                .strings(details),
                // AllowUserInteraction
                .unsigned(mayAsk ? 1 : 0), .text(cancellation),
            ],
            limit: mayAsk ? PolicyAuthority.patience : limit, startsService: true
        ) { [weak self] reply in
            let verdict = PolicyAuthority.verdict(of: reply, mayAsk: mayAsk)
            if case .failed = verdict { self?.cancel(cancellation) }
            body(verdict)
        }
    }

    /// Nobody waits for the person any longer: the dialogue goes.
    private func cancel(_ identifier: String) {
        bus.call(
            PolicyAuthority.name, PolicyAuthority.path, PolicyAuthority.interface, "CancelCheckAuthorization",
            [.text(identifier)]
        ) { _ in }
    }

    private static func verdict(of reply: SystemBus.Reply, mayAsk: Bool) -> Verdict {
        switch reply {
        case .absent: return .absent
        case .failed(let error, _): return .failed(error)
        case .values(let values):
            // (is_authorized, is_challenge, details)
            guard values.count == 1, let result = values[0].list, result.count == 3, let isAuthorized = result[0].flag,
                let isChallenge = result[1].flag
            else { return .failed(nil) }
            if isAuthorized { return .authorized }
            if result[2]["polkit.dismissed"] != nil { return .dismissed }
            return isChallenge ? (mayAsk ? .nobodyToAsk : .needsPerson) : .denied
        }
    }
}
