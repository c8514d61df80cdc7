extension BrokenFile {
    /// Proxies.
    static let proxies: [BrokenFile] = [
        .rule(
            "proxy as text", #"proxy = "http://proxy.example:3128""#,
            #"3:9 wrong-type: expected a table such as { pac = "https://pac.corp.example/proxy.pac" }, found a string"#),
        .rule(
            "proxy of nothing", "proxy = {}",
            #"3:9 missing-key: the proxy needs "http", "https", "socks", "pac" or "mode""#),
        .rule(
            "proxy of exclusions alone", #"proxy = { no-proxy = ["localhost"] }"#,
            #"3:9 missing-key: the proxy needs "http", "https", "socks", "pac" or "mode""#),
        .rule(
            "proxy mode", #"proxy = { mode = "direct" }"#,
            #"3:18 bad-value: expected "manual", "pac", "auto" or "none""#),
        .rule(
            "proxy mode misspelt", #"proxy = { mode = "manul", http = "http://proxy.example:3128" }"#,
            #"3:18 bad-value: expected "manual", "pac", "auto" or "none"; did you mean "manual"?"#),
        .rule(
            "proxy mode manual alone", #"proxy = { mode = "manual" }"#,
            #"3:9 missing-key: mode "manual" needs "http", "https" or "socks""#),
        .rule("proxy mode pac alone", #"proxy = { mode = "pac" }"#, #"3:9 missing-key: mode "pac" needs "pac""#),
        .rule(
            "proxy mode none with server", #"proxy = { mode = "none", http = "http://proxy.example:3128" }"#,
            #"3:26 contradictory: "http" says nothing with mode "none""#),
        .rule(
            "proxy mode auto with script", #"proxy = { mode = "auto", pac = "https://pac.example/" }"#,
            #"3:26 contradictory: "pac" says nothing with mode "auto""#),
        .rule(
            "proxy mode pac with server",
            #"proxy = { pac = "https://pac.example/", http = "http://proxy.example:3128" }"#,
            #"3:41 contradictory: "http" says nothing with mode "pac""#),
        .rule(
            "proxy mode manual with script", #"proxy = { mode = "manual", pac = "https://pac.example/" }"#,
            #"3:28 contradictory: "pac" says nothing with mode "manual""#),
        .rule(
            "proxy script with exclusions", #"proxy = { pac = "https://pac.example/", no-proxy = ["localhost"] }"#,
            #"3:41 contradictory: "no-proxy" says nothing with mode "pac""#),
        .rule(
            "proxy key", #"proxy = { htpp = "http://proxy.example:3128" }"#,
            #"3:11 unknown-key: unknown key "htpp" in a proxy; did you mean "http"?"#),
        .rule(
            "proxy key of the environment", #"proxy = { http_proxy = "http://proxy.example:3128" }"#,
            #"3:11 unknown-key: unknown key "http_proxy" in a proxy; did you mean "http"?"#),
        .rule(
            "proxy target", #"proxy = { mode = "none", targets = ["firefox"] }"#,
            "3:37 bad-value: expected one of gnome, kde, environment, apt, file"),
        .rule(
            "proxy target misspelt", #"proxy = { mode = "none", targets = ["gnom"] }"#,
            #"3:37 bad-value: expected one of gnome, kde, environment, apt, file; did you mean "gnome"?"#),
        .rule(
            "proxy targets as text", #"proxy = { mode = "none", targets = "gnome" }"#,
            #"3:36 wrong-type: expected a list such as ["gnome", "apt"], found a string"#),
        .rule("proxy targets empty", #"proxy = { mode = "none", targets = [] }"#, "3:36 bad-value: the list is empty"),
        .rule(
            "exclusions as text", #"proxy = { http = "http://proxy.example:3128", no-proxy = "localhost,.example" }"#,
            #"3:58 wrong-type: expected a list such as ["localhost", ".corp.example"], found a string"#),
        .rule(
            "exclusion of everything", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["*"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusions in one", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["a.example,b.example"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion with quotes", #"proxy = { http = "http://proxy.example:3128", no-proxy = ['a"b'] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion with host bits", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["10.0.0.1/8"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion with a line break", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["a\nb"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion as URL", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["http://a.example"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion with a dot at the end",
            #"proxy = { http = "http://proxy.example:3128", no-proxy = ["a.example."] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion empty", #"proxy = { http = "http://proxy.example:3128", no-proxy = [""] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "exclusion with a port", #"proxy = { http = "http://proxy.example:3128", no-proxy = ["a.example:80"] }"#,
            #"3:59 bad-value: expected a host, a domain such as ".corp.example", an address or a range such as "10.0.0.0/8""#
        ),
        .rule(
            "script as list", #"proxy = { pac = ["https://pac.example/"] }"#,
            "3:17 wrong-type: expected a string, found a list"),
        .rule(
            "script in a file", #"proxy = { pac = "file:///etc/proxy.pac" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script with credentials", #"proxy = { pac = "https://a:b@pac.example/proxy.pac" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script with a query", #"proxy = { pac = "https://pac.example/proxy.pac?a=b" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script with an escape", #"proxy = { pac = "https://pac.example/a%20b" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script with quotes", #"proxy = { pac = 'https://pac.example/a"b' }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script in the text", #"proxy = { pac = "data:text/plain,x" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "script of code", #"proxy = { pac = "javascript:alert(1)" }"#,
            #"3:17 bad-value: expected "https://HOST/PATH", the path of A-Z a-z 0-9 / - . _ ~ only, without credentials or query"#
        ),
        .rule(
            "server as table", #"proxy = { http = { host = "proxy.example", port = 3128 } }"#,
            "3:18 wrong-type: expected a string, found a table"),
    ]
}
