internal import Glibc
internal import Netlink
internal import Platform
internal import WiFi

/// `vicinity`: everything a person or a script asks of Vicinity.
public enum VicinityCommand {
    /// - Parameter arguments: with the program's name as the first.
    /// - Returns: the exit status: 0, 64 for usage (`EX_USAGE`), or what the command documents.
    public static func run(_ arguments: [String]) -> Int32 {
        // Writing to a reader that went away is answered by an error, not by a signal.
        signal(SIGPIPE, SIG_IGN)
        let words = arguments.dropFirst()
        guard let name = words.first else {
            Output.line(Help.overview(within: Help.width))
            return 64  // EX_USAGE
        }
        if name == "--version" || name == "-V" { return VersionCommand.printVersion() }
        let command: any Subcommand.Type
        do throws(UsageError) {
            command = try CommandTable.command(named: ["--help", "-h"].contains(name) ? HelpCommand.name : name)
        } catch {
            let isOption = name.hasPrefix("-")
            let problem = isOption ? "unknown option \(name.utf8.displayText)" : error.description
            Output.error("\(problem)\n`vicinity help` lists the commands")
            return 64
        }
        do {
            let arguments = try Arguments(words.dropFirst(), knowing: command.options)
            guard !arguments.wantsHelp else {
                Output.line(Help.text(of: command, within: Help.width))
                return 0
            }
            return try command.run(arguments)
        } catch let error as UsageError {
            Output.error("\(error.description)\nusage: \(command.usage)")
            return 64
        } catch {
            Output.error("\(error)".terminalText)
            return status(of: error)
        }
    }

    /// What sysexits(3) calls what the system refused.
    private static func status(of error: any Error) -> Int32 {
        let code: Int32? =
            switch error {
            case let error as SystemError: error.code
            case NetlinkError.system(let error): error.code
            default: nil
            }
        return switch code {
        case EACCES, EPERM: 77  // EX_NOPERM
        case ENOENT, ENOTDIR: 66  // EX_NOINPUT
        case EEXIST, EROFS: 73  // EX_CANTCREAT
        case ENOSPC, EIO, EDQUOT: 74  // EX_IOERR
        default: 71  // EX_OSERR
        }
    }
}
