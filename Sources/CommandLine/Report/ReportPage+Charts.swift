internal import Analytics
internal import Platform

/// The drawings: a row for each day, and the hours of a usual one.
extension ReportPage {
    private typealias Page = HTMLWriter

    /// In the drawing's own units, which are pixels on a screen that is wide enough.
    private static let width = 884.0
    private static let margin = 78.0
    private static let top = 22.0
    private static var field: Double { width - margin }

    // MARK: Days

    func writeTimeline(_ page: inout HTMLWriter) {
        guard !picture.legend.isEmpty else { return }
        let isLong = picture.days.count > 62
        let (row, gap) = isLong ? (6.0, 1.0) : (14.0, 6.0)
        let tops = tops(row + gap, betweenWeeks: isLong ? 3 : 7)
        let height = (tops.last ?? 0) + row + gap + 2
        page.element("section", ["class": picture.days.count > 40 ? "long" : ""]) { page in
            page.element("h2", text: "Days")
            page.element("p", text: "Where this machine was, hour by hour, while it was awake.")
            writeLegend(&page, hasMarks: !report.failures.isEmpty)
            page.element("div", ["class": "scroll"]) { page in
                page.element(
                    "svg",
                    [
                        "class": "chart", "viewBox": "0 0 \(Page.length(Self.width)) \(Page.length(height))",
                        "role": "img", "aria-label": "Networks by day and hour; the table below says the same.",
                    ]
                ) { page in
                    writeHourGrid(&page, height: height)
                    let slots = isLong ? 288 : 720
                    for (number, (day, masks)) in zip(picture.days, picture.masks(slots: slots)).enumerated() {
                        let y = tops[number]
                        if !isLong || day.isMonday || number == 0 {
                            page.element(
                                "text",
                                [
                                    "class": day.isWeekend ? "free" : "day", "x": "0",
                                    "y": Page.length(isLong ? y + 7 : y + row - 2.5),
                                ], text: day.title)
                        }
                        page.shape("rect", Self.box(Self.margin, y, Self.field, row, "track", radius: isLong ? 0 : 2))
                        writeStays(&page, day, masks, y, row)
                    }
                    writeMarks(&page, row, tops)
                }
            }
            writeDayTable(&page)
        }
    }

    /// Where each day's row begins; weeks stand a little apart.
    private func tops(_ step: Double, betweenWeeks gap: Double) -> [Double] {
        var y = Self.top
        return picture.days.enumerated().map { number, day in
            if number > 0 { y += step + (day.isMonday ? gap : 0) }
            return y
        }
    }

    private func writeHourGrid(_ page: inout HTMLWriter, height: Double) {
        for hour in stride(from: 0, through: 24, by: 3) {
            let x = Self.margin + Self.field * Double(hour) / 24
            if hour % 6 == 0 {
                page.shape(
                    "line",
                    [
                        "class": "grid", "x1": Page.length(x), "x2": Page.length(x), "y1": "16",
                        "y2": Page.length(height),
                    ])
            }
            page.element(
                "text", ["class": hour == 24 ? "end" : "mid", "x": Page.length(x), "y": "11"], text: "\(hour)")
        }
    }

    /// One after the other; where the machine was on several networks at once they share the height.
    private func writeStays(_ page: inout HTMLWriter, _ day: LocalDay, _ masks: [UInt8], _ y: Double, _ height: Double)
    {
        var start = 0
        while start < masks.count {
            let mask = masks[start]
            var end = start + 1
            while end < masks.count, masks[end] == mask { end += 1 }
            defer { start = end }
            guard mask != 0 else { continue }
            let categories = picture.legend.filter { mask & 1 << $0.category.index != 0 }
            let x = Self.margin + Self.field * Double(start) / Double(masks.count)
            let width = Self.field * Double(end - start) / Double(masks.count)
            let part = height / Double(categories.count)
            for (number, item) in categories.enumerated() {
                page.element(
                    "rect",
                    Self.box(
                        x, y + part * Double(number), max(width - 0.6, 0.6), part, "c\(item.category.index)",
                        radius: height > 8 ? 2 : 0)
                ) { page in
                    let (from, to) = (clock(start, masks.count, day), clock(end, masks.count, day))
                    page.element("title", text: "\(item.name): \(day.title), \(from) to \(to)")
                }
            }
        }
    }

    private func clock(_ slot: Int, _ slots: Int, _ day: LocalDay) -> String {
        guard slot < slots else { return "24:00" }
        let moment = day.start + (day.end - day.start) / Int64(slots) * Int64(slot)
        return CivilTime(local: moment).clockMinutes
    }

    /// Where something went wrong.
    private func writeMarks(_ page: inout HTMLWriter, _ row: Double, _ tops: [Double]) {
        for failure in report.failures {
            guard let number = picture.days.firstIndex(where: { $0.start <= failure.time && failure.time < $0.end })
            else { continue }
            let day = picture.days[number]
            let x = Self.margin + Self.field * Double(failure.time - day.start) / Double(day.end - day.start)
            let y = tops[number] + row / 2
            page.element(
                "circle",
                [
                    "class": "mark", "cx": Page.length(x), "cy": Page.length(y), "r": row > 8 ? "4" : "2.5",
                ]
            ) { page in
                let time = CivilTime(local: failure.time).clockMinutes
                page.element("title", text: "\(day.title), \(time): \(FailureText.text(failure))")
            }
        }
    }

    private func writeLegend(_ page: inout HTMLWriter, hasMarks: Bool) {
        page.element("ul", ["class": "legend"]) { page in
            for item in picture.legend {
                page.element("li") { page in
                    page.element("svg", ["viewBox": "0 0 11 11", "aria-hidden": "true"]) { page in
                        page.shape("rect", Self.box(0, 0, 11, 11, "c\(item.category.index)", radius: 2))
                    }
                    page.text(item.name)
                }
            }
            if hasMarks {
                page.element("li") { page in
                    page.element("svg", ["viewBox": "0 0 11 11", "aria-hidden": "true"]) { page in
                        page.shape("circle", ["class": "bad", "cx": "5.5", "cy": "5.5", "r": "4"])
                    }
                    page.text("something went wrong")
                }
            }
        }
    }

    private func writeDayTable(_ page: inout HTMLWriter) {
        let days = ReportDays(report).minutes.suffix(picture.days.count)
        let legend = picture.legend
        page.element("details") { page in
            page.element("summary", text: "The same as a table, in hours")
            page.table { page in
                page.head([("Day", "")] + legend.map { ($0.name, "n") })
                page.element("tbody") { page in
                    for (day, networks) in days {
                        page.element("tr") { page in
                            page.element("th", ["scope": "row"]) { page in
                                page.element("time", ["datetime": day.iso8601], text: day.title)
                            }
                            for item in legend {
                                let time = networks.filter { picture.category(of: $0.name) == item.category }
                                    .reduce(0) { $0 + $1.time }
                                page.cell(time > 0 ? SpanText.hours(time) : "–", time > 0 ? "n" : "n soft")
                            }
                        }
                    }
                }
            }
        }
    }

    // MARK: Hours

    /// Which share of the days each hour was spent where.
    func writeHours(_ page: inout HTMLWriter) {
        // Of less there is no usual day.
        guard picture.days.count >= 3, !picture.legend.isEmpty else { return }
        var sums = [Int64](repeating: 0, count: 24 * ReportPicture.categoryCount)
        for times in picture.times(slots: 24) { for (index, time) in times.enumerated() { sums[index] += time } }
        let whole = Double(picture.days.count) * 3_600_000_000
        let (height, foot) = (150.0, 24.0)
        let column = Self.field / 24
        page.element("section") { page in
            page.element("h2", text: "A usual day")
            page.element("p", text: "The share of all days that each hour was spent on each network.")
            page.element("div", ["class": "scroll"]) { page in
                page.element(
                    "svg",
                    [
                        "class": "chart",
                        "viewBox": "0 0 \(Page.length(Self.width)) \(Page.length(height + foot + 8))", "role": "img",
                        "aria-label": "Share of the days on each network, by hour; the table below says the same.",
                    ]
                ) { page in
                    for (share, label) in [(1.0, "100 %"), (0.5, "50 %"), (0, "0")] {
                        let y = 8 + height * (1 - share)
                        page.shape(
                            "line",
                            [
                                "class": "grid", "x1": Page.length(Self.margin), "x2": Page.length(Self.width),
                                "y1": Page.length(y), "y2": Page.length(y),
                            ])
                        page.element(
                            "text",
                            ["class": "end", "x": Page.length(Self.margin - 10), "y": Page.length(y + 4)], text: label)
                    }
                    for hour in 0..<24 {
                        let x = Self.margin + column * Double(hour)
                        var y = 8 + height
                        for item in picture.legend {
                            let share = Double(sums[hour * ReportPicture.categoryCount + item.category.index]) / whole
                            let part = min(share * height, y - 8)
                            guard part > 0.2 else { continue }
                            y -= part
                            page.element(
                                "rect",
                                Self.box(
                                    x + 2, y, column - 4, max(part - 0.8, 0.4), "c\(item.category.index)", radius: 1)
                            ) { page in
                                let percent = Int((share * 100).rounded())
                                page.element("title", text: "\(item.name): \(hour) to \(hour + 1) h, \(percent) %")
                            }
                        }
                        if hour % 3 == 0 {
                            page.element(
                                "text",
                                ["class": "mid", "x": Page.length(x), "y": Page.length(height + foot)],
                                text: "\(hour)")
                        }
                    }
                    page.element(
                        "text",
                        ["class": "end", "x": Page.length(Self.width), "y": Page.length(height + foot)], text: "24")
                }
            }
            page.element("details") { page in
                page.element("summary", text: "The same as a table, in per cent")
                page.table { page in
                    page.head([("Hour", "")] + picture.legend.map { ($0.name, "n") })
                    page.element("tbody") { page in
                        for hour in 0..<24 {
                            page.element("tr") { page in
                                page.element("th", ["scope": "row"], text: "\(hour) to \(hour + 1)")
                                for item in picture.legend {
                                    let sum = sums[hour * ReportPicture.categoryCount + item.category.index]
                                    page.cell(String(Int((Double(sum) / whole * 100).rounded())), "n")
                                }
                            }
                        }
                    }
                }
            }
        }
    }

    private static func box(
        _ x: Double, _ y: Double, _ width: Double, _ height: Double, _ kind: String, radius: Double
    ) -> HTMLWriter.Attributes {
        [
            "class": kind, "x": Page.length(x), "y": Page.length(y), "width": Page.length(width),
            "height": Page.length(height), "rx": Page.length(radius),
        ]
    }
}
