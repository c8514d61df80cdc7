internal import Agent
internal import JSON
internal import Synchronization
internal import SystemBus
internal import WiFi

/// `vicinity second-factor`: whether one is needed here, having it asked for, and whether PAM would.
enum SecondFactorCommand: Subcommand {
    static let name = "second-factor"
    static let operands = "status | require | doctor [SERVICE]…"
    static let operandKinds: [WordKind] = [
        .words(["status", "require", "doctor"]), .usually(FactorFacts.knownServices),
    ]
    static let summary = "Tell whether a second factor is needed here, have it asked for, or check what PAM does."
    static let options: [Arguments.Option] = [
        .format,
        .init("reason", "TEXT", "with require: what it is for, 120 octets at most; it is shown as the program's word"),
        .init("account", "NAME", "with doctor: whose enrolment; yours unless said", .user),
        .init("test", nil, "with doctor SERVICE: try it with pamtester(1), which asks as the service would"),
    ]
    static let notes = """
        status tells what PAM stacks are told at this moment, and why: the agent has the kernel asked anew.

        require has the person asked whose session at this machine's screen the command runs in, by polkit, as rules do:
        one question at a time, none while the screen is locked, no more than five within ten minutes, and only where
        PAM's polkit-1 demands a second factor. It waits for as long as that takes; ending it takes the question away.
        Where a rule that holds lets the factor be skipped nobody is asked. A question of a rule's comes before it.

        doctor reads the stacks of PAM's services and the files of those who are enrolled, changes nothing, and tells what
        lets people past the factor, and what would lock them out. As root it sees more. --test tries a service in front of
        you; keep a root shell open until it has passed.

        Exit status: 0 where it may be skipped (status), was given or may be skipped (require), or nothing is wrong
        (doctor); 1 where it is needed (status), or doctor found a failure; 64 usage, 68 no such user, 69 the agent or the
        system bus does not answer, 75 nobody answered in time, could be asked, or now, 77 it was not given. Whatever is not 0
        means that it is needed, or was not given.
        """
    static let examples = [
        (line: "vicinity second-factor require --reason 'open the vault'", meaning: "0 only for whom it is given"),
        (line: "sudo vicinity second-factor doctor sudo --test", meaning: "before anybody is locked out"),
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        let format = try arguments.choice("format", OutputFormat.self) ?? .text
        let words = arguments.operands
        let belonging = ["reason": "require", "account": "doctor", "test": "doctor"]
        for (option, word) in belonging.sorted(by: { $0.key < $1.key }) where arguments.has(option) {
            guard words.first == word else { throw UsageError(description: "--\(option) belongs to \(word)") }
        }
        switch (words.first, words.count) {
        case ("status", 1): return try status(format)
        case ("require", 1): return try require(arguments["reason"] ?? "", format)
        case ("doctor", _):
            return try FactorDoctor.run(
                services: Array(words.dropFirst()), user: arguments["account"], isTest: arguments.has("test"), format)
        case ("status", _), ("require", _):
            throw UsageError(description: "\(words[1].utf8.displayText) is one argument too many")
        case (let word?, _):
            throw UsageError(description: "expected status, require or doctor, not \(word.utf8.displayText)")
        case (nil, _): throw UsageError(description: "status, require or doctor is missing")
        }
    }

    // MARK: status

    private static func status(_ format: OutputFormat) throws -> Int32 {
        // A reader that is gone has not read that it may be skipped.
        Output.abandonedStatus.store(1, ordering: .relaxed)
        let outcome = try ManagerCall("SecondFactorStatus").outcome()
        guard case .answered(let values) = outcome else { return ManagerCall.report(outcome) }
        guard let status = FactorStatusText(values.first) else {
            Output.error("the agent's answer cannot be understood")
            return 69
        }
        switch format {
        case .text: for line in status.lines { Output.wrapped(line) }
        case .json: Output.write(status.json[...])
        }
        return status.isNeeded ? 1 : 0
    }

    // MARK: require

    private static func require(_ reason: String, _ format: OutputFormat) throws -> Int32 {
        guard reason.utf8.count <= FactorCaller.reasonLimit else {
            throw UsageError(description: "--reason has \(FactorCaller.reasonLimit) octets at most")
        }
        // A screen can stay locked for any time, and the person who gave the factor has to be told so.
        let outcome = try ManagerCall(
            "RequireSecondFactor", [.text(reason)], patience: .max, mayAskHere: false
        ).outcome()
        guard case .answered(let values) = outcome else { return ManagerCall.report(outcome) }
        let text: String
        switch values.first?.text {
        case "passed": text = "the second factor was given"
        case "skipped": text = "the second factor may be skipped here"
        default:
            Output.error("the agent's answer cannot be understood")
            return 69
        }
        switch format {
        case .text: Output.line(text)
        case .json:
            var writer = JSONWriter()
            writer.object { $0.field("outcome", values.first?.text) }
            writer.endLine()
            Output.write(writer.octets[...])
        }
        return 0
    }
}
