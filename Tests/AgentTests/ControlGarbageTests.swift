import Agent
import Foundation
import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

/// What no program of ours says on the bus, to each of the methods, and callers who do not stay for an answer.
@Suite(
    .enabled(if: getuid() == 0, "takes root: somebody who is not has to call"), .serialized, .timeLimit(.minutes(10)))
struct ControlGarbageTests {
    private struct Call {
        var method: String
        var arguments: [BusArgument] = []
        var path = ControlService.path
        var interface = ControlService.interface
    }

    private static let invalid = "org.freedesktop.DBus.Error.InvalidArgs"

    /// What each call is answered, one after the other: the error's name, or nothing where there is none.
    private func answers(_ calls: [Call], on control: ControlBus) throws -> [String] {
        let loop = try EventLoop()
        let bus = SystemBus(on: loop, address: control.address)
        defer { bus.close() }
        bus.connect()
        var answers: [String] = []
        func next() {
            guard answers.count < calls.count else { return loop.stop() }
            let call = calls[answers.count]
            bus.call(ControlService.name, call.path, call.interface, call.method, call.arguments, limit: 20_000_000) {
                reply in
                switch reply {
                case .values: answers.append("")
                case .failed(let error, _): answers.append(error ?? "no answer")
                case .absent: answers.append("absent")
                }
                next()
            }
        }
        next()
        loop.run()
        return answers
    }

    /// Every method, with what it takes.
    private static let methods: [(name: String, arguments: [BusArgument])] = [
        ("Hold", [.text("nas"), .flag(true), .unsigned64(0), .flag(false)]), ("Release", [.text("nas")]),
        ("Run", [.text("nas")]), ("Reload", []), ("RequestPermission", []), ("GrantPermission", [.unsigned(7)]),
        ("RevokePermission", [.unsigned(7)]), ("ListGrants", []), ("ResetProxy", []), ("SecondFactorStatus", []),
        ("RequireSecondFactor", [.text("why")]), ("RotateHashKey", []), ("PurgeAnalytics", [.flag(false)]),
        ("SetAnalyticsConsent", [.flag(true)]), ("AnalyticsStatus", []),
    ]

    @Test func noMethodTakesWhatItIsNotMeantFor() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        #expect(
            try bus.ask("introspect", "io.vicinity", "/io/vicinity", "io.vicinity.Manager1").output
                .split(separator: "\n").filter { $0.hasPrefix(".") }.count == Self.methods.count)
        let others: [BusArgument] = [
            .text("nas"), .path("/nas"), .flag(true), .octet(7), .signed(-1), .unsigned(7), .unsigned64(.max),
            .descriptor(0), .texts(["nas"]), .structure([.text("nas")]), .variant(.text("nas")),
            .strings(["nas": "on"]), .properties(["rule": .text("nas")]),
        ]
        var calls: [Call] = []
        for (name, arguments) in Self.methods {
            let signature = arguments.map(\.signature).joined()
            // Half of them, one more, and each in turn of another type.
            var lists = (0..<arguments.count).map { Array(arguments.prefix($0)) }
            for other in others {
                lists.append(arguments + [other])
                lists += arguments.indices.map { index in
                    var list = arguments
                    list[index] = other
                    return list
                }
            }
            calls += lists.filter { $0.map(\.signature).joined() != signature }.map {
                Call(method: name, arguments: $0)
            }
        }
        let answers = try answers(calls, on: bus)
        for (call, answer) in zip(calls, answers) {
            #expect(answer == Self.invalid, "\(call.method) \(call.arguments.map(\.signature))")
        }
        #expect(stage.holds.isEmpty && stage.ran.isEmpty && stage.granted.isEmpty)
    }

    @Test func nothingElseIsThereToBeCalled() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let properties = "org.freedesktop.DBus.Properties"
        let calls = [
            Call(method: "hold"), Call(method: "H"), Call(method: String(repeating: "H", count: 255)),
            Call(method: "Reload", path: "/"), Call(method: "Reload", path: "/io/vicinity/none"),
            Call(method: "Reload", interface: "io.vicinity.Manager2"),
            Call(
                method: "Get", arguments: [.text(ControlService.interface), .text("Rules")], interface: properties),
            Call(
                method: "Set", arguments: [.text(ControlService.interface), .text("Rules"), .variant(.text("nas"))],
                interface: properties),
        ]
        for (call, answer) in zip(calls, try answers(calls + [Call(method: "Reload")], on: bus)) {
            #expect(answer.hasPrefix("org.freedesktop.DBus.Error.Unknown"), "\(call.method): \(answer)")
        }
        #expect(try answers([Call(method: "Reload")], on: bus) == [""])
    }

    private static let names: [String] =
        [
            "", " ", "-nas", "nas ", "a/b", "../nas", "nas\n", "nas\u{1b}[2J", "n\u{e4}s", "nas\u{202e}", "$(reboot)",
            "%s%n", "\u{1F4A9}", "nas\";", "\u{7f}",
        ] + [65, 255, 65_536].map { String(repeating: "a", count: $0) }

    /// Root is asked nothing, so that it is the name alone that is refused.
    @Test func whatNoRuleCanBeCalledIsRefused() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let calls = Self.names.flatMap { name in
            [
                Call(method: "Hold", arguments: [.text(name), .flag(true), .unsigned64(0), .flag(false)]),
                Call(method: "Release", arguments: [.text(name)]), Call(method: "Run", arguments: [.text(name)]),
            ]
        }
        for (call, answer) in zip(calls, try answers(calls, on: bus)) {
            #expect(answer == Self.invalid, "\(call.method) \("\(call.arguments[0])".prefix(80))")
        }
        #expect(stage.holds.isEmpty && stage.ran.isEmpty)
    }

    /// As much as the bus carries, and everybody else is answered as before.
    @Test func hugeCallsAreRefused() throws {
        let bus = try ControlBus()
        let stage = try ControlStage(on: bus)
        defer { stage.stop() }
        let name = String(repeating: "a", count: 8 << 20)
        let list = BusArgument.texts(Array(repeating: "nas", count: 20_000))
        let rule: [BusArgument] = [.text(name), .flag(true), .unsigned64(0), .flag(false)]
        var calls = [Call(method: "Hold", arguments: rule)]
        for method in ["Release", "Run", "RequireSecondFactor"] {
            calls.append(Call(method: method, arguments: [.text(name)]))
        }
        calls += Self.methods.map { Call(method: $0.name, arguments: [list]) }
        let answers = try answers(calls + [Call(method: "Reload")], on: bus)
        #expect(answers.dropLast().allSatisfy { $0 == Self.invalid }, "\(answers)")
        #expect(answers.last == "" && stage.holds.isEmpty && stage.ran.isEmpty)
    }

    /// Callers who are gone before polkit has said anything leave nothing behind that keeps others out.
    @Test func whoDoesNotStayForTheAnswerTakesNobodysPlace() throws {
        let bus = try ControlBus()
        let polkit = try FakePolkit(.nothing, on: bus)
        let stage = try ControlStage(on: bus)
        defer {
            stage.stop()
            polkit.stop()
        }
        let callers = try (0..<WaitingCalls.askedPerUser).map { _ in try bus.sending("Run", ["string:nas"]) }
        until { polkit.questions.count == WaitingCalls.askedPerUser }
        for caller in callers { kill(caller.process.processIdentifier, SIGKILL) }
        for caller in callers { caller.process.waitUntilExit() }
        #expect(try bus.send("Run", "string:nas") == "org.freedesktop.DBus.Error.LimitsExceeded")
        polkit.release(with: .no)
        var answer = ""
        until {
            answer = (try? bus.send("Run", "string:nas")) ?? ""
            return answer != "org.freedesktop.DBus.Error.LimitsExceeded"
        }
        #expect(answer == "io.vicinity.Error.NotAuthorized" && stage.ran.isEmpty)
    }
}
