internal import Feed
internal import Platform
internal import SystemBus

/// `RequestPermission` of the agent's object on the system bus.
final class PermissionRequest: @unchecked Sendable {
    private static let name = "io.vicinity"
    private static let path = "/io/vicinity"
    private static let interface = "io.vicinity.Manager1"
    /// µs; a person may have to find a password.
    private static let patience: UInt64 = 180_000_000

    private let loop: EventLoop
    private let bus: SystemBus
    private var finish: ((Result<LocationAuthorization, VicinityError>) -> Void)?

    /// - Parameter address: of another bus than the machine's.
    static func perform(on address: String? = nil) async throws(VicinityError) -> LocationAuthorization {
        let result: Result<LocationAuthorization, VicinityError> = await withCheckedContinuation { continuation in
            do throws(SystemError) {
                let loop = try EventLoop()
                let request = PermissionRequest(loop, address)
                loop.perform { request.start { continuation.resume(returning: $0) } }
                try loop.start()
            } catch {
                continuation.resume(returning: .failure(.agentUnavailable("\(error)")))
            }
        }
        return try result.get()
    }

    private init(_ loop: EventLoop, _ address: String?) {
        self.loop = loop
        bus = SystemBus(on: loop, address: address)
        bus.isPersistent = false
    }

    private func start(_ body: @escaping (Result<LocationAuthorization, VicinityError>) -> Void) {
        finish = body
        bus.connect()
        guard bus.isConnected else { return end(.failure(.agentUnavailable("there is no system bus"))) }
        bus.onLoss = { [self] in end(.failure(.agentUnavailable("the system bus is gone"))) }
        bus.call(
            PermissionRequest.name, PermissionRequest.path, PermissionRequest.interface, "RequestPermission",
            limit: PermissionRequest.patience, mayAsk: true
        ) { [self] reply in end(PermissionRequest.result(of: reply)) }
    }

    private func end(_ result: Result<LocationAuthorization, VicinityError>) {
        guard let finish else { return }
        self.finish = nil
        bus.onLoss = nil
        bus.close()
        loop.stop()
        finish(result)
    }

    private static func result(of reply: SystemBus.Reply) -> Result<LocationAuthorization, VicinityError> {
        switch reply {
        case .absent: return .failure(.agentUnavailable("it does not run, or has no name on the system bus"))
        case .failed("io.vicinity.Error.Restricted", _): return .failure(.notAuthorized(.restricted))
        case .failed(let error, let message):
            return .failure(.requestDenied(message ?? error ?? "the agent did not answer in time"))
        case .values(let values):
            guard let permission = values.first?.text.flatMap({ FeedPermission(rawValue: $0) }) else {
                return .failure(.agentUnavailable("its answer cannot be understood"))
            }
            let authorization = LocationAuthorization(permission)
            return authorization == .authorized ? .success(authorization) : .failure(.notAuthorized(authorization))
        }
    }
}
