extension BrokenFile {
    /// Notifications and second factors.
    static let prompts: [BrokenFile] = [
        .rule(
            "notification as list", #"notify = ["Hello"]"#,
            #"3:10 wrong-type: expected text, or a table such as { summary = "At work" }, found a list"#),
        .rule(
            "notification empty", #"notify = """#,
            "3:10 bad-value: expected text of 1 to 200 octets without control characters"),
        .rule(
            "notification of blanks", #"notify = "   ""#,
            "3:10 bad-value: expected text of 1 to 200 octets without control characters"),
        .rule(
            "notification with control character", #"notify = "\u001b[31mHello""#,
            "3:10 bad-value: expected text of 1 to 200 octets without control characters"),
        .rule(
            "notification too long", #"notify = ""# + String(repeating: "a", count: 201) + #"""#,
            "3:10 bad-value: expected text of 1 to 200 octets without control characters"),
        .rule(
            "notification without summary", #"notify = { body = "Careful" }"#,
            #"3:10 missing-key: the notification needs "summary""#),
        .rule(
            "notification key", #"notify = { title = "Hello" }"#,
            #"3:12 unknown-key: unknown key "title" in a notification; did you mean "summary"?"#),
        .rule(
            "notification urgency", #"notify = { summary = "Hello", urgency = "high" }"#,
            #"3:41 bad-value: expected "low", "normal" or "critical""#),
        .rule(
            "notification urgency misspelt", #"notify = { summary = "Hello", urgency = "critcal" }"#,
            #"3:41 bad-value: expected "low", "normal" or "critical"; did you mean "critical"?"#),
        .rule(
            "notification body as number", #"notify = { summary = "Hello", body = 5 }"#,
            "3:38 wrong-type: expected a string, found a number"),
        .rule(
            "notification body too long",
            #"notify = { summary = "Hello", body = ""# + String(repeating: "a", count: 1001) + #"" }"#,
            "3:38 bad-value: expected text of 1 to 1000 octets without control characters"),
        .rule(
            "second factor as boolean", "second-factor = true",
            #"3:17 wrong-type: expected a table such as { message = "Confirm your sign-in" }, found a boolean"#),
        .rule(
            "second factor without message", #"second-factor = { timeout = "1m" }"#,
            #"3:17 missing-key: the second factor needs "message""#),
        .rule(
            "second factor message empty", #"second-factor = { message = "" }"#,
            "3:29 bad-value: expected text of 1 to 200 octets without control characters"),
        .rule(
            "second factor timeout too short", #"second-factor = { message = "Confirm", timeout = "1s" }"#,
            "3:50 bad-value: expected a duration from 5s to 1h"),
        .rule(
            "second factor timeout too long", #"second-factor = { message = "Confirm", timeout = "2h" }"#,
            "3:50 bad-value: expected a duration from 5s to 1h"),
        .rule(
            "second factor attempts", #"second-factor = { message = "Confirm", attempts = 0 }"#,
            "3:51 bad-value: expected a number from 1 to 10"),
        .rule(
            "second factor attempts without end", #"second-factor = { message = "Confirm", attempts = 11 }"#,
            "3:51 bad-value: expected a number from 1 to 10"),
        .rule(
            "second factor attempts as text", #"second-factor = { message = "Confirm", attempts = "3" }"#,
            "3:51 wrong-type: expected a whole number, found a string"),
        .rule(
            "second factor grace too long", #"second-factor = { message = "Confirm", grace = "25h" }"#,
            "3:48 bad-value: expected a duration from 0s to 24h"),
        .rule(
            "second factor key", #"second-factor = { message = "Confirm", on-fail = "disconnect" }"#,
            #"3:40 unknown-key: unknown key "on-fail" in a second factor; did you mean "on-failure"?"#),
        .rule(
            "second factor misspelt", #"second_factor = { message = "Confirm" }"#,
            #"3:1 unknown-key: unknown key "second_factor" in a rule; did you mean "second-factor"?"#),
        .rule(
            "consequence misspelt", #"second-factor = { message = "Confirm", on-failure = "lock-sesion" }"#,
            #"3:53 bad-value: expected "lock-session", "disconnect" or a table with "vpn", "hold" or "command"; did you mean "lock-session"?"#
        ),
        .rule(
            "consequence of no kind", #"second-factor = { message = "Confirm", on-failure = "shutdown" }"#,
            #"3:53 bad-value: expected "lock-session", "disconnect" or a table with "vpn", "hold" or "command""#),
        .rule(
            "consequence as number", #"second-factor = { message = "Confirm", on-failure = 5 }"#,
            #"3:53 wrong-type: expected "lock-session", "disconnect" or a table, found a number"#),
        .rule(
            "consequence of nothing", #"second-factor = { message = "Confirm", on-failure = {} }"#,
            #"3:53 missing-key: the table needs "vpn", "hold" or "command""#),
        .rule(
            "consequence of two kinds",
            #"second-factor = { message = "Confirm", on-failure = { hold = "a", command = ["/bin/true"] } }"#,
            "3:67 bad-value: a table has one consequence: put several into [{ … }, { … }]"),
        .rule(
            "consequence of a command that is missing",
            #"second-factor = { message = "Confirm", on-failure = { timeout = "1s" } }"#,
            #"3:53 missing-key: the table needs "vpn", "hold" or "command""#),
        .rule(
            "consequence key", #"second-factor = { message = "Confirm", on-failure = { lock = true } }"#,
            #"3:55 unknown-key: unknown key "lock" in a consequence; known are vpn, hold, command"#),
        .rule(
            "consequence key misspelt",
            #"second-factor = { message = "Confirm", on-failure = { comand = ["/bin/true"] } }"#,
            #"3:55 unknown-key: unknown key "comand" in a consequence; did you mean "command"?"#),
        .rule(
            "consequence with a relative command",
            #"second-factor = { message = "Confirm", on-failure = [{ command = ["true"] }] }"#,
            "3:67 unsafe-command: the program must be an absolute path: there is no search path"),
        .rule(
            "consequence with a broken vpn",
            #"second-factor = { message = "Confirm", on-failure = [{ vpn = { wg-quick = "wg0" } }] }"#,
            #"3:62 missing-key: the vpn needs "state""#),
        .rule(
            "consequence of a rule unknown",
            #"second-factor = { message = "Confirm", on-failure = [{ hold = "moon" }] }"#,
            #"3:63 unknown-rule: no rule is called "moon""#),
        .file(
            "consequence of a rule misspelt",
            """
            [rule.away]
            off = "wired"
            [rule.a]
            on = "wired"
            second-factor = { message = "Confirm", on-failure = { hold = "awya" } }

            """,
            #"5:62 unknown-rule: no rule is called "awya"; did you mean "away"?"#),
        .rule(
            "consequence of a rule as number", #"second-factor = { message = "Confirm", on-failure = { hold = 1 } }"#,
            "3:62 wrong-type: expected the name of a rule, found a number"),
    ]
}
