internal import Analytics
internal import Feed
internal import JSON
internal import Platform

/// A report as one JSON object, for programs.
enum ReportAnswer {
    /// - Parameter skipped: lines that were cut or are no records.
    static func octets(_ report: HistoryReport, skipped: Int) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("since", moment(report.since))
            writer.field("until", moment(report.until))
            writer.field("first_record", report.firstRecord.map(moment))
            writer.array("networks") { writer in
                for network in report.networks {
                    writer.object {
                        $0.field("name", network.name)
                        $0.field("minutes", minutes(network.time))
                        $0.field("visits", network.visits)
                        $0.field("assurance", network.assurance)
                    }
                }
            }
            writer.array("days") { writer in
                for (day, networks) in ReportDays(report).minutes {
                    writer.object { writer in
                        writer.field("date", day.iso8601)
                        writer.object("minutes") { writer in
                            for (name, time) in networks {
                                writer.key(escaping: name)
                                writer.integer(minutes(time))
                            }
                        }
                    }
                }
            }
            let counts = report.counts
            writer.object("counts") {
                $0.field("transitions", counts.transitions)
                $0.field("entered", counts.entered)
                $0.field("left", counts.left)
                $0.field("roams", counts.roams)
                $0.field("join_failures", counts.joinFailures)
                $0.field("rule_firings", counts.firings)
                $0.field("actions_succeeded", counts.actionsSucceeded)
                $0.field("actions_failed", counts.actionsFailed)
            }
            writer.object("second_factors") {
                $0.field("passed", counts.secondFactors.passed)
                $0.field("failed", counts.secondFactors.failed)
                $0.field("expired", counts.secondFactors.expired)
            }
            writer.array("rules") { writer in
                for rule in report.rules {
                    writer.object {
                        $0.field("name", rule.name)
                        $0.field("file", rule.file)
                        $0.field("line", rule.line)
                        $0.field("firings", rule.firings)
                        $0.field("held_minutes", minutes(rule.held))
                        $0.field("actions_succeeded", rule.actionsSucceeded)
                        $0.field("actions_failed", rule.actionsFailed)
                    }
                }
            }
            writer.array("failures") { writer in
                for failure in report.failures {
                    writer.object {
                        $0.field("time", moment(failure.time))
                        $0.field("type", failure.type)
                        $0.field("subject", failure.subject)
                        $0.field("because", failure.because)
                    }
                }
            }
            writer.field("skipped_lines", skipped)
        }
        writer.endLine()
        return writer.octets
    }

    private static func moment(_ time: Int64) -> String { CivilTime(utc: time).iso8601 }
    private static func minutes(_ span: Int64) -> Int64 { (span + 30_000_000) / 60_000_000 }
}

/// How long each day was spent on which network.
struct ReportDays {
    /// By day, and in the order of the report's networks; without days and networks of which there is nothing to tell.
    private(set) var minutes: [(day: LocalDay, networks: [(name: String, time: Int64)])] = []

    static let limit = 3_700

    init(_ report: HistoryReport) {
        let since = max(report.since, min(report.firstRecord ?? report.since, report.until - 1))
        let days = LocalDay.days(from: since, to: report.until, limit: Self.limit)
        let ranks = Dictionary(
            report.networks.enumerated().map { ($0.element.name, $0.offset) }, uniquingKeysWith: { first, _ in first })
        var stays = report.stays[...]
        var running: [HistoryReport.Stay] = []
        for day in days {
            while let stay = stays.first, stay.start < day.end {
                running.append(stay)
                stays.removeFirst()
            }
            var times: [String: Int64] = [:]
            for stay in running {
                let time = min(stay.end, day.end) - max(stay.start, day.start)
                if time > 0 { times[stay.network, default: 0] += time }
            }
            running.removeAll { $0.end <= day.end }
            let sorted = times.sorted { ranks[$0.key] ?? .max < ranks[$1.key] ?? .max }
            if !sorted.isEmpty { minutes.append((day, sorted.map { ($0.key, $0.value) })) }
        }
    }
}
