import JSON
import Testing

@Suite struct JSONWriterTests {
    @Test func placesCommas() {
        var writer = JSONWriter()
        writer.object {
            $0.field("type", "wifi.joined")
            $0.field("seq", 42)
            $0.field("cause", String?.none)
            $0.object("wifi") {
                $0.field("ssid_hex", hexadecimal: [0x00, 0xAB, 0xFF])
                $0.field("private", false)
                $0.array("links") {
                    $0.integer(Int64.min)
                    $0.integer(UInt64.max)
                    $0.array { _ in }
                    $0.object { _ in }
                    $0.null()
                }
            }
            $0.field("signal_dbm", Int8?(-30))
        }
        writer.endLine()
        writer.bool(true)
        #expect(
            writer.text == """
                {"type":"wifi.joined","seq":42,"cause":null,"wifi":{"ssid_hex":"00abff","private":false,\
                "links":[-9223372036854775808,18446744073709551615,[],{},null]},"signal_dbm":-30}
                true
                """)
    }

    @Test func passesOnWhatABodyThrows() {
        struct Refused: Error {}
        var writer = JSONWriter()
        do throws(Refused) {
            try writer.object { (_: inout JSONWriter) throws(Refused) in throw Refused() }
            Issue.record("the body's error was lost")
        } catch {}
        writer.removeAll()
        writer.integer(0)
        #expect(writer.text == "0")
    }

    @Test(
        arguments: [
            ("", #""""#),
            ("a\"b\\c/", #""a\"b\\c/""#),
            ("\u{8}\t\n\u{C}\r", #""\b\t\n\f\r""#),
            ("\0\u{1B}]0;pwn\u{7}", #""\u0000\u001b]0;pwn\u0007""#),
            ("\u{7F}\u{9B}31m", #""\u007f\u009b31m""#),
            ("\u{2028}\u{202E}\u{200B}", #""\u2028\u202e\u200b""#),
            ("Caf\u{E9} Cafe\u{301}", #""Caf\u00e9 Cafe\u0301""#),
            ("\u{7FF}\u{800}\u{FFFF}\u{10000}\u{10FFFF}", #""\u07ff\u0800\uffff\ud800\udc00\udbff\udfff""#),
            ("📶x", #""\ud83d\udcf6x""#),
            ("${ssid} `id` <b>&</b> %n", #""${ssid} `id` <b>&</b> %n""#),
        ] as [(String, String)])
    func writesPrintableASCIIOnly(text: String, expected: String) {
        var writer = JSONWriter()
        writer.string(text)
        #expect(writer.text == expected)
        #expect(writer.octets.allSatisfy { (0x20...0x7E).contains($0) })
    }

    @Test func writesNumbersThatReadBack() throws {
        for number in [0, -0.5, 1.5, 1e300, .leastNonzeroMagnitude, 0.1, 123456.789, Double(1 << 60)] {
            var writer = JSONWriter()
            writer.number(number)
            #expect(try JSONValue(parsing: writer.octets, maximumSize: 64).number == number)
        }
        var writer = JSONWriter()
        writer.array {
            $0.number(.infinity)
            $0.number(.nan)
        }
        #expect(writer.text == "[null,null]")
    }

    @Test func copiesJSONTextVerbatim() {
        var writer = JSONWriter()
        writer.array {
            $0.verbatim(#"{"a":1}"#.utf8)
            $0.verbatim("2".utf8)
        }
        #expect(writer.text == #"[{"a":1},2]"#)
    }

    @Test func readsBackWhatItWrote() throws {
        let text = #"{"a":[1,-2,3.5,"\u0000\ud83d\udcf6",null,true,{"b":{}}],"Caf\u00e9":1,"Cafe\u0301":2}"#
        let value = try JSONValue(parsing: text.utf8, maximumSize: 1_000)
        var writer = JSONWriter()
        writer.value(value)
        #expect(writer.text == text)
    }

    @Test func readsBackEveryScalar() throws {
        var every = ""
        for number in UInt32(0)...0x10FFFF
        where number % 37 == 0 || number < 0x3000 || number > 0xFF00 && number < 0x10100 {
            if let scalar = Unicode.Scalar(number) { every.unicodeScalars.append(scalar) }
        }
        var writer = JSONWriter()
        writer.string(every)
        let value = try JSONValue(parsing: writer.octets, maximumSize: .max)
        #expect(value == .string(every))
    }
}
