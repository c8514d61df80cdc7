import Foundation
import Glibc
import Hashing
import Platform
import Testing

/// The key of hashed names is replaced in one step, and what it was is nowhere afterwards.
@Suite struct KeyRotationTests {
    private final class Place {
        let directory = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max))"
        var path: String { directory + "/hash.key" }

        init() { mkdir(directory, 0o700) }
        deinit { try? FileManager.default.removeItem(atPath: directory) }

        var names: [String] {
            ((try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []).sorted()
        }

        var octets: [UInt8] { (try? Files.read(path, limit: 64)) ?? [] }
    }

    @Test func theOldOneIsOverwrittenAndGone() throws {
        let place = Place()
        let first = HashKey.load(place.path).key.identifier
        let old = FileDescriptor(owning: open(place.path, O_RDONLY | O_CLOEXEC))
        let before = place.octets
        let second = try HashKey.rotate(place.path)
        #expect(second.identifier != first && HashKey.load(place.path).key.identifier == second.identifier)
        #expect(place.names == ["hash.key"] && place.octets != before && place.octets.count == 32)
        var octets = [UInt8](repeating: 1, count: 64)
        #expect(pread(old.rawValue, &octets, 64, 0) == 32)
        #expect(octets.prefix(32).allSatisfy { $0 == 0 })
        var status = stat()
        #expect(fstat(old.rawValue, &status) == 0 && status.st_nlink == 0)
        #expect(stat(place.path, &status) == 0 && status.st_mode & 0o777 == 0o600)
    }

    @Test func thereNeedNotBeOne() throws {
        let place = Place()
        let key = try HashKey.rotate(place.path)
        #expect(HashKey.load(place.path).key.identifier == key.identifier && place.names == ["hash.key"])
    }

    /// As it was left between two of its steps.
    @Test(arguments: 0..<3)
    func whatWasInterruptedIsEnded(step: Int) throws {
        let place = Place()
        let first = HashKey.load(place.path).key.identifier
        let retired = place.path + ".retired"
        let old = FileDescriptor(owning: open(place.path, O_RDONLY | O_CLOEXEC))
        link(place.path, retired)
        if step > 0 {
            try Data(repeating: 9, count: 32).write(to: URL(fileURLWithPath: place.path + ".next"))
            chmod(place.path + ".next", 0o600)
        }
        if step > 1 { rename(place.path + ".next", place.path) }
        let loaded = HashKey.load(place.path)
        #expect(loaded.problem == nil && place.names == ["hash.key"])
        #expect((loaded.key.identifier == first) == (step < 2))
        var octets = [UInt8](repeating: 1, count: 32)
        #expect(pread(old.rawValue, &octets, 32, 0) == 32)
        #expect(octets.allSatisfy { $0 == 0 } == (step == 2))
    }

    /// Killed wherever it is, there is one key, never none and never the zeros that an old one was overwritten with.
    @Test(arguments: 0..<12)
    func aKilledRotationLeavesOneKey(round: Int) async throws {
        let place = Place()
        let microseconds = 3_000 + round * 2_300
        let path = place.path
        _ = HashKey.load(path)
        await #expect(processExitsWith: .signal(SIGALRM)) { [path = path as String, us = microseconds as Int] in
            signal(SIGALRM, SIG_DFL)
            var timer = itimerval()
            timer.it_value.tv_usec = us
            setitimer(__itimer_which_t(ITIMER_REAL.rawValue), &timer, nil)
            while true { _ = try HashKey.rotate(path) }
        }
        let octets = place.octets
        #expect(octets.count == 32 && Set(octets).count > 4)
        let loaded = HashKey.load(path)
        #expect(loaded.problem == nil && loaded.key.identifier == HashKey(octets)?.identifier)
        // What is of no use any more goes with the next rotation.
        #expect(Set(place.names).isSubset(of: ["hash.key", "hash.key.next.new"]))
    }

    @Test func manyAtOnceLeaveOneKey() async throws {
        let place = Place()
        let path = place.path
        _ = HashKey.load(path)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<8 { group.addTask { _ = try HashKey.rotate(path) } }
            try await group.waitForAll()
        }
        #expect(place.names == ["hash.key"] && HashKey.load(path).problem == nil)
    }

    // MARK: The organisation's

    @Test func aSharedKeyIsOctetsOrDigits() throws {
        let place = Place()
        let octets = (0..<32).map { UInt8($0) }
        let digits = octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        let expected = try #require(HashKey(octets)).identifier
        for contents in [octets, Array(digits.utf8), Array((digits + "\n").utf8), Array(digits.uppercased().utf8)] {
            try Data(contents).write(to: URL(fileURLWithPath: place.path))
            for mode in [0o400, 0o440, 0o600, 0o640] as [mode_t] {
                chmod(place.path, mode)
                #expect(try HashKey.shared(place.path).identifier == expected)
            }
            for mode in [0o644, 0o660, 0o604, 0o622] as [mode_t] {
                chmod(place.path, mode)
                #expect(throws: HashKeyError.isOpen(place.path)) { try HashKey.shared(place.path) }
            }
        }
        for contents in [
            "", "x", digits + "00", String(digits.dropLast()), digits + "\n\n", digits.replacing("0", with: "g"),
        ] {
            try Data(contents.utf8).write(to: URL(fileURLWithPath: place.path))
            chmod(place.path, 0o600)
            #expect(throws: HashKeyError.isNoKey(place.path)) { try HashKey.shared(place.path) }
        }
        unlink(place.path)
        #expect(throws: HashKeyError.self) { try HashKey.shared(place.path) }
        symlink("/dev/zero", place.path)
        #expect(throws: HashKeyError.self) { try HashKey.shared(place.path) }
    }
}
