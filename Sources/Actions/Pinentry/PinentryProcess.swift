internal import Glibc
internal import Platform

/// A pinentry as a child of this process, where there is no systemd.
@ActionActor
final class PinentryProcess: Pinentry {
    /// What a dialogue takes to be shown where this user sees it, in this user's language.
    private static let variables = [
        "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "HOME", "LANG",
        "LC_ALL", "LC_MESSAGES", "PATH",
    ]

    func run(_ program: String, on connection: PinentryConnection) async throws(PlaceError) {
        if Task.isCancelled { throw .cancelled }
        let ended = Promise<Void>()
        let process: ChildProcess
        do throws(SystemError) {
            let nothing = FileDescriptor(
                owning: try SystemError.check("open") { unsafe open("/dev/null", O_RDWR | O_CLOEXEC) })
            process = try ChildProcess(
                [program], variables: PinentryProcess.environment, input: connection.rawValue,
                output: connection.rawValue, errors: nothing.rawValue, on: ActionActor.shared.loop)
        } catch {
            throw .failed("dialogue: \(error)")
        }
        process.ended = { _ in ActionActor.assumeIsolated { ended.fulfil(()) } }
        if case .cancelled = await ended.value(until: nil) {
            process.signal(SIGKILL)
            throw .cancelled
        }
    }

    private static var environment: [String] {
        variables.compactMap { name in
            guard let value = unsafe getenv(name) else { return nil }
            return unsafe "\(name)=\(String(cString: value))"
        }
    }
}
