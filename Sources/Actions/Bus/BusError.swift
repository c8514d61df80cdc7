/// Why nothing came of a call.
public enum BusError: Error, Hashable, Sendable {
    /// There is no bus, or it went away.
    case noBus
    /// Nobody has the name that was called.
    case absent(String)
    /// Who has that name ended while something was awaited of it.
    case ended(String)
    /// An error of the callee's, such as `org.freedesktop.systemd1.NoSuchUnit`, and what it said about it.
    case refused(error: String, message: String)
    /// It took too long, or the answer made no sense.
    case noAnswer
    /// The caller's task was cancelled.
    case cancelled
}

extension BusError {
    /// The name of the callee's error.
    var name: String? { if case .refused(let error, _) = self { error } else { nil } }

    /// Whether the callee says that there is no such object, or not any more: sd-bus and GDBus have their own words.
    var isUnknownObject: Bool {
        ["UnknownObject", "UnknownMethod", "UnknownInterface"].contains { name == "org.freedesktop.DBus.Error.\($0)" }
    }

    /// As the error of a place.
    ///
    /// - Parameters:
    ///   - purpose: what was to be done, such as `start of x.service`.
    ///   - service: who was called, for people.
    func placeError(_ purpose: String, _ service: String) -> PlaceError {
        switch self {
        case .cancelled: .cancelled
        case .noBus: .failed("\(purpose): there is no D-Bus to reach \(service) by; is dbus-daemon running?")
        case .absent: .failed("\(purpose): \(service) is not running on this machine")
        case .ended: .failed("\(purpose): \(service) ended in the middle of it")
        case .noAnswer: .failed("\(purpose): \(service) does not answer, or makes no sense")
        case .refused(let error, let message): .failed("\(purpose): \(BusError.words(error, message))")
        }
    }

    /// What a daemon says may have the name of a stranger's network in it.
    private static func words(_ error: String, _ message: String) -> String {
        let plain = String(String.UnicodeScalarView(message.unicodeScalars.filter { (0x20...0x7E).contains($0.value) }))
        let name = error.split(separator: ".").last ?? ""
        return plain.isEmpty ? String(name) : "\(plain.prefix(200)) (\(name))"
    }
}
