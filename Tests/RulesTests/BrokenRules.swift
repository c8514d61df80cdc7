extension BrokenFile {
    static let rules = [
        BrokenFile(
            "rule without condition", "[rule.a]\nsettle = \"1s\"\n",
            [
                "1:7 missing-key: rule \"a\" needs \"on\" or \"off\""
            ]),
        BrokenFile(
            "network misspelt", "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = [\"wired\", \"offcie\"]\n",
            [
                "4:16 unknown-network: no network is called \"offcie\"; did you mean \"office\"?"
            ]),
        BrokenFile(
            "network unknown", "[network.office]\nssid = [\"Corp\"]\n[rule.a]\noff = \"moon\"\n",
            [
                "4:7 unknown-network: no network is called \"moon\""
            ]),
        BrokenFile(
            "condition as number", "[rule.a]\non = 1\n",
            [
                "2:6 wrong-type: expected the name of a network, a list of names or a table such as { all = [\"a\", \"b\"] }, found a number"
            ]),
        BrokenFile(
            "no networks", "[rule.a]\non = []\n",
            [
                "2:6 bad-value: the list is empty"
            ]),
        BrokenFile(
            "settle without unit", "[rule.a]\non = \"wired\"\nsettle = \"3\"\n",
            [
                "3:10 bad-value: expected a duration such as \"500ms\", \"3s\", \"2m\" or \"1h\""
            ]),
        BrokenFile(
            "settle as number", "[rule.a]\non = \"wired\"\nsettle = 3\n",
            [
                "3:10 wrong-type: expected a duration such as \"3s\", found a number"
            ]),
        BrokenFile(
            "settle negative", "[rule.a]\non = \"wired\"\nsettle = \"-3s\"\n",
            [
                "3:10 bad-value: expected a duration such as \"500ms\", \"3s\", \"2m\" or \"1h\""
            ]),
        BrokenFile(
            "settle too long", "[rule.a]\non = \"wired\"\nsettle = \"2h\"\n",
            [
                "3:10 bad-value: expected a duration from 0s to 1h"
            ]),
        BrokenFile(
            "settle overflows", "[rule.a]\non = \"wired\"\nsettle = \"9223372036854775807h\"\n",
            [
                "3:10 bad-value: expected a duration from 0s to 1h"
            ]),
        BrokenFile(
            "settle with fraction", "[rule.a]\non = \"wired\"\nsettle = \"1.5s\"\n",
            [
                "3:10 bad-value: expected a duration such as \"500ms\", \"3s\", \"2m\" or \"1h\""
            ]),
        BrokenFile(
            "mode", "[rule.a]\non = \"wired\"\nmode = \"enforce\"\n",
            [
                "3:8 bad-value: the only mode is \"observe\"; a rule that is to act has none"
            ]),
        BrokenFile(
            "enabled as number", "[rule.a]\non = \"wired\"\nenabled = 1\n",
            [
                "3:11 wrong-type: expected true or false, found a number"
            ]),
        BrokenFile(
            "ready misspelt", "[rule.a]\non = \"wired\"\nready = \"lnik\"\n",
            [
                "3:9 bad-value: expected \"link\", \"address\" or \"internet\"; did you mean \"link\"?"
            ]),
        BrokenFile(
            "rule key", "[rule.a]\non = \"wired\"\nsettel = \"3s\"\n",
            [
                "3:1 unknown-key: unknown key \"settel\" in a rule; did you mean \"settle\"?"
            ]),
        BrokenFile(
            "planned key misspelt", "[rule.a]\non = \"wired\"\nfirewal = { zone = \"home\" }\n",
            [
                "3:1 unknown-key: unknown key \"firewal\" in a rule; did you mean \"firewall\"?"
            ]),
        BrokenFile(
            "action alone", "[rule.a]\non = \"wired\"\nenter = { command = [\"/bin/true\"] }\n",
            [
                "3:9 wrong-type: expected a list of actions, such as [{ command = [\"/usr/bin/true\"] }], "
                    + "found a table"
            ]),
        BrokenFile(
            "action as text", "[rule.a]\non = \"wired\"\nenter = [\"/bin/true\"]\n",
            [
                "3:10 wrong-type: expected a table such as { command = [\"/usr/bin/true\"] }, found a string"
            ]),
        BrokenFile(
            "action without command", "[rule.a]\non = \"wired\"\nenter = [ { timeout = \"3s\" } ]\n",
            [
                "3:11 missing-key: the action needs \"command\", \"unit\", \"vpn\", \"notify\", \"lock\" or \"second-factor\""
            ]),
        BrokenFile(
            "relaxing", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/bin/true\"], relaxing = true } ]\n",
            [
                "2:6 weak-evidence: \"run /bin/true\" lowers protection on \"wired\", of which at most \"claimed\" can be known: describe a network that demands 802.1X or a probe, or say in \"accept-weak-evidence\" why that will do"
            ]),
        BrokenFile(
            "action key", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/bin/true\"], time-out = \"3s\" } ]\n",
            [
                "3:38 unknown-key: unknown key \"time-out\" in an action; did you mean \"timeout\"?"
            ]),
        BrokenFile(
            "command as text", "[rule.a]\non = \"wired\"\nenter = [ { command = \"/bin/true\" } ]\n",
            [
                "3:23 wrong-type: expected a list of a program and its arguments, such as "
                    + "[\"/usr/bin/logger\", \"hello\"], found a string"
            ]),
        BrokenFile(
            "empty command", "[rule.a]\non = \"wired\"\nenter = [ { command = [] } ]\n",
            [
                "3:23 bad-value: the list is empty"
            ]),
        BrokenFile(
            "relative command", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"logger\", \"x\"] } ]\n",
            [
                "3:24 unsafe-command: the program must be an absolute path: there is no search path"
            ]),
        BrokenFile(
            "climbing command", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/usr/bin/../../tmp/x\"] } ]\n",
            [
                "3:24 unsafe-command: the program's path must not contain \".\" or \"..\" nor end in \"/\""
            ]),
        BrokenFile(
            "dot in a command",
            "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/usr/./bin/x\"] } ]\n",
            [
                "3:24 unsafe-command: the program's path must not contain \".\" or \"..\" nor end in \"/\""
            ]),
        BrokenFile(
            "directory as command", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/usr/bin/\"] } ]\n",
            [
                "3:24 unsafe-command: the program's path must not contain \".\" or \"..\" nor end in \"/\""
            ]),
        BrokenFile(
            "NUL in an argument",
            "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/bin/true\", \"a\\u0000b\"] } ]\n",
            [
                "3:37 unsafe-command: an argument cannot hold a NUL"
            ]),
        BrokenFile(
            "timeout zero", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/bin/true\"], timeout = \"0s\" } ]\n",
            [
                "3:48 bad-value: expected a duration from 1ms to 24h"
            ]),
        BrokenFile(
            "date", "[rule.a]\non = 1979-05-27\n",
            [
                "2:6 wrong-type: expected the name of a network, a list of names or a table such as { all = [\"a\", \"b\"] }, found a date or time"
            ]),
        BrokenFile(
            "several at once",
            "[network.office]\nsid = [\"a\"]\nprivate = 1\n[rule.a]\non = \"moon\"\nenter = [ { command = [\"x\"] } ]\n",
            [
                "2:1 unknown-key: unknown key \"sid\" in a network; did you mean \"ssid\"?",
                "3:11 wrong-type: expected true or false, found a number",
                "5:6 unknown-network: no network is called \"moon\"",
                "6:24 unsafe-command: the program must be an absolute path: there is no search path",
            ]),
    ]
}
