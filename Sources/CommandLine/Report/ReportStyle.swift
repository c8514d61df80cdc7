/// How a report looks. The page names the hash of this text, so that nothing else in it can be a style.
///
/// Colours are told apart with every kind of colour blindness (after Okabe and Ito) and stand out from the paper by 3 : 1
/// at least, texts by 4.5 : 1.
enum ReportStyle {
    static let text: StaticString = """
        :root{color-scheme:light dark;--paper:#fdfdfc;--ink:#1b1e23;--soft:#5d6470;--line:#e3e4e1;--track:#f0f1ee;\
        --c0:#2b6cb8;--c1:#c47a0c;--c2:#17876a;--c3:#ae568c;--c4:#4798c6;--c5:#79818d;--c6:#aab0b8;--bad:#bf3617;\
        --good:#17876a}
        @media (prefers-color-scheme:dark){:root{--paper:#15171b;--ink:#e9eaec;--soft:#a2a9b4;--line:#2c3037;\
        --track:#1e2126;--c0:#5f9ae0;--c1:#d99b3c;--c2:#41ad8a;--c3:#cf83b2;--c4:#8ac4e6;--c5:#8d95a1;--c6:#5f6671;\
        --bad:#f5866a;--good:#48b994}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--paper);color:var(--ink);font:15px/1.5 system-ui,-apple-system,"Segoe UI",\
        Roboto,"Noto Sans","DejaVu Sans",sans-serif;font-variant-numeric:tabular-nums}
        main{max-width:940px;margin:0 auto;padding:56px 28px 72px}
        h1{font-size:30px;line-height:1.2;letter-spacing:-.015em;font-weight:650;margin:0}
        h2{font-size:17px;font-weight:650;margin:0 0 4px}
        p{margin:0}
        .sub{color:var(--soft);margin-top:6px}
        section{margin-top:52px}
        section>p{color:var(--soft);margin-bottom:18px}
        dl{display:grid;grid-template-columns:repeat(auto-fit,minmax(112px,1fr));gap:24px 28px;margin:36px 0 0;\
        padding:22px 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
        dl div{display:flex;flex-direction:column-reverse;justify-content:flex-end}
        dt{color:var(--soft);font-size:13px;line-height:1.35}
        dd{margin:0;font-size:27px;line-height:1.25;letter-spacing:-.02em;font-weight:600;white-space:nowrap}
        dd small{font-size:15px;font-weight:500;letter-spacing:0;color:var(--soft);margin-left:3px}
        .legend{list-style:none;display:flex;flex-wrap:wrap;gap:4px 20px;margin:0 0 14px;padding:0;font-size:13px}
        .legend svg{width:11px;height:11px;margin-right:7px;vertical-align:-1px}
        .scroll{overflow-x:auto}
        .chart{display:block;width:100%;min-width:640px;height:auto}
        .chart text{fill:var(--soft);font:12px system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","DejaVu Sans",\
        sans-serif}
        .chart .day{fill:var(--ink)}
        .chart .free{fill:var(--soft)}
        .chart .end{text-anchor:end}
        .chart .mid{text-anchor:middle}
        .grid{stroke:var(--line);stroke-width:1}
        .track{fill:var(--track)}
        .c0{fill:var(--c0)}.c1{fill:var(--c1)}.c2{fill:var(--c2)}.c3{fill:var(--c3)}.c4{fill:var(--c4)}\
        .c5{fill:var(--c5)}.c6{fill:var(--c6)}.bad{fill:var(--bad)}.good{fill:var(--good)}
        .mark{fill:var(--bad);stroke:var(--paper);stroke-width:1.5}
        table{border-collapse:collapse;width:100%;font-size:14px}
        th{text-align:left;font-weight:500;color:var(--soft);font-size:13px;padding:0 0 7px;white-space:nowrap;\
        border-bottom:1px solid var(--line)}
        td,tbody th{padding:8px 0;border-bottom:1px solid var(--line);vertical-align:middle}
        tbody th{color:var(--ink);font-size:14px;font-weight:500;white-space:normal;overflow-wrap:anywhere;\
        min-width:90px;max-width:260px}
        td+td,th+td,th+th{padding-left:20px}
        td{overflow-wrap:anywhere}
        .n{text-align:right;white-space:nowrap}
        .when,.note{white-space:nowrap}
        td.soft,span.soft{color:var(--soft)}
        td.bar{width:38%;min-width:120px}
        td.bar svg{display:block;width:100%;height:12px}
        tbody tr:last-child>*{border-bottom:0}
        .dot{width:11px;height:11px;margin-right:9px;vertical-align:-1px}
        details{margin-top:16px;font-size:14px}
        summary{cursor:pointer;color:var(--soft);width:fit-content}
        summary:focus-visible{outline:2px solid var(--c0);outline-offset:3px}
        details table{margin-top:12px;font-size:13px}
        details td,details tbody th{padding:4px 0;font-size:13px}
        footer{margin-top:60px;padding-top:18px;border-top:1px solid var(--line);color:var(--soft);font-size:13px}
        footer p+p{margin-top:5px}
        @media (max-width:560px){main{padding:32px 18px 48px}h1{font-size:25px}td.bar,.opt{display:none}\
        .wide{min-width:600px}}
        @media print{:root{color-scheme:light;--paper:#fff;--ink:#1b1e23;--soft:#5d6470;--line:#dcddda;--track:#f0f1ee;\
        --c0:#2b6cb8;--c1:#c47a0c;--c2:#17876a;--c3:#ae568c;--c4:#4798c6;--c5:#79818d;--c6:#aab0b8;--bad:#bf3617;\
        --good:#17876a}
        *{print-color-adjust:exact;-webkit-print-color-adjust:exact}
        body{font-size:10pt}dl{grid-template-columns:repeat(6,auto);gap:16px}dd{font-size:20px}dt{font-size:11px}\
        table,tbody th{font-size:9pt}th{font-size:8.5pt}td,tbody th{padding:5px 0}td+td,th+td,th+th{padding-left:12px}\
        td.bar{width:26%;min-width:0}main{max-width:none;padding:0}section{margin-top:30px;break-inside:avoid}\
        section.long{break-inside:auto}tr,.legend{break-inside:avoid}h2{break-after:avoid}.scroll{overflow:visible}\
        .chart{min-width:0}details{display:none}a{color:inherit}@page{margin:16mm}}

        """
}
