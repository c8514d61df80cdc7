internal import Actions
@ActionActor final class SystemPlaces: Places { func place(_ name: PlaceName) -> (any Place)? { nil } }
@ActionActor final class SystemCommands: CommandPerforming {
    func run(_ command: Command, id: UInt64, user: String?, started: @escaping () -> Void) async -> CommandResult { CommandResult(end: .dropped) }
    func stopLeftovers() async {}
}
@ActionActor final class SessionLock { func lock() async throws(PlaceError) {} }
import Rules
@ActionActor final class SessionPlaces: Places { func place(_ name: PlaceName) -> (any Place)? { nil } }
@ActionActor final class SessionCommands: CommandPerforming {
    func run(_ command: Command, id: UInt64, user: String?, started: @escaping () -> Void) async -> CommandResult { CommandResult(end: .dropped) }
    func stopLeftovers() async {}
}
@ActionActor final class Notifier { func notify(_ n: EdgeAction.Notification) async throws(PlaceError) {} }
