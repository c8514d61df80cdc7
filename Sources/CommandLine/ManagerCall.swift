internal import Agent
internal import Glibc
internal import Platform
internal import Rules
internal import SystemBus

/// One call of the agent's object on the system bus, and what came of it.
struct ManagerCall {
    enum Outcome {
        case answered([BusValue])
        /// By the error's name; polkit, the rules or the agent say no.
        case refused(error: String, text: String)
        case noBus
        case noAgent
        /// The agent did not answer in time.
        case silent
    }

    let method: String
    let arguments: [BusArgument]
    /// How long a person may take, µs.
    private let patience: UInt64
    /// Whether polkit may ask the person on this terminal.
    private let mayAskHere: Bool

    /// µs: with a person who types a password, and without.
    static let patience: UInt64 = 180_000_000
    private static let limit: UInt64 = 20_000_000

    init(
        _ method: String, _ arguments: [BusArgument] = [], patience: UInt64 = patience, mayAskHere: Bool = true
    ) {
        self.method = method
        self.arguments = arguments
        self.patience = patience
        self.mayAskHere = mayAskHere
    }

    /// Calls, and where polkit demands that a person authenticates, once more, with one who may be asked.
    func outcome() throws -> Outcome {
        let first = try call(mayAsk: false)
        guard case .refused(let error, _) = first, error == ControlService.Refusal.needsPerson.rawValue else {
            return first
        }
        // On a terminal without a desktop nobody else would ask.
        let agent = mayAskHere && isatty(STDIN_FILENO) == 1 ? TextAuthenticationAgent() : nil
        defer { agent?.stop() }
        return try call(mayAsk: true)
    }

    private func call(mayAsk: Bool) throws -> Outcome {
        let loop = try EventLoop()
        let bus = SystemBus(on: loop)
        bus.isPersistent = false
        defer { bus.close() }
        bus.connect()
        guard bus.isConnected else { return .noBus }
        var outcome = Outcome.silent
        bus.onLoss = {
            outcome = .noBus
            loop.stop()
        }
        bus.call(
            ControlService.name, ControlService.path, ControlService.interface, method, arguments,
            limit: mayAsk ? patience : ManagerCall.limit, mayAsk: mayAsk
        ) { reply in
            switch reply {
            case .values(let values): outcome = .answered(values)
            case .absent: outcome = .noAgent
            case .failed(let error, let message):
                outcome = error.map { .refused(error: $0, text: message ?? "") } ?? .silent
            }
            loop.stop()
        }
        loop.run()
        return outcome
    }
}

extension ManagerCall {
    /// Prints what came of a call that was not answered.
    ///
    /// - Returns: the exit status, sysexits(3).
    static func report(_ outcome: Outcome) -> Int32 {
        switch outcome {
        case .answered: return 0
        case .noBus:
            Output.error("the system bus is not there; the agent takes such orders over it alone")
            return 69
        case .noAgent:
            Output.error("the agent does not run, or could not get its name on the system bus: see `vicinity status`")
            return 69
        case .silent:
            Output.error("the agent does not answer")
            return 69
        case .refused(let error, let text):
            Output.error(text.isEmpty ? error : text.terminalText)
            return status(of: error)
        }
    }

    private static func status(of error: String) -> Int32 {
        switch error {
        case "io.vicinity.Error.UnknownRule": 68
        case ControlService.Refusal.restricted.rawValue, ControlService.Refusal.factorDenied.rawValue: 77
        case ControlService.Refusal.factorExpired.rawValue, ControlService.Refusal.factorUnavailable.rawValue: 75
        case ControlService.Refusal.notKept.rawValue, ControlService.Refusal.notReset.rawValue: 74
        case "io.vicinity.Error.TooLong", ControlService.Refusal.invalid.rawValue: 64
        case let name
        where name.hasPrefix("io.vicinity.Error.") && name != ControlService.Refusal.notAuthorized.rawValue:
            65
        case ControlService.Refusal.busy.rawValue: 75
        case ControlService.Refusal.notAuthorized.rawValue, ControlService.Refusal.needsPerson.rawValue,
            "org.freedesktop.DBus.Error.AccessDenied":
            77
        default: 69
        }
    }
}
