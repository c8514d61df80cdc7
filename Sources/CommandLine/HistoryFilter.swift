internal import Feed
internal import JSON
internal import Platform

/// Which records of the history somebody wants.
struct HistoryFilter {
    var rule: String?
    var network: String?
    var types: [String] = []
    /// As the log writes moments, so that they can be compared as text; the first one that is wanted.
    private(set) var since: String?
    /// The first one that is not.
    private(set) var until: String?

    init() {}

    init(_ arguments: Arguments, now: Int64) throws(UsageError) {
        rule = arguments["rule"]
        network = arguments["network"]
        types = try FeedTypes.patterns(arguments["type"])
        since = try Self.moment("since", arguments, now)
        until = try Self.moment("until", arguments, now)
        if let since, let until, until <= since { throw UsageError(description: "--until is not after --since") }
    }

    /// Up to a moment, that included.
    init(through moment: Int64) {
        until = CivilTime(utc: moment + 1).iso8601
    }

    private static func moment(_ name: String, _ arguments: Arguments, _ now: Int64) throws(UsageError) -> String? {
        try arguments.all(name, MomentText.form) { MomentText.microseconds(of: $0, now: now) }.last
            .map { CivilTime(utc: $0).iso8601 }
    }

    func admits(_ record: JSONValue) -> Bool {
        let time = record["time"]?.string ?? ""
        if let since, time < since { return false }
        if let until, time >= until { return false }
        if let network, record["network"]?["name"]?.string != network { return false }
        if let rule, (record["rule"]?["name"] ?? record["action"]?["rule"])?.string != rule { return false }
        return FeedTypes.matches(record["type"]?.string ?? "", types)
    }
}
