import Foundation
import Testing

/// What /etc/profile.d/vicinity.sh makes of the file, in the shells that read it.
@Suite struct LoginShellTests {
    private static let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().appendingPathComponent(
            "packaging/profile.d/vicinity.sh")

    @Test(arguments: ["/bin/dash", "/bin/bash"]) func readsItAndNothingElse(_ shell: String) throws {
        let root = try ProxyRoot()
        let file = "\(root.path)/90-vicinity.conf"
        let text = try String(contentsOf: Self.script, encoding: .utf8)
        try text.replacingOccurrences(of: "/run/environment.d/90-vicinity.conf", with: file)
            .write(toFile: "\(root.path)/script", atomically: true, encoding: .utf8)
        let command = "set -eu; . \(root.path)/script; echo ${http_proxy-none} ${ftp_proxy-none} $PATH"
        func said() throws -> String { try root.output([shell, "-c", command], ["ftp_proxy": "old"]) }
        #expect(try said() == "none old /usr/bin:/bin\n")
        try "http_proxy=$(id)\nftp_proxy=\nPATH=/evil\n".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try said() == "$(id) none /usr/bin:/bin\n")
        try "".write(toFile: file, atomically: true, encoding: .utf8)
        #expect(try said() == "none old /usr/bin:/bin\n")
    }
}
