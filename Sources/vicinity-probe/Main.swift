internal import Glibc
internal import TLSProbe

@main
struct Main {
    static func main() { exit(ProbeProgram.run()) }
}
