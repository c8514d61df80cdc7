internal import Platform
internal import SystemBus

/// A pinentry as a transient unit of the user's service manager: with the variables that say where the screen is, since
/// that manager has them, and without the confinement of our own unit, in which toolkits do not run.
@ActionActor
final class PinentryUnit: Pinentry {
    /// How long systemd may take (µs).
    private static let limit: Int64 = 15_000_000
    /// A dialogue that nobody ends (µs).
    private static let lifetime: UInt64 = 86_400_000_000

    private let manager: ServiceManager
    /// Goes on through all lives of this process.
    private var serial = UInt64(max(Timestamp.now().boottime, 0))

    init(_ manager: ServiceManager) { self.manager = manager }

    func run(_ program: String, on connection: PinentryConnection) async throws(PlaceError) {
        serial += 1
        // With the prefix of commands, so that what a killed helper left is found with those.
        let name = "\(TransientUnit.prefix)pinentry-\(serial).service"
        do throws(BusError) {
            try await manager.subscribe()
            let jobs = try manager.watchJobs()
            defer { jobs.end() }
            let states = try manager.bus.watch(
                "path='\(ServiceManager.path(of: name))',interface='org.freedesktop.DBus.Properties',"
                    + "member='PropertiesChanged',arg0='\(ServiceManager.unit)'", of: ServiceManager.name)
            defer { states.end() }
            let reply = try await manager.call(
                "StartTransientUnit", PinentryUnit.arguments(name, program, connection.rawValue))
            guard let job = reply.first?.text else { throw .noAnswer }
            let result = try await manager.ended(job, jobs, until: Timestamp.now().boottime + PinentryUnit.limit)
            guard result == "done" else {
                throw .refused(error: result, message: "\(program) cannot be run: is it there?")
            }
            try await follow(name, states)
        } catch {
            // Asked in any case: it may have been started by what was not answered.
            stop(name)
            throw error.placeError("dialogue", "systemd")
        }
    }

    private func follow(_ name: String, _ states: SignalWatch) async throws(BusError) {
        while true {
            let state = try await manager.bus.property(
                ServiceManager.name, ServiceManager.path(of: name), ServiceManager.unit, "ActiveState")
            guard let text = state.text else { throw .noAnswer }
            if ["inactive", "failed"].contains(text) { return }
            _ = try await states.first(until: nil) { _ in true }
        }
    }

    private func stop(_ name: String) {
        ActionActor.task { [manager] in _ = try? await manager.call("StopUnit", [.text(name), .text("replace")]) }
    }

    private static func arguments(_ name: String, _ program: String, _ connection: Int32) -> [BusArgument] {
        let members: [(String, BusArgument)] = [
            ("Description", .text("Vicinity: a second factor is asked for")),
            ("Type", .text("exec")),
            ("Slice", .text(TransientUnit.slice)),
            ("CollectMode", .text("inactive-or-failed")),
            ("ExecStart", .list([.structure([.text(program), .texts([program]), .flag(false)])], of: "(sasb)")),
            ("WorkingDirectory", .text("/")),
            ("UMask", .unsigned(0o077)),
            ("LimitCORE", .unsigned64(0)),
            ("StandardInputFileDescriptor", .descriptor(connection)),
            ("StandardOutputFileDescriptor", .descriptor(connection)),
            // What toolkits say there is of no use to anybody.
            ("StandardError", .text("null")),
            ("RuntimeMaxUSec", .unsigned64(lifetime)),
            ("TimeoutStopUSec", .unsigned64(1_000_000)),
            ("KillMode", .text("control-group")),
            ("SendSIGKILL", .flag(true)),
        ]
        let properties = members.map { BusArgument.structure([.text($0.0), .variant($0.1)]) }
        return [.text(name), .text("fail"), .list(properties, of: "(sv)"), .list([], of: "(sa(sv))")]
    }
}
