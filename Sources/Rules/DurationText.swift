/// Durations as rule files and command lines write them: a whole number and `ms`, `s`, `m` or `h`.
public enum DurationText {
    /// In microseconds, as many as a number can hold at most; nil for what is no duration.
    public static func microseconds(of text: String) -> Int64? {
        let digits = text.utf8.prefix { $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }
        let unit: Int64? =
            switch String(text.utf8.dropFirst(digits.count)) ?? "" {
            case "ms": 1_000
            case "s": 1_000_000
            case "m": 60_000_000
            case "h": 3_600_000_000
            default: nil
            }
        guard let unit, let count = Int64(String(digits) ?? "") else { return nil }
        let (duration, isTooLarge) = count.multipliedReportingOverflow(by: unit)
        return isTooLarge ? .max : duration
    }

    /// By the largest unit that leaves nothing over; what is less than a millisecond is left out.
    public static func text(of microseconds: Int64) -> String {
        for (unit, name) in [(3_600_000_000, "h"), (60_000_000, "m"), (1_000_000, "s")] as [(Int64, String)]
        where microseconds % unit == 0 && microseconds > 0 {
            return "\(microseconds / unit)\(name)"
        }
        return "\(microseconds / 1_000)ms"
    }
}
