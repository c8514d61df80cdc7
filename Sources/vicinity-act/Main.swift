internal import Acting
internal import Glibc

@main
struct Main {
    static func main() { exit(ActProgram.run(CommandLine.arguments)) }
}
