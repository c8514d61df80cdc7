/// A family of generic netlink: its identifier is given out anew on every boot.
public struct GenericNetlinkFamily: Hashable, Sendable {
    public let name: String
    public let identifier: UInt16
    /// Multicast groups by name.
    public let groups: [String: UInt32]

    /// `GENL_ID_CTRL`, the family that knows the others; its only group is `notify`.
    public static let controller = GenericNetlinkFamily(name: "nlctrl", identifier: 16, groups: ["notify": 16])

    public init(name: String, identifier: UInt16, groups: [String: UInt32]) {
        self.name = name
        self.identifier = identifier
        self.groups = groups
    }

    /// Asks for the family called `name` (`CTRL_CMD_GETFAMILY`).
    ///
    /// - Throws: `familyNotFound` where the kernel has none.
    public static func resolve(_ name: String, by requester: NetlinkRequester) throws(NetlinkError)
        -> (family: GenericNetlinkFamily, message: NetlinkMessage)
    {
        var request = NetlinkRequest("CTRL_CMD_GETFAMILY", family: .controller, command: 3, isDump: false)
        request.append(2, octets: Array(name.utf8) + [0])
        let answer: [NetlinkMessage]
        do {
            answer = try requester.answer(to: request)
        } catch .refused(_, 2, _) {  // ENOENT
            throw .familyNotFound(name)
        }
        for message in answer {
            if case .added(let family)? = try? GenericNetlinkNotification(message) { return (family, message) }
        }
        throw .familyNotFound(name)
    }
}

/// What the controller tells: a family came or went (`CTRL_CMD_NEWFAMILY`, `CTRL_CMD_DELFAMILY`).
public enum GenericNetlinkNotification: Hashable, Sendable {
    case added(GenericNetlinkFamily)
    case removed(name: String)

    /// Nil for the controller's other messages.
    public init?(_ message: NetlinkMessage) throws(MalformedMessage) {
        guard message.type == GenericNetlinkFamily.controller.identifier else { return nil }
        guard let command = message.payload.first, message.payload.count >= 4 else {
            throw MalformedMessage("generic netlink header: \(message.payload.count) octets, expected 4")
        }
        guard command == 1 || command == 2 else { return nil }
        var name = ""
        var identifier: UInt16 = 0
        var groups: [String: UInt32] = [:]
        try Attributes(message.payload.dropFirst(4)).forEach { attribute throws(MalformedMessage) in
            switch attribute.type {
            case 1: identifier = try attribute.integer()
            case 2: name = attribute.text
            case 7:
                try attribute.nested.forEach(isList: true) { group throws(MalformedMessage) in
                    var groupName = ""
                    var groupIdentifier: UInt32 = 0
                    try group.nested.forEach { member throws(MalformedMessage) in
                        switch member.type {
                        case 1: groupName = member.text
                        case 2: groupIdentifier = try member.integer()
                        default: break
                        }
                    }
                    groups[groupName] = groupIdentifier
                }
            default: break
            }
        }
        guard !name.isEmpty else { throw MalformedMessage("a generic netlink family without a name") }
        self =
            command == 1
            ? .added(GenericNetlinkFamily(name: name, identifier: identifier, groups: groups)) : .removed(name: name)
    }
}
