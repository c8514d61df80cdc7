extension BrokenFile {
    /// Times, durations and other settings of rules.
    static let settings: [BrokenFile] = [
        .rule(
            "time as number", "time = 8",
            #"3:8 wrong-type: expected a time such as "mon-fri 08:00-18:00", or a list of such times, found a number"#),
        .rule(
            "time as TOML's own", "time = 08:00:00",
            #"3:8 wrong-type: expected a time such as "mon-fri 08:00-18:00", or a list of such times, found a date or time"#
        ),
        .rule(
            "time empty", #"time = """#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule("times empty", "time = []", "3:8 bad-value: the list is empty"),
        .rule(
            "time with a number in the list", #"time = ["mon", 5]"#,
            "3:16 wrong-type: expected a string, found a number"),
        .rule(
            "day in full", #"time = "monday""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "day of no week", #"time = "mon-fry""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "days without end", #"time = "mon-""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "days with an empty part", #"time = "mon,,tue""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "days with three ends", #"time = "mon-wed-fri""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours without minutes", #"time = "08-18""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours without zeros", #"time = "8:00-18:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hour beyond the day", #"time = "08:00-25:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "minute beyond the hour", #"time = "08:60-18:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "minute past midnight of the next day", #"time = "08:00-24:01""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours from midnight's end", #"time = "24:00-06:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours of no length", #"time = "08:00-08:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours in halves of the day", #"time = "08:00am-06:00pm""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours before days", #"time = "08:00-18:00 mon-fri""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours with spaces", #"time = "08:00 - 18:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours with a dash of print", "time = \"08:00\u{2013}18:00\"",
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "hours with a second", #"time = "08:00:00-18:00:00""#,
            #"3:8 bad-value: expected days, hours or both, such as "mon-fri 08:00-18:00", "sat,sun" or "22:00-06:00""#),
        .rule(
            "settle as people say it", #"settle = "3 seconds""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle with space", #"settle = "3 s""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle in microseconds", #"settle = "300us""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle with two units", #"settle = "1m30s""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle in capitals", #"settle = "3S""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle empty", #"settle = """#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle without number", #"settle = "s""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle with sign", #"settle = "+3s""#,
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle of other digits", "settle = \"\u{663}s\"",
            #"3:10 bad-value: expected a duration such as "500ms", "3s", "2m" or "1h""#),
        .rule(
            "settle as time", "settle = 00:00:03",
            #"3:10 wrong-type: expected a duration such as "3s", found a date or time"#),
        .rule(
            "ready as boolean", "ready = true",
            #"3:9 wrong-type: expected "link", "address" or "internet", found a boolean"#),
        .rule("ready of no kind", #"ready = "dns""#, #"3:9 bad-value: expected "link", "address" or "internet""#),
        .rule(
            "ready of a list", #"ready = ["address"]"#,
            #"3:9 wrong-type: expected "link", "address" or "internet", found a list"#),
        .rule("priority as text", #"priority = "high""#, "3:12 wrong-type: expected a whole number, found a string"),
        .rule("priority too high", "priority = 1001", "3:12 bad-value: expected a number from -1000 to 1000"),
        .rule("priority too low", "priority = -1001", "3:12 bad-value: expected a number from -1000 to 1000"),
        .rule(
            "priority in fractions", "priority = 1.5",
            "3:12 wrong-type: expected a whole number, found a floating-point number"),
        .rule(
            "priority beyond numbers", "priority = 9223372036854775808",
            "3:31 syntax: in decimal integer: '9223372036854775808' is not representable in 64 bits"),
        .rule("enabled as text", #"enabled = "true""#, "3:11 wrong-type: expected true or false, found a string"),
        .rule(
            "disabled", "disabled = true",
            #"3:1 unknown-key: unknown key "disabled" in a rule; did you mean "enabled"?"#),
        .rule("mode as boolean", "mode = true", #"3:8 wrong-type: expected "observe", found a boolean"#),
        .rule(
            "mode in capitals", #"mode = "Observe""#,
            #"3:8 bad-value: the only mode is "observe"; a rule that is to act has none"#),
        .rule(
            "mode misspelt", #"mode = "observ""#,
            #"3:8 bad-value: the only mode is "observe"; a rule that is to act has none"#),
        .rule(
            "observe as key", "observe = true",
            #"3:1 unknown-key: unknown key "observe" in a rule; did you mean "mode"?"#),
        .rule("user-hold as text", #"user-hold = "yes""#, "3:13 wrong-type: expected true or false, found a string"),
        .rule(
            "user-hold misspelt", "user_hold = true",
            #"3:1 unknown-key: unknown key "user_hold" in a rule; did you mean "user-hold"?"#),
        .rule(
            "accepted without reason", #"accept-weak-evidence = """#,
            "3:24 bad-value: say why weak evidence is enough: whoever reads the log will ask"),
        .rule(
            "accepted with blanks", #"accept-weak-evidence = "  \t ""#,
            "3:24 bad-value: say why weak evidence is enough: whoever reads the log will ask"),
        .rule(
            "accepted with true", "accept-weak-evidence = true",
            "3:24 wrong-type: expected text that says why weak evidence is enough, found a boolean"),
        .rule(
            "accepted misspelt", #"accept-week-evidence = "a test""#,
            #"3:1 unknown-key: unknown key "accept-week-evidence" in a rule; did you mean "accept-weak-evidence"?"#),
        .rule(
            "key of a network", #"security = ["wpa3-sae"]"#,
            #"3:1 unknown-key: "security" belongs to a network, this is a rule"#),
    ]
}
