/// Runs commands, each to its end.
@ActionActor
public protocol CommandPerforming: AnyObject {
    /// Where its task is cancelled, the command is ended with everything that it started.
    ///
    /// - Parameters:
    ///   - id: of this run; no two of one boot have the same.
    ///   - user: whose process it is; nil for this process's own.
    ///   - started: called when it runs, never for one that cannot be started.
    func run(_ command: Command, id: UInt64, user: String?, started: @escaping () -> Void) async -> CommandResult

    /// Ends what a killed predecessor of this process left running.
    func stopLeftovers() async

    /// A command may have to run soon.
    func prepare()
}
