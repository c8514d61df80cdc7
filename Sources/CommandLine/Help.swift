/// What `vicinity help` says, made from the table of commands.
enum Help {
    /// Columns: what a terminal has, but lines of more than 80 are hard to read.
    static var width: Int { min(max(Output.width ?? 80, 40), 80) }

    static func overview(within width: Int) -> String {
        var lines = filled("Vicinity knows where this machine is, and does there what you ask for.", within: width)
        lines += ["", "usage: vicinity COMMAND [OPTION…]"]
        for group in CommandTable.groups {
            lines += ["", "\(group.title):"]
            for command in group.commands {
                lines += filled(command.summary, after: "  \(command.name)", at: 13, within: width)
            }
        }
        return (lines + [""] + filled("`vicinity help COMMAND` tells more, vicinity(1) all of it.", within: width))
            .joined(separator: "\n")
    }

    static func text(of command: any Subcommand.Type, within width: Int) -> String {
        var lines = filled(command.summary, within: width)
        lines += [""] + filled("usage: \(command.usage)", indent: 7, within: width) + [""]
        let help = Arguments.Option("help", nil, "tell this")
        for option in command.options + [help] {
            lines += filled(
                option.help + (option.isRepeatable ? "; may be repeated" : ""),
                after: "  --\(option.name)\(option.value.map { " \($0)" } ?? "")", at: 28, within: width)
        }
        for paragraph in command.explanations { lines += [""] + filled(paragraph, within: width) }
        if !command.examples.isEmpty { lines += [""] }
        for (line, meaning) in command.examples {
            lines += filled(line, from: 2, indent: 4, within: width)
            lines += filled("# \(meaning)", from: 6, indent: 8, within: width)
        }
        if let statuses = command.exitStatus { lines += [""] + filled("Exit status: \(statuses)", within: width) }
        return lines.joined(separator: "\n")
    }

    /// Text in lines of so many columns. The first begins with `head`, or else so many blanks; the others stand below the
    /// text of the first, or are indented as told.
    static func filled(
        _ text: some StringProtocol, after head: String = "", at column: Int = 0, from start: Int = 0, indent: Int = 0,
        within width: Int
    ) -> [String] {
        // Where there is no room beside the heads, the text stands below them.
        let indent = head.isEmpty ? indent : min(column, width / 2)
        let blanks = String(repeating: " ", count: indent)
        var lines = [head.isEmpty ? String(repeating: " ", count: start) : head]
        if !head.isEmpty {
            if head.count + 1 > indent {
                lines.append(blanks)
            } else {
                lines[0] += String(repeating: " ", count: indent - head.count)
            }
        }
        var isEmpty = true
        for word in text.split(whereSeparator: { $0 == " " || $0 == "\n" }) {
            if !isEmpty, lines[lines.count - 1].count + 1 + word.count > width {
                lines.append(blanks)
                isEmpty = true
            }
            lines[lines.count - 1] += (isEmpty ? "" : " ") + word
            isEmpty = false
        }
        return lines
    }
}

/// `vicinity help`
enum HelpCommand: Subcommand {
    static let name = "help"
    static let operands = "[COMMAND]"
    static let operandKinds: [WordKind] = [.command]
    static let summary = "Tell what the commands are, or all about one."
    static let options: [Arguments.Option] = [
        .init("man", nil, "as the source of a manual page, scdoc(5)")
    ]

    static func run(_ arguments: Arguments) throws -> Int32 {
        try arguments.expectOperands(0...1, "one command")
        if arguments.has("man") {
            guard let topic = arguments.operands.first else {
                throw UsageError(description: "--man needs a command; vicinity(1) itself is written by hand")
            }
            Output.line(ManualPage.source(of: try CommandTable.command(named: topic)))
            return 0
        }
        guard let topic = arguments.operands.first else {
            Output.line(Help.overview(within: Help.width))
            return 0
        }
        Output.line(Help.text(of: try CommandTable.command(named: topic), within: Help.width))
        return 0
    }
}
