public import Rules
internal import SystemBus

/// Tells the person at the screen something, by the Desktop Notifications Specification.
@ActionActor
public final class Notifications {
    private let bus: Bus

    /// - Parameter bus: the user's.
    public init(_ bus: Bus) { self.bus = bus }

    /// Returns when the desktop has it.
    public func notify(_ notification: EdgeAction.Notification) async throws(PlaceError) {
        let urgency: UInt8 =
            switch notification.urgency {
            case .low: 0
            case .normal: 1
            case .critical: 2
            }
        let hints: [String: BusArgument] = [
            "urgency": .octet(urgency), "category": .text("network"), "resident": .flag(false),
        ]
        do throws(BusError) {
            let reply = try await bus.call(
                "org.freedesktop.Notifications", "/org/freedesktop/Notifications", "org.freedesktop.Notifications",
                "Notify",
                [
                    .text("Vicinity"), .unsigned(0), .text(""), .text(notification.summary),
                    .text(Notifications.escape(notification.body ?? "")), .texts([]), .properties(hints), .signed(-1),
                ], startsService: true)
            // It has a number, by which it could be taken back.
            guard reply.first?.number != nil else { throw BusError.noAnswer }
        } catch {
            switch error {
            case .absent: throw .failed("notification: no desktop shows notifications in this session")
            default: throw error.placeError("notification", "the desktop")
            }
        }
    }

    /// The body may have mark-up, the summary never has.
    nonisolated static func escape(_ text: String) -> String {
        var escaped = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }
}
