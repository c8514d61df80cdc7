/// Who may see where the machine is: `[permission]` of the agent's configuration.
public struct PermissionConfiguration: Hashable, Sendable {
    /// What somebody may see of whom nothing else is said.
    public enum Level: String, CaseIterable, Hashable, Sendable {
        case notDetermined = "not-determined"
        case hashed, denied, restricted
    }

    /// A user by name, or (`@staff`) everybody in a group.
    public enum Person: Hashable, Sendable {
        case user(String)
        case group(String)
    }

    public var level = Level.notDetermined
    /// Who may see everything, besides root and the group `vicinity`.
    public var full: [Person] = []
    /// Who may see nothing, and cannot change that.
    public var restricted: [Person] = []

    public init() {}

    /// The groups that are named.
    public var groups: Set<String> {
        Set((full + restricted).compactMap { if case .group(let name) = $0 { name } else { nil } })
    }
}

extension FileChecker {
    static let permissionKeys = ["default", "full", "restricted"]

    mutating func permission(_ value: TOMLValue) -> PermissionConfiguration? {
        guard case .table(let members) = value.content else {
            wrongType(value, expected: "a table such as { default = \"hashed\" }")
            return nil
        }
        let problems = diagnostics.count
        var permission = PermissionConfiguration()
        for entry in members {
            switch entry.key {
            case "default": permission.level = choice(entry.value) ?? permission.level
            case "full": permission.full = people(entry.value)
            case "restricted": permission.restricted = people(entry.value)
            default: unknownKey(entry, in: "[permission]", known: Self.permissionKeys)
            }
        }
        return diagnostics.count == problems ? permission : nil
    }

    private mutating func people(_ value: TOMLValue) -> [PermissionConfiguration.Person] {
        (strings(value, expected: "a list of users and @groups") ?? []).compactMap { entry in
            let isGroup = entry.text.hasPrefix("@")
            let name = String(entry.text.dropFirst(isGroup ? 1 : 0))
            let isName =
                !name.isEmpty && name.utf8.count <= 64
                && name.utf8.allSatisfy {
                    (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ":") && $0 != UInt8(ascii: "@")
                }
            guard isName else {
                error(.badValue, entry.position, "expected the name of a user, or @ and that of a group")
                return nil
            }
            return isGroup ? .group(name) : .user(name)
        }
    }
}
