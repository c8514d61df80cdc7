internal import Agent
internal import Platform
internal import SystemBus

/// Some questions to a bus, asked at once and waited for.
struct BusQuestions {
    struct Question {
        let name: String
        let path: String
        let interface: String
        let member: String
        var arguments: [BusArgument] = []

        static func ofBus(_ member: String) -> Question {
            Question(
                name: "org.freedesktop.DBus", path: "/org/freedesktop/DBus", interface: "org.freedesktop.DBus",
                member: member)
        }

        static func ofAgent(_ member: String) -> Question {
            Question(
                name: ControlService.name, path: ControlService.path, interface: ControlService.interface,
                member: member)
        }

        static func ofManager(_ member: String, _ arguments: [BusArgument]) -> Question {
            Question(
                name: "org.freedesktop.systemd1", path: "/org/freedesktop/systemd1",
                interface: "org.freedesktop.systemd1.Manager", member: member, arguments: arguments)
        }
    }

    /// The answers in the order of the questions, nil for each that nobody answered; nil where there is no bus.
    static func ask(_ owner: SystemBus.Owner, _ questions: [Question]) -> [[BusValue]?]? {
        guard let loop = try? EventLoop() else { return nil }
        let bus = SystemBus(on: loop, of: owner)
        bus.isPersistent = false
        defer { bus.close() }
        bus.connect()
        guard bus.isConnected else { return nil }
        bus.onLoss = { loop.stop() }
        var answers: [[BusValue]?] = questions.map { _ in nil }
        var open = questions.count
        for (index, question) in questions.enumerated() {
            bus.call(
                question.name, question.path, question.interface, question.member, question.arguments
            ) { reply in
                if case .values(let values) = reply { answers[index] = values }
                open -= 1
                if open == 0 { loop.stop() }
            }
        }
        if open > 0 { loop.run() }
        return answers
    }
}
