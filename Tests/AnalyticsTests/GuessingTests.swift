import Analytics
import Hashing
import TestSupport
import Testing
import WiFi

/// What the manual says of bare hashes, tried out: names are few, and whoever guesses one knows that it is the right one.
@Suite struct GuessingTests {
    /// As they are seen on the air; none of them is in the list of words as it stands.
    private static let names = [
        "Seven Oaks", "FRITZ!Box 7590 XK", "Taylor-Home", "Meyer_5G", "Praxis Schneider", "Hotel Marina Guest",
        "The Wilsons", "Garcia's iPhone", "CornerCafe", "linksys42",
    ]

    private static func guesses() throws -> [String] {
        let words = String(decoding: try Fixtures.read("guesses.txt"), as: UTF8.self).split(separator: "\n")
            .map { String($0) }
        var guesses: [String] = []
        for word in words {
            guesses += ["-Home", "_5G", "'s iPhone", " WiFi", "net", "-Guest", "s"].map { word + $0 }
            guesses += ["The \(word)s", "Hotel \(word) Guest", "Casa \(word)"]
            for other in words { guesses += ["\(word) \(other)", "\(word)\(other)"] }
        }
        for number in 0..<100 { guesses.append("linksys\(number)") }
        let letters = (UInt8(ascii: "A")...UInt8(ascii: "Z")).map { String(UnicodeScalar($0)) }
        for model in [7430, 7490, 7530, 7590] {
            for first in letters { guesses += letters.map { "FRITZ!Box \(model) \(first)\($0)" } }
        }
        return guesses
    }

    /// The names that a thief of the log finds, who hashes guesses as `hash` does.
    private func found(_ log: Set<String>, _ hash: (SSID) -> String) throws -> Set<String> {
        Set(
            try Self.guesses().filter { guess in
                SSID(utf8: guess).map { log.contains(hash($0)) } ?? false
            })
    }

    @Test func bareHashesAreUndoneByGuessing() throws {
        let ssids = try Self.names.map { try #require(SSID(utf8: $0)) }
        let bare = Set(ssids.map { PlaceHash.plain($0) })
        let clock = ContinuousClock()
        let start = clock.now
        #expect(try found(bare, PlaceHash.plain) == Set(Self.names))
        print("\(Self.names.count) of \(Self.names.count) bare hashes undone in \(clock.now - start)")
    }

    @Test func keyedOnesAreNot() throws {
        let key = HashKey.random()
        let ssids = try Self.names.map { try #require(SSID(utf8: $0)) }
        let keyed = Set(ssids.map { PlaceHash.keyed($0, by: key) })
        #expect(try found(keyed, PlaceHash.plain).isEmpty)
        let digits = Set(keyed.compactMap { $0.split(separator: ":").last.map { "sha256:\($0)" } })
        #expect(try found(digits, PlaceHash.plain).isEmpty)
        let other = HashKey.random()
        let others = Set(keyed.map { $0.replacing(key.identifier, with: other.identifier) })
        #expect(try found(others) { PlaceHash.keyed($0, by: other) }.isEmpty)
        // Whoever has the key can guess as well as anybody.
        #expect(try found(keyed) { PlaceHash.keyed($0, by: key) } == Set(Self.names))
    }
}
