internal import CommandLine
internal import Glibc

@main
struct Main {
    static func main() { exit(VicinityCommand.run(Swift.CommandLine.arguments)) }
}
