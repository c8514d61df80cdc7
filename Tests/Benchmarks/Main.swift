import Glibc
import JSON
import Platform

/// `vicinity-bench FIXTURES VICINITY OUTPUT`: measures, prints a table, and writes the figures as one JSON object.
@main
struct Main {
    static func main() throws {
        guard CommandLine.arguments.count == 4 else {
            print("usage: vicinity-bench FIXTURES VICINITY OUTPUT")
            exit(64)
        }
        let (fixtures, program, output) = (CommandLine.arguments[1], CommandLine.arguments[2], CommandLine.arguments[3])
        signal(SIGPIPE, SIG_IGN)
        var report = Report()
        let events = try RecordedEvents(in: fixtures)
        try Reducing(events).run(&report)
        try Judging(sample: output + ".rules.toml").run(&report)
        try Feeding().run(&report)
        try Latency(events).run(&report)
        try Start(of: program).run(&report)
        try report.write(to: output)
    }
}

/// Figures: those with a key are the promised ones, the others explain them.
struct Report {
    private var keyed: [(key: String, value: Double)] = []

    func section(_ title: String) { print("\n\(title)") }

    mutating func add(
        _ what: String, _ value: Double, _ unit: String, key: String? = nil, goal: String? = nil, isMet: Bool = true
    ) {
        let judgement = goal.map { "  (\($0)\(isMet ? "" : ": MISSED"))" } ?? ""
        print("  \(what.padded(to: 46))\(Report.text(value).padded(to: -12)) \(unit)\(judgement)")
        if let key { keyed.append((key, value)) }
    }

    func write(to path: String) throws {
        var writer = JSONWriter()
        writer.object { writer in
            for figure in keyed {
                writer.key(escaping: figure.key)
                writer.number((figure.value * 100).rounded() / 100)
            }
        }
        writer.endLine()
        try Files.replace(path, with: writer.octets, mode: 0o644)
    }

    /// Two decimals below 100, none above.
    private static func text(_ value: Double) -> String {
        guard value < 100 else { return String(Int(value.rounded())) }
        let hundredths = Int((value * 100).rounded())
        let fraction = String(hundredths % 100)
        return "\(hundredths / 100).\(fraction.utf8.count < 2 ? "0" : "")\(fraction)"
    }
}

extension String {
    /// Filled with spaces, on the left for a negative width.
    fileprivate func padded(to width: Int) -> String {
        let blank = String(repeating: " ", count: max(abs(width) - utf8.count, 0))
        return width < 0 ? blank + self : self + blank
    }
}

/// What was measured many times.
struct Samples {
    private var values: [Double]

    init(_ values: [Double]) { self.values = values.sorted() }

    var median: Double { quantile(0.5) }
    var maximum: Double { values.last ?? 0 }

    func quantile(_ part: Double) -> Double {
        values.isEmpty ? 0 : values[min(Int(part * Double(values.count)), values.count - 1)]
    }
}

enum Clock {
    /// ns
    static var monotonic: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }

    /// What this thread used of a processor, ns.
    static var thread: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
