import Glibc
import Testing

@testable import Rules

/// Root's own files cannot be made by a test that is not root, so what is refused is what the test makes.
@Suite struct RuleFilesTests {
    private let root: String

    init() throws {
        var template = Array("/tmp/vicinity-rules-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        for name in ["etc", "run", "lib"] { mkdir("\(root)/\(name)", 0o755) }
    }

    private func write(_ path: String, _ text: String) throws {
        let descriptor = open("\(root)/\(path)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        try #require(descriptor >= 0)
        #expect(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
    }

    private func read(trust: RuleFiles.Trust = .anyone) -> RuleFiles {
        RuleFiles(directories: ["etc", "run", "absent", "lib"].map { "\(root)/\($0)" }, trust: trust)
    }

    @Test func mergesDirectoriesByFileName() throws {
        try write("lib/10-a.toml", "lib")
        try write("lib/20-b.toml", "lib")
        try write("lib/30-c.toml", "lib")
        try write("run/20-b.toml", "run")
        try write("etc/20-b.toml", "etc")
        try write("etc/05-d.toml", "etc")
        symlink("/dev/null", "\(root)/etc/10-a.toml")
        try write("etc/.hidden.toml", "x")
        try write("etc/README", "x")
        try write("etc/20-b.toml~", "x")
        let files = read()
        #expect(files.diagnostics.isEmpty)
        #expect(
            files.files.map { "\($0.path.dropFirst(root.utf8.count)) \(String(decoding: $0.contents, as: UTF8.self))" }
                == [
                    "/etc/05-d.toml etc", "/etc/20-b.toml etc", "/lib/30-c.toml lib",
                ])
    }

    @Test func tellsNamesApartByOctets() throws {
        // The same letters, composed and decomposed; K and the sign for kelvin.
        for name in ["caf\u{E9}.toml", "cafe\u{301}.toml", "K.toml", "\u{212A}.toml"] { try write("etc/\(name)", name) }
        try write("lib/cafe\u{301}.toml", "lib")
        let files = read()
        #expect(files.diagnostics.isEmpty)
        #expect(
            files.files.map { Array($0.contents) }
                == [
                    "K.toml", "cafe\u{301}.toml", "caf\u{E9}.toml", "\u{212A}.toml",
                ].map { Array($0.utf8) })
    }

    @Test func refusesANameThatIsNoText() throws {
        let path = Array("\(root)/etc/".utf8) + [0xFF, 0x1B] + Array(".toml\0".utf8)
        let descriptor = open(path.map { CChar(bitPattern: $0) }, O_WRONLY | O_CREAT, 0o644)
        try #require(descriptor >= 0)
        close(descriptor)
        let files = read()
        #expect(files.diagnostics.map(\.code) == [.unreadable])
        #expect(RuleSet.load(files).ruleSet == nil)
        #expect(files.diagnostics.first?.description.utf8.allSatisfy { $0 != 0x1B } == true)
    }

    @Test func refusesWhatOthersCouldHaveWritten() throws {
        try write("etc/a.toml", "")
        let files = read(trust: .root)
        // /tmp is writable by everybody, whoever runs the test.
        #expect(files.files.isEmpty)
        // Of the other directories there is nothing to read.
        #expect(files.diagnostics.count == 1)
        #expect(
            files.diagnostics.first?.message
                == "/tmp can be written by others than root; rule files decide what is run")
        #expect(files.diagnostics.first?.code == .unsafeFile)
        #expect(RuleSet.load(files).ruleSet == nil)
    }

    @Test func doesNotFollowLinksOfDirectories() throws {
        // /proc/self is a link and belongs to whoever asks; its parents are root's.
        let files = RuleFiles(directories: ["/proc/self/fd"], trust: .root)
        #expect(
            files.diagnostics.map(\.message) == [
                "/proc/self is not a directory, or a symbolic link to one; rule files decide what is run"
            ])
    }

    @Test func acceptsRootsOwnDirectories() {
        let files = RuleFiles(directories: ["/usr/lib", "/nowhere/at/all"], trust: .root)
        #expect(files.diagnostics.isEmpty)
    }

    @Test func missesNothingThatAFileItCannotReadMayDefine() throws {
        try write("etc/a.toml", "[rule.x]\non = \"office\"\n")
        mkfifo("\(root)/etc/b.toml", 0o600)
        #expect(RuleSet.load(read()).diagnostics.map(\.code) == [.unsafeFile])
        unlink("\(root)/etc/b.toml")
        #expect(RuleSet.load(read()).diagnostics.map(\.code) == [.unknownNetwork])
    }

    @Test func saysWhatItCannotRead() throws {
        try write("etc/a.toml", "[rule.x]\non = \"wired\"\n")
        mkfifo("\(root)/etc/b.toml", 0o600)
        mkdir("\(root)/etc/c.toml", 0o755)
        symlink("nowhere", "\(root)/etc/d.toml")
        let files = read()
        #expect(files.files.count == 1)
        #expect(files.diagnostics.map(\.code) == [.unsafeFile, .unsafeFile, .unreadable])
        #expect(RuleSet.load(files).ruleSet == nil)
        let missing = RuleFiles(paths: ["\(root)/none.toml"])
        #expect(
            missing.diagnostics.map(\.description) == [
                "\(root)/none.toml: error: open: No such file or directory"
            ])
    }
}
