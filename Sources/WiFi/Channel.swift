/// A 20 MHz channel (at 60 GHz: 2.16 GHz) that a network can have as its primary channel.
public struct Channel: Hashable, Sendable {
    /// A range of frequencies with its own numbering.
    public enum Band: Hashable, Sendable, CaseIterable {
        /// 2,412–2,484 MHz, channels 1–14.
        case twoPointFour
        /// 5,035–5,885 MHz, channels 7–177, and Japan's 4,915–4,980 MHz, channels 183–196, as nl80211 counts them.
        case five
        /// 5,935–7,115 MHz, channels 1–233.
        case six
        /// 58,320–69,120 MHz, channels 1–6.
        case sixty
    }

    /// The range of frequencies.
    public let band: Band
    /// The number within the band; the same number stands for other channels in other bands.
    public let number: UInt8

    /// Nil where the band has no such channel.
    public init?(band: Band, number: UInt8) {
        guard Channel.exists(band, number) else { return nil }
        self.band = band
        self.number = number
    }

    /// The channel whose centre is `frequency` MHz; nil for every frequency that is no channel's centre.
    public init?(frequency: UInt32) {
        let (band, offset, spacing): (Band, UInt32, UInt32) =
            switch frequency {
            case 2484: (.twoPointFour, 2414, 5)
            case 2412..<2484: (.twoPointFour, 2407, 5)
            case 4910..<5000: (.five, 4000, 5)
            case 5000..<5925: (.five, 5000, 5)
            case 5935: (.six, 5925, 5)
            case 5955...7115: (.six, 5950, 5)
            case 58_320...69_120: (.sixty, 56_160, 2160)
            default: (.five, 0, 0)
            }
        guard spacing > 0, (frequency - offset).isMultiple(of: spacing) else { return nil }
        self.init(band: band, number: UInt8(truncatingIfNeeded: (frequency - offset) / spacing))
        guard self.frequency == frequency else { return nil }
    }

    /// The centre in MHz.
    public var frequency: UInt32 {
        let number = UInt32(number)
        return switch band {
        case .twoPointFour: number == 14 ? 2484 : 2407 + 5 * number
        case .five: (number >= 183 ? 4000 : 5000) + 5 * number
        case .six: number == 2 ? 5935 : 5950 + 5 * number
        case .sixty: 56_160 + 2160 * number
        }
    }

    private static func exists(_ band: Band, _ number: UInt8) -> Bool {
        switch band {
        case .twoPointFour: 1...14 ~= number
        case .five:
            switch number {
            // Japan's, of 10 and 20 MHz, some long withdrawn.
            case 7, 8, 9, 11, 12, 16, 34, 38, 42, 46, 183, 184, 185, 187, 188, 189, 192, 196: true
            case 36...64, 100...144: number.isMultiple(of: 4)
            case 149...177: number % 4 == 1
            default: false
            }
        case .six: number == 2 || 1...233 ~= number && number % 4 == 1
        case .sixty: 1...6 ~= number
        }
    }
}
