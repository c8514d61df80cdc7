internal import Platform
internal import SystemBus

/// One call of the agent's object on the system bus, on a thread of its own. @unchecked: touched there only.
///
/// Whoever cancels the task ends the connection, by which the agent knows that nobody waits any more.
final class ManagerCall: @unchecked Sendable {
    typealias Answer = Result<[BusValue], Failure>

    enum Failure: Error {
        /// No agent answers, with the reason.
        case unavailable(String)
        /// The agent's word, by the error's name.
        case refused(error: String?, text: String?)
        case cancelled
    }

    private static let name = "io.vicinity"
    private static let path = "/io/vicinity"
    private static let interface = "io.vicinity.Manager1"

    private let loop: EventLoop
    private let bus: SystemBus
    private var finish: ((Answer) -> Void)?
    private var isCancelled = false

    /// - Parameters:
    ///   - limit: how long the agent may take, µs.
    ///   - mayAsk: whether a person may be asked.
    ///   - address: of another bus than the machine's.
    static func perform(
        _ method: String, _ arguments: [BusArgument] = [], limit: UInt64, mayAsk: Bool = false, on address: String?
    ) async throws(Failure) -> [BusValue] {
        let loop: EventLoop
        do throws(SystemError) {
            loop = try EventLoop()
            try loop.start()
        } catch {
            throw .unavailable("\(error)")
        }
        let call = ManagerCall(loop, address)
        let answer: Answer = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.perform {
                    call.start(method, arguments, limit, mayAsk) { continuation.resume(returning: $0) }
                }
            }
        } onCancel: {
            loop.perform { call.cancel() }
        }
        return try answer.get()
    }

    private init(_ loop: EventLoop, _ address: String?) {
        self.loop = loop
        bus = SystemBus(on: loop, address: address)
        bus.isPersistent = false
    }

    private func start(
        _ method: String, _ arguments: [BusArgument], _ limit: UInt64, _ mayAsk: Bool,
        _ body: @escaping (Answer) -> Void
    ) {
        finish = body
        guard !isCancelled else { return end(.failure(.cancelled)) }
        bus.connect()
        guard bus.isConnected else { return end(.failure(.unavailable("there is no system bus"))) }
        bus.onLoss = { [self] in end(.failure(.unavailable("the system bus is gone"))) }
        bus.call(
            ManagerCall.name, ManagerCall.path, ManagerCall.interface, method, arguments, limit: limit, mayAsk: mayAsk
        ) { [self] reply in
            switch reply {
            case .values(let values): end(.success(values))
            case .absent: end(.failure(.unavailable("it does not run, or has no name on the system bus")))
            case .failed(let error, let message): end(.failure(.refused(error: error, text: message)))
            }
        }
    }

    private func cancel() {
        isCancelled = true
        end(.failure(.cancelled))
    }

    private func end(_ answer: Answer) {
        guard let finish else { return }
        self.finish = nil
        bus.onLoss = nil
        bus.close()
        loop.stop()
        finish(answer)
    }
}
