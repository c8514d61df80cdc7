/// Completions for zsh(1), by its own _arguments.
enum ZshCompletion {
    static var script: String {
        let commands = CommandTable.commands
        let list = commands.map { "            \(quoted("\(escaped($0.name)):\($0.summary)"))" }
        return """
            #compdef vicinity
            # zsh completion for vicinity(1), made by `vicinity completion zsh`.

            _vicinity_rules() {
                local -a names=(${(f)"$(_call_program rules vicinity completion rules 2>/dev/null)"})
                _describe -t rules rule names
            }

            _vicinity_networks() {
                local -a names=(${(f)"$(_call_program networks vicinity completion networks 2>/dev/null)"})
                _describe -t networks network names
            }

            _vicinity_rules_networks() {
                _alternative 'rules:rule:_vicinity_rules' 'networks:network:_vicinity_networks'
            }

            _vicinity_commands() {
                local -a commands=(
            \(list.joined(separator: "\n"))
                )
                _describe -t commands command commands
            }

            _vicinity() {
                local curcontext=$curcontext state line
                typeset -A opt_args
                _arguments -C '(- *)'{-h,--help}'[tell what the commands are]' '(- *)'{-V,--version}'[tell the version]' \\
                    '1:command:_vicinity_commands' '*::argument:->arguments' && return
                [[ $state == arguments ]] || return
                curcontext=${curcontext%:*}-$words[1]:
                case $words[1] in
            \(commands.map(arguments).joined(separator: "\n"))
                esac
            }

            if [[ $funcstack[1] == _vicinity ]]; then _vicinity "$@"; else compdef _vicinity vicinity; fi
            """
    }

    private static func arguments(of command: any Subcommand.Type) -> String {
        var specifications = [quoted("(- *)--help[tell this]")]
        specifications += command.options.map { option in
            let value = option.value.map { "=[\(escaped(option.help))]:\(escaped($0)):\(action(option.kind))" }
            return quoted(
                "\(option.isRepeatable ? "*" : "")--\(option.name)\(value ?? "[\(escaped(option.help))]")")
        }
        specifications += command.operandsByPosition.map { position, kind in
            quoted("\(position == "*" ? "*" : "\((Int(position) ?? 0) + 1)"):argument:\(action(kind))")
        }
        return "    \(command.name)) _arguments \(specifications.joined(separator: " \\\n        ")) ;;"
    }

    private static func action(_ kind: WordKind) -> String {
        switch kind {
        case .text: " "
        case .words(let words), .usually(let words): "(\(words.map(escaped).joined(separator: " ")))"
        case .file: "_files"
        case .directory: "_files -/"
        case .rule: "_vicinity_rules"
        case .network: "_vicinity_networks"
        case .ruleOrNetwork: "_vicinity_rules_networks"
        case .interface: "_net_interfaces"
        case .user: "_users"
        case .command: "_vicinity_commands"
        }
    }

    /// What _arguments gives a meaning.
    private static func escaped(_ text: String) -> String {
        text.reduce(into: "") { result, character in
            if ":[]\\*()".contains(character) { result += "\\" }
            result.append(character)
        }
    }

    private static func quoted(_ text: String) -> String {
        "'\(text.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''"))'"
    }
}
