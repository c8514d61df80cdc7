internal import Platform
internal import WiFi

/// `mon 09:30`: a moment of any week, in local time.
struct WeekMoment {
    let timestamp: Timestamp

    static let form = "a day and a time, such as \"mon 09:30\""

    init?(_ text: String) {
        let words = text.split(separator: " ")
        guard words.count == 2,
            let day = WeekMoment.days.firstIndex(where: { $0.utf8.elementsEqual(words[0].utf8.map { $0 | 0x20 }) }),
            let minute = WeekMoment.minute(words[1])
        else { return nil }
        // A summer without a change of clocks in it, wherever.
        var wall: Int64 = 1_782_734_400_000_000
        for _ in 0..<3 {
            let time = CivilTime(local: wall)
            let ahead = (day - time.weekday) * 1_440 + minute - (time.hour * 60 + time.minute)
            wall += Int64(ahead) * 60_000_000
        }
        timestamp = Timestamp(wall: wall, boottime: 0)
    }

    private static let days = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"]

    private static func minute(_ text: Substring) -> Int? {
        let digits = Array(text.utf8)
        guard digits.count == 5, digits[2] == UInt8(ascii: ":") else { return nil }
        var values: [Int] = []
        for place in [0, 1, 3, 4] {
            guard (0x30...0x39).contains(digits[place]) else { return nil }
            values.append(Int(digits[place]) - 0x30)
        }
        let (hour, minute) = (values[0] * 10 + values[1], values[2] * 10 + values[3])
        return hour < 24 && minute < 60 ? hour * 60 + minute : nil
    }
}
