internal import Actions
internal import Glibc
internal import Platform

/// Shows the dialogue that root's helper waits for: runs pinentry with root's connection as its input and output. Nothing
/// that is typed there comes by here.
@ActionActor
final class SessionDialogues {
    private let loop = ActionActor.shared.loop
    private let path: String
    private let program: String
    private let pinentry: any Pinentry
    /// Nothing is read on it here: it tells when the other end is closed.
    private var connection: PinentryConnection?
    private var running: Task<Void, Never>?

    /// - Parameters:
    ///   - path: of root's helper.
    ///   - program: an absolute path.
    init(at path: String, _ program: String, by pinentry: any Pinentry) {
        self.path = path
        self.program = program
        self.pinentry = pinentry
    }

    /// Whatever was shown before gives way.
    func show() {
        end()
        do throws(SystemError) {
            let connection = PinentryConnection(try UnixSocket.connect(to: path))
            let peer = try UnixSocket.peer(of: connection.rawValue)
            // Else anybody could have a question shown that looks like ours.
            guard peer.user == 0 || peer.user == geteuid() else {
                return Log.write(.error, "\(path) is served by user \(peer.user), not by root: nothing is shown")
            }
            try loop.watch(connection.rawValue, for: []) { [unowned self] _ in ActionActor.assumeIsolated { end() } }
            self.connection = connection
            running = ActionActor.task {
                do throws(PlaceError) {
                    try await self.pinentry.run(self.program, on: connection)
                } catch {
                    if error != .cancelled { Log.write(.error, "\(error)") }
                }
                // It is not there any more, whatever the reason: root's helper is to know at once.
                if !Task.isCancelled { self.end() }
            }
        } catch {
            Log.write(.error, "a question cannot be shown: \(error)")
        }
    }

    /// The dialogue goes.
    func end() {
        running?.cancel()
        running = nil
        guard let connection else { return }
        loop.forget(connection.rawValue)
        connection.hangUp()
        self.connection = nil
    }
}
