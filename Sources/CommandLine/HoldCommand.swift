internal import Agent
internal import Feed
internal import Glibc
internal import Platform
internal import Rules
internal import SystemBus
internal import WiFi

/// What `hold`, `release` and `run` say about who may.
private let authority = """
    Root may; others are asked by polkit (io.vicinity.manage) to authenticate as an administrator.
    """

private let statuses = """
    Exit status: 0, 64 usage, or longer than max-hold, 65 the rule is disabled or has nothing to run, 68 no rule has
    that name, 69 the agent or the system bus does not answer, 75 too many calls are waiting, 77 you may not.
    """

/// `vicinity hold`: a rule holds, or does not, whatever its condition says.
enum HoldCommand: Subcommand {
    static let name = "hold"
    static let operands = "RULE on|off"
    static let operandKinds: [WordKind] = [.rule, .words(["on", "off"])]
    static let summary = "Hold a rule on or off for a while, whatever its condition says."
    static let options: [Arguments.Option] = [
        .init("for", "DURATION", "such as 30m or 2h; as long as max-hold allows (8h) unless said"),
        .init("until-network-change", nil, "until the machine is on other networks of the rule files"),
    ]
    static let notes = """
        `vicinity release RULE` ends it before. What is held is in `vicinity status`; a reload and a restart of the agent
        change nothing about it, a reboot ends it. Both options together: whatever comes first.

        Users may hold a rule that says user-hold = true. \(authority)

        \(statuses)
        """
    static let examples = [
        (line: "vicinity hold away off --for 30m", meaning: "half an hour without the rule away")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(2...2, arguments.operands.isEmpty ? "the rule's name" : "on or off")
        let rule = arguments.operands[0]
        let isOn: Bool
        switch arguments.operands[1] {
        case "on": isOn = true
        case "off": isOn = false
        case let word:
            throw UsageError(
                description: "a rule is held on or off, not \(word.utf8.displayText); `vicinity release` ends a hold")
        }
        let durations = try arguments.all("for", "a duration such as 30m or 2h") { text in
            DurationText.microseconds(of: text).flatMap { $0 > 0 ? $0 : nil }
        }
        let outcome = try ManagerCall(
            "Hold",
            [
                .text(rule), .flag(isOn), .unsigned64(UInt64(durations.last ?? 0)),
                .flag(arguments.has("until-network-change")),
            ]
        ).outcome()
        if case .answered(let values) = outcome, let end = values.first?.number {
            let until = CivilTime(local: end).iso8601.prefix(16).map { $0 == "T" ? " " : String($0) }.joined()
            let condition = arguments.has("until-network-change") ? " the network changes, at the latest" : ""
            Output.line("rule \(rule) is held \(isOn ? "on" : "off") until\(condition) \(until)")
        }
        return ManagerCall.report(outcome)
    }
}

/// `vicinity release`: what a hold was is over.
enum ReleaseCommand: Subcommand {
    static let name = "release"
    static let operands = "RULE"
    static let operandKinds: [WordKind] = [.rule]
    static let summary = "End the hold of a rule: its condition decides again."
    static let options: [Arguments.Option] = []
    static let notes = """
        Users may release what users hold. \(authority)

        \(statuses)
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "the rule's name")
        let rule = arguments.operands[0]
        let outcome = try ManagerCall("Release", [.text(rule)]).outcome()
        switch outcome {
        case .answered: Output.line("rule \(rule) is released")
        case .refused(OverrideError.notHeld(rule: rule).busName, let text):
            // It is as it was to be.
            Output.line(text.terminalText)
            return 0
        default: break
        }
        return ManagerCall.report(outcome)
    }
}

/// `vicinity run`: what a rule does as it begins to hold, once.
enum RunCommand: Subcommand {
    static let name = "run"
    static let operands = "RULE"
    static let operandKinds: [WordKind] = [.rule]
    static let summary = "Run the enter actions of a rule once, whether it holds or not."
    static let options: [Arguments.Option] = []
    static let notes = """
        They are started, not waited for: `vicinity watch` tells what comes of them. \(authority)

        \(statuses)
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "the rule's name")
        let rule = arguments.operands[0]
        let outcome = try ManagerCall("Run", [.text(rule)]).outcome()
        if case .answered = outcome { Output.line("the enter actions of rule \(rule) are started") }
        return ManagerCall.report(outcome)
    }
}
