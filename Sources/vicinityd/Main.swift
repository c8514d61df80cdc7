internal import Acting
internal import Agent
internal import Glibc

/// The agent and the helpers, root's and those of sessions, are one file on disk and in memory; the name by which it is
/// started says which it is.
@main
struct Main {
    static func main() {
        let arguments = CommandLine.arguments
        switch arguments.first?.split(separator: "/").last {
        case "vicinity-act": exit(ActProgram.run(arguments))
        case "vicinity-session": exit(SessionProgram.run(arguments))
        default: exit(AgentProgram.run(arguments))
        }
    }
}
