/// Completions for fish(1).
enum FishCompletion {
    static var script: String {
        let commands = CommandTable.commands
        let valued = CompletionCommand.valued.map { "--\($0)" }.joined(separator: " ")
        var lines = [
            """
            # fish completion for vicinity(1), made by `vicinity completion fish`.
            function __vicinity_at --description 'Whether COMMAND is given, and POSITION of its operands is next'
                set -l operands
                set -l skip
                for word in (commandline -opc)[2..-1]
                    if set -q skip[1]
                        set -e skip
                    else if contains -- $word \(valued)
                        set skip yes
                    else if not string match -q -- '-*' $word
                        set -a operands $word
                    end
                end
                if test -z "$argv[1]"
                    test (count $operands) -eq 0
                else
                    test "$operands[1]" = $argv[1]; or return
                    test (count $argv) -eq 1; or test $argv[2] = '*'; or test (count $operands) -eq (math $argv[2] + 1)
                end
            end

            complete -c vicinity -f
            complete -c vicinity -n '__vicinity_at ""' -s h -l help -d 'tell what the commands are'
            complete -c vicinity -n '__vicinity_at ""' -s V -l version -d 'tell the version'
            """
        ]
        for command in commands {
            lines.append(
                "complete -c vicinity -n '__vicinity_at \"\"' -a \(command.name) -d \(quoted(command.summary))")
        }
        for command in commands {
            let start = "complete -c vicinity -n '__vicinity_at \(command.name)"
            lines.append("\(start)' -l help -d 'tell this'")
            for option in command.options {
                let value = option.value == nil ? "" : " \(offer(option.kind))"
                lines.append("\(start)' -l \(option.name)\(value) -d \(quoted(option.help))")
            }
            for (position, kind) in command.operandsByPosition where kind != .text {
                lines.append("\(start) \(position == "*" ? "\"*\"" : position)' \(operand(kind))")
            }
        }
        return lines.joined(separator: "\n")
    }

    /// For the value of an option.
    private static func offer(_ kind: WordKind) -> String {
        switch kind {
        case .text: "-x"
        case .file: "-r -F"
        default: "-x \(operand(kind))"
        }
    }

    private static func operand(_ kind: WordKind) -> String {
        switch kind {
        case .text: ""
        case .words(let words), .usually(let words): "-a \(quoted(words.joined(separator: " ")))"
        case .file: "-F"
        case .directory: "-a '(__fish_complete_directories)'"
        case .rule: "-a '(vicinity completion rules 2>/dev/null)'"
        case .network: "-a '(vicinity completion networks 2>/dev/null)'"
        case .ruleOrNetwork:
            "-a '(vicinity completion rules 2>/dev/null; vicinity completion networks 2>/dev/null)'"
        case .interface: "-a '(__fish_print_interfaces)'"
        case .user: "-a '(__fish_complete_users)'"
        case .command: "-a \(quoted(CommandTable.commands.map { $0.name }.joined(separator: " ")))"
        }
    }

    private static func quoted(_ text: String) -> String {
        let escaped = text.reduce(into: "") { result, character in
            if character == "'" || character == "\\" { result += "\\" }
            result.append(character)
        }
        return "'\(escaped)'"
    }
}
