public import JSON

/// Makes a report of a history, record by record, the oldest first.
public struct HistoryReportBuilder {
    private var report: HistoryReport
    private var networks: [String: HistoryReport.Network] = [:]
    private var rules: [String: HistoryReport.Rule] = [:]
    private var places = Spans()
    private var holdings = Spans()
    private var boot: String?
    private var last: Int64 = 0
    /// Boot time, µs, of the last start of the agent.
    private var started: Int64?

    /// What is told again so soon after a start of the agent was so all the time.
    private static let resumption: Int64 = 60_000_000
    private static let failureLimit = 2_000

    /// - Parameters:
    ///   - since: the first moment that counts, µs since 1970.
    ///   - until: the first one that does not.
    public init(since: Int64, until: Int64) {
        report = HistoryReport(since: since, until: until)
    }

    public mutating func take(_ record: JSONValue) {
        guard let time = record["time"]?.string.flatMap({ Moment.microseconds(of: $0.utf8) }),
            let type = record["type"]?.string
        else { return }
        let boottime = record["boottime_us"]?.integer ?? 0
        if let boot = record["boot"]?.string, boot != self.boot {
            // Whatever was so, the machine was off.
            endAll(at: last)
            self.boot = boot
            started = nil
        }
        report.firstRecord = report.firstRecord ?? time
        let counts = time >= report.since && time < report.until
        switch type {
        case "network.entered", "network.left", "network.assurance_changed":
            take(type, ofNetwork: record, at: time, boottime, counts: counts)
        case "rule.activated", "rule.deactivated": take(type, ofRule: record, at: time, counts: counts)
        case "agent.started":
            places.interrupt(at: last)
            started = boottime
        case "agent.stopped": places.interrupt(at: time)
        case "agent.suspended":
            places.sleep(at: time)
            holdings.sleep(at: time)
        case "agent.resumed":
            places.wake(at: time)
            holdings.wake(at: time)
        default: if counts { takeEvent(type, record, at: time) }
        }
        last = time
    }

    private mutating func take(
        _ type: String, ofNetwork record: JSONValue, at time: Int64, _ boottime: Int64, counts: Bool
    ) {
        guard let name = record["network"]?["name"]?.string else { return }
        if counts || type != "network.left" {
            networks[name, default: .init(name: name)].assurance = record["network"]?["assurance"]?.string ?? "unknown"
        }
        switch type {
        case "network.entered":
            let isResumption = started.map { (0...Self.resumption).contains(boottime - $0) } ?? false
            guard places.begin(name, at: time, mayResume: isResumption), counts else { return }
            networks[name]?.visits += 1
            report.counts.entered += 1
        case "network.left":
            places.end(name, at: time)
            if counts { report.counts.left += 1 }
        default: break
        }
    }

    private mutating func take(_ type: String, ofRule record: JSONValue, at time: Int64, counts: Bool) {
        guard let name = record["rule"]?["name"]?.string else { return }
        var rule = rules[name] ?? .init(name: name)
        rule.file = record["rule"]?["file"]?.string ?? rule.file
        rule.line = record["rule"]?["line"]?.integer ?? rule.line
        if type == "rule.deactivated" {
            holdings.end(name, at: time)
        } else {
            _ = holdings.begin(name, at: time, mayResume: false)
            if counts {
                rule.firings += 1
                report.counts.firings += 1
            }
        }
        rules[name] = rule
    }

    private mutating func takeEvent(_ type: String, _ record: JSONValue, at time: Int64) {
        let omitted = Int(clamping: min(max(record["omitted"]?.integer ?? 0, 0), 1_000_000_000))
        switch type {
        case "wifi.roamed": report.counts.roams += 1 + omitted
        case "wifi.join_failed":
            report.counts.joinFailures += 1 + omitted
            let because = ["status", "reason"].compactMap { key in
                record["cause"]?[key]?.integer.map { "\(key) \($0)" }
            }
            note(
                type, record["wifi"]?["wifi_environment"]?.string,
                because.first
                    ?? record["cause"]?["circumstance"]?.string, at: time)
        case "action.succeeded", "action.failed":
            let name = record["action"]?["rule"]?.string ?? ""
            var rule = rules[name] ?? .init(name: name)
            if type == "action.succeeded" {
                rule.actionsSucceeded += 1
                report.counts.actionsSucceeded += 1
            } else {
                rule.actionsFailed += 1
                report.counts.actionsFailed += 1
                note(type, name, Self.words(ofAction: record["action"]), at: time)
            }
            rules[name] = rule
        case "second_factor.passed": report.counts.secondFactors.passed += 1
        case "second_factor.failed", "second_factor.expired":
            if type == "second_factor.failed" {
                report.counts.secondFactors.failed += 1
            } else {
                report.counts.secondFactors.expired += 1
            }
            let factor = record["second_factor"]
            note(type, factor?["rule"]?.string, factor?["because"]?.string, at: time)
        default: break
        }
    }

    private static func words(ofAction action: JSONValue?) -> String {
        let what = "\(action?["kind"]?.string ?? "action") \(action?["index"]?.integer ?? 0)"
        let because = action?["because"]?.string ?? action?["exit"]?.integer.map { "exit \($0)" }
        return because.map { "\(what): \($0)" } ?? what
    }

    private mutating func note(_ type: String, _ subject: String?, _ because: String?, at time: Int64) {
        report.failures.append(.init(time: time, type: type, subject: subject ?? "", because: because ?? ""))
        if report.failures.count > 2 * Self.failureLimit { report.failures.removeFirst(Self.failureLimit) }
    }

    private mutating func endAll(at time: Int64) {
        places.endAll(at: time)
        holdings.endAll(at: time)
    }

    /// - Parameters:
    ///   - boot: the one that the machine is in; nil where the history is another machine's. What was told last is so
    ///     until now in this boot, and until the last record otherwise.
    ///   - now: µs since 1970.
    public consuming func finish(boot: String?, now: Int64) -> HistoryReport {
        endAll(at: boot != nil && boot == self.boot ? max(now, last) : last)
        for span in places.ended {
            let (start, end) = (max(span.start, report.since), min(span.end, report.until))
            guard end > start else { continue }
            report.stays.append(.init(network: span.name, start: start, end: end))
            networks[span.name, default: .init(name: span.name)].time += end - start
        }
        for span in holdings.ended {
            let (start, end) = (max(span.start, report.since), min(span.end, report.until))
            if end > start { rules[span.name]?.held += end - start }
        }
        report.stays.sort { ($0.start, $0.end, $0.network) < ($1.start, $1.end, $1.network) }
        report.networks = networks.values.filter { $0.time > 0 || $0.visits > 0 }
            .sorted { ($1.time, $1.visits, $0.name) < ($0.time, $0.visits, $1.name) }
        report.rules = rules.values
            .filter { $0.firings > 0 || $0.held > 0 || $0.actionsSucceeded + $0.actionsFailed > 0 }
            .sorted { ($1.firings, $1.held, $0.name) < ($0.firings, $0.held, $1.name) }
        if report.failures.count > Self.failureLimit {
            report.failures.removeFirst(report.failures.count - Self.failureLimit)
        }
        return report
    }
}
