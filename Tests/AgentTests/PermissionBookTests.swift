import Feed
import Foundation
import Glibc
import Platform
import Rules
import Testing

@testable import Agent

/// Who may see where the machine is, by the configuration, the user database and what was granted.
@Suite(.timeLimit(.minutes(5))) struct PermissionBookTests {
    /// A book on a loop of its own.
    private final class Shelf: @unchecked Sendable {
        let directory: String
        let loop: EventLoop
        private var book: PermissionBook?
        private let problems = Lock([String?]())
        let changes = Lock(0)

        init(_ configuration: PermissionConfiguration? = PermissionConfiguration(), in directory: String? = nil) throws
        {
            self.directory = directory ?? "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
            try Files.makeDirectory(self.directory, mode: 0o755)
            loop = try EventLoop()
            try loop.start()
            onLoop { shelf in
                let book = PermissionBook(at: shelf.path, on: shelf.loop) { problem in
                    shelf.problems.withLock { $0.append(problem) }
                }
                book.onChange = { shelf.changes.withLock { $0 += 1 } }
                book.start(configuration)
                shelf.book = book
            }
        }

        var path: String { directory + "/permissions.json" }
        var problem: String? { problems.withLock { $0.last ?? nil } }

        func stop() {
            onLoop { $0.book = nil }
            loop.stop()
        }

        func remove() {
            stop()
            try? FileManager.default.removeItem(atPath: directory)
        }

        @discardableResult
        func onLoop<Result: Sendable>(_ body: @escaping @Sendable (Shelf) -> Result) -> Result {
            let done = DispatchSemaphore(value: 0)
            let result = Lock<Result?>(nil)
            loop.perform { [self] in
                let value = body(self)
                result.withLock { $0 = value }
                done.signal()
            }
            done.wait()
            guard let value = result.withLock({ $0 }) else { fatalError("the loop did not run") }
            return value
        }

        private var openBook: PermissionBook {
            guard let book else { fatalError("the book is closed") }
            return book
        }

        func withBook<Result: Sendable>(_ body: @escaping @Sendable (PermissionBook) -> Result) -> Result {
            onLoop { body($0.openBook) }
        }

        func level(of user: UInt32, groups: Set<UInt32> = []) async -> FeedPermission {
            await withCheckedContinuation { continuation in
                loop.perform { [self] in
                    book?.find(user) { [self] _ in
                        continuation.resume(returning: book?.level(of: user, groups: groups) ?? .denied)
                    }
                }
            }
        }

        func grant(_ user: UInt32) -> SystemError? {
            withBook { book in
                do throws(SystemError) { try book.grant(user) } catch { return error }
                return nil
            }
        }

        func revoke(_ user: UInt32) -> Bool? { withBook { try? $0.revoke(user) } }
    }

    private static let stranger: UInt32 = 54_321

    private func configured(_ text: String) throws -> PermissionConfiguration {
        let file = RuleFile(path: "v", contents: Array("[permission]\n\(text)\n".utf8))
        return try #require(AgentConfiguration.load([file]).configuration?.permission)
    }

    @Test func nobodyHasDecided() async throws {
        let shelf = try Shelf()
        defer { shelf.remove() }
        #expect(await shelf.level(of: 0) == .full)
        #expect(await shelf.level(of: geteuid()) == .full)
        #expect(await shelf.level(of: Self.stranger) == .notDetermined)
    }

    @Test(arguments: ["not-determined", "hashed", "denied", "restricted"])
    func theConfigurationDecidesForAll(word: String) async throws {
        let shelf = try Shelf(try configured("default = \"\(word)\""))
        defer { shelf.remove() }
        #expect(await shelf.level(of: Self.stranger).rawValue == word)
        #expect(await shelf.level(of: 0) == .full)
        // What was granted counts, but not against the administrator.
        #expect(shelf.grant(Self.stranger) == nil)
        #expect(await shelf.level(of: Self.stranger) == (word == "restricted" ? .restricted : .full))
    }

    @Test func theConfigurationNamesUsersAndGroups() async throws {
        let shelf = try Shelf(try configured("full = [\"daemon\", \"@bin\"]\nrestricted = [\"@games\", \"sync\"]"))
        defer { shelf.remove() }
        // Debian's, base-passwd: daemon, bin, games, sync, man.
        let numbers: [UInt32] = [1, 2, 5, 4, 6]
        var levels: [FeedPermission] = []
        for number in numbers { levels.append(await shelf.level(of: number)) }
        #expect(levels == [.full, .full, .restricted, .restricted, .notDetermined])
        // Whoever is restricted is so, whatever was granted.
        #expect(shelf.grant(numbers[2]) == nil)
        #expect(await shelf.level(of: numbers[2]) == .restricted)
    }

    /// A unit gives its service a group of which the database knows nothing; a person who has one from a session that
    /// began before it was taken away has it no more.
    @Test func groupsOfAProcessCountForServicesOnly() async throws {
        let shelf = try Shelf(try configured("full = [\"@games\"]"))
        defer { shelf.remove() }
        let games: UInt32 = 60
        #expect(await shelf.level(of: 2, groups: [games]) == .full)
        #expect(await shelf.level(of: 61_200, groups: [games]) == .full)
        #expect(await shelf.level(of: Self.stranger, groups: [games]) == .notDetermined)
        #expect(await shelf.level(of: 2, groups: [games + 1]) == .notDetermined)
    }

    @Test func aConfigurationThatNobodyCanReadAllowsNothing() async throws {
        let shelf = try Shelf(nil)
        defer { shelf.remove() }
        #expect(await shelf.level(of: Self.stranger) == .restricted)
        #expect(await shelf.level(of: 0) == .full)
    }

    @Test func aGrantOutlivesTheAgentAndARevocationToo() async throws {
        let first = try Shelf()
        #expect(first.grant(Self.stranger) == nil && first.grant(7) == nil)
        #expect(first.changes.withLock { $0 } > 1)
        first.stop()
        let second = try Shelf(in: first.directory)
        #expect(await second.level(of: Self.stranger) == .full)
        #expect(second.withBook { $0.granted } == [7, Self.stranger])
        #expect(second.revoke(Self.stranger) == true && second.revoke(Self.stranger) == false)
        #expect(await second.level(of: Self.stranger) == .notDetermined)
        second.stop()
        let third = try Shelf(in: first.directory)
        defer { third.remove() }
        #expect(await third.level(of: Self.stranger) == .notDetermined)
        #expect(await third.level(of: 7) == .full)
        #expect(third.problem == nil)
        var status = stat()
        #expect(stat(third.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    /// The number of a user who is gone is given to another one.
    @Test func aGrantIsOfThePersonNotOfTheNumber() async throws {
        let first = try Shelf()
        #expect(await first.level(of: 2) == .notDetermined)
        #expect(first.grant(2) == nil)
        first.stop()
        let contents = try String(contentsOfFile: first.path, encoding: .utf8)
        #expect(contents.contains("\"name\":\"bin\""))
        try contents.replacingOccurrences(of: "\"bin\"", with: "\"somebody\"")
            .write(toFile: first.path, atomically: true, encoding: .utf8)
        let second = try Shelf(in: first.directory)
        defer { second.remove() }
        #expect(await second.level(of: 2) == .notDetermined)
    }

    @Test(arguments: [
        "", "{", "null", "[]", "{\"version\":2,\"grants\":[]}", "{\"version\":1}", "{\"version\":1,\"grants\":[7]}",
        "{\"version\":1,\"grants\":[{\"uid\":-1,\"since\":0}]}", "{\"version\":1,\"grants\":[{\"uid\":54321}]}",
        "{\"version\":1,\"grants\":[{\"uid\":54321,\"since\":0},{\"uid\":54321,\"since\":0}]}", "\u{0}\u{1}\u{2}",
        "{\"version\":1,\"grants\":[{\"uid\":54321,\"since\":0},{\"uid\":4294967296,\"since\":0}]}",
    ])
    func aDamagedFileGrantsNothingAndIsTold(contents: String) async throws {
        let directory = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        try Files.makeDirectory(directory, mode: 0o755)
        try contents.write(toFile: directory + "/permissions.json", atomically: true, encoding: .utf8)
        let shelf = try Shelf(in: directory)
        defer { shelf.remove() }
        #expect(await shelf.level(of: Self.stranger) == .notDetermined)
        #expect(shelf.problem?.contains("damaged") == true)
        #expect(Files.exists(shelf.path + ".damaged"))
        // From there on it goes on as ever.
        #expect(shelf.grant(Self.stranger) == nil)
        #expect(await shelf.level(of: Self.stranger) == .full)
        #expect(shelf.problem == nil)
    }

    /// What cannot be kept is not granted; what is revoked is, kept or not.
    @Test func aDiskThatTakesNothingGrantsNothing() async throws {
        let shelf = try Shelf()
        defer { shelf.remove() }
        #expect(shelf.grant(7) == nil)
        // A directory in its place, since root may write anywhere.
        #expect(mkdir(shelf.path + ".new", 0o700) == 0)
        #expect(shelf.grant(Self.stranger)?.code == EISDIR)
        #expect(await shelf.level(of: Self.stranger) == .notDetermined)
        #expect(shelf.revoke(7) == nil)
        #expect(await shelf.level(of: 7) == .notDetermined)
        #expect(shelf.problem?.contains("after a restart") == true)
    }
}
