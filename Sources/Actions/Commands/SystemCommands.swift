internal import Glibc

/// Runs commands as this machine does it best: as units of systemd's where it runs, sd_booted(3).
@ActionActor
public final class SystemCommands: CommandPerforming {
    private let performer: any CommandPerforming

    /// - Parameter manager: of the machine, or of the user whose commands they are.
    public init(_ manager: ServiceManager) {
        performer = SystemCommands.isBooted ? CommandUnits(manager) : CommandProcesses()
    }

    /// Whether systemd is what started this machine.
    public static var isBooted: Bool { unsafe access("/run/systemd/system", F_OK) == 0 }

    public func run(
        _ command: Command, id: UInt64, user: String?, started: @escaping () -> Void
    ) async -> CommandResult {
        await performer.run(command, id: id, user: user, started: started)
    }

    public func stopLeftovers() async { await performer.stopLeftovers() }

    public func prepare() { performer.prepare() }
}
