extension SSID {
    /// Whether whoever runs the network asks by its name, for everybody to see, that nobody keeps a record of where it
    /// is: `_nomap` (Google, Mozilla) or `_optout` (Microsoft), wherever it stands and in upper or lower case.
    public var isOptedOut: Bool {
        let folded = octets.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
        return SSID.optOuts.contains { mark in
            folded.count >= mark.count
                && (0...folded.count - mark.count).contains { folded[$0..<$0 + mark.count].elementsEqual(mark) }
        }
    }

    private static let optOuts = [Array("_nomap".utf8), Array("_optout".utf8)]
}
