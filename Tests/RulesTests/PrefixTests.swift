import Netlink
import Testing

@testable import Rules

@Suite struct PrefixTests {
    @Test func containsWhatBeginsAlike() throws {
        var generator = SeededGenerator(state: 5)
        for _ in 0..<5_000 {
            for count in [4, 6, 16] {
                let octets = (0..<count).map { _ in UInt8.random(in: 0...255, using: &generator) }
                var others = octets
                let changed = Int.random(in: 0..<count * 8, using: &generator)
                others[changed / 8] ^= 0x80 >> UInt8(changed % 8)
                let length = Int.random(in: 0...count * 8, using: &generator)
                if count == 6 {
                    let prefix = MACAddressPrefix(try #require(MACAddress(octets: octets)), length: length)
                    #expect(prefix.contains(try #require(MACAddress(octets: others))) == (changed >= length))
                    #expect(prefix.contains(try #require(MACAddress(octets: octets))))
                } else {
                    let subnet = IPSubnet(try #require(IPAddress(octets: octets)), length: length)
                    #expect(subnet.contains(try #require(IPAddress(octets: others))) == (changed >= length))
                    #expect(subnet.contains(try #require(IPAddress(octets: octets))))
                }
            }
        }
    }
}
