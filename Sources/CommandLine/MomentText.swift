internal import Glibc
internal import Rules

/// A moment as people write it: `2h` (ago), `yesterday`, `12:30`, `2026-11-30`, `2026-11-30T12:30:00Z`.
enum MomentText {
    static let form = "a moment, such as 2h (ago), yesterday, 12:30, 2026-11-30 or 2026-11-30T12:30:00Z"

    /// In µs since 1970; local time where no zone is given.
    ///
    /// - Parameter now: the same.
    static func microseconds(of text: String, now: Int64) -> Int64? {
        switch text {
        case "now": return now
        case "today": return midnight(of: now, daysBefore: 0)
        case "yesterday": return midnight(of: now, daysBefore: 1)
        default: break
        }
        if let duration = duration(text) { return duration <= now ? now - duration : nil }
        return civil(text[...], now: now)
    }

    private static let day: Int64 = 86_400_000_000

    private static func duration(_ text: String) -> Int64? {
        for (unit, length) in [("d", day), ("w", 7 * day)] where text.hasSuffix(unit) {
            guard text.utf8.dropLast().allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
            return Int64(text.dropLast()).flatMap { $0 < 100_000 ? $0 * length : nil }
        }
        return DurationText.microseconds(of: text)
    }

    private static func midnight(of now: Int64, daysBefore: Int32) -> Int64? {
        var time = unsafe local(now)
        unsafe time.tm_mday -= daysBefore
        return unsafe seconds(&time).map { $0 * 1_000_000 }
    }

    /// The day of a moment, at its beginning.
    private static func local(_ moment: Int64) -> tm {
        var seconds = time_t(moment / 1_000_000)
        var time = unsafe tm()
        unsafe localtime_r(&seconds, &time)
        unsafe (time.tm_hour, time.tm_min, time.tm_sec) = (0, 0, 0)
        return unsafe time
    }

    private static func seconds(_ time: inout tm) -> Int64? {
        unsafe time.tm_isdst = -1
        let seconds = unsafe mktime(&time)
        return seconds >= 0 ? Int64(seconds) : nil
    }

    // MARK: ISO 8601

    private static func civil(_ text: Substring, now: Int64) -> Int64? {
        var rest = text
        var time = unsafe local(now)
        let hasDate = rest.utf8.dropFirst(4).first == UInt8(ascii: "-")
        if hasDate {
            guard let year = number(&rest, 4), take("-", &rest), let month = number(&rest, 2), take("-", &rest),
                let day = number(&rest, 2), (1970...9999).contains(year), (1...12).contains(month),
                (1...31).contains(day)
            else { return nil }
            unsafe (time.tm_year, time.tm_mon, time.tm_mday) = (Int32(year - 1900), Int32(month - 1), Int32(day))
            if !rest.isEmpty { guard take("T", &rest) || take(" ", &rest), !rest.isEmpty else { return nil } }
        }
        var fraction: Int64 = 0
        var zone: Int64?
        if !rest.isEmpty || !hasDate {
            guard let hour = number(&rest, 2), take(":", &rest), let minute = number(&rest, 2), hour < 24, minute < 60
            else { return nil }
            unsafe (time.tm_hour, time.tm_min) = (Int32(hour), Int32(minute))
            if take(":", &rest) {
                guard let second = number(&rest, 2), second < 60 else { return nil }
                unsafe time.tm_sec = Int32(second)
                if take(".", &rest) {
                    let digits = rest.prefix { $0.isASCII && $0.isNumber }
                    guard (1...6).contains(digits.count), let value = Int64(digits) else { return nil }
                    fraction = (digits.count..<6).reduce(value) { value, _ in value * 10 }
                    rest = rest.dropFirst(digits.count)
                }
            }
            if !rest.isEmpty {
                guard let offset = offset(&rest), rest.isEmpty else { return nil }
                zone = offset
            }
        }
        let day = unsafe (time.tm_mon, time.tm_mday)
        let whole: Int64?
        if let zone {
            whole = unsafe Int64(timegm(&time)) - zone
        } else {
            whole = unsafe seconds(&time)
        }
        // There is no 30 February: it would be 2 March.
        guard let whole, whole >= 0, unsafe day == (time.tm_mon, time.tm_mday) else { return nil }
        return whole * 1_000_000 + fraction
    }

    /// Seconds east of Greenwich.
    private static func offset(_ rest: inout Substring) -> Int64? {
        if take("Z", &rest) { return 0 }
        let sign: Int64 = take("+", &rest) ? 1 : take("-", &rest) ? -1 : 0
        guard sign != 0, let hours = number(&rest, 2) else { return nil }
        _ = take(":", &rest)
        guard let minutes = number(&rest, 2), hours < 24, minutes < 60 else { return nil }
        return sign * Int64(hours * 3_600 + minutes * 60)
    }

    private static func number(_ rest: inout Substring, _ count: Int) -> Int? {
        let digits = rest.utf8.prefix(count)
        guard digits.count == count, digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        rest = Substring(rest.utf8.dropFirst(count))
        return Int(Substring(digits))
    }

    private static func take(_ character: Character, _ rest: inout Substring) -> Bool {
        guard rest.first == character else { return false }
        rest = rest.dropFirst()
        return true
    }
}
