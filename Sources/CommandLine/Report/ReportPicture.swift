internal import Analytics
internal import Platform

/// What a report's charts show: each day in slots, and in each slot the networks, of which only a few are told apart.
struct ReportPicture {
    /// What has a colour of its own.
    enum Category: Hashable {
        case network(Int)
        case unlisted, others

        /// In the order in which charts stack them.
        var index: Int {
            switch self {
            case .network(let rank): rank
            case .unlisted: ReportPicture.told
            case .others: ReportPicture.told + 1
            }
        }
    }

    /// More colours than these nobody tells apart, be it for their eyes or their screen.
    static let told = 5
    static let categoryCount = told + 2

    let days: [LocalDay]
    /// Whether there are days before the first one shown.
    let isCut: Bool
    private let stays: [HistoryReport.Stay]
    private var categories: [String: Category] = [:]
    private var names: [Category: String] = [:]

    init(_ report: HistoryReport, limit: Int) {
        stays = report.stays
        let since = max(report.since, min(report.firstRecord ?? report.since, report.until - 1))
        days = LocalDay.days(from: since, to: report.until, limit: limit)
        isCut = (days.first?.start ?? since) > since
        for network in report.networks where network.time > 0 {
            let rank = names.keys.count { if case .network = $0 { true } else { false } }
            let category: Category =
                network.name == "unlisted" ? .unlisted : rank < Self.told ? .network(rank) : .others
            categories[network.name] = category
            names[category] = category == .others ? "other networks" : network.name
        }
    }

    func category(of network: String) -> Category? { categories[network] }

    /// What there is, with what it is called, in the order of a legend.
    var legend: [(category: Category, name: String)] {
        names.sorted { $0.key.index < $1.key.index }.map { ($0.key, $0.value) }
    }

    /// µs on each category in each slot of each day, by slot and then by category.
    func times(slots: Int) -> [[Int64]] {
        var times = days.map { _ in [Int64](repeating: 0, count: slots * Self.categoryCount) }
        for stay in stays {
            guard let category = categories[stay.network]?.index else { continue }
            var day = days.firstIndexAfter(stay.start)
            while day < days.count, days[day].start < stay.end {
                let (start, end) = (days[day].start, days[day].end)
                let length = (end - start) / Int64(slots) + 1
                var from = max(stay.start, start)
                let to = min(stay.end, end)
                while from < to {
                    let slot = (from - start) / length
                    let next = min(to, start + (slot + 1) * length)
                    times[day][Int(slot) * Self.categoryCount + category] += next - from
                    from = next
                }
                day += 1
            }
        }
        return times
    }

    /// The categories that most of each slot is spent on, as bits.
    func masks(slots: Int) -> [[UInt8]] {
        zip(days, times(slots: slots)).map { day, times in
            let length = (day.end - day.start) / Int64(slots)
            return (0..<slots).map { slot in
                let shares = times[slot * Self.categoryCount..<(slot + 1) * Self.categoryCount]
                var mask: UInt8 = 0
                for (category, share) in shares.enumerated() where share * 2 >= length { mask |= 1 << category }
                if mask == 0, let most = shares.indices.max(by: { shares[$0] < shares[$1] }), shares[most] * 6 >= length
                {
                    mask = 1 << (most - shares.startIndex)
                }
                return mask
            }
        }
    }
}

extension [LocalDay] {
    /// The first one that ends after a moment.
    fileprivate func firstIndexAfter(_ moment: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].end > moment { high = middle } else { low = middle + 1 }
        }
        return low
    }
}

/// Spans as people read them.
enum SpanText {
    /// `312 h 10 min`, `45 min`, `20 s`
    static func text(_ microseconds: Int64) -> String {
        let seconds = microseconds / 1_000_000
        guard seconds >= 60 else { return "\(seconds) s" }
        let minutes = (seconds + 30) / 60
        guard minutes >= 60 else { return "\(minutes) min" }
        return minutes >= 6_000 || minutes % 60 == 0
            ? "\((minutes + 30) / 60) h" : "\(minutes / 60) h \(minutes % 60) min"
    }

    /// `243 h`, `13.3 h`, `45 min`
    static func short(_ microseconds: Int64) -> String {
        if microseconds >= 360_000_000_000 { return "\((microseconds + 1_800_000_000) / 3_600_000_000) h" }
        return microseconds >= 3_570_000_000 ? "\(hours(microseconds)) h" : text(microseconds)
    }

    /// `12.5`, in hours.
    static func hours(_ microseconds: Int64) -> String {
        let tenths = (microseconds + 180_000_000) / 360_000_000
        return "\(tenths / 10).\(tenths % 10)"
    }

    /// `43 %`; what is there is never none.
    static func share(_ part: Int64, of whole: Int64) -> String {
        guard whole > 0, part > 0 else { return "0 %" }
        let percent = (part * 200 / whole + 1) / 2
        return percent == 0 ? "< 1 %" : "\(percent) %"
    }

    static func counted(_ count: Int, _ one: String, _ many: String? = nil) -> String {
        "\(count) \(count == 1 ? one : many ?? "\(one)s")"
    }
}
