import Foundation
import Glibc
import Hashing
import Testing

/// The key of hashed names, and its file.
@Suite struct HashKeyTests {
    private final class Place {
        let directory = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        var path: String { directory + "/hash.key" }

        init() { mkdir(directory, 0o700) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var mode: UInt32 {
            var status = stat()
            return stat(path, &status) == 0 ? status.st_mode & 0o777 : 0
        }
    }

    @Test func itIsMadeOnce() throws {
        let place = Place()
        let first = HashKey.load(place.path)
        let second = HashKey.load(place.path)
        #expect(first.problem == nil && second.problem == nil)
        #expect(first.key.hash([1]) == second.key.hash([1]) && first.key.hash([1]) != first.key.hash([2]))
        #expect(place.mode == 0o600)
        let octets = try Data(contentsOf: URL(fileURLWithPath: place.path))
        #expect(octets.count == 32)
        #expect(SHA256.hexadecimal(Array(octets)).hasPrefix(first.key.identifier))
        #expect(try FileManager.default.contentsOfDirectory(atPath: place.directory) == ["hash.key"])
        #expect(HashKey.load(Place().path).key.identifier != first.key.identifier)
    }

    @Test func allWhoMakeItAtOnceHaveTheSame() async {
        let place = Place()
        let path = place.path
        let keys = await withTaskGroup(of: String.self) { group in
            for _ in 0..<8 { group.addTask { HashKey.load(path).key.identifier } }
            return await group.reduce(into: Set<String>()) { $0.insert($1) }
        }
        #expect(keys == [HashKey.load(path).key.identifier])
    }

    @Test(arguments: [0, 1, 31, 33, 1_000_000])
    func whatIsNoKeyIsPutAside(count: Int) throws {
        let place = Place()
        try Data(repeating: 7, count: count).write(to: URL(fileURLWithPath: place.path))
        chmod(place.path, 0o600)
        let loaded = HashKey.load(place.path)
        #expect(loaded.problem?.contains("put aside") == true)
        #expect(FileManager.default.fileExists(atPath: place.path + ".damaged"))
        #expect(HashKey.load(place.path).key.identifier == loaded.key.identifier)
        #expect(HashKey.load(place.path).problem == nil)
    }

    @Test func oneThatOthersCouldReadIsClosedAndTold() throws {
        let place = Place()
        let identifier = HashKey.load(place.path).key.identifier
        chmod(place.path, 0o644)
        let loaded = HashKey.load(place.path)
        #expect(loaded.key.identifier == identifier && loaded.problem?.contains("could be read") == true)
        #expect(place.mode == 0o600)
    }

    @Test func aLinkIsNotFollowed() throws {
        let place = Place()
        let other = Place()
        _ = HashKey.load(other.path)
        symlink(other.path, place.path)
        let loaded = HashKey.load(place.path)
        #expect(loaded.problem != nil && loaded.key.identifier != HashKey.load(other.path).key.identifier)
    }

    @Test func whereNothingCanBeKeptThereIsOneAllTheSame() {
        let loaded = HashKey.load("/proc/hash.key")
        #expect(loaded.problem?.contains("/proc") == true)
        #expect(loaded.key.hash([]).hasPrefix("hmac-sha256:\(loaded.key.identifier):"))
    }
}
