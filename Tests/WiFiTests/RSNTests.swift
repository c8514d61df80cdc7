import Testing
import WiFi

@Suite struct RSNTests {
    /// Every field there is: two ciphers, two AKMs, two cached keys.
    static let full =
        octets("0100 000fac02 0200 000fac04 000fac09 0200 000fac02 000fac08 c000 0200")
        + [UInt8](repeating: 0xaa, count: 32) + octets("000fac06")

    @Test func everyField() throws {
        let rsn = try #require(RSN(body: Self.full[...]))
        #expect(rsn.generation == .rsn)
        #expect(rsn.group.name == "TKIP")
        #expect(rsn.pairwise.map(\.name) == ["CCMP-128", "GCMP-256"])
        #expect(rsn.akms.map(\.description) == ["00-0f-ac:2", "00-0f-ac:8"])
        #expect(rsn.capabilities == 0xc0)
        #expect(rsn.requiresManagementFrameProtection && rsn.supportsManagementFrameProtection)
        #expect(rsn.pmkidCount == 2)
        #expect(rsn.groupManagement?.name == "BIP-CMAC-128")
    }

    /// Where an element may end: behind each field, and nowhere else.
    @Test func everyPointOfTruncation() {
        let ends: Set = [2, 6, 16, 26, 28, 62, 66]
        #expect(Self.full.count == 66)
        for cut in 0...Self.full.count {
            let rsn = RSN(body: Self.full[..<cut])
            #expect((rsn != nil) == ends.contains(cut), "cut at \(cut)")
            guard let rsn else { continue }
            #expect(rsn.group.name == (cut >= 6 ? "TKIP" : "CCMP-128"))
            #expect(rsn.pairwise.map(\.type) == (cut >= 16 ? [4, 9] : [4]))
            #expect(rsn.akms.map(\.type) == (cut >= 26 ? [2, 8] : [1]))
            #expect(rsn.capabilities == (cut >= 28 ? 0xc0 : 0))
            #expect(rsn.pmkidCount == (cut >= 62 ? 2 : 0))
            #expect((rsn.groupManagement == nil) == (cut < 66))
        }
    }

    @Test func laterFieldsAreIgnored() {
        #expect(RSN(body: (Self.full + [1, 2, 3])[...])?.akms.count == 2)
    }

    @Test(
        arguments: [
            "", "01", "0000", "0200", "0001",
            // No pairwise cipher, no AKM.
            "0100 000fac04 0000", "0100 000fac04 0100 000fac04 0000",
            "0100 000fac04 0000 0100 000fac02 0000", "0100 000fac04 0100 000fac04 0000 0000",
            // More of them than there is room for.
            "0100 000fac04 0200 000fac04", "0100 000fac04 ffff 000fac04 0100 000fac02",
            "0100 000fac04 0100 000fac04 0200 000fac02 0000", "0100 000fac04 0100 000fac04 ffff 000fac02",
            "0100 000fac04 0100 000fac04 0100 000fac02 0000 0100",
            "0100 000fac04 0100 000fac04 0100 000fac02 0000 ffff 000fac06",
        ])
    func malformed(body: String) {
        #expect(RSN(body: octets(body)[...]) == nil)
        // Malformed never becomes another class, with or without privacy, alone or beside a sound WPA element.
        let elements = element(48, octets(body))
        for privacy in [true, false] {
            #expect(Security.offered(by: InformationElements(elements), privacy: privacy) == .unknown)
            #expect(Security.negotiated(request: InformationElements(elements), privacy: privacy) == .unknown)
            let beside = InformationElements(elements + vendorElement(Vendor.wpa, wpaBody([2])))
            #expect(Security.offered(by: beside, privacy: privacy) == .unknown)
        }
    }

    @Test func wpaAndItsDefaults() throws {
        let wpa = try #require(RSN(wpaBody: octets("0100")[...]))
        #expect(wpa.generation == .wpa)
        #expect(wpa.group.description == "00-50-f2:2" && wpa.pairwise.map(\.name) == ["TKIP"])
        #expect(wpa.akms.map(\.name) == ["WPA-802.1X"])
        // Octets behind the capabilities are no list of keys there.
        #expect(RSN(wpaBody: (wpaBody([2]) + octets("c000 ff"))[...])?.akms.map(\.name) == ["WPA-PSK"])
        #expect(RSN(wpaBody: (wpaBody([2]) + octets("c000"))[...])?.requiresManagementFrameProtection == false)
        #expect(RSN(wpaBody: octets("0100 0050f202 0000")[...]) == nil)
        #expect(RSN(wpaBody: (wpaBody([2]) + [0])[...]) == nil)
    }

    @Test func rsnExtensions() {
        #expect(InformationElements(octets("f40100")).rsnExtension?.supportsHashToElement == false)
        #expect(InformationElements(octets("f40120")).rsnExtension?.supportsHashToElement == true)
        #expect(InformationElements(octets("f402215a")).rsnExtension?.rawValue == 0x5a21)
        #expect(InformationElements(octets("f400")).rsnExtension == nil)
    }
}

@Suite struct AKMTests {
    @Test(
        arguments: [
            ("00-0f-ac:0", nil, .unknown), ("00-0f-ac:1", "802.1X", .enterprise), ("00-0f-ac:2", "PSK", .personal),
            ("00-0f-ac:3", "FT-802.1X", .enterprise), ("00-0f-ac:4", "FT-PSK", .personal),
            ("00-0f-ac:5", "802.1X-SHA256", .enterprise), ("00-0f-ac:6", "PSK-SHA256", .personal),
            ("00-0f-ac:7", "TDLS", .notANetwork), ("00-0f-ac:8", "SAE", .sae), ("00-0f-ac:9", "FT-SAE", .sae),
            ("00-0f-ac:10", "AP-PeerKey", .notANetwork), ("00-0f-ac:11", "Suite-B", .enterprise),
            ("00-0f-ac:12", "Suite-B-192", .suiteB192), ("00-0f-ac:13", "FT-802.1X-SHA384", .enterprise),
            ("00-0f-ac:14", "FILS-SHA256", .enterprise), ("00-0f-ac:15", "FILS-SHA384", .enterprise),
            ("00-0f-ac:16", "FT-FILS-SHA256", .enterprise), ("00-0f-ac:17", "FT-FILS-SHA384", .enterprise),
            ("00-0f-ac:18", "OWE", .owe), ("00-0f-ac:19", "FT-PSK-SHA384", .personal),
            ("00-0f-ac:20", "PSK-SHA384", .personal), ("00-0f-ac:21", "PASN", .notANetwork),
            ("00-0f-ac:22", "FT-802.1X-SHA384-unrestricted", .enterprise),
            ("00-0f-ac:23", "802.1X-SHA384", .enterprise), ("00-0f-ac:24", "SAE-EXT-KEY", .sae),
            ("00-0f-ac:25", "FT-SAE-EXT-KEY", .sae), ("00-0f-ac:26", nil, .unknown), ("00-0f-ac:27", nil, .unknown),
            ("00-0f-ac:28", nil, .unknown), ("00-0f-ac:29", "EPPKE", .unknown), ("00-0f-ac:255", nil, .unknown),
            ("00-50-f2:0", nil, .unknown), ("00-50-f2:1", "WPA-802.1X", .enterprise),
            ("00-50-f2:2", "WPA-PSK", .personal), ("50-6f-9a:1", "OSEN", .osen), ("50-6f-9a:2", "DPP", .dpp),
            ("00-40-96:0", "CCKM", .enterprise), ("00-14-72:1", "WAPI-certificate", .wapi),
            ("00-14-72:2", "WAPI-PSK", .wapi), ("ff-ff-ff:255", nil, .unknown),
        ] as [(String, String?, AKM.Family)])
    func table(selector: String, name: String?, family: AKM.Family) throws {
        let akm = try #require(AKM(parsing: selector))
        #expect(akm.name == name)
        #expect(akm.family == family)
        #expect(akm.description == selector)
        #expect(AKM(rawValue: akm.rawValue) == akm)
    }

    @Test func selectors() {
        #expect(AKM(parsing: "00-0F-aC:8")?.rawValue == 0x000f_ac08)
        #expect(AKM(oui: 0x506f9a, type: 2).rawValue == 0x506f_9a02)
        #expect(AKM(rawValue: 0x506f_9a02).oui == 0x506f9a)
        #expect(AKM.ieee8021X.description == "00-0f-ac:1")
        #expect(CipherSuite(parsing: "00-0f-ac:4") == .ccmp128)
    }

    @Test(
        arguments: [
            "", "8", "00-0f-ac", "00-0f-ac:", "00-0f-ac:256", "00-0f-ac:08", "00-0f-ac:1000", "00-0f-ac:-1",
            "00-0f-ac:a", "00:0f:ac:8", "00-0f-ac-8", "000fac:8", "0-0f-ac:8", "00-0g-ac:8", " 00-0f-ac:8",
            "00-0f-ac:8 ", "00-0f-ac:８", "００-0f-ac:8", "00-0f-ac:8\u{0}",
        ])
    func notSelectors(text: String) {
        #expect(AKM(parsing: text) == nil)
    }
}
