internal import CSystemd

extension SystemBus {
    /// Whose a well-known name is that we asked for.
    public enum Ownership: Hashable, Sendable {
        case ours
        /// Somebody else's for now; we are next.
        case others
        /// We may not have it, by the error's name, or there was no answer (nil).
        case refused(error: String?)
    }

    /// Asks for a well-known name, on this connection, and tells whose it is whenever that changes.
    public func own(_ name: String, _ told: @escaping (Ownership) -> Void) {
        let driver = "org.freedesktop.DBus"
        // The reply and the signal say the same.
        var last: Ownership?
        let tell = { (ownership: Ownership) in
            guard ownership != last else { return }
            last = ownership
            told(ownership)
        }
        watchOwner(of: name) { [unowned self] in tell($0 != nil && $0 == uniqueName ? .ours : .others) }
        call(driver, "/org/freedesktop/DBus", driver, "RequestName", [.text(name), .unsigned(0)]) { reply in
            switch reply {
            // DBUS_REQUEST_NAME_REPLY_PRIMARY_OWNER and _ALREADY_OWNER of the D-Bus Specification.
            case .values([.number(1)]), .values([.number(4)]): tell(.ours)
            case .values: tell(.others)
            case .absent: tell(.refused(error: nil))
            // The signal was first: what failed is the connection.
            case .failed(let error, _): if last == nil { tell(.refused(error: error)) }
            }
        }
    }

    /// Tells whenever a well-known name gets another owner, by its unique name, or loses it (nil).
    @discardableResult
    public func watchOwner(of name: String, _ changed: @escaping (_ owner: String?) -> Void) -> Match? {
        let driver = "org.freedesktop.DBus"
        return match("sender='\(driver)',interface='\(driver)',member='NameOwnerChanged',arg0='\(name)'") { _, values in
            // The name, its old owner and the new one.
            guard values.count == 3, let owner = values[2].text else { return }
            changed(owner.isEmpty ? nil : owner)
        }
    }

    private var uniqueName: String? {
        var name: UnsafePointer<CChar>?
        guard unsafe connection != nil, unsafe sd_bus_get_unique_name(connection, &name) >= 0 else { return nil }
        return unsafe name.map { unsafe String(cString: $0) }
    }
}
