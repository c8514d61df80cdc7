internal import Rules

/// `vicinity completion`: what shells need to complete command lines of ours, made from the table of commands.
enum CompletionCommand: Subcommand {
    enum Topic: String, CaseIterable {
        case bash, zsh, fish, commands, rules, networks
    }

    static let name = "completion"
    static let operands = "bash|zsh|fish|commands|rules|networks"
    static let operandKinds: [WordKind] = [.one(of: Topic.self)]
    static let summary = "Print the completions of a shell, or the names that they offer."
    static let options: [Arguments.Option] = []
    static let notes = """
        The package has them in place. For this shell alone: source <(vicinity completion bash) in bash, vicinity
        completion fish | source in fish; in zsh a file _vicinity in a directory of fpath.

        commands, rules and networks print names, one a line; those in the rule files only where the files are right.

        Exit status: 0, 64 usage.
        """

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(1...1, "bash, zsh or fish")
        guard let topic = Topic(rawValue: arguments.operands[0]) else {
            let hint = Spelling.hint(for: arguments.operands[0], among: Topic.allCases.map(\.rawValue))
            throw UsageError(description: "there are completions for bash, zsh and fish\(hint)")
        }
        switch topic {
        case .bash: Output.line(BashCompletion.script)
        case .zsh: Output.line(ZshCompletion.script)
        case .fish: Output.line(FishCompletion.script)
        case .commands: for command in CommandTable.commands { Output.line(command.name) }
        case .rules: for rule in installed.rules { Output.line(rule.name) }
        case .networks:
            for network in BuiltInNetwork.allCases { Output.line(network.rawValue) }
            for network in installed.networks { Output.line(network.name) }
        }
        return 0
    }

    /// Whoever presses the Tab key is not to be told of mistakes.
    private static var installed: RuleSet { RuleSet.load(RuleFiles(trust: .root)).ruleSet ?? RuleSet() }

    /// Every option that takes a value, of whatever command: no name is an option here and a flag there.
    static var valued: [String] {
        Set(CommandTable.commands.flatMap { $0.options.filter { $0.value != nil }.map(\.name) }).sorted()
    }
}

extension Subcommand {
    /// By the position of the operand; the last one is of all that follow.
    static var operandsByPosition: [(position: String, kind: WordKind)] {
        operandKinds.enumerated().map { index, kind in
            (operands.hasSuffix("…") && index == operandKinds.count - 1 ? "*" : "\(index)", kind)
        }
    }
}
