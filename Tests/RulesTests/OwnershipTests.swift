import Glibc
import Testing

@testable import Rules

/// What only root, or only the user, may have written. It takes root and a directory above which everything is root's.
@Suite(.serialized, .enabled(if: geteuid() == 0, "only root can give files away"))
final class OwnershipTests {
    private let root: String
    private let stranger: UInt32 = 65_534

    init() throws {
        var template = Array("/run/vicinity-rules-XXXXXX\0".utf8.map { CChar($0) })
        try #require(mkdtemp(&template) != nil)
        root = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        mkdir("\(root)/a", 0o755)
        mkdir("\(root)/a/rules.d", 0o755)
        write("a/rules.d/1.toml")
    }

    deinit {
        for name in ["a/rules.d/1.toml", "a/rules.d/2.toml", "b.toml"] { unlink("\(root)/\(name)") }
        rmdir("\(root)/a/rules.d/2.toml")
        for name in ["a/rules.d", "b", "a"] {
            unlink("\(root)/\(name)")
            rmdir("\(root)/\(name)")
        }
        rmdir(root)
    }

    private func write(_ path: String, _ text: String = "# nothing\n") {
        let descriptor = open("\(root)/\(path)", O_WRONLY | O_CREAT | O_TRUNC, 0o644)
        #expect(Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count)
        close(descriptor)
    }

    private func load(_ directory: String = "a/rules.d", trust: RuleFiles.Trust = .root) -> (files: Int, said: [String])
    {
        let files = RuleFiles(directories: ["\(root)/\(directory)"], trust: trust)
        #expect(RuleSet.load(files).ruleSet == nil || files.diagnostics.isEmpty)
        return (files.files.count, files.diagnostics.map { $0.message.replacing(root, with: "ROOT") })
    }

    private func refusal(_ what: String) -> [String] { ["\(what); rule files decide what is run"] }

    @Test func takesWhatIsRoots() {
        #expect(load() == (1, []))
        symlink("/dev/null", "\(root)/a/rules.d/2.toml")
        #expect(load() == (1, []))
    }

    @Test func namesTheComponentThatIsNotRoots() {
        for (path, name) in [
            ("", ""), ("/a", "/a"), ("/a/rules.d", "/a/rules.d"), ("/a/rules.d/1.toml", "/a/rules.d/1.toml"),
        ] {
            chown(root + path, stranger, 0)
            #expect(load() == (0, refusal("ROOT\(name) belongs to user \(stranger), not to root")))
            chown(root + path, 0, stranger)
            // The group alone does no harm as long as it may not write.
            #expect(load() == (1, []))
            chown(root + path, 0, 0)
            for bit in [S_IWGRP, S_IWOTH] {
                let mode: UInt32 = path.hasSuffix("toml") ? 0o644 : 0o755
                chmod(root + path, mode | bit)
                #expect(load() == (0, refusal("ROOT\(name) can be written by others than root")))
                chmod(root + path, mode)
            }
        }
        #expect(load() == (1, []))
    }

    @Test func followsNoLink() {
        symlink("a", "\(root)/b")
        #expect(load("b/rules.d") == (0, refusal("ROOT/b is not a directory, or a symbolic link to one")))
        write("b.toml")
        symlink("../../b.toml", "\(root)/a/rules.d/2.toml")
        #expect(load() == (1, refusal("ROOT/a/rules.d/2.toml is a symbolic link")))
    }

    @Test func refusesWhatIsNoPlainFileWithoutOpeningIt() {
        let path = "\(root)/a/rules.d/2.toml"
        let refusal = refusal("ROOT/a/rules.d/2.toml is no plain file")
        let clock = ContinuousClock()
        for make in [
            { mkfifo(path, 0o644) }, { mkdir(path, 0o755) }, { mknod(path, S_IFSOCK | 0o644, 0) },
            // The console of a terminal that nobody has: to open it would wait.
            { mknod(path, S_IFCHR | 0o644, 0x0401) },
        ] {
            guard make() == 0 else { continue }
            let elapsed = clock.measure { #expect(load() == (1, refusal)) }
            #expect(elapsed < .seconds(1))
            unlink(path)
            rmdir(path)
        }
    }

    @Test func refusesAHugeFileWithoutReadingIt() {
        write("a/rules.d/2.toml")
        truncate("\(root)/a/rules.d/2.toml", 100 << 20)
        let elapsed = ContinuousClock().measure {
            #expect(load() == (1, ["the file is larger than 16777216 octets"]))
        }
        #expect(elapsed < .seconds(1))
    }

    @Test func aUsersFilesAreTheUsersOrRoots() {
        #expect(load(trust: .user(stranger)) == (1, []))
        chown("\(root)/a/rules.d", stranger, stranger)
        chown("\(root)/a/rules.d/1.toml", stranger, stranger)
        #expect(load(trust: .user(stranger)) == (1, []))
        #expect(
            load(trust: .user(stranger - 1))
                == (0, refusal("ROOT/a/rules.d belongs to user \(stranger), not to user \(stranger - 1)")))
        chmod("\(root)/a/rules.d/1.toml", 0o664)
        #expect(
            load(trust: .user(stranger))
                == (0, refusal("ROOT/a/rules.d/1.toml can be written by others than user \(stranger)")))
    }
}
