internal import Platform
internal import Rules

/// `mon 09:30`: a moment of any week, in local time.
struct WeekMoment {
    let timestamp: Timestamp

    static let form = "a day and a time, such as \"mon 09:30\""

    init?(_ text: String) {
        guard let wanted = WeekTime(text) else { return nil }
        // A summer without a change of clocks in it, wherever.
        var wall: Int64 = 1_782_734_400_000_000
        for _ in 0..<3 {
            let time = CivilTime(local: wall)
            let ahead = (wanted.day - time.weekday) * 1_440 + wanted.minute - (time.hour * 60 + time.minute)
            wall += Int64(ahead) * 60_000_000
        }
        timestamp = Timestamp(wall: wall, boottime: 0)
    }
}
