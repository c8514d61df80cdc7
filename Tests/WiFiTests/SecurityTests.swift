import Testing
import WiFi

@Suite struct NegotiatedSecurity {
    /// AKMs `00-0f-ac:N` of a request, without and with protected management frames demanded.
    @Test(
        arguments: [
            (1, .wpa2Enterprise, .wpa2Enterprise), (2, .wpa2PSK, .wpa2PSK), (3, .wpa2Enterprise, .wpa3Enterprise),
            (4, .wpa2PSK, .wpa2PSK), (5, .wpa2Enterprise, .wpa3Enterprise), (6, .wpa2PSK, .wpa2PSK),
            (7, .unknown, .unknown), (8, .wpa3SAE, .wpa3SAE), (9, .wpa3SAE, .wpa3SAE), (10, .unknown, .unknown),
            (11, .wpa2Enterprise, .wpa3Enterprise), (12, .wpa3Enterprise192, .wpa3Enterprise192),
            (13, .wpa2Enterprise, .wpa3Enterprise), (14, .wpa2Enterprise, .wpa3Enterprise),
            (15, .wpa2Enterprise, .wpa3Enterprise), (16, .wpa2Enterprise, .wpa3Enterprise),
            (17, .wpa2Enterprise, .wpa3Enterprise), (18, .owe, .owe), (19, .wpa2PSK, .wpa2PSK),
            (20, .wpa2PSK, .wpa2PSK), (21, .unknown, .unknown), (22, .wpa2Enterprise, .wpa3Enterprise),
            (23, .wpa2Enterprise, .wpa3Enterprise), (24, .wpa3SAE, .wpa3SAE), (25, .wpa3SAE, .wpa3SAE),
            (26, .unknown, .unknown), (29, .unknown, .unknown), (255, .unknown, .unknown),
        ] as [(UInt8, Security, Security)])
    func byAKM(type: UInt8, plain: Security, protected: Security) {
        for privacy in [true, false, nil] {
            let without = InformationElements(element(48, rsnBody([type], capabilities: capable)))
            #expect(Security.negotiated(request: without, privacy: privacy) == plain)
            let with = InformationElements(element(48, rsnBody([type], capabilities: required)))
            #expect(Security.negotiated(request: with, privacy: privacy) == protected)
        }
    }

    @Test(
        arguments: [
            (0x0050_f202, .unknown), (0x506f_9a01, .unknown), (0x506f_9a02, .unknown), (0x0040_9600, .wpa2Enterprise),
            (0x0014_7202, .unknown), (0xffff_ffff, .unknown), (0, .unknown),
        ] as [(UInt32, Security)])
    func byOtherAKM(selector: UInt32, security: Security) {
        let request = InformationElements(element(48, rsnBody(selectors: [selector], capabilities: required)))
        #expect(Security.negotiated(request: request, privacy: true) == security)
    }

    @Test func byWPAElement() {
        for (type, security) in [(2, .wpaPSK), (1, .unknown), (0, .unknown)] as [(UInt8, Security)] {
            let request = InformationElements(vendorElement(Vendor.wpa, wpaBody([type])))
            #expect(Security.negotiated(request: request, privacy: true) == security)
        }
        // SAE in a WPA element is nobody's practice.
        let body = octets("0100 0050f202 0100 0050f202 0100 000fac08")
        let request = InformationElements(vendorElement(Vendor.wpa, body))
        #expect(Security.negotiated(request: request, privacy: true) == .unknown)
    }

    @Test func captured() {
        #expect(Security.negotiated(request: InformationElements(Captured.open), privacy: false) == .open)
        #expect(Security.negotiated(request: InformationElements(Captured.psk), privacy: true) == .wpa2PSK)
        #expect(Security.negotiated(request: InformationElements(Captured.sae), privacy: true) == .wpa3SAE)
    }

    @Test func withoutProtection() {
        let name = octets("000141")
        let request = InformationElements(name)
        #expect(Security.negotiated(request: request, privacy: true) == .wep)
        #expect(Security.negotiated(request: request, privacy: false) == .open)
        #expect(Security.negotiated(request: request, privacy: nil) == .unknown)
        // Cut off before an RSN element that may have been there.
        let cut = InformationElements(name + octets("3014 01"))
        #expect(Security.negotiated(request: cut, privacy: false) == .unknown)
        let encrypted = InformationElements(name + element(255, [4]))
        #expect(Security.negotiated(request: encrypted, privacy: false) == .unknown)
        // Setting up by WPS.
        let setup = InformationElements(name + vendorElement(Vendor.wps, [1]))
        #expect(Security.negotiated(request: setup, privacy: true) == .unknown)
        #expect(Security.negotiated(request: setup, privacy: false) == .open)
        // The access point demands what the request lacks.
        let offer = InformationElements(name + element(48, rsnBody([2])))
        #expect(Security.negotiated(request: request, offer: offer, privacy: true) == .unknown)
        #expect(Security.negotiated(request: request, offer: request, privacy: true) == .wep)
    }

    @Test func theRequestDecides() {
        let offer = InformationElements(octets("000141") + element(48, rsnBody([2, 8], capabilities: capable)))
        let request = InformationElements(octets("000141") + element(48, rsnBody([8], capabilities: capable)))
        #expect(Security.negotiated(request: request, offer: offer, privacy: true) == .wpa3SAE)
        #expect(Security.negotiated(request: nil, offer: offer, privacy: true) == .wpa2PSK)
        #expect(Security.negotiated(request: InformationElements([]), offer: offer, privacy: nil) == .wpa2PSK)
        #expect(Security.negotiated(request: nil, offer: nil, privacy: false) == .unknown)
        #expect(Security.negotiated(request: nil, offer: InformationElements([]), privacy: false) == .unknown)
        let bare = InformationElements(octets("000141"))
        #expect(Security.negotiated(request: nil, offer: bare, privacy: nil) == .unknown)
        #expect(Security.negotiated(request: nil, offer: bare, privacy: false) == .open)
    }

    @Test func theAccessPointMayDemandProtection() {
        func security(_ request: UInt16, _ offer: UInt16) -> Security {
            .negotiated(
                request: InformationElements(element(48, rsnBody([5], capabilities: request))),
                offer: InformationElements(element(48, rsnBody([5], capabilities: offer))), privacy: true)
        }
        #expect(security(capable, required) == .wpa3Enterprise)
        #expect(security(required, capable) == .wpa3Enterprise)
        #expect(security(capable, capable) == .wpa2Enterprise)
        #expect(security(0, required) == .wpa2Enterprise)
    }

    @Test func anotherNameIsAContradiction() {
        let request = InformationElements(Captured.psk)
        let rsn = element(48, rsnBody([2]))
        func security(_ name: [UInt8]) -> Security {
            .negotiated(request: request, offer: InformationElements(element(0, name) + rsn), privacy: true)
        }
        #expect(security(Array("roam-net".utf8)) == .wpa2PSK)
        #expect(security(Array("roam-net ".utf8)) == .unknown)
        #expect(security([]) == .wpa2PSK)
        #expect(security([UInt8](repeating: 0, count: 8)) == .wpa2PSK)
    }
}

@Suite struct OfferedSecurity {
    struct Offer: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let elements: [UInt8]
        var privacy = true
        let security: Security

        init(_ name: String, _ elements: [[UInt8]], privacy: Bool = true, _ security: Security) {
            testDescription = name
            self.elements = elements.flatMap { $0 }
            self.privacy = privacy
            self.security = security
        }
    }

    static let osenBody = octets("000fac07 0100 000fac04 0100 506f9a01 0000")

    @Test(arguments: [
        Offer("open", [octets("000141")], privacy: false, .open),
        Offer("nothing at all", [], privacy: false, .open),
        Offer("WEP", [octets("000141")], .wep),
        Offer("cut off, private", [octets("000141 30")], .unknown),
        Offer("cut off, not private", [octets("000141 00")], privacy: false, .open),
        Offer("WPA", [vendorElement(Vendor.wpa, wpaBody([2]))], .wpaPSK),
        Offer("WPA and WPA2", [element(48, rsnBody([2])), vendorElement(Vendor.wpa, wpaBody([2]))], .wpaPSK),
        Offer("WPA2", [element(48, rsnBody([2]))], .wpa2PSK),
        Offer("WPA2 whose beacon lacks privacy", [element(48, rsnBody([2]))], privacy: false, .wpa2PSK),
        Offer("WPA2 with fast transition", [element(48, rsnBody([2, 4, 6]))], .wpa2PSK),
        Offer("WPA3 in transition", [element(48, rsnBody([8, 2], capabilities: capable))], .wpa2PSK),
        Offer("WPA3", [element(48, rsnBody([8, 24], capabilities: required))], .wpa3SAE),
        Offer(
            "RSN overriding",
            [
                element(48, rsnBody([2])), vendorElement(Vendor.rsnOverride, rsnBody([8], capabilities: required)),
                vendorElement(Vendor.rsnOverride2, rsnBody([24], capabilities: required)),
            ], .wpa2PSK),
        Offer(
            "RSN overriding of SAE",
            [element(48, rsnBody([8])), vendorElement(Vendor.rsnOverride2, rsnBody([24]))], .wpa3SAE),
        Offer(
            "RSN overriding to something weaker",
            [element(48, rsnBody([8])), vendorElement(Vendor.rsnOverride2, rsnBody([2]))], .wpa2PSK),
        Offer("an override alone", [vendorElement(Vendor.rsnOverride, rsnBody([2]))], .wpa2PSK),
        Offer(
            "a malformed override", [element(48, rsnBody([8])), vendorElement(Vendor.rsnOverride, [1])], .unknown),
        Offer("two RSN elements", [element(48, rsnBody([8])), element(48, rsnBody([2]))], .wpa2PSK),
        Offer("OWE", [element(48, rsnBody([18], capabilities: required))], .owe),
        Offer(
            "an open network with an OWE twin",
            [vendorElement(Vendor.oweTransition, octets("02005e100000 0141"))], privacy: false, .open),
        Offer("802.1X", [element(48, rsnBody([1]))], .wpa2Enterprise),
        Offer("802.1X by default", [element(48, octets("0100"))], .wpa2Enterprise),
        Offer("WPA3-Enterprise", [element(48, rsnBody([5], capabilities: required))], .wpa3Enterprise),
        Offer("WPA3-Enterprise with FT", [element(48, rsnBody([3, 5], capabilities: required))], .wpa3Enterprise),
        Offer("WPA3-Enterprise in transition", [element(48, rsnBody([1, 5], capabilities: capable))], .wpa2Enterprise),
        Offer("802.1X of SHA-1, protected", [element(48, rsnBody([1, 5], capabilities: required))], .wpa2Enterprise),
        Offer("192 bits", [element(48, rsnBody([12], capabilities: required))], .wpa3Enterprise192),
        Offer("192 bits and less", [element(48, rsnBody([12, 5], capabilities: required))], .wpa3Enterprise),
        Offer("a passphrase and 802.1X", [element(48, rsnBody([1, 2]))], .wpa2PSK),
        Offer("FILS", [element(48, rsnBody([14, 15]))], .wpa2Enterprise),
        Offer("CCKM", [element(48, rsnBody(selectors: [0x000f_ac01, 0x0040_9600]))], .wpa2Enterprise),
        Offer("an AKM that joins no network, too", [element(48, rsnBody([8, 21]))], .wpa3SAE),
        Offer("an AKM not known, too", [element(48, rsnBody([8, 200]))], .unknown),
        Offer("OSEN", [vendorElement(Vendor.osen, osenBody)], .unknown),
        Offer("OSEN, too", [element(48, rsnBody([8])), vendorElement(Vendor.osen, osenBody)], .unknown),
        Offer("WAPI", [element(68, octets("0100 0100 00147202 0100 00147201 00147201 0000"))], .unknown),
        Offer("WPA with 802.1X", [vendorElement(Vendor.wpa, wpaBody([1]))], .unknown),
        Offer("the WPS of a WEP network", [vendorElement(Vendor.wps, [1])], .wep),
    ])
    func offers(offer: Offer) {
        #expect(Security.offered(by: InformationElements(offer.elements), privacy: offer.privacy) == offer.security)
    }
}

@Suite struct SecurityOrder {
    /// For each class all that it is at least.
    static let table: [Security: Set<Security>] = [
        .unknown: [.unknown],
        .open: [.unknown, .open],
        .wep: [.unknown, .open, .wep],
        .owe: [.unknown, .open, .owe],
        .wpaPSK: [.unknown, .open, .wep, .wpaPSK],
        .wpa2PSK: [.unknown, .open, .wep, .wpaPSK, .wpa2PSK],
        .wpa3SAE: [.unknown, .open, .wep, .owe, .wpaPSK, .wpa2PSK, .wpa3SAE],
        .wpa2Enterprise: [.unknown, .open, .wep, .wpa2Enterprise],
        .wpa3Enterprise: [.unknown, .open, .wep, .owe, .wpa2Enterprise, .wpa3Enterprise],
        .wpa3Enterprise192: [
            .unknown, .open, .wep, .owe, .wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192,
        ],
    ]

    @Test(arguments: Security.allCases) func table(security: Security) {
        #expect(Set(Security.allCases.filter(security.isAtLeast)) == Self.table[security])
    }

    @Test func itIsAPartialOrder() {
        for first in Security.allCases {
            #expect(first.isAtLeast(first))
            for second in Security.allCases where second != first {
                #expect(!(first.isAtLeast(second) && second.isAtLeast(first)))
                for third in Security.allCases where first.isAtLeast(second) && second.isAtLeast(third) {
                    #expect(first.isAtLeast(third))
                }
            }
        }
    }

    @Test func groups() {
        #expect(Security.allCases.filter(\.isPersonal) == [.wpaPSK, .wpa2PSK, .wpa3SAE])
        #expect(Security.allCases.filter(\.isEnterprise) == [.wpa2Enterprise, .wpa3Enterprise, .wpa3Enterprise192])
        #expect(Security.allCases.filter(\.isOpen) == [.open])
    }

    @Test func names() {
        #expect(
            Security.allCases.map(\.rawValue) == [
                "open", "owe", "wep", "wpa-psk", "wpa2-psk", "wpa3-sae", "wpa2-enterprise", "wpa3-enterprise",
                "wpa3-enterprise-192", "unknown",
            ])
    }
}
