/// Completions for bash(1), which need nothing but bash.
enum BashCompletion {
    static var script: String {
        let commands = CommandTable.commands
        let valued = CompletionCommand.valued.map { "--\($0)" }.joined(separator: " ")
        return """
            # bash completion for vicinity(1), made by `vicinity completion bash`.
            _vicinity() {
                local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}
                local command= operands=0 options= offer= word i
                # --option=value comes as three words.
                if [[ $cur == = ]]; then
                    cur=
                elif [[ $prev == = ]]; then
                    prev=${COMP_WORDS[COMP_CWORD-2]}
                fi
                for ((i = 1; i < COMP_CWORD; i++)); do
                    word=${COMP_WORDS[i]}
                    if [[ " \(valued) " == *" $word "* ]]; then
                        [[ ${COMP_WORDS[i+1]} != = ]] || ((i++))
                        ((i++))
                    elif [[ $word != -* ]]; then
                        if [[ -z $command ]]; then command=$word; else ((operands++)); fi
                    fi
                done
                case $command in
                '') options='--help --version' ;;
            \(commands.map(options).joined(separator: "\n"))
                esac
                case "$command $prev" in
            \(commands.flatMap(values).joined(separator: "\n"))
                *)
                    if [[ $cur == -* ]]; then
                        offer="words $options"
                    else
                        case "$command $operands" in
                        ' 0') offer='words \(commands.map { $0.name }.joined(separator: " "))' ;;
            \(commands.flatMap(operands).joined(separator: "\n"))
                        esac
                    fi
                    ;;
                esac
                COMPREPLY=()
                case $offer in
                words*) mapfile -t COMPREPLY < <(compgen -W "${offer#words}" -- "$cur") ;;
                names*)
                    for word in ${offer#names}; do
                        mapfile -t -O "${#COMPREPLY[@]}" COMPREPLY \\
                            < <(compgen -W "$(vicinity completion "$word" 2>/dev/null)" -- "$cur")
                    done
                    ;;
                interfaces) mapfile -t COMPREPLY < <(compgen -W "$(command ls /sys/class/net 2>/dev/null)" -- "$cur") ;;
                users) mapfile -t COMPREPLY < <(compgen -u -- "$cur") ;;
                files | directories)
                    compopt -o filenames 2>/dev/null
                    mapfile -t COMPREPLY < <(compgen "$([[ $offer == files ]] && echo -f || echo -d)" -- "$cur")
                    ;;
                esac
            }
            complete -F _vicinity vicinity
            """
    }

    private static func options(of command: any Subcommand.Type) -> String {
        let words = (command.options.map(\.name) + ["help"]).map { "--\($0)" }.joined(separator: " ")
        return "    \(command.name)) options='\(words)' ;;"
    }

    private static func values(of command: any Subcommand.Type) -> [String] {
        command.options.filter { $0.value != nil }.map {
            "    '\(command.name) --\($0.name)') offer='\(offer($0.kind))' ;;"
        }
    }

    private static func operands(of command: any Subcommand.Type) -> [String] {
        command.operandsByPosition.map { position, kind in
            "            '\(command.name) '\(position == "*" ? "*" : position)) offer='\(offer(kind))' ;;"
        }
    }

    private static func offer(_ kind: WordKind) -> String {
        switch kind {
        case .text: "none"
        case .words(let words), .usually(let words): "words \(words.joined(separator: " "))"
        case .file: "files"
        case .directory: "directories"
        case .rule: "names rules"
        case .network: "names networks"
        case .ruleOrNetwork: "names rules networks"
        case .interface: "interfaces"
        case .user: "users"
        case .command: "words \(CommandTable.commands.map { $0.name }.joined(separator: " "))"
        }
    }
}
