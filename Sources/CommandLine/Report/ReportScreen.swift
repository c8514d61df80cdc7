internal import Analytics
internal import Platform
internal import WiFi

/// A report for a terminal.
struct ReportScreen {
    let report: HistoryReport
    let bars: ReportBars

    private static let rowLimit = 12
    private static let dayLimit = 14
    private static let failureLimit = 6
    private static let slots = 48
    private static let dayMargin = 12

    func lines() -> [String] {
        let (first, last) = (CivilTime(local: report.since), CivilTime(local: report.until - 1))
        var lines = [
            bars.paint("Where this machine was, \(first.dateTitle) to \(last.dateTitle)", .strong), "",
        ]
        guard report.firstRecord != nil else { return lines + ["Nothing is recorded of that time."] }
        let picture = ReportPicture(report, limit: Self.dayLimit)
        lines += bars.section("networks", networks(picture)) + bars.section("days", days(picture))
        lines += bars.section("events", [events]) + bars.section("rules", rules) + bars.section("wrong", failures)
        while lines.last == "" { lines.removeLast() }
        return lines
    }

    // MARK: Networks

    private func networks(_ picture: ReportPicture) -> [String] {
        guard let most = report.networks.first?.time, most > 0 else { return ["on none that was told"] }
        let shown = report.networks.prefix(Self.rowLimit)
        let span = report.until - max(report.since, report.firstRecord ?? report.since)
        let rows = shown.map { network in
            ReportBars.Row(
                name: network.name, share: Double(network.time) / Double(most),
                text: [
                    SpanText.short(network.time), SpanText.share(network.time, of: span),
                    SpanText.counted(network.visits, "visit"),
                ], paint: picture.category(of: network.name).map(Self.code))
        }
        let more = report.networks.count - shown.count
        return bars.rows(rows) + (more > 0 ? [bars.paint("and \(more) more", .faint)] : [])
    }

    // MARK: Days

    /// Half an hour a column: in colour, or by letters that the legend explains.
    private func days(_ picture: ReportPicture) -> [String] {
        guard !picture.legend.isEmpty, bars.room >= ReportBars.margin + Self.dayMargin + Self.slots else { return [] }
        var lines = [String(repeating: " ", count: Self.dayMargin) + bars.paint(Self.hours, .faint)]
        for (day, masks) in zip(picture.days, picture.masks(slots: Self.slots)) {
            var strip = ""
            for mask in masks { strip += cell(mask) }
            lines.append(bars.paint(day.title.fitted(to: Self.dayMargin), day.isWeekend ? .faint : .plain) + strip)
        }
        lines.append("")
        let blanks = String(repeating: " ", count: Self.dayMargin)
        var (row, columns) = (blanks, 0)
        for item in picture.legend {
            let name = item.name.terminalText.shortened(to: ReportBars.nameLimit)
            if columns > 0, columns + 5 + name.displayWidth > bars.room - ReportBars.margin - Self.dayMargin {
                lines.append(row)
                (row, columns) = (blanks, 0)
            }
            row += (columns > 0 ? "   " : "") + cell(1 << item.category.index) + " " + name
            columns += (columns > 0 ? 5 : 2) + name.displayWidth
        }
        return lines + [row]
    }

    private static let hours = stride(from: 0, to: 21, by: 3).map { "\($0)".fitted(to: 6) }.joined() + "21"
    private static let letters = ["A", "B", "C", "D", "E", "u", "o"]

    private func cell(_ mask: UInt8) -> String {
        guard mask != 0 else { return bars.paint(bars.hasBlocks ? "·" : ".", .faint) }
        let category = mask.trailingZeroBitCount
        guard bars.isColored, bars.hasBlocks else { return Self.letters[category] }
        return bars.paint("█", code: Self.codes[category])
    }

    private static func code(of category: ReportPicture.Category) -> String { codes[category.index] }
    /// The sixteen colours that a terminal's owner has chosen; red is for what went wrong.
    private static let codes = ["34", "33", "32", "35", "36", "37", "90"]

    // MARK: What happened

    private var events: String {
        let counts = report.counts
        var parts = [
            SpanText.counted(counts.transitions, "transition"), SpanText.counted(counts.roams, "roam"),
            SpanText.counted(counts.joinFailures, "failed join"),
        ]
        let factors = counts.secondFactors
        if factors.ended > 0 {
            parts.append("\(factors.passed) of \(SpanText.counted(factors.ended, "second factor")) passed")
        }
        return parts.joined(separator: ", ")
    }

    private var rules: [String] {
        let shown = report.rules.prefix(Self.rowLimit)
        let most = max(shown.map(\.firings).max() ?? 0, 1)
        let rows = shown.map { rule in
            let failed = rule.actionsFailed > 0 ? ", \(rule.actionsFailed) failed" : ""
            return ReportBars.Row(
                name: rule.name, share: Double(rule.firings) / Double(most),
                text: [
                    SpanText.counted(rule.firings, "time"), "held \(SpanText.short(rule.held))",
                    SpanText.counted(rule.actionsSucceeded + rule.actionsFailed, "action") + failed,
                ])
        }
        let more = report.rules.count - shown.count
        return bars.rows(rows) + (more > 0 ? [bars.paint("and \(more) more", .faint)] : [])
    }

    private var failures: [String] {
        report.failures.suffix(Self.failureLimit).map { failure in
            let time = CivilTime(local: failure.time)
            let text = "\(time.iso8601Date) \(time.clockMinutes)  \(FailureText.text(failure))".terminalText
            return bars.paint(text.shortened(to: bars.room - ReportBars.margin), .bad)
        }
    }
}

/// What went wrong, in words.
enum FailureText {
    static func text(_ failure: HistoryReport.Failure) -> String {
        [what(failure), subject(failure), failure.because].filter { !$0.isEmpty }.joined(separator: ", ")
    }

    static func what(_ failure: HistoryReport.Failure) -> String {
        switch failure.type {
        case "wifi.join_failed": "could not join"
        case "second_factor.failed": "second factor failed"
        case "second_factor.expired": "second factor expired"
        default: "action failed"
        }
    }

    /// Of a hash, enough to tell two of them apart.
    static func subject(_ failure: HistoryReport.Failure) -> String {
        guard failure.type == "wifi.join_failed" else { return failure.subject }
        guard !failure.subject.isEmpty else { return "a network without a name" }
        let parts = failure.subject.split(separator: ":")
        return (parts.dropLast() + [parts.last.map { $0.prefix(8) } ?? ""]).joined(separator: ":") + "…"
    }
}

extension String {
    /// Cut to so many columns where it is longer.
    func shortened(to width: Int) -> String { displayWidth <= width ? self : fitted(to: width) }
}
