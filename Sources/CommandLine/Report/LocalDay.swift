internal import Feed
internal import Glibc
internal import Platform

/// A civil day at this place, which is not always 24 hours long.
struct LocalDay {
    /// µs since 1970.
    let start: Int64
    let end: Int64
    let date: CivilTime

    /// The days from one moment to another, the last so many of them.
    static func days(from since: Int64, to until: Int64, limit: Int) -> [LocalDay] {
        guard since < until else { return [] }
        var days: [LocalDay] = []
        var moment = until - 1
        while days.count < limit {
            let start = midnight(of: moment, daysLater: 0)
            // A day without an hour at midnight begins later, never earlier.
            let end = max(midnight(of: moment, daysLater: 1), start + 1)
            days.append(LocalDay(start: start, end: end, date: CivilTime(local: moment)))
            guard start > since else { break }
            moment = start - 1
        }
        return days.reversed()
    }

    private static func midnight(of moment: Int64, daysLater: Int32) -> Int64 {
        var seconds = time_t(moment / 1_000_000)
        var time = unsafe tm()
        unsafe localtime_r(&seconds, &time)
        unsafe (time.tm_hour, time.tm_min, time.tm_sec, time.tm_isdst) = (0, 0, 0, -1)
        unsafe time.tm_mday += daysLater
        return unsafe Int64(mktime(&time)) * 1_000_000
    }

    /// `Mon 30 Nov`
    var title: String { "\(Self.weekdays[date.weekday]) \(date.day) \(Self.months[date.month - 1])" }
    /// `2026-11-30`
    var iso8601: String { String(date.iso8601Date) }
    var isWeekend: Bool { date.weekday >= 5 }
    var isMonday: Bool { date.weekday == 0 }

    static let weekdays = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
    static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}

extension CivilTime {
    /// `2026-11-30`
    var iso8601Date: Substring { iso8601.prefix(10) }
    /// `12:00`
    var clockMinutes: String { String(clock.prefix(5)) }
    /// `30 Nov 2026`
    var dateTitle: String { "\(day) \(LocalDay.months[month - 1]) \(year)" }
}
