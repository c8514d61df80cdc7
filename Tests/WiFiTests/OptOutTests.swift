import Testing
import WiFi

@Suite struct OptOutTests {
    @Test(
        arguments: [
            ("home_nomap", true), ("home_NOMAP", true), ("_nomap", true), ("home_optout_nomap", true),
            ("home_optout", true), ("home_OptOut5G", true), ("nomap", false), ("home-nomap", false), ("_noma", false),
            ("", false), ("home", false),
        ])
    func isSaidByTheName(name: String, expected: Bool) throws {
        #expect(try #require(SSID(utf8: name)).isOptedOut == expected)
    }

    @Test func otherOctetsDoNotHideIt() throws {
        let octets: [UInt8] = [0xFF, 0] + Array("_nomap".utf8) + [0xFE]
        #expect(try #require(SSID(octets: octets)).isOptedOut)
        #expect(try #require(SSID(octets: Array("_nomap".utf8).map { $0 | 0x80 })).isOptedOut == false)
    }
}
