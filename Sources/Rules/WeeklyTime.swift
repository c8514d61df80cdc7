internal import Platform

/// A span that returns every week, in local time: `mon-fri 08:00-18:00`.
public struct WeeklyTime: Hashable, Sendable {
    /// Monday is 0, Sunday 6; the day on which it begins.
    public let days: Set<Int>
    /// Minutes of the day, 0–1439.
    public let start: Int
    /// Minutes of the day, 0–1440; at or before `start` it is one of the next day.
    public let end: Int

    /// Reads days and hours, or either of them alone. Days are `mon` to `sun`, spans of them or both, divided by
    /// commas; hours are two times of day. Nil for anything else.
    public init?(_ text: String) {
        let words = text.split(separator: " ")
        guard (1...2).contains(words.count) else { return nil }
        var days = Set(0..<7)
        var hours = (start: 0, end: 1_440)
        var hoursWord: Substring? = words[words.count - 1]
        if words.count == 2 || !words[0].utf8.contains(UInt8(ascii: ":")) {
            guard let named = WeeklyTime.days(words[0]) else { return nil }
            days = named
            if words.count == 1 { hoursWord = nil }
        }
        if let hoursWord {
            guard let named = WeeklyTime.hours(hoursWord) else { return nil }
            hours = named
        }
        self.days = days
        start = hours.start
        end = hours.end
    }

    fileprivate static let dayNames = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func days(_ text: Substring) -> Set<Int>? {
        var days: Set<Int> = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let ends = part.split(separator: "-", omittingEmptySubsequences: false).map { day($0) }
            guard (1...2).contains(ends.count), let first = ends[0], let last = ends[ends.count - 1] else { return nil }
            // From Friday to Monday is over the weekend.
            for day in 0...(last >= first ? last - first : last + 7 - first) { days.insert((first + day) % 7) }
        }
        return days
    }

    fileprivate static func day(_ text: Substring) -> Int? {
        dayNames.firstIndex { $0.utf8.elementsEqual(text.utf8.map { $0 | 0x20 }) }
    }

    private static func hours(_ text: Substring) -> (start: Int, end: Int)? {
        let ends = text.split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, let start = minutes(ends[0]), let end = minutes(ends[1]), start < 1_440,
            start != end
        else { return nil }
        return (start, end)
    }

    /// `HH:MM`, up to `24:00`.
    fileprivate static func minutes(_ text: Substring) -> Int? {
        let digits = Array(text.utf8)
        guard digits.count == 5, digits[2] == UInt8(ascii: ":") else { return nil }
        var values: [Int] = []
        for place in [0, 1, 3, 4] {
            guard (0x30...0x39).contains(digits[place]) else { return nil }
            values.append(Int(digits[place]) - 0x30)
        }
        let (hour, minute) = (values[0] * 10 + values[1], values[2] * 10 + values[3])
        guard minute < 60, hour < 24 || hour == 24 && minute == 0 else { return nil }
        return hour * 60 + minute
    }

    /// - Parameters:
    ///   - day: Monday is 0.
    ///   - minute: of the day.
    func contains(day: Int, minute: Int) -> Bool {
        guard end <= start else { return days.contains(day) && minute >= start && minute < end }
        return days.contains(day) && minute >= start || days.contains((day + 6) % 7) && minute < end
    }
}

/// A local time as far as a week is concerned.
public struct WeekTime: Hashable, Sendable {
    /// Monday is 0.
    public let day: Int
    /// Of the day, 0–1439.
    public let minute: Int

    /// Reads a day and a time, such as `mon 09:30`.
    public init?(_ text: String) {
        let words = text.split(separator: " ", omittingEmptySubsequences: false)
        guard words.count == 2, let day = WeeklyTime.day(words[0]), let minute = WeeklyTime.minutes(words[1]),
            minute < 1_440
        else { return nil }
        self.day = day
        self.minute = minute
    }

    init(_ time: CivilTime) {
        day = time.weekday
        minute = time.hour * 60 + time.minute
    }
}

extension Rule {
    func isInTime(_ time: WeekTime) -> Bool {
        times.isEmpty || times.contains { $0.contains(day: time.day, minute: time.minute) }
    }

    /// Minutes until that may change, at most until the next full hour: clocks are changed then.
    func minutesUntilChange(from time: WeekTime) -> Int {
        times.flatMap { [$0.start, $0.end] }.map { boundary in
            let ahead = (boundary - time.minute + 1_440) % 1_440
            return ahead == 0 ? 1_440 : ahead
        }.reduce(60 - time.minute % 60, min)
    }
}
