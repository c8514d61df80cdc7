internal import SystemBus

/// A second factor of whom the program runs for, asked for by the agent.
///
///     guard try await SecondFactor.isRequired else { return open() }
///     try await SecondFactor.require(reason: "Open the vault")
///
/// It says who sits at the machine, nothing else. Whatever throws means that none was given: a program that goes on
/// after an error asks for nothing.
public enum SecondFactor {
    /// Octets of UTF-8 that a reason may have.
    public static let maximumReasonLength = 120

    /// µs.
    private static let limit: UInt64 = 20_000_000

    /// Whether a second factor is needed where the machine is now, by what the kernel says at this moment: as PAM stacks
    /// are told. No permission is needed to see it.
    ///
    /// - Throws: `SecondFactorError` where the agent does not say; then one is needed.
    public static var isRequired: Bool {
        get async throws(SecondFactorError) { try await isRequired(on: nil) }
    }

    /// Has the person asked for whom the program runs, in their session at this machine's screen, and returns when they
    /// gave it; or at once where a rule that holds lets it be skipped. Waits while the screen is locked, for as long as
    /// that takes. Cancelling the task takes the question away.
    ///
    /// - Parameter reason: what it is for. It is shown as the program's word, and escaped where it is not printable; empty
    ///   for none.
    /// - Throws: `SecondFactorError` where it was not given.
    public static func require(reason: String) async throws(SecondFactorError) {
        try await require(reason: reason, on: nil)
    }

    /// - Parameter address: of another bus than the machine's.
    static func isRequired(on address: String?) async throws(SecondFactorError) -> Bool {
        let values = try await call("SecondFactorStatus", [], limit: limit, mayAsk: false, address)
        guard let isNeeded = values.first?["needed"]?.flag else {
            throw .agentUnavailable("its answer cannot be understood")
        }
        return isNeeded
    }

    static func require(reason: String, on address: String?) async throws(SecondFactorError) {
        guard reason.utf8.count <= maximumReasonLength, !reason.utf8.contains(0) else { throw .invalidReason }
        // A screen can stay locked for any time.
        let values = try await call("RequireSecondFactor", [.text(reason)], limit: .max, mayAsk: true, address)
        guard ["passed", "skipped"].contains(values.first?.text) else {
            throw .agentUnavailable("its answer cannot be understood")
        }
    }

    private static func call(
        _ method: String, _ arguments: [BusArgument], limit: UInt64, mayAsk: Bool, _ address: String?
    ) async throws(SecondFactorError) -> [BusValue] {
        do throws(ManagerCall.Failure) {
            return try await ManagerCall.perform(method, arguments, limit: limit, mayAsk: mayAsk, on: address)
        } catch {
            switch error {
            case .unavailable(let reason): throw .agentUnavailable(reason)
            case .cancelled: throw .cancelled
            case .refused(let name, let text): throw SecondFactorError(name, text)
            }
        }
    }
}

/// Why no second factor was given.
public enum SecondFactorError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The person was asked and did not give it, with the reason.
    case denied(String)
    /// Nobody gave it in time.
    case expired
    /// Nobody could be asked, with the reason: no session at the screen, no authentication agent in it, or a PAM stack
    /// that asks for none.
    case unavailable(String)
    /// Too many ask, or a rule asks at this moment; it may work later.
    case busy(String)
    /// The task was cancelled.
    case cancelled
    /// The reason is longer than `SecondFactor.maximumReasonLength`, or has a NUL.
    case invalidReason
    /// No agent answers, with the reason.
    case agentUnavailable(String)

    init(_ name: String?, _ text: String?) {
        let text = text ?? name ?? "the agent did not answer in time"
        self =
            switch name {
            case "io.vicinity.Error.SecondFactorDenied": .denied(text)
            case "io.vicinity.Error.SecondFactorExpired": .expired
            case "io.vicinity.Error.SecondFactorUnavailable": .unavailable(text)
            case "org.freedesktop.DBus.Error.LimitsExceeded": .busy(text)
            default: .agentUnavailable(text)
            }
    }

    public var description: String {
        switch self {
        case .denied(let reason), .unavailable(let reason), .busy(let reason): reason
        case .expired: "nobody gave the second factor in time"
        case .cancelled: "nobody waits for the second factor any more"
        case .invalidReason: "a reason has \(SecondFactor.maximumReasonLength) octets at most, and no NUL"
        case .agentUnavailable(let reason): "the agent does not answer: \(reason)"
        }
    }
}
