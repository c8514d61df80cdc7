import Foundation
import Glibc
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
        let command = "set -eu; . \(root.path)/script; echo ${http_proxy-none} ${ftp_proxy-none} $PATH; set"
        func said() throws -> Substring? {
            let text = try root.output([shell, "-c", command], ["http_proxy": "old", "ftp_proxy": "old"])
            #expect(!text.contains("vicinity_line") && !text.contains("vicinity_proxy ("))
            return text.split(separator: "\n").first
        }
        func write(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
        #expect(try said() == "old old /usr/bin:/bin")
        try write("http_proxy=http://[::1]:3128\nftp_proxy=${VICINITY_NO_PROXY}\nPATH=/evil\n")
        // Nothing is believed that is not root's alone.
        let isRoot = geteuid() == 0
        #expect(try said() == (isRoot ? "http://[::1]:3128 none /usr/bin:/bin" : "old old /usr/bin:/bin"))
        if isRoot {
            for mode: mode_t in [0o664, 0o646] {
                #expect(chmod(file, mode) == 0)
                #expect(try said() == "old old /usr/bin:/bin")
            }
            #expect(chmod(file, 0o644) == 0 && chown(file, 65_534, 65_534) == 0)
            #expect(try said() == "old old /usr/bin:/bin")
        }
        try write("http_proxy=$(touch \(root.path)/ran)\nftp_proxy=\n`touch \(root.path)/ran`\nPATH=/evil")
        #expect(try said() == (isRoot ? "none none /usr/bin:/bin" : "old old /usr/bin:/bin"))
        #expect(!FileManager.default.fileExists(atPath: "\(root.path)/ran"))
        try write("")
        #expect(try said() == "old old /usr/bin:/bin")
    }
}
