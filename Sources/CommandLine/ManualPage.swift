/// The manual page of a command, made from the table as its help is: source for scdoc(1).
enum ManualPage {
    static func source(of command: any Subcommand.Type) -> String {
        let title = "vicinity-\(command.name)"
        var lines = [
            "\(title)(1)", "", "# NAME", "",
            "\(title) - \(escaped(lowerCased(command.summary.dropLast())))", "",
            "# SYNOPSIS", "",
            "*vicinity \(command.name)*" + (command.options.isEmpty ? "" : " [_OPTION_...]")
                + (command.operands.isEmpty ? "" : " \(escaped(command.operands).replacingEllipsis)"),
            "", "# DESCRIPTION", "", text(command.summary),
        ]
        for paragraph in command.explanations { lines += ["", text(paragraph)] }
        lines += ["", "# OPTIONS", ""]
        for option in command.options + [Arguments.Option("help", nil, "tell this")] {
            let value = option.value.map { " _\(escaped($0))_" } ?? ""
            lines += ["*--\(option.name)*\(value)", "\t\(text(sentence(option)))", ""]
        }
        if !command.examples.isEmpty { lines += ["# EXAMPLES", ""] }
        for (line, meaning) in command.examples {
            lines += [text("\(meaning.prefix(1).uppercased())\(meaning.dropFirst()):"), "", "```", line, "```", ""]
        }
        lines += [
            "# EXIT STATUS", "",
            command.exitStatus.map { text("\($0)") } ?? "0, or 64 for a command line that cannot be followed.", "",
            "See *vicinity*(1) for what the numbers mean.", "", "# SEE ALSO", "",
            "*vicinity*(1), *vicinity.rules*(5), *vicinityd*(8)",
        ]
        return lines.joined(separator: "\n")
    }

    private static func sentence(_ option: Arguments.Option) -> String {
        "\(option.help)\(option.isRepeatable ? "; may be repeated" : "")."
    }

    private static func lowerCased(_ text: some StringProtocol) -> String {
        text.prefix(1).lowercased() + text.dropFirst()
    }

    /// A paragraph: what stands in backquotes is bold.
    private static func text(_ text: some StringProtocol) -> String {
        let words = text.split(whereSeparator: { $0 == " " || $0 == "\n" }).joined(separator: " ")
        let parts = words.split(separator: "`", omittingEmptySubsequences: false)
        let marked = parts.enumerated().map { index, part in
            index % 2 == 1 ? "*\(escaped(part))*" : escaped(part)
        }.joined()
        // At the beginning of a line these begin something else than a paragraph.
        return marked.first.map { "#-.|[];".contains($0) } == true ? "\\\(marked)" : marked
    }

    private static func escaped(_ text: some StringProtocol) -> String {
        text.reduce(into: "") { result, character in
            if "\\*_`~".contains(character) { result += "\\" }
            result.append(character)
        }
    }
}

extension String {
    /// Three full stops, which every output device has.
    fileprivate var replacingEllipsis: String {
        split(separator: "…", omittingEmptySubsequences: false).joined(separator: "...")
    }
}
