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

    /// Who is to be allowed something.
    enum Subject: Hashable {
        /// Whoever has a unique name on the bus. The name is nobody else's ever, unlike the number of a process.
        case busName(String)
        /// A process, as the user that is named. polkit finds the session, and whoever asks people there, by the process.
        ///
        /// A session itself is none: polkitd 122 aborts where its rules are to look at one.
        case process(UInt32, user: UInt32)

        fileprivate var argument: BusArgument {
            switch self {
            case .busName(let name): .structure([.text("system-bus-name"), .properties(["name": .text(name)])])
            case .process(let number, let user):
                .structure([
                    .text("unix-process"),
                    .properties([
                        // polkit looks up when it started.
                        "pid": .unsigned(number), "start-time": .unsigned64(0),
                        "uid": .signed(Int32(bitPattern: user)),
                    ]),
                ])
            }
        }
    }

    /// One that is open.
    struct Question: Hashable {
        fileprivate let cancellation: String
    }

    private static let name = "org.freedesktop.PolicyKit1"
    private static let path = "/org/freedesktop/PolicyKit1/Authority"
    private static let interface = "org.freedesktop.PolicyKit1.Authority"
    private static let cancelled = "org.freedesktop.PolicyKit1.Error.Cancelled"
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

    /// Asks whether `subject` may do `action`.
    ///
    /// - Parameters:
    ///   - details: what the person who is asked is told besides.
    ///   - mayAsk: whether a person may be asked.
    ///   - limit: how long that may take, µs; nil: as long as it usually may.
    /// - Returns: what `cancel` takes as long as there is no answer.
    @discardableResult
    func check(
        _ subject: Subject, _ action: String, _ details: [String: String], mayAsk: Bool, limit: UInt64? = nil,
        _ body: @escaping (Verdict) -> Void
    ) -> Question {
        lastIdentifier += 1
        let question = Question(cancellation: "vicinity-\(lastIdentifier)")
        bus.call(
            PolicyAuthority.name, PolicyAuthority.path, PolicyAuthority.interface, "CheckAuthorization",
            [
                subject.argument, .text(action), .strings(details),
                // AllowUserInteraction
                .unsigned(mayAsk ? 1 : 0), .text(question.cancellation),
            ],
            limit: limit ?? (mayAsk ? PolicyAuthority.patience : self.limit), startsService: true
        ) { [weak self] reply in
            let verdict = PolicyAuthority.verdict(of: reply, mayAsk: mayAsk)
            // polkit's word that it has been cancelled is no reason to do so again.
            if case .failed(let error) = verdict, error != PolicyAuthority.cancelled { self?.cancel(question) }
            body(verdict)
        }
        return question
    }

    /// Nobody waits for the person any longer: the dialogue goes.
    func cancel(_ question: Question) {
        bus.call(
            PolicyAuthority.name, PolicyAuthority.path, PolicyAuthority.interface, "CancelCheckAuthorization",
            [.text(question.cancellation)]
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
