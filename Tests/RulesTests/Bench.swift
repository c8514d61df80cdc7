import Environment
import Platform
import WiFi

@testable import Rules

/// Feeds an engine with environments at moments in milliseconds.
struct Bench {
    var engine: RuleEngine

    init(_ text: String = office, resuming: [String] = []) {
        engine = RuleEngine(ruleSet: ruleSet(text), resuming: resuming)
    }

    mutating func at(_ milliseconds: Int64, _ environment: NetworkEnvironment) -> [String] {
        engine.update(environment, at: Bench.time(milliseconds)).map(\.brief)
    }

    mutating func at(_ milliseconds: Int64, _ state: WiFiState) -> [String] {
        at(milliseconds, environment(state))
    }

    /// Lets time pass.
    mutating func at(_ milliseconds: Int64) -> [String] {
        engine.advance(to: Bench.time(milliseconds)).map(\.brief)
    }

    /// What came of a probe.
    mutating func at(_ milliseconds: Int64, probe identifier: UInt64, _ isProven: Bool) -> [String] {
        engine.take(isProven, for: identifier, at: Bench.time(milliseconds)).map(\.brief)
    }

    /// The next deadline in milliseconds.
    var deadline: Int64? { engine.nextDeadline.map { $0 / 1_000 } }

    static func time(_ milliseconds: Int64) -> Timestamp {
        Timestamp(wall: wall + milliseconds * 1_000, boottime: milliseconds * 1_000)
    }

    /// Monday, 2024-01-01 00:00 UTC.
    static let wall: Int64 = 1_704_067_200_000_000

    static let office = """
        [network.office]
        ssid = ["Corp", "Corp2"]
        security = ["personal", "open"]
        [network.home]
        ssid = ["Home"]
        security = ["personal"]
        [rule.work]
        on = "office"
        enter = [ { command = ["/bin/a"] }, { command = ["/bin/b"] } ]
        leave = [ { command = ["/bin/c"] } ]
        [rule.away]
        off = ["office", "home"]
        enter = [ { command = ["/bin/d"] } ]
        leave = [ { command = ["/bin/e"] } ]
        """
}
