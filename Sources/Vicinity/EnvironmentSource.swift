/// Who is asked where the machine is.
public struct EnvironmentSource: Hashable, Sendable {
    enum Kind: Hashable, Sendable {
        case agent(socket: String)
        case kernel
    }

    let kind: Kind

    /// The agent of this machine: what it knows, as far as its reader may see it. Never falls back to anything else.
    public static let agent = agent(at: "/run/vicinity/events.sock")

    /// The agent that listens at a path.
    public static func agent(at socket: String) -> EnvironmentSource { EnvironmentSource(kind: .agent(socket: socket)) }

    /// The kernel, asked with the program's own rights.
    public static let kernel = EnvironmentSource(kind: .kernel)
}
