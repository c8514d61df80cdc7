internal import Analytics
internal import JSON
internal import WiFi

/// A fleet's report, for a terminal and for programs.
struct FleetScreen {
    let report: FleetReport
    let bars: ReportBars

    private static let rowLimit = 40

    func lines() -> [String] {
        let title = "\(SpanText.counted(report.machines, "machine")), \(SpanText.counted(report.lines, "line"))"
        var lines = [bars.paint(title, .strong), ""]
        guard !report.isWithheld else {
            return lines + ["Of fewer than \(report.least) machines nothing is told."]
        }
        lines += section("networks", report.networks) + section("by type", report.types)
        let sum = "\(hours(report.minutes)), \(SpanText.counted(report.transitions, "transition"))"
        return lines + bars.section("in all", [sum]).dropLast()
    }

    private func section(_ title: String, _ table: FleetReport.Table) -> [String] {
        let shown = table.shown.prefix(Self.rowLimit)
        let most = Double(max(shown.map(\.minutes).max() ?? 0, 1))
        var rows = bars.rows(
            shown.map { group in
                ReportBars.Row(
                    name: group.name, share: Double(group.minutes) / most,
                    text: [
                        SpanText.counted(group.machines, "machine"), hours(group.minutes),
                        SpanText.counted(group.transitions, "transition"),
                    ])
            })
        let more = table.shown.count - shown.count
        if more > 0 { rows.append(bars.paint("and \(more) more; --format json has them", .faint)) }
        if table.hidden > 0 {
            let rest = "\(hours(table.hiddenMinutes)), \(SpanText.counted(table.hiddenTransitions, "transition"))"
            rows.append(bars.paint("\(table.hidden) of few machines, together: \(rest)", .faint))
        }
        return bars.section(title, rows)
    }

    private func hours(_ minutes: Int64) -> String { "\((minutes + 30) / 60) h" }

    static func octets(_ report: FleetReport) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("machines", report.machines)
            writer.field("lines", report.lines)
            writer.field("broken_lines", report.broken)
            writer.field("ignored_lines", report.ignored)
            writer.field("least_machines", report.least)
            writer.field("withheld", report.isWithheld)
            guard !report.isWithheld else { return }
            writer.field("minutes", report.minutes)
            writer.field("transitions", report.transitions)
            for (key, table) in [("networks", report.networks), ("network_types", report.types)] {
                writer.key(escaping: key)
                writer.array { writer in
                    for group in table.shown {
                        writer.object {
                            $0.field("name", group.name)
                            $0.field("machines", group.machines)
                            $0.field("minutes", group.minutes)
                            $0.field("transitions", group.transitions)
                        }
                    }
                }
                writer.key(escaping: "hidden_\(key)")
                writer.object {
                    $0.field("groups", table.hidden)
                    $0.field("minutes", table.hiddenMinutes)
                    $0.field("transitions", table.hiddenTransitions)
                }
            }
        }
        writer.endLine()
        return writer.octets
    }
}
