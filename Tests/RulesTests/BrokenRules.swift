extension BrokenFile {
    static let rules = [
        BrokenFile(
            "rule without condition", "[rule.a]\nsettle = \"1s\"\n",
            [
                "1:7 missing-key: rule \"a\" needs \"on\" or \"off\""
            ]),
        BrokenFile(
            "on and off", "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = \"wired\"\noff = \"office\"\n",
            [
                "5:1 unsupported: \"on\" and \"off\" in one rule is not supported yet"
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
            "network planned", "[rule.a]\non = \"metered\"\n",
            [
                "2:6 unsupported: the built-in network \"metered\" is not supported yet"
            ]),
        BrokenFile(
            "condition as table", "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = { all = [\"office\"] }\n",
            [
                "4:6 unsupported: a condition of \"all\", \"any\" and \"not\" is not supported yet"
            ]),
        BrokenFile(
            "condition in list",
            "[network.office]\nssid = [\"Corp\"]\n[rule.a]\non = [\"office\", { not = \"wired\" }]\n",
            [
                "4:17 unsupported: a condition of \"all\", \"any\" and \"not\" is not supported yet"
            ]),
        BrokenFile(
            "condition as number", "[rule.a]\non = 1\n",
            [
                "2:6 wrong-type: expected the name of a network or a list of names, found a number"
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
                "3:8 bad-value: the only mode is \"observe\""
            ]),
        BrokenFile(
            "enabled as number", "[rule.a]\non = \"wired\"\nenabled = 1\n",
            [
                "3:11 wrong-type: expected true or false, found a number"
            ]),
        BrokenFile(
            "ready", "[rule.a]\non = \"wired\"\nready = \"address\"\n",
            [
                "3:9 unsupported: any \"ready\" but \"link\" is not supported yet"
            ]),
        BrokenFile(
            "ready misspelt", "[rule.a]\non = \"wired\"\nready = \"lnik\"\n",
            [
                "3:9 bad-value: expected \"link\", \"address\" or \"internet\""
            ]),
        BrokenFile(
            "planned rule key", "[rule.a]\non = \"wired\"\nproxy = { pac = \"https://pac.corp.example/proxy.pac\" }\n",
            [
                "3:1 unsupported: \"proxy\" in a rule is not supported yet"
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
                "3:9 wrong-type: expected a list of actions, such as [ { command = [\"/usr/bin/true\"] } ], "
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
                "3:11 missing-key: the action needs \"command\""
            ]),
        BrokenFile(
            "planned action",
            "[rule.a]\non = \"wired\"\nleave = [ { unit = { name = \"x.mount\", state = \"stopped\" } } ]\n",
            [
                "3:13 unsupported: \"unit\" in an action is not supported yet"
            ]),
        BrokenFile(
            "relaxing", "[rule.a]\non = \"wired\"\nenter = [ { command = [\"/bin/true\"], relaxing = true } ]\n",
            [
                "3:38 unsupported: \"relaxing\" in an action is not supported yet"
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
                "2:6 wrong-type: expected the name of a network or a list of names, found a date"
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
