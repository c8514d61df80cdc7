import Foundation
import Glibc
import Platform
import Rules
import SystemBus
import Testing

@testable import Agent

/// Who is asked, whose word counts, and that nothing is written where nobody knows.
@Suite struct ConsentTests {
    private let path = "/tmp/vicinity-test-\(UInt32.random(in: 0 ... .max)).json"

    private func person(_ user: UInt32, _ name: String? = "ada") -> Consents.Person { .init(user: user, name: name) }

    private func consents(_ answers: [UInt32: Bool], _ name: String? = "ada") -> Consents {
        var consents = Consents()
        for (user, isGiven) in answers { consents[user] = .init(isGiven: isGiven, name: name, since: 0) }
        return consents
    }

    @Test func theStrictestOfThoseWhoAreHereCounts() {
        struct Case {
            var answers: [UInt32: Bool]
            var present: [UInt32]?
            /// Whether something is written where consent is presumed, and where it is required.
            var presumed: Bool
            var required: Bool
        }
        let cases = [
            Case(answers: [:], present: nil, presumed: true, required: false),
            Case(answers: [:], present: [], presumed: true, required: false),
            Case(answers: [:], present: [1], presumed: true, required: false),
            Case(answers: [1: true], present: nil, presumed: true, required: false),
            Case(answers: [1: true], present: [], presumed: true, required: false),
            Case(answers: [1: true], present: [1], presumed: true, required: true),
            Case(answers: [1: true], present: [1, 2], presumed: true, required: false),
            Case(answers: [1: true, 2: true], present: [1, 2], presumed: true, required: true),
            Case(answers: [1: true, 2: false], present: [1], presumed: true, required: true),
            Case(answers: [1: true, 2: false], present: [1, 2], presumed: false, required: false),
            Case(answers: [1: true, 2: false], present: [2], presumed: false, required: false),
            Case(answers: [2: false], present: [1], presumed: true, required: false),
            // Nobody knows who is here, or whose machine it is now.
            Case(answers: [1: true, 2: false], present: nil, presumed: false, required: false),
            Case(answers: [2: false], present: [], presumed: false, required: false),
        ]
        for test in cases {
            let consents = consents(test.answers)
            let present = test.present?.map { person($0) }
            #expect((consents.objection(.presumed, present: present) == nil) == test.presumed, "\(test)")
            #expect((consents.objection(.required, present: present) == nil) == test.required, "\(test)")
        }
    }

    @Test func whoIsGivenTheNumberOfAnotherHasNotAgreed() {
        #expect(consents([1: true]).objection(.required, present: [person(1, "bob")]) != nil)
        // A no is kept to, whoever said it.
        #expect(consents([1: false]).objection(.presumed, present: [person(1, "bob")]) != nil)
    }

    @Test func theFileSaysTheSame() throws {
        defer { unlink(path) }
        #expect(try Consents(readingFrom: path) == Consents())
        var written = consents([1: true, 70_000: false])
        written[3] = .init(isGiven: true, name: nil, since: 7)
        try written.write(to: path)
        #expect(try Consents(readingFrom: path) == written)
        var status = stat()
        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
        try Consents.lost.write(to: path)
        #expect(try Consents(readingFrom: path) == .lost)
    }

    @Test(
        arguments: [
            "", "{", "[]", "{\"version\":2,\"lost\":false,\"answers\":[]}", "{\"version\":1,\"answers\":[]}",
            "{\"version\":1,\"lost\":false,\"answers\":[{\"uid\":-1,\"consent\":true,\"since\":0}]}",
            "{\"version\":1,\"lost\":false,\"answers\":[{\"uid\":1,\"consent\":\"yes\",\"since\":0}]}",
        ])
    func aDamagedFileIsNoConsent(text: String) throws {
        defer { unlink(path) }
        try text.write(toFile: path, atomically: false, encoding: .utf8)
        #expect(throws: GrantsError.damaged) { try Consents(readingFrom: path) }
        let lost = Consents.lost
        #expect(lost.matters(.presumed))
        #expect(lost.objection(.presumed, present: [person(1)]) != nil)
        var answered = lost
        answered[1] = .init(isGiven: true, name: "ada", since: 0)
        #expect(answered.objection(.presumed, present: [person(1)]) == nil)
        #expect(answered.objection(.presumed, present: [person(1), person(2)]) != nil)
    }

    // MARK: logind

    private func reply(_ changes: [String: BusValue] = [:]) -> SystemBus.Reply {
        let session: [String: BusValue] = [
            "Class": .text("user"), "State": .text("online"), "Remote": .flag(false), "Name": .text("ada"),
            "User": .list([.number(1_000), .text("/user")]),
        ]
        return .values([.dictionary(session.merging(changes) { $1 })])
    }

    @Test func whoeverSitsAtTheMachineCountsBeThatShownOrNot() throws {
        let ada = Consents.Person(user: 1_000, name: "ada")
        for changes in [[:], ["State": .text("active")], ["Class": .text("user-light")]] as [[String: BusValue]] {
            #expect(try PersonWatch.person(reply(changes)).get() == ada)
        }
        for changes in [
            ["State": .text("closing")], ["Remote": .flag(true)], ["Class": .text("greeter")],
            ["Class": .text("manager")], ["Class": .text("lock-screen")],
        ] as [[String: BusValue]] {
            #expect(try PersonWatch.person(reply(changes)).get() == nil)
        }
        #expect(try PersonWatch.person(.failed(error: "org.freedesktop.DBus.Error.UnknownObject")).get() == nil)
        for reply: SystemBus.Reply in [
            .absent, .failed(error: nil), .values([]), reply(["User": .text("x")]), reply(["Class": .flag(true)]),
            reply(["User": .list([.number(-1)])]),
        ] {
            #expect(throws: PersonWatch.Unclear.self) { try PersonWatch.person(reply).get() }
        }
    }
}
