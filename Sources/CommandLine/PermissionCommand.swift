internal import Agent
internal import Feed
internal import Glibc
internal import JSON
internal import Platform
internal import SystemBus
internal import WiFi

/// `vicinity permission`: who may see where this machine is.
enum PermissionCommand: Subcommand {
    static let name = "permission"
    static let operands = "[status | request | grant USER | revoke [USER]]"
    static let summary = "Tell whether you may see which networks this machine is on, ask for it, grant or revoke it."
    static let operandKinds: [WordKind] = [.words(["status", "request", "grant", "revoke"]), .user]
    static let options: [Arguments.Option] = [.format, .socket]
    static let notes = """
        request asks for yourself: polkit (io.vicinity.read-location) has you authenticate where you sit at the machine,
        and an administrator otherwise. What is granted lasts until it is revoked. Everybody may revoke their own; to
        grant to others and revoke theirs takes root, or polkit's yes to io.vicinity.manage. A grant counts for
        connections made after it; revoking ends those that are open. USER is a name or a number.

        Exit status: 0, 64 usage, 68 no such user, 69 the agent or the system bus does not answer, 74 it cannot be kept,
        75 too many calls are waiting, 77 you may not.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let words = arguments.operands
        switch (words.first ?? "status", words.count) {
        case ("status", ...1): return try status(at: arguments["socket"] ?? AgentPaths.defaultSocket, format)
        case ("request", 1): return try request()
        case ("grant", 2): return try change("GrantPermission", words[1])
        case ("revoke", 1): return try change("RevokePermission", "\(getuid())")
        case ("revoke", 2): return try change("RevokePermission", words[1])
        case ("grant", 1): throw UsageError(description: "whom shall it be granted? Give the user's name")
        case (let word, _):
            throw UsageError(
                description: "expected status, request, grant USER or revoke [USER], not \(word.utf8.displayText)")
        }
    }

    private static func status(at path: String, _ format: OutputFormat) throws -> Int32 {
        guard let line = firstLine(at: path),
            let value = try? JSONValue(parsing: line, maximumSize: 2 * FeedLine.maximumLength),
            let permission = value["permission"]?.string
        else {
            Output.error("the agent does not answer: nobody can say what it would let you see")
            return 69
        }
        switch format {
        case .json:
            var writer = JSONWriter()
            writer.object { $0.field("permission", permission) }
            writer.endLine()
            Output.write(writer.octets[...])
        case .text:
            let level = FeedPermission(rawValue: permission)
            Output.line("\(permission.utf8.displayText): \(level.map { PermissionText.meaning(of: $0) } ?? "")")
            if let advice = level.flatMap({ PermissionText.advice(for: $0) }) { Output.line(advice) }
        }
        return 0
    }

    private static func firstLine(at path: String) -> ArraySlice<UInt8>? {
        var request = FeedRequest()
        request.follows = false
        guard var client = try? FeedClient(connectingTo: path, request: request, patience: 10) else { return nil }
        return client.next()
    }

    private static func request() throws -> Int32 {
        let outcome = try ManagerCall("RequestPermission").outcome()
        if case .answered(let values) = outcome { tell(values, isOwn: true) }
        return ManagerCall.report(outcome)
    }

    private static func change(_ method: String, _ user: String) throws -> Int32 {
        guard let number = number(of: user) else {
            Output.error("there is no user \(user.utf8.displayText)")
            return 68
        }
        let outcome = try ManagerCall(method, [.unsigned(number)]).outcome()
        if case .answered(let values) = outcome { tell(values, isOwn: number == getuid()) }
        return ManagerCall.report(outcome)
    }

    /// Says what the user may see now, which is not only a matter of grants.
    private static func tell(_ values: [BusValue], isOwn: Bool) {
        guard let level = values.first?.text.flatMap({ FeedPermission(rawValue: $0) }) else { return }
        Output.line("\(isOwn ? "your" : "their") permission is \(level.rawValue): \(PermissionText.meaning(of: level))")
    }

    private static func number(of user: String) -> UInt32? {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 65_536)
        var result: UnsafeMutablePointer<passwd>?
        if unsafe getpwnam_r(user, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil {
            return unsafe entry.pw_uid
        }
        guard !user.isEmpty, user.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return UInt32(user).flatMap { $0 == .max ? nil : $0 }
    }
}
