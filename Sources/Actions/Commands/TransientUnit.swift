internal import SystemBus

/// What systemd is asked to make of a command, by StartTransientUnit; systemd.service(5), systemd.exec(5).
struct TransientUnit {
    static let prefix = "vicinity-command-"
    static let slice = "vicinity.slice"
    /// How long what was told to end may take before it is killed (µs).
    static let patience: UInt64 = 5_000_000

    let name: String
    let properties: [BusArgument]

    /// Variables that systemd sets of its own accord, environment variables of systemd.exec(5); what a manager hands on
    /// of its own environment comes on top.
    private static let additions = [
        "PATH", "LANG", "USER", "LOGNAME", "HOME", "SHELL", "INVOCATION_ID", "SYSTEMD_EXEC_PID", "MANAGERPID",
        "JOURNAL_STREAM", "NOTIFY_SOCKET", "MAINPID", "XDG_RUNTIME_DIR", "XDG_SESSION_ID", "XDG_SESSION_TYPE",
        "XDG_SESSION_CLASS", "XDG_SEAT", "XDG_VTNR", "TERM", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS",
        "LISTEN_PID", "LISTEN_FDNAMES", "MEMORY_PRESSURE_WATCH", "MEMORY_PRESSURE_WRITE", "CREDENTIALS_DIRECTORY",
    ]

    /// - Parameters:
    ///   - environment: what the manager hands on, `NAME=value`.
    ///   - input, output, errors: stay the caller's.
    init(
        _ command: Command, id: UInt64, user: String?, environment: [String], input: Int32, output: Int32,
        errors: Int32
    ) {
        name = "\(TransientUnit.prefix)\(id).service"
        let variables = command.context.variables
        let ours = Set(variables.map(TransientUnit.name))
        let others = Set(TransientUnit.additions + environment.map(TransientUnit.name)).subtracting(ours).sorted()
        let program = command.arguments.first ?? ""
        var members: [(String, BusArgument)] = [
            ("Description", .text("Vicinity: \(command.lane)")),
            ("Type", .text("exec")),
            ("Slice", .text(TransientUnit.slice)),
            // Its result can be read until it is let go of.
            ("AddRef", .flag(true)),
            ("CollectMode", .text("inactive-or-failed")),
            (
                "ExecStart",
                .list(
                    [.structure([.text(program), .texts(command.arguments), .flag(false)])], of: "(sasb)")
            ),
            ("Environment", .texts(variables)),
            ("UnsetEnvironment", .texts(others)),
            ("WorkingDirectory", .text("/")),
            ("UMask", .unsigned(0o077)),
            // Services have it ignored otherwise.
            ("IgnoreSIGPIPE", .flag(false)),
            ("StandardInputFileDescriptor", .descriptor(input)),
            ("StandardOutputFileDescriptor", .descriptor(output)),
            ("StandardErrorFileDescriptor", .descriptor(errors)),
            ("RuntimeMaxUSec", .unsigned64(UInt64(clamping: command.timeout))),
            ("TimeoutStopUSec", .unsigned64(TransientUnit.patience)),
            ("KillMode", .text("control-group")),
            ("SendSIGKILL", .flag(true)),
            ("OOMPolicy", .text("kill")),
        ]
        if let user { members.append(("User", .text(user))) }
        properties = members.map { .structure([.text($0.0), .variant($0.1)]) }
    }

    var arguments: [BusArgument] {
        [.text(name), .text("fail"), .list(properties, of: "(sv)"), .list([], of: "(sa(sv))")]
    }

    private static func name(of variable: String) -> String {
        String(variable.prefix { $0 != "=" })
    }
}

extension CommandResult.End {
    /// How a service ended, by what systemd says of it.
    ///
    /// - Parameters:
    ///   - hasStarted: whether the program was there.
    ///   - result, code, status: the properties Result, ExecMainCode (CLD_EXITED is 1) and ExecMainStatus.
    init(_ command: Command, user: String?, hasStarted: Bool, result: String, code: Int64, status: Int64) {
        switch (result, code) {
        case ("timeout", _): self = .timedOut
        case (_, 1) where !hasStarted: self = .failedToStart(.init(status, command, user))
        case (_, 1): self = .exited(code: Int32(clamping: status))
        case (_, 2...): self = .killed(signal: Int32(clamping: status))
        default: self = .failedToStart(.manager("systemd did not start it: \(result)"))
        }
    }
}

extension StartFailure {
    /// systemd.exec(5), "Process Exit Codes": what failed before the program was there.
    fileprivate init(_ status: Int64, _ command: Command, _ user: String?) {
        switch status {
        case 203: self = .program(command.arguments.first ?? "")
        case 216, 217: self = .user(user ?? "")
        case 200: self = .manager("systemd could not change to its directory")
        case 208, 209, 222: self = .manager("systemd could not hand over its input and output")
        case 219: self = .manager("systemd could not make its control group")
        case 228: self = .manager("systemd could not set its system call filter")
        default: self = .manager("systemd could not start it, exit status \(status); see systemd.exec(5)")
        }
    }
}
