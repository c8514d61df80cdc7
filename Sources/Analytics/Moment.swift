internal import Platform

/// Moments as logs write them: UTC, `2026-11-30T12:00:00Z`, with up to six digits of a second's fraction.
enum Moment {
    /// In µs since 1970; nil for anything else.
    static func microseconds(of text: some Collection<UInt8>) -> Int64? {
        var reader = Reader(rest: Array(text)[...])
        guard let year = reader.number(4), reader.take("-"), let month = reader.number(2), reader.take("-"),
            let day = reader.number(2), reader.take("T"), let hour = reader.number(2), reader.take(":"),
            let minute = reader.number(2), reader.take(":"), let second = reader.number(2),
            (1...12).contains(month), (1...31).contains(day), hour < 24, minute < 60, second <= 60
        else { return nil }
        var fraction: Int64 = 0
        if reader.take(".") {
            guard let value = reader.fraction() else { return nil }
            fraction = value
        }
        guard reader.take("Z"), reader.rest.isEmpty else { return nil }
        // Hinnant's days_from_civil: the reverse of `CivilTime.init(utc:)`.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted >= 0 ? shifted : shifted - 399) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1
        let days = era * 146_097 + yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear - 719_468
        return (days * 86_400 + hour * 3_600 + minute * 60 + second) * 1_000_000 + fraction
    }

    private struct Reader {
        var rest: ArraySlice<UInt8>

        mutating func number(_ count: Int) -> Int64? {
            var value: Int64 = 0
            for _ in 0..<count {
                guard let digit = digit() else { return nil }
                value = value * 10 + digit
            }
            return value
        }

        /// In millionths.
        mutating func fraction() -> Int64? {
            var (value, unit): (Int64, Int64) = (0, 1_000_000)
            while let digit = digit() {
                guard unit > 1 else { return nil }
                unit /= 10
                value += digit * unit
            }
            return unit < 1_000_000 ? value : nil
        }

        mutating func take(_ character: Unicode.Scalar) -> Bool {
            guard rest.first == UInt8(ascii: character) else { return false }
            rest = rest.dropFirst()
            return true
        }

        private mutating func digit() -> Int64? {
            guard let octet = rest.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(octet) else { return nil }
            rest = rest.dropFirst()
            return Int64(octet - UInt8(ascii: "0"))
        }
    }
}
