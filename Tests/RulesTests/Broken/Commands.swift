extension BrokenFile {
    /// Commands and lists of actions.
    static let commands: [BrokenFile] = [
        .rule(
            "command as text", #"command = "/bin/true""#,
            #"3:11 wrong-type: expected a list of a program and its arguments, such as ["/usr/bin/logger", "hello"], found a string"#
        ),
        .rule(
            "command with a number", #"command = ["/usr/bin/sleep", 5]"#,
            "3:30 wrong-type: expected a string, found a number"),
        .rule(
            "command of a shell line", #"command = ["/bin/true && /bin/false", 5]"#,
            "3:39 wrong-type: expected a string, found a number"),
        .rule(
            "command in the home directory", #"command = ["~/bin/x"]"#,
            "3:12 unsafe-command: the program must be an absolute path: there is no search path"),
        .rule(
            "command of a variable", #"command = ["$HOME/bin/x"]"#,
            "3:12 unsafe-command: the program must be an absolute path: there is no search path"),
        .rule(
            "command empty", #"command = [""]"#,
            "3:12 unsafe-command: the program must be an absolute path: there is no search path"),
        .rule(
            "command of the root", #"command = ["/"]"#,
            #"3:12 unsafe-command: the program's path must not contain "." or ".." nor end in "/""#),
        .rule(
            "command that climbs", #"command = ["/usr/bin/../x"]"#,
            #"3:12 unsafe-command: the program's path must not contain "." or ".." nor end in "/""#),
        .rule(
            "command with NUL", #"command = ["/bin/tr\u0000ue"]"#,
            "3:12 unsafe-command: an argument cannot hold a NUL"),
        .rule(
            "timeout alone", #"timeout = "5s""#,
            #"3:1 missing-key: "timeout" belongs to a "command", which is missing"#),
        .rule("user alone", #"user = "alice""#, #"3:1 missing-key: "user" belongs to a "command", which is missing"#),
        .rule(
            "relaxing alone", "relaxing = true",
            #"3:1 missing-key: "relaxing" belongs to a "command", which is missing"#),
        .rule(
            "timeout too long", "command = [\"/bin/true\"]\ntimeout = \"25h\"",
            "4:11 bad-value: expected a duration from 1ms to 24h"),
        .rule(
            "timeout as number", "command = [\"/bin/true\"]\ntimeout = 5",
            #"4:11 wrong-type: expected a duration such as "3s", found a number"#),
        .rule(
            "timeout misspelt", "command = [\"/bin/true\"]\ntimeot = \"5s\"",
            #"4:1 unknown-key: unknown key "timeot" in a rule; did you mean "timeout"?"#),
        .rule(
            "user as number", "command = [\"/bin/true\"]\nuser = 1000",
            "4:8 wrong-type: expected the name of a user, found a number"),
        .rule(
            "user as number in text", "command = [\"/bin/true\"]\nuser = \"1000\"",
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "user with a space", "command = [\"/bin/true\"]\nuser = \"al ice\"",
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "user like an option", "command = [\"/bin/true\"]\nuser = \"-u\"",
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "user too long", "command = [\"/bin/true\"]\nuser = \"" + String(repeating: "a", count: 33) + #"""#,
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "user empty", "command = [\"/bin/true\"]\nuser = \"\"",
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "user of another domain", "command = [\"/bin/true\"]\nuser = \"CORP\\\\alice\"",
            #"4:8 bad-value: expected the name of a user, such as "alice"; no number"#),
        .rule(
            "relaxing as text", "command = [\"/bin/true\"]\nrelaxing = \"no\"",
            "4:12 wrong-type: expected true or false, found a string"),
        .rule(
            "enter as text", #"enter = "/bin/true""#,
            #"3:9 wrong-type: expected a list of actions, such as [{ command = ["/usr/bin/true"] }], found a string"#),
        .rule(
            "enter as command", #"enter = ["/usr/bin/logger", "hello"]"#,
            #"3:10 wrong-type: expected a table such as { command = ["/usr/bin/true"] }, found a string"#,
            #"3:29 wrong-type: expected a table such as { command = ["/usr/bin/true"] }, found a string"#),
        .rule(
            "enter misspelt", #"entre = [{ command = ["/bin/true"] }]"#,
            #"3:1 unknown-key: unknown key "entre" in a rule; did you mean "enter"?"#),
        .rule(
            "leave as table", #"leave = { command = ["/bin/true"] }"#,
            #"3:9 wrong-type: expected a list of actions, such as [{ command = ["/usr/bin/true"] }], found a table"#),
        .rule(
            "leave as on-leave", #"on-leave = [{ command = ["/bin/true"] }]"#,
            #"3:1 unknown-key: unknown key "on-leave" in a rule; did you mean "leave"?"#),
        .entering(
            "action of nothing", "{}",
            #"3:10 missing-key: the action needs "command", "unit", "vpn", "notify", "lock" or "second-factor""#),
        .entering(
            "two actions", #"{ command = ["/bin/true"], lock = true }"#,
            "3:37 bad-value: a table has one action: put several into [{ … }, { … }], in the order in which they are done"
        ),
        .entering(
            "proxy as action", #"{ proxy = { mode = "none" } }"#,
            #"3:12 bad-value: "proxy" holds as long as the rule does, so it stands in the rule itself"#),
        .entering(
            "firewall as action", #"{ firewall = { zone = "public" } }"#,
            #"3:12 bad-value: "firewall" holds as long as the rule does, so it stands in the rule itself"#),
        .entering(
            "pam as action", #"{ pam = "require" }"#,
            #"3:12 bad-value: "pam" holds as long as the rule does, so it stands in the rule itself"#),
        .entering(
            "action misspelt", #"{ comand = ["/bin/true"] }"#,
            #"3:12 unknown-key: unknown key "comand" in an action; did you mean "command"?"#),
        .entering(
            "timeout of a notification", #"{ notify = "Hello", timeout = "5s" }"#,
            #"3:30 unknown-key: "timeout" belongs to a "command""#),
        .entering(
            "settle of an action", #"{ command = ["/bin/true"], settle = "5s" }"#,
            #"3:37 unknown-key: unknown key "settle" in an action; known are command, unit, vpn, notify, lock, second-factor, user, timeout, relaxing"#
        ),
        .entering(
            "list of lists", #"[{ command = ["/bin/true"] }]"#,
            #"3:10 wrong-type: expected a table such as { command = ["/usr/bin/true"] }, found a list"#),
        .entering(
            "shell", #"{ shell = "true" }"#,
            #"3:12 unknown-key: unknown key "shell" in an action; known are command, unit, vpn, notify, lock, second-factor, user, timeout, relaxing"#
        ),
        .rule("lock off", "lock = false", "3:8 bad-value: only true says anything here"),
        .rule("lock as text", #"lock = "now""#, "3:8 wrong-type: expected true or false, found a string"),
    ]
}
