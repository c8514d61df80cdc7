internal import Glibc
internal import ProbeHelper

@main
struct Main {
    static func main() { exit(ProbeProgram.run()) }
}
