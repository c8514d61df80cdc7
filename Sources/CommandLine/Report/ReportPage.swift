internal import Agent
internal import Analytics
internal import Feed
internal import Hashing
internal import Platform

/// A report as one page of HTML that needs nothing else: no script, no picture, no font, no network.
struct ReportPage {
    let report: HistoryReport
    /// Of the machine; nil where the history is another one's.
    let machine: String?
    /// Lines that were cut or are no records.
    let skipped: Int
    let now: Int64
    let picture: ReportPicture

    /// A year, and what it takes to be whole weeks.
    private static let dayLimit = 371
    private static let ruleLimit = 100
    private static let failureLimit = 25

    /// What each report begins with, and nothing else does.
    static let beginning: StaticString = "<!DOCTYPE html>\n<!-- A report by vicinity(1). -->\n"

    init(_ report: HistoryReport, machine: String?, skipped: Int, now: Int64) {
        (self.report, self.machine, self.skipped, self.now) = (report, machine, skipped, now)
        picture = ReportPicture(report, limit: Self.dayLimit)
    }

    static func isReport(_ beginning: some Sequence<UInt8>) -> Bool {
        self.beginning.withUTF8Buffer { unsafe beginning.starts(with: $0) }
    }

    var octets: [UInt8] {
        var page = HTMLWriter()
        page.raw(Self.beginning)
        page.element("html", ["lang": "en"]) { page in
            page.element("head") { writeHead(&$0) }
            page.raw("\n")
            page.element("body") { page in
                page.element("main") { page in
                    page.element("header") { writeTitle(&$0) }
                    if report.firstRecord == nil {
                        page.element("section") { $0.element("p", text: "Nothing is recorded of that time.") }
                    } else {
                        writeSummary(&page)
                        writeTimeline(&page)
                        writeNetworks(&page)
                        writeHours(&page)
                        writeRules(&page)
                        writeFailures(&page)
                    }
                    page.element("footer") { writeFooter(&$0) }
                }
            }
        }
        page.raw("\n")
        return page.octets
    }

    private func writeHead(_ page: inout HTMLWriter) {
        page.open("meta", ["charset": "utf-8"])
        // A page that holds strangers' names runs nothing, loads nothing and sends nothing.
        let style = ReportStyle.text.withUTF8Buffer { unsafe SHA256.base64(Array($0)) }
        page.open(
            "meta",
            [
                "http-equiv": "Content-Security-Policy",
                "content": "default-src 'none'; style-src 'sha256-\(style)'; base-uri 'none'; form-action 'none'",
            ])
        page.open("meta", ["name": "viewport", "content": "width=device-width, initial-scale=1"])
        page.open("meta", ["name": "referrer", "content": "no-referrer"])
        page.open("meta", ["name": "robots", "content": "noindex"])
        page.element("title", text: title)
        page.element("style") { $0.raw(ReportStyle.text) }
    }

    private var title: String { machine.map { "Where \($0) was" } ?? "Where this machine was" }

    private func writeTitle(_ page: inout HTMLWriter) {
        page.element("h1", text: title)
        let days = picture.days
        let first = days.first?.date ?? CivilTime(local: report.since)
        let last = CivilTime(local: report.until - 1)
        page.element("p", ["class": "sub"]) { page in
            page.text("\(first.dateTitle) to \(last.dateTitle)")
            if days.count > 1 { page.text(", \(days.count) days") }
        }
    }

    // MARK: Figures

    private func writeSummary(_ page: inout HTMLWriter) {
        let counts = report.counts
        let placed = report.placedTime
        page.element("dl") { page in
            page.figure(SpanText.figure(placed), "on a network", note: SpanText.share(placed, of: span))
            page.figure((String(counts.transitions), ""), counts.transitions == 1 ? "transition" : "transitions")
            page.figure((String(counts.roams), ""), counts.roams == 1 ? "roam" : "roams between access points")
            page.figure((String(counts.joinFailures), ""), counts.joinFailures == 1 ? "failed join" : "failed joins")
            let factors = counts.secondFactors
            if factors.ended > 0 {
                page.figure((String(factors.passed), "of \(factors.ended)"), "second factors passed")
            }
            page.figure((String(counts.firings), ""), counts.firings == 1 ? "rule firing" : "rule firings")
        }
    }

    /// Of which something could be recorded.
    var span: Int64 { report.until - max(report.since, report.firstRecord ?? report.since) }

    // MARK: Tables

    private func writeNetworks(_ page: inout HTMLWriter) {
        guard let most = report.networks.map(\.time).max(), most > 0 else { return }
        page.element("section", ["class": report.networks.count > 20 ? "long" : ""]) { page in
            page.element("h2", text: "Networks")
            page.element("p", text: "How long this machine was on each, and how sure that was the last time.")
            page.table { page in
                page.head([
                    ("Network", ""), ("", "bar"), ("Time", "n"), ("Share", "n"), ("Visits", "n"), ("Assurance", "opt"),
                ])
                page.element("tbody") { page in
                    for network in report.networks {
                        let category = picture.category(of: network.name)?.index ?? ReportPicture.told + 1
                        page.element("tr") { page in
                            page.element("th", ["scope": "row"], text: network.name)
                            page.bar([(Double(network.time) / Double(most), "c\(category)")])
                            page.cell(SpanText.text(network.time), "n")
                            page.cell(SpanText.share(network.time, of: span), "n")
                            page.cell(String(network.visits), "n")
                            page.cell(network.assurance, "soft opt")
                        }
                    }
                }
            }
        }
    }

    private func writeRules(_ page: inout HTMLWriter) {
        let rules = report.rules.prefix(Self.ruleLimit)
        guard let most = rules.map(\.held).max() else { return }
        page.element("section", ["class": rules.count > 20 ? "long" : ""]) { page in
            page.element("h2", text: "Rules")
            page.element("p", text: "How often each fired, how long it held, and what came of its actions.")
            page.table { page in
                page.head([
                    ("Rule", ""), ("", "bar"), ("Held", "n"), ("Fired", "n"), ("Actions", "n"), ("Failed", "n"),
                    ("Defined at", "opt"),
                ])
                page.element("tbody") { page in
                    for rule in rules {
                        page.element("tr") { page in
                            page.element("th", ["scope": "row"], text: rule.name)
                            page.bar([(most > 0 ? Double(rule.held) / Double(most) : 0, "c5")])
                            page.cell(SpanText.text(rule.held), "n")
                            page.cell(String(rule.firings), "n")
                            page.cell(String(rule.actionsSucceeded + rule.actionsFailed), "n")
                            page.cell(String(rule.actionsFailed), rule.actionsFailed > 0 ? "n bad" : "n soft")
                            let name = rule.file.split(separator: "/").last ?? ""
                            page.cell(name.isEmpty ? "" : "\(name):\(rule.line)", "soft opt")
                        }
                    }
                }
            }
            let more = report.rules.count - rules.count
            if more > 0 { page.element("p", text: "And \(more) more.") }
        }
    }

    private func writeFailures(_ page: inout HTMLWriter) {
        let failures = report.failures.suffix(Self.failureLimit)
        guard !failures.isEmpty else { return }
        page.element("section", ["class": "long"]) { page in
            page.element("h2", text: "What went wrong")
            let isAll = failures.count == report.failures.count
            page.element("p", text: isAll ? "The latest first." : "The last \(failures.count), the latest first.")
            page.table(isWide: true) { page in
                page.head([("When", ""), ("What", ""), ("Of", ""), ("Why", "")])
                page.element("tbody") { page in
                    for failure in failures.reversed() {
                        let time = CivilTime(local: failure.time)
                        page.element("tr") { page in
                            page.element("td", ["class": "when soft"]) { page in
                                page.element(
                                    "time", ["datetime": CivilTime(utc: failure.time).iso8601],
                                    text: "\(time.iso8601Date) \(time.clockMinutes)")
                            }
                            page.cell(FailureText.what(failure), "")
                            page.cell(FailureText.subject(failure), "")
                            page.cell(failure.because, "soft")
                        }
                    }
                }
            }
        }
    }

    private func writeFooter(_ page: inout HTMLWriter) {
        let made = CivilTime(local: now)
        page.element(
            "p",
            text: "Made by vicinity \(AgentVersion.current) on \(made.dateTitle) at \(made.clockMinutes), "
                + "from the history of this machine alone. Times are local; while it slept it was nowhere.")
        if let first = report.firstRecord, first > report.since {
            page.element("p", text: "Nothing is recorded from before \(CivilTime(local: first).dateTitle).")
        }
        if picture.isCut { page.element("p", text: "The charts show the last \(picture.days.count) days.") }
        if skipped > 0 {
            page.element(
                "p",
                text: "\(SpanText.counted(skipped, "line")) of the history \(skipped == 1 ? "was" : "were") cut or no "
                    + "record, and left out.")
        }
    }
}

extension SpanText {
    /// A number, and its unit.
    static func figure(_ microseconds: Int64) -> (number: String, unit: String) {
        let text = text(microseconds)
        let parts = text.split(separator: " ")
        return microseconds >= 3_600_000_000
            ? (String((microseconds + 1_800_000_000) / 3_600_000_000), "h")
            : (String(parts.first ?? "0"), String(parts.last ?? ""))
    }
}

extension HTMLWriter {
    mutating func figure(_ figure: (number: String, unit: String), _ title: String, note: String? = nil) {
        element("div") { page in
            page.element("dt") { page in
                page.text(title)
                if let note { page.element("span", ["class": "note"], text: ", \(note)") }
            }
            page.element("dd") { page in
                page.text(figure.number)
                if !figure.unit.isEmpty { page.element("small", text: figure.unit) }
            }
        }
    }

    /// One that scrolls by itself where there is no room for it.
    ///
    /// - Parameter isWide: whether it is better read in a row of its own width.
    mutating func table(isWide: Bool = false, _ body: (inout HTMLWriter) -> Void) {
        element("div", ["class": "scroll"]) { page in
            page.element("table", ["class": isWide ? "wide" : ""], body)
        }
    }

    mutating func head(_ titles: [(title: String, kind: String)]) {
        element("thead") { page in
            page.element("tr") { page in
                for (title, kind) in titles {
                    if title.isEmpty {
                        page.element("td", ["class": kind]) { _ in }
                    } else {
                        page.element("th", ["scope": "col", "class": kind], text: title)
                    }
                }
            }
        }
    }

    mutating func cell(_ text: String, _ kind: String) {
        element("td", ["class": kind], text: text)
    }

    /// A cell with bars one after the other, of 0 to 1. What they say stands beside them.
    mutating func bar(_ parts: [(share: Double, kind: String)]) {
        element("td", ["class": "bar"]) { page in
            page.element(
                "svg", ["viewBox": "0 0 100 12", "preserveAspectRatio": "none", "aria-hidden": "true"]
            ) { page in
                page.shape("rect", ["class": "track", "width": "100", "height": "12"])
                var x = 0.0
                for (share, kind) in parts where share > 0 {
                    let width = max(min(share, 1) * 100, 0.5)
                    page.shape(
                        "rect",
                        [
                            "class": kind, "x": HTMLWriter.length(x), "width": HTMLWriter.length(width),
                            "height": "12",
                        ])
                    x += width
                }
            }
        }
    }
}
