import Glibc
import Platform
import Probing
import Testing

extension ProbingTests {
    /// Whose answer comes, the server's or a captive portal's.
    @Suite(.serialized) struct PageTests {
        /// Answers each connection with these pieces, one after the other, and keeps what was asked.
        private final class Server: Sendable {
            let listener: Listener
            private let said: Lock<[UInt8]>

            init(_ pieces: [String], hangsUp: Bool = true) throws {
                let said = Lock<[UInt8]>([])
                self.said = said
                listener = try Listener { connection in
                    var buffer = [UInt8](repeating: 0, count: 4_096)
                    while !said.withLock({ $0 }).suffix(4).elementsEqual("\r\n\r\n".utf8) {
                        let count = read(connection, &buffer, buffer.count)
                        guard count > 0 else { return }
                        said.withLock { $0 += buffer[..<count] }
                    }
                    for piece in pieces { Listener.send(Array(piece.utf8), to: connection) }
                    if !hangsUp { Listener.waitForEnd(connection) }
                }
            }

            var request: String { String(decoding: said.withLock { $0 }, as: UTF8.self) }
        }

        private static let online = "NetworkManager is online"

        private static let answers: [(String, String?, ProbeOutcome)] = [
            ("HTTP/1.1 204 No Content\r\n\r\n", nil, .online),
            ("HTTP/1.0 204 No Content\r\nX: y\r\n\r\n", "OK", .online),
            ("HTTP/1.1 200 OK\r\n\r\n\(online)\n", nil, .online),
            ("HTTP/1.1 200 OK\n\n\(online)", nil, .online),
            ("HTTP/1.1 200 OK\r\nX-NetworkManager-Status: online\r\n\r\n", nil, .online),
            ("HTTP/1.1 200 OK\r\nx-networkmanager-status:ONLINE\r\n\r\nanything", nil, .online),
            ("HTTP/1.1 200 OK\r\n\r\nOK", "OK", .online),
            ("HTTP/1.1 200 OK\r\n\r\nOK, and more", "OK", .online),
            ("HTTP/1.1 200 OK\r\n\r\nO", "OK", .captured),
            ("HTTP/1.1 200 OK\r\n\r\n\(online)", "OK", .captured),
            ("HTTP/1.1 200 OK\r\nX-NetworkManager-Status: online\r\n\r\n", "OK", .captured),
            ("HTTP/1.1 200 OK\r\n\r\n<html>Welcome to our hotel", nil, .captured),
            ("HTTP/1.1 200 OK\r\n\r\n", nil, .captured),
            ("HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n", nil, .captured),
            ("HTTP/1.1 404 Not Found\r\n\r\n\(online)", nil, .captured),
            ("HTTP/1.1 511 Network Authentication Required\r\n\r\n", nil, .captured),
            ("HTTP/1.1 500 Oops\r\n\r\n\(online)", nil, .unexpected),
            ("HTTP/1.1 204 No Content\r\nwithout an end", nil, .unexpected),
            ("HTTP/1.1 2o4 No\r\n\r\n", nil, .unexpected), ("HTTP/1.1204 No\r\n\r\n", nil, .unexpected),
            ("HTTP/2 204\r\n\r\n", nil, .unexpected), ("SSH-2.0-OpenSSH\r\n\r\n", nil, .unexpected),
            ("\r\n\r\n", nil, .unexpected), ("", nil, .unexpected), ("HTTP/1.1 020 x\r\n\r\n", nil, .unexpected),
        ]

        @Test(arguments: answers.indices) func tellsWhoseAnswerItIs(row: Int) throws {
            let (answer, response, expected) = Self.answers[row]
            let server = try Server([answer])
            #expect(try Stage.outcome(of: .page(server.listener.port, response)) == expected, "\(answer)")
        }

        /// What is known is not waited for.
        @Test func waitsForNoMoreThanItNeeds() throws {
            for (pieces, expected) in [
                (["HTTP/1.1 2", "04 No Content\r", "\n\r", "\n"], .online),
                (["HTTP/1.1 200 OK\r\n\r\n", "Network", "Manager is online"], .online),
                (["HTTP/1.1 200 OK\r\n\r\n", "Net", "flix"], .captured), (["220 mail.example ESMTP"], .unexpected),
            ] as [([String], ProbeOutcome)] {
                let server = try Server(pieces, hangsUp: false)
                let result = try Stage.result(of: .page(server.listener.port))
                #expect(result.outcome == expected)
                #expect(result.duration < 2.5, "\(pieces)")
            }
        }

        @Test func readsNoMoreThanItNeeds() throws {
            let endless = String(repeating: "X: y\r\n", count: 1 << 20)
            let server = try Server(["HTTP/1.1 200 OK\r\n", endless])
            #expect(try Stage.outcome(of: .page(server.listener.port)) == .unexpected)
        }

        @Test func waitsNoLongerThanAllowed() throws {
            let server = try Server(["HTTP/1.1 200 OK\r\n\r\nNetwork"], hangsUp: false)
            let result = try Stage.result(of: .page(server.listener.port, timeout: 500_000))
            #expect(result.outcome == .timedOut)
            #expect(result.duration < 2)
        }

        /// All that a stranger learns.
        @Test func saysNothingOfTheMachine() throws {
            let server = try Server(["HTTP/1.1 204 No Content\r\n\r\n"])
            let port = server.listener.port
            #expect(try Stage.outcome(of: .page(port, path: "/check.txt")) == .online)
            #expect(
                server.request
                    == "GET /check.txt HTTP/1.0\r\nHost: check.example:\(port)\r\nCache-Control: no-cache\r\n"
                    + "Connection: close\r\n\r\n")
        }

        @Test func tellsWhenNobodyListens() throws {
            let listener = try Listener { _ in }
            let port = listener.port
            listener.stop()
            #expect(try Stage.outcome(of: .page(port)) == .refused)
        }
    }
}
