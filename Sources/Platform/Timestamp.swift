internal import Glibc

/// When a fact was read: the civil time for people and logs, the boot time for order and for waiting.
///
/// Netlink messages carry no stamp, so this is the moment in which the message was taken from the kernel.
public struct Timestamp: Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z, `CLOCK_REALTIME`; may step.
    public var wall: Int64
    /// Microseconds since boot, sleep included, `CLOCK_BOOTTIME`; never steps back.
    public var boottime: Int64

    public init(wall: Int64, boottime: Int64) {
        self.wall = wall
        self.boottime = boottime
    }

    public static func now() -> Timestamp {
        Timestamp(wall: read(CLOCK_REALTIME), boottime: read(CLOCK_BOOTTIME))
    }

    private static func read(_ clock: clockid_t) -> Int64 {
        var time = timespec()
        unsafe clock_gettime(clock, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
    }

    /// The same moment, `microseconds` later on both clocks.
    public func advanced(by microseconds: Int64) -> Timestamp {
        Timestamp(wall: wall + microseconds, boottime: boottime + microseconds)
    }
}

/// A civil date and time, taken apart.
public struct CivilTime: Hashable, Sendable {
    public var year: Int
    public var month: Int
    public var day: Int
    public var hour: Int
    public var minute: Int
    public var second: Int
    public var microsecond: Int

    /// Monday is 0. By Sakamoto's method.
    public var weekday: Int {
        let shifted = month < 3 ? year - 1 : year
        let offsets = [0, 3, 2, 5, 0, 3, 5, 1, 4, 6, 2, 4]
        let fromSunday = (shifted + shifted / 4 - shifted / 100 + shifted / 400 + offsets[month - 1] + day) % 7
        return (fromSunday + 6) % 7
    }

    /// UTC, by Hinnant's `civil_from_days`: no call into the C library, so it costs nanoseconds per line.
    public init(utc microseconds: Int64) {
        let (seconds, fraction) = microseconds.quotientAndModulus(dividingBy: 1_000_000)
        let (days, rest) = seconds.quotientAndModulus(dividingBy: 86_400)
        let shifted = days + 719_468
        let (era, dayOfEra) = shifted.quotientAndModulus(dividingBy: 146_097)
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = Int(dayOfYear - (153 * marchMonth + 2) / 5 + 1)
        month = Int(marchMonth < 10 ? marchMonth + 3 : marchMonth - 9)
        year = Int(yearOfEra + era * 400) + (month <= 2 ? 1 : 0)
        hour = Int(rest / 3_600)
        minute = Int(rest % 3_600 / 60)
        second = Int(rest % 60)
        microsecond = Int(fraction)
    }

    /// The machine's local time, `localtime_r(3)`.
    public init(local microseconds: Int64) {
        let (seconds, fraction) = microseconds.quotientAndModulus(dividingBy: 1_000_000)
        var time = time_t(seconds)
        var parts = unsafe tm()
        unsafe localtime_r(&time, &parts)
        year = unsafe Int(parts.tm_year) + 1900
        month = unsafe Int(parts.tm_mon) + 1
        day = unsafe Int(parts.tm_mday)
        hour = unsafe Int(parts.tm_hour)
        minute = unsafe Int(parts.tm_min)
        second = unsafe Int(parts.tm_sec)
        microsecond = Int(fraction)
    }
}

extension Int64 {
    /// Floor division, so that moments before 1970 come out right.
    fileprivate func quotientAndModulus(dividingBy divisor: Int64) -> (Int64, Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
