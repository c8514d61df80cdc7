import Foundation
import Glibc
import Netlink
import Platform
import ProbeProtocol
import Probing
import Testing

/// Everything that starts a helper runs one after the other: two processors, and children are counted.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ProbingTests {}

extension ProbingTests {
    /// The helper as it is, against servers and those that only seem to be one.
    @Suite(.serialized) struct HandshakeTests {
        @Test func provesEachKindOfKey() throws {
            for identity in [Identity.elliptic, .rsa, .edwards] {
                let identity = try #require(identity)
                for version in ["-tls1_2", "-tls1_3"] {
                    let server = try TLSServer(identity, version)
                    #expect(try Stage.outcome(of: .local(server.port, identity.pin)) == .proven(identity.pin))
                }
            }
        }

        @Test func provesOneOfTwoPins() throws {
            let (identity, other) = (try #require(Identity.elliptic), try #require(Identity.other))
            let server = try TLSServer(identity)
            let outcome = try Stage.outcome(of: .local(server.port, other.pin, identity.pin))
            #expect(outcome == .proven(identity.pin))
        }

        @Test func provesOverIPv6() throws {
            let identity = try #require(Identity.elliptic)
            let server = try TLSServer(identity, on: "[::1]")
            var question = ProbeQuestion.local(server.port, identity.pin)
            question.address = IPAddress("::1")
            #expect(try Stage.outcome(of: question) == .proven(identity.pin))
        }

        @Test func tellsAnotherKey() throws {
            let (identity, other) = (try #require(Identity.elliptic), try #require(Identity.other))
            let server = try TLSServer(identity)
            #expect(try Stage.outcome(of: .local(server.port, other.pin)) == .pinMismatch(seen: identity.pin))
        }

        /// A server that has the certificate and not its key can only repeat what the owner once said.
        @Test func isNotTakenInByARepetition() throws {
            let identity = try #require(Identity.elliptic)
            // The first flight of TLS 1.2 is not encrypted.
            let server = try TLSServer(identity, "-tls1_2")
            let relay = try Relay(to: server.port)
            #expect(try Stage.outcome(of: .local(relay.port, identity.pin)) == .proven(identity.pin))
            let (_, said) = relay.transcript()
            let thief = try Listener { connection in
                Listener.send(said, to: connection)
                Listener.waitForEnd(connection)
            }
            #expect(try Stage.outcome(of: .local(thief.port, identity.pin)).isTLSFailure)
        }

        @Test func saysNothingAfterTheHandshake() throws {
            let identity = try #require(Identity.elliptic)
            for version in ["-tls1_2", "-tls1_3"] {
                let server = try TLSServer(identity, version)
                let relay = try Relay(to: server.port)
                #expect(try Stage.outcome(of: .local(relay.port, identity.pin)) == .proven(identity.pin))
                let records = Self.records(relay.transcript().client)
                // 20: change of cipher, 22: handshake. TLS 1.3 hides its Finished in one record of application data.
                let hidden = version == "-tls1_3" ? [UInt8(23)] : [22]
                #expect(records == [22] + (version == "-tls1_3" ? [20] : [22, 20]) + hidden)
            }
        }

        /// The types of the records.
        private static func records(_ octets: [UInt8]) -> [UInt8] {
            var types: [UInt8] = []
            var position = 0
            while position + 5 <= octets.count {
                types.append(octets[position])
                position += 5 + Int(octets[position + 3]) << 8 + Int(octets[position + 4])
            }
            return types
        }

        @Test func tellsTheNameOnlyWhereItIsOne() throws {
            for (name, isTold) in [("inside.example", true), ("192.0.2.77", false), ("::1", false)] {
                let hello = Lock([UInt8]())
                let server = try Listener { connection in
                    var buffer = [UInt8](repeating: 0, count: 4_096)
                    let count = read(connection, &buffer, buffer.count)
                    hello.withLock { $0 = Array(buffer.prefix(max(count, 0))) }
                }
                let pin = try #require(Identity.elliptic).pin
                #expect(try Stage.outcome(of: .local(server.port, pin, name: name)).isTLSFailure)
                let said = String(decoding: hello.withLock { $0 }.map { $0 < 0x80 ? $0 : 0 }, as: UTF8.self)
                #expect(said.utf8.count > 100)
                #expect(said.contains(name) == isTold)
            }
        }

        @Test func followsNoRedirection() throws {
            let target = try Listener { _ in }
            let port = target.port
            let server = try Listener { connection in
                Listener.send(
                    "HTTP/1.1 302 Found\r\nLocation: https://127.0.0.1:\(port)/\r\n\r\n".utf8, to: connection)
                Listener.waitForEnd(connection)
            }
            let pin = try #require(Identity.elliptic).pin
            let outcome = try Stage.outcome(of: .local(server.port, pin))
            #expect(outcome == .tlsFailed(reason: "wrong version number"))
            #expect(server.connections == 1)
            #expect(target.connections == 0)
        }

        @Test func waitsThreeSecondsForAServerThatNeverSpeaks() throws {
            let server = try Listener { Listener.waitForEnd($0) }
            let result = try Stage.result(of: .local(server.port, try #require(Identity.elliptic).pin))
            #expect(result.outcome == .timedOut)
            #expect((2.9...3.5).contains(result.duration))
        }

        @Test func waitsNoLongerForAServerThatSpeaksSlowly() throws {
            let server = try Listener { connection in
                var buffer = [UInt8](repeating: 0, count: 4_096)
                _ = read(connection, &buffer, buffer.count)
                // A handshake record of 16 KiB, one octet a second until the peer has enough of it.
                for octet in [22, 3, 3, 64, 0, 2, 0, 63, 252] as [UInt8] {
                    Listener.send([octet], to: connection)
                    var entry = pollfd(fd: connection, events: Int16(POLLIN), revents: 0)
                    guard poll(&entry, 1, 1_000) == 0 else { return }
                }
            }
            let result = try Stage.result(of: .local(server.port, try #require(Identity.elliptic).pin))
            #expect(result.outcome == .timedOut)
            #expect((2.9...3.5).contains(result.duration))
        }

        @Test func wantsAtLeastTLS12() throws {
            let identity = try #require(Identity.rsa)
            for version in ["-tls1", "-tls1_1"] {
                let server = try TLSServer(identity, version, "-cipher", "ALL:@SECLEVEL=0")
                #expect(try Stage.outcome(of: .local(server.port, identity.pin)).isTLSFailure, "\(version)")
            }
        }

        /// What gets by without a certificate, and the exchange that can be decrypted later.
        @Test(arguments: [
            ["-nocert", "-tls1_2", "-cipher", "aNULL:@SECLEVEL=0"],
            ["-nocert", "-tls1_2", "-cipher", "PSK:@SECLEVEL=0", "-psk", "00"],
            ["-nocert", "-tls1_3", "-psk", "00112233"],
            ["-tls1_2", "-cipher", "eNULL:@SECLEVEL=0"],
            ["-tls1_2", "-cipher", "kRSA:@SECLEVEL=0"],
        ])
        func wantsASignedHandshake(_ options: [String]) throws {
            let identity = try #require(Identity.rsa)
            let isAnonymous = options[0] == "-nocert"
            let server = try TLSServer(isAnonymous ? nil : identity, options: options.filter { $0 != "-nocert" })
            #expect(try Stage.outcome(of: .local(server.port, identity.pin)).isTLSFailure)
        }

        @Test func survivesGarbage() throws {
            let pin = try #require(Identity.elliptic).pin
            var random = SystemRandomNumberGenerator()
            let noise = (0..<1 << 20).map { _ in UInt8.random(in: 0...255, using: &random) }
            // A certificate message that claims 16 MiB, in records that never end; then plain noise.
            let record: [UInt8] = [22, 3, 3, 64, 0] + [UInt8](repeating: 11, count: 16_384)
            let streams = [noise, Array([record, record, record, record].joined()), [21, 3, 3, 0, 2, 2, 40]]
            for stream in streams {
                let server = try Listener { connection in
                    Listener.send(stream, to: connection)
                    Listener.waitForEnd(connection)
                }
                #expect(try Stage.outcome(of: .local(server.port, pin)).isTLSFailure)
            }
        }

        @Test func tellsWhenNobodyListens() throws {
            let server = try Listener { _ in }
            server.stop()
            #expect(try Stage.outcome(of: .local(server.port, try #require(Identity.elliptic).pin)) == .refused)
        }

        @Test func tellsWhenAServerHangsUp() throws {
            let server = try Listener { _ in }
            #expect(try Stage.outcome(of: .local(server.port, try #require(Identity.elliptic).pin)).isTLSFailure)
        }

        @Test func tellsWhenThereIsNoWay() throws {
            var question = ProbeQuestion.local(443, try #require(Identity.elliptic).pin)
            question.address = IPAddress("2001:db8::1")
            #expect(try Stage.outcome(of: question) == .unreachable)
        }

        @Test func tellsWhenTheInterfaceIsAnother() throws {
            let identity = try #require(Identity.elliptic)
            let server = try TLSServer(identity)
            for (name, index) in [("nowhere0", 1), ("lo", 4_000_000)] as [(String, UInt32)] {
                var question = ProbeQuestion.local(server.port, identity.pin)
                question.interfaceName = name
                question.interfaceIndex = index
                #expect(try Stage.outcome(of: question) == .interfaceGone)
            }
        }

        @Test func refusesQuestionsThatCannotBe() throws {
            let pin = try #require(Identity.elliptic).pin
            #expect(try Stage.outcome(of: .local(443)) == .badRequest)
            #expect(try Stage.outcome(of: .local(443, pin, pin, pin)) == .badRequest)
            #expect(try Stage.outcome(of: .local(0, pin)) == .badRequest)
            #expect(try Stage.outcome(of: .local(443, pin, name: "a b")) == .badRequest)
            var question = ProbeQuestion.local(443, pin, name: "a b")
            question.address = nil
            #expect(try Stage.outcome(of: question) == .badRequest)
        }
    }
}
