internal import Agent
internal import Glibc

@main
struct Main {
    static func main() { exit(AgentProgram.run(CommandLine.arguments)) }
}
