import Analytics
import Foundation
import Hashing
import JSON
import TestSupport
import Testing
import WiFi

/// Known hashes, and that other programs make the same.
@Suite struct HashVectorTests {
    struct Vector: CustomTestStringConvertible {
        var name: String
        var octets: [UInt8]
        var sha256: String
        var key: HashKey
        var identifier: String
        var hmac: String
        var testDescription: String { name }
    }

    static let vectors: [Vector] = {
        guard let lines = try? Fixtures.read("ssid-hashes.jsonl") else { return [] }
        return lines.split(separator: UInt8(ascii: "\n")).compactMap { line in
            guard let value = try? JSONValue(parsing: line, maximumSize: 4_096),
                let octets = value["ssid_hex"]?.string.flatMap(Vector.octets),
                let key = value["key_hex"]?.string.flatMap(Vector.octets).flatMap({ HashKey($0) }),
                let name = value["name"]?.string, let sha256 = value["sha256"]?.string,
                let identifier = value["key"]?.string, let hmac = value["hmac_sha256"]?.string
            else { return nil }
            return Vector(
                name: name, octets: octets, sha256: sha256, key: key, identifier: identifier, hmac: hmac)
        }
    }()

    @Test func theyAreAllThere() {
        #expect(Self.vectors.count == 16)
        #expect(Set(Self.vectors.map(\.octets)).count == 16)
        // What people and `String` take for the same are two names.
        let accents = Self.vectors.filter { $0.name.hasPrefix("NF") }
        #expect(Set(accents.map { String(decoding: $0.octets, as: UTF8.self) }).count == 1)
        #expect(Set(accents.map(\.sha256)).count == 2)
    }

    @Test(arguments: vectors)
    func hashesRawOctets(_ vector: Vector) throws {
        let ssid = try #require(SSID(octets: vector.octets))
        #expect(PlaceHash.of(ssid, isOpen: true, by: vector.key) == "sha256:\(vector.sha256)")
        #expect(
            PlaceHash.of(ssid, isOpen: false, by: vector.key) == "hmac-sha256:\(vector.identifier):\(vector.hmac)")
    }

    @Test(arguments: vectors)
    func othersMakeTheSame(_ vector: Vector) throws {
        let key = vector.key
        #expect(try output("sha256sum", [], vector.octets).hasPrefix("\(vector.sha256)  -"))
        let options = ["dgst", "-sha256", "-mac", "HMAC", "-macopt", "hexkey:\(Vector.hexadecimal(key.octets))"]
        #expect(try output("openssl", options, vector.octets).hasSuffix("= \(vector.hmac)\n"))
        let identifier = try output("sha256sum", [], key.octets).prefix(8)
        #expect(identifier == vector.identifier)
    }

    private func output(_ program: String, _ arguments: [String], _ input: [UInt8]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/\(program)")
        process.arguments = arguments
        let (source, sink) = (Pipe(), Pipe())
        process.standardInput = source
        process.standardOutput = sink
        try process.run()
        try source.fileHandleForWriting.write(contentsOf: input)
        try source.fileHandleForWriting.close()
        let text = try sink.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return String(decoding: text, as: UTF8.self)
    }
}

extension HashVectorTests.Vector {
    static func octets(_ digits: String) -> [UInt8]? {
        let octets = Array(digits.utf8)
        guard octets.count.isMultiple(of: 2) else { return nil }
        return stride(from: 0, to: octets.count, by: 2).map {
            UInt8(String(decoding: octets[$0..<$0 + 2], as: UTF8.self), radix: 16) ?? 0
        }
    }

    static func hexadecimal(_ octets: [UInt8]) -> String {
        octets.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
