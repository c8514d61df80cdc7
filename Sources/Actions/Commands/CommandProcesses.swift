internal import Glibc
internal import Platform

/// Runs commands as process groups of this process's own, where there is no systemd. What leaves its group is not
/// ended with it, and what a killed predecessor left is not found.
@ActionActor
public final class CommandProcesses: CommandPerforming {
    private static let setpriv = "/usr/bin/setpriv"

    private let runner = CommandRunner(loop: ActionActor.shared.loop)

    public init() {}

    public func run(
        _ command: Command, id: UInt64, user: String?, started: @escaping () -> Void
    ) async -> CommandResult {
        if Task.isCancelled { return CommandResult(end: .dropped) }
        var command = command
        // Their order is somebody else's business.
        command.lane = "\(id)"
        if let user {
            guard let arguments = CommandProcesses.become(user) else {
                return CommandResult(end: .failedToStart(.user(user)))
            }
            guard unsafe access(command.arguments.first ?? "", X_OK) == 0 else {
                return CommandResult(end: .failedToStart(.program(command.arguments.first ?? "")))
            }
            command.arguments = arguments + command.arguments
        }
        let promise = Promise<CommandResult>()
        let identifier = runner.run(command, started: started) { result in
            ActionActor.assumeIsolated { promise.fulfil(result) }
        }
        let work = ActionActor.task { await promise.value(until: nil) }
        let outcome = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            ActionActor.shared.loop.perform { ActionActor.assumeIsolated { self.runner.cancel(identifier) } }
        }
        if case .value(let result) = outcome { return result }
        return CommandResult(end: .cancelled)
    }

    public func stopLeftovers() async {}

    public func prepare() {}

    /// setpriv(1) with the user's numbers and groups; nil where there is no such user.
    private static func become(_ user: String) -> [String]? {
        guard let entry = unsafe getpwnam(user) else { return nil }
        let (number, group) = unsafe (entry.pointee.pw_uid, entry.pointee.pw_gid)
        return [
            setpriv, "--reuid", "\(number)", "--regid", "\(group)", "--init-groups", "--inh-caps", "-all", "--",
        ]
    }
}
