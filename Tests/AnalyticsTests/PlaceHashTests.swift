import Analytics
import Testing
import WiFi

@Suite struct PlaceHashTests {
    /// Expected values from `printf … | sha256sum` (coreutils 9.1).
    @Test(
        arguments: [
            ([], "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (Array("Corp-Staff".utf8), "1440a9a06067b649cd4495cd62528c46feef9e620672c40fdffcdb32125b8531"),
            ([UInt8](repeating: 0xFF, count: 32), "af9613760f72635fbdb44a5a0a63c39f12af30f950a6ee5c971be188e89c4051"),
            (
                Array("Corp".utf8) + [0] + Array("evil".utf8),
                "ef2b7518c69f9d316e02305438cecf3a0b69895e24d4bc9373804ab75eaa86d2"
            ),
            ([0xFE], "aa687b58b0e73e2e383f8c500d75b591e188efe0168b3ffbcd3771caaa6dd4c7"),
            (Array("Caf\u{E9}".utf8), "73473dcc12b763085904a5279d048c4d5b3b008c46f1f32443b99de04aa83a14"),
            (Array("Cafe\u{301}".utf8), "c42cc7a1ca08364b6fd859fa50d2454730a8236290a423373cc630da77c6d711"),
            (Array("Corp-Staff ".utf8), "0fb58bc2c9f60fc1d66153d8acdcf726706bd1decee515d64b8212d044be6fce"),
        ] as [([UInt8], String)])
    func hashesRawOctets(octets: [UInt8], digest: String) throws {
        #expect(PlaceHash.plain(octets) == "sha256:\(digest)")
        #expect(PlaceHash.plain(try #require(SSID(octets: octets))) == "sha256:\(digest)")
    }
}
