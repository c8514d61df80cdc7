import WiFi

/// The octets that hexadecimal digits stand for; spaces are for the reader.
func octets(_ hexadecimal: String) -> [UInt8] {
    let digits = hexadecimal.compactMap(\.hexDigitValue)
    precondition(digits.count.isMultiple(of: 2))
    return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}

func element(_ id: UInt8, _ body: [UInt8]) -> [UInt8] { [id, UInt8(body.count)] + body }

func vendorElement(_ vendor: UInt32, _ body: [UInt8]) -> [UInt8] { element(221, bigEndian(vendor) + body) }

func bigEndian(_ value: UInt32) -> [UInt8] { [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: value >> $0) } }

/// The body of an RSN element with CCMP and the AKMs `00-0f-ac:N`.
func rsnBody(_ akms: [UInt8], capabilities: UInt16 = 0) -> [UInt8] {
    rsnBody(selectors: akms.map { 0x000f_ac00 | UInt32($0) }, capabilities: capabilities)
}

func rsnBody(selectors: [UInt32], capabilities: UInt16 = 0) -> [UInt8] {
    octets("0100 000fac04 0100 000fac04") + [UInt8(selectors.count), 0] + selectors.flatMap(bigEndian)
        + [UInt8(truncatingIfNeeded: capabilities), UInt8(capabilities >> 8)]
}

/// The body of a WPA element after OUI and type, with TKIP and the AKMs `00-50-f2:N`.
func wpaBody(_ akms: [UInt8]) -> [UInt8] {
    octets("0100 0050f202 0100 0050f202") + [UInt8(akms.count), 0]
        + akms.flatMap { bigEndian(0x0050_f200 | UInt32($0)) }
}

let capable: UInt16 = 0x80
let required: UInt16 = 0xc0

enum Vendor {
    static let wpa: UInt32 = 0x0050_f201
    static let wps: UInt32 = 0x0050_f204
    static let hotspot20: UInt32 = 0x506f_9a10
    static let osen: UInt32 = 0x506f_9a12
    static let oweTransition: UInt32 = 0x506f_9a1c
    static let rsnOverride: UInt32 = 0x506f_9a29
    static let rsnOverride2: UInt32 = 0x506f_9a2a
}

/// Requests as mac80211_hwsim and wpa_supplicant 2.10 made them (NL80211_ATTR_REQ_IE of a CONNECT event).
enum Captured {
    static let open = octets(
        """
        000300ff41 010802040b160c121824 32043048606c 7f0b04004a0201404040000120
        3b155151525354737475767778797a7b7c7d7e7f808182
        """)
    static let psk = octets(
        """
        0008726f616d2d6e6574 010802040b160c121824 32043048606c
        30140100000fac040100000fac040100000fac020000 7f0b04004a0201404040000120
        3b155151525354737475767778797a7b7c7d7e7f808182
        """)
    static let sae = octets(
        """
        000a68696464656e206f6e65 010802040b160c121824 32043048606c
        301a0100000fac040100000fac040100000fac08c0000000000fac06 7f0b04004a0201404040000120
        3b155151525354737475767778797a7b7c7d7e7f808182
        """)
}

/// A generator whose sequence follows from its seed, so that a failure can be had again (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var value = state
        value = (value ^ value >> 30) &* 0xbf58_476d_1ce4_e5b9
        value = (value ^ value >> 27) &* 0x94d0_49bb_1331_11eb
        return value ^ value >> 31
    }

    mutating func octets(upTo limit: Int) -> [UInt8] {
        let count = Int.random(in: 0...limit, using: &self)
        return (0..<count).map { _ in UInt8.random(in: 0...255, using: &self) }
    }
}

/// Reads every property there is, for tests that only ask for survival.
@discardableResult
func readEverything(_ elements: InformationElements) -> Int {
    var sum = 0
    for element in elements {
        sum += element.payload.count + Int(element.extensionID ?? 0) + Int(element.vendor ?? 0) & 1
    }
    for rsn in [elements.rsn, elements.wpa].compactMap({ $0 }) + elements.rsnOverrides {
        sum += rsn.akms.reduce(0) { $0 + $1.description.count } + rsn.pairwise.count + rsn.pmkidCount
    }
    sum += elements.ssid?.display.count ?? 0
    sum += elements.rsnExtension == nil ? 0 : 1
    sum += elements.oweTransition?.ssid.octets.count ?? 0
    sum += elements.country?.count ?? 0
    sum += Int(elements.primaryChannel?.number ?? 0)
    sum += elements.supportsUTF8SSID || elements.isHotspot20 ? 1 : 0
    sum += elements.mldAddress == nil ? 0 : 1
    for privacy in [true, false] {
        sum += Security.offered(by: elements, privacy: privacy).rawValue.count
        sum += Security.negotiated(request: elements, offer: elements, privacy: privacy).rawValue.count
    }
    return sum
}
