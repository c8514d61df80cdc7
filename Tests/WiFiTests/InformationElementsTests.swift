import Netlink
import Testing
import WiFi

@Suite struct InformationElementsTests {
    /// A beacon with everything in it that is looked for.
    static let beacon: [UInt8] = [
        element(0, Array("Café".utf8)),
        element(1, octets("82848b96")),
        element(3, [11]),
        element(7, octets("464920 010d14")),
        element(48, rsnBody([8, 24], capabilities: required)),
        element(61, [11] + [UInt8](repeating: 0, count: 21)),
        element(127, octets("00000000000001")),
        element(244, [0x60]),
        vendorElement(Vendor.wpa, wpaBody([2])),
        vendorElement(Vendor.hotspot20, [0x20]),
        vendorElement(Vendor.oweTransition, octets("02005e100000 05") + Array("twin\u{0}".utf8)),
        vendorElement(Vendor.rsnOverride, rsnBody([8])),
        vendorElement(Vendor.rsnOverride2, rsnBody([24])),
        element(255, octets("6b 0000 07 02005e1000aa")),
        element(255, octets("24 000000 00 fcff")),
    ].flatMap { $0 }

    @Test func everyFieldOfABeacon() throws {
        let elements = InformationElements(Self.beacon)
        #expect(!elements.isTruncated)
        #expect(elements.map(\.id) == [0, 1, 3, 7, 48, 61, 127, 244, 221, 221, 221, 221, 221, 255, 255])
        #expect(elements.ssid == SSID(utf8: "Café"))
        #expect(elements.rsn?.akms.map(\.type) == [8, 24])
        #expect(elements.wpa?.akms.map(\.description) == ["00-50-f2:2"])
        #expect(elements.rsnOverrides.map { $0.akms.map(\.type) } == [[8], [24]])
        #expect(elements.rsnExtension?.supportsHashToElement == true)
        #expect(elements.rsnExtension?.supportsSAEPublicKey == true)
        #expect(elements.oweTransition?.bssid == MACAddress("02:00:5e:10:00:00"))
        #expect(elements.oweTransition?.ssid.octets == Array("twin\u{0}".utf8))
        #expect(elements.country == "FI")
        #expect(elements.primaryChannel?.frequency == 2462)
        #expect(elements.supportsUTF8SSID)
        #expect(elements.isHotspot20)
        #expect(elements.mldAddress == MACAddress("02:00:5e:10:00:aa"))
    }

    @Test func nothingIsInNoOctets() {
        let elements = InformationElements([])
        #expect(elements.isEmpty && !elements.isTruncated)
        #expect(elements.ssid == nil && elements.rsn == nil && elements.wpa == nil && elements.rsnOverrides.isEmpty)
        #expect(elements.rsnExtension == nil && elements.oweTransition == nil && elements.country == nil)
        #expect(elements.primaryChannel == nil && elements.mldAddress == nil)
        #expect(!elements.supportsUTF8SSID && !elements.isHotspot20)
    }

    @Test func vendorsAndExtensions() {
        let elements = Array(InformationElements(octets("dd04506f9a10 dd03506f9a ff016b ff00 3001ff")))
        #expect(elements.map(\.vendor) == [0x506f_9a10, nil, nil, nil, nil])
        #expect(elements.map(\.extensionID) == [nil, nil, 107, nil, nil])
        #expect(elements.map(\.payload.count) == [0, 0, 0, 0, 1])
    }

    @Test func aSliceIsReadFromWhereItStarts() {
        let padded = octets("30ffff") + Captured.sae + octets("0004aaaaaaaa")
        let elements = InformationElements(padded[3..<3 + Captured.sae.count])
        #expect(elements.ssid == SSID(utf8: "hidden one"))
        #expect(elements.rsn?.akms.map(\.type) == [8])
        #expect(!elements.isTruncated)
    }

    @Test func aCutElementEndsTheSequence() {
        for cut in [octets("00"), octets("0002"), octets("000241")] {
            let elements = InformationElements(octets("030106") + cut)
            #expect(elements.isTruncated)
            #expect(elements.map(\.id) == [3])
            #expect(elements.ssid == nil)
        }
        // The claim of 255 octets must not swallow what stands before it.
        #expect(InformationElements(octets("000141 30ff0100")).ssid?.octets == [0x41])
    }

    @Test func theFirstOfTwoCounts() {
        let elements = InformationElements(octets("000141 000142 030101 030106"))
        #expect(elements.ssid?.octets == [0x41])
        #expect(elements.primaryChannel?.number == 1)
    }

    @Test func nothingIsReadBehindAFILSSession() {
        let session = element(255, [4] + [UInt8](repeating: 7, count: 8))
        let elements = InformationElements(octets("000141") + session + element(48, rsnBody([2])) + [1])
        #expect(elements.map(\.id) == [0, 255])
        #expect(elements.endsInFILSSession && !elements.isTruncated && elements.rsn == nil)
        #expect(!InformationElements(Self.beacon).endsInFILSSession)
    }

    @Test func namesOfAnyOctets() {
        let longest = [UInt8](repeating: 0xff, count: 32)
        #expect(InformationElements(element(0, longest)).ssid?.octets == longest)
        #expect(InformationElements(element(0, longest + [0xff])).ssid == nil)
        #expect(InformationElements(element(0, [])).ssid?.isHidden == true)
        #expect(InformationElements(element(0, [0, 0, 0])).ssid?.isHidden == true)
        #expect(InformationElements(Captured.open).ssid?.octets == [0, 0xff, 0x41])
        #expect(InformationElements(Captured.open).ssid?.isHidden == false)
    }

    @Test(
        arguments: [
            ("03010e", 2484), ("3d0124", 5180), ("030106 3d0106", 2437), ("030101 3d010b", 2412),
            // 6 GHz, with and without the fields that come before it.
            ("ff0c24 000002 00fcff 2500250000", 6135), ("ff0f24 004002 00fcff 111111 2500250000", 6135),
            ("ff0d24 008002 00fcff 22 2500250000", 6135), ("ff1024 00c002 00fcff 11111122 2500250000", 6135),
            // The 6 GHz field is announced and cut off, or not announced.
            ("ff0b24 000002 00fcff 25002500", nil), ("ff0724 000000 00fcff 030106", 2437),
            ("030100", nil), ("03010f", nil), ("0300", nil), ("3d01a6", nil),
        ] as [(String, UInt32?)])
    func primaryChannels(elements: String, frequency: UInt32?) {
        #expect(InformationElements(octets(elements)).primaryChannel?.frequency == frequency)
    }

    @Test(
        arguments: [
            ("0703464920", "FI"), ("0706555304010d14", "US"), ("0702 4649", nil), ("0703 666920", nil),
            ("0703 1b5b20", nil), ("0703 303020", "00"), ("0700", nil),
        ] as [(String, String?)])
    func countries(elements: String, country: String?) {
        #expect(InformationElements(octets(elements)).country == country)
    }

    @Test(
        arguments: [
            // A probe request's, a reconfiguration's, one whose common information is too short, one cut off.
            "ff0a 6b 0100 07 02005e1000aa", "ff0a 6b 0200 07 02005e1000aa", "ff0a 6b 0000 06 02005e1000aa",
            "ff09 6b 0000 07 02005e1000", "ff01 6b", "ff02 6b00",
        ])
    func multiLinkElementsWithoutAnAddress(elements: String) {
        #expect(InformationElements(octets(elements)).mldAddress == nil)
    }

    @Test func theBasicMultiLinkElementIsFoundBehindAnother() {
        let elements = octets("ff0a 6b 0200 07 02005e1000aa ff0a 6b 3001 07 02005e1000bb")
        #expect(InformationElements(elements).mldAddress == MACAddress("02:00:5e:10:00:bb"))
    }

    @Test(arguments: ["", "02005e1000", "02005e100000", "02005e100000 03 4142", "02005e100000 21" + "41" * 33])
    func oweTransitionsThatAreNone(body: String) {
        #expect(InformationElements(vendorElement(Vendor.oweTransition, octets(body))).oweTransition == nil)
    }

    @Test func extendedCapabilitiesOfEveryLength() {
        #expect(!InformationElements(octets("7f06 ffffffffffff")).supportsUTF8SSID)
        #expect(!InformationElements(octets("7f07 fffffffffffffe")).supportsUTF8SSID)
        #expect(InformationElements(octets("7f08 0000000000000100")).supportsUTF8SSID)
    }
}

@Suite struct Survival {
    @Test func everyPrefixAndEverySuffix() {
        for whole in [InformationElementsTests.beacon, Captured.open, Captured.psk, Captured.sae] {
            for cut in 0...whole.count {
                let prefix = InformationElements(whole[..<cut])
                readEverything(prefix)
                readEverything(InformationElements(whole[cut...]))
                // Each element says that it is cut exactly where it is.
                #expect(prefix.isTruncated == (prefix.reduce(0) { $0 + 2 + $1.body.count } != cut))
            }
        }
    }

    @Test func everyOctetOfABeaconChanged() {
        for position in InformationElementsTests.beacon.indices {
            for value in [0, 1, 0x7f, 0x80, 0xff] as [UInt8] {
                var changed = InformationElementsTests.beacon
                changed[position] = value
                readEverything(InformationElements(changed))
            }
        }
    }

    @Test func oneHundredThousandRandomBuffers() {
        var generator = SeededGenerator(state: 1)
        let ids: [UInt8] = [0, 3, 7, 48, 61, 68, 127, 221, 244, 255]
        let starts = [[], octets("0050f201"), octets("506f9a1c"), octets("506f9a29"), [36], [107]]
        for round in 0..<100_000 {
            var buffer = generator.octets(upTo: 40)
            // Noise alone seldom gets past the first identifier, so half of it is dressed as an element.
            if round.isMultiple(of: 2), let start = starts.randomElement(using: &generator),
                let id = ids.randomElement(using: &generator)
            {
                buffer = element(id, start + buffer) + generator.octets(upTo: 8)
            }
            readEverything(InformationElements(buffer))
        }
    }
}

extension String {
    fileprivate static func * (text: String, count: Int) -> String { String(repeating: text, count: count) }
}
