internal import ActionProtocol
internal import Actions
internal import CPlatform
internal import Glibc
internal import Platform

/// One question, answered once: by `vicinity-factor`, which gets the dialogue's connection with the question. What the
/// person types goes from the one to the other, and through no process of ours between them.
@ActionActor
final class FactorQuestion {
    /// How long the session's helper may take to come for the dialogue (µs).
    private static let patience: Int64 = 10_000_000
    private static let maximumAnswer = 64
    /// Who come at a time; those beyond wait for everything else there is to do.
    private static let maximumGuests = 16

    private let loop = ActionActor.shared.loop
    private let session: ScreenSession
    private let message: String
    private let user: String
    /// When nobody's answer counts any more.
    private let deadline: Int64
    private let paths: ActingPaths
    private let done: (FactorAnswer) -> Void
    private var listener: FileDescriptor?
    private var channel: LineChannel?
    private var timer: EventLoop.Timer?
    private var isOver = false
    private var hasRefused = false

    /// - Parameter done: called once, at a later time, unless it is withdrawn.
    init(
        _ message: String, to session: ScreenSession, limit: Int64, _ paths: ActingPaths,
        _ done: @escaping (FactorAnswer) -> Void
    ) throws(SystemError) {
        guard let user = FactorQuestion.name(session.user) else {
            throw SystemError("getpwuid", "\(session.user)", code: ENOENT)
        }
        self.session = session
        self.message = message
        self.user = user
        self.paths = paths
        self.done = done
        deadline = Timestamp.now().boottime + limit * 1_000
        if session.isGraphical { try listen() } else { try hand(over: nil) }
    }

    /// Nobody is asked any more: `vicinity-factor` sees that this end is closed, and the dialogue that its end is.
    func withdraw() {
        isOver = true
        if let timer { loop.cancel(timer) }
        timer = nil
        stopListening()
        channel?.close()
        channel = nil
    }

    private func end(_ answer: FactorAnswer) {
        guard !isOver else { return }
        withdraw()
        done(answer)
    }

    // MARK: The dialogue

    private func listen() throws(SystemError) {
        let listener = try UnixSocket.listen(at: paths.dialogue, mode: 0o666)
        let descriptor = listener.rawValue
        self.listener = consume listener
        try loop.watch(descriptor) { [unowned self] _ in ActionActor.assumeIsolated { accept(descriptor) } }
        let limit = min(deadline, Timestamp.now().boottime + FactorQuestion.patience)
        timer = loop.schedule(at: limit) { [unowned self] in
            ActionActor.assumeIsolated {
                timer = nil
                end(.failed(because: "no vicinity-session of \(user)'s comes to show the question"))
            }
        }
    }

    private func stopListening() {
        guard let descriptor = listener?.rawValue else { return }
        loop.forget(descriptor)
        listener = nil
        unsafe unlink(paths.dialogue)
    }

    /// The first who is the user gets the dialogue: whoever else is at the door, the agent among them, never does.
    private func accept(_ descriptor: Int32) {
        for _ in 0..<FactorQuestion.maximumGuests where listener != nil {
            guard let connection = try? UnixSocket.accept(on: descriptor) else { return }
            guard let peer = try? UnixSocket.peer(of: connection.rawValue), peer.user == session.user else {
                refuse()
                continue
            }
            if let timer { loop.cancel(timer) }
            timer = nil
            stopListening()
            do throws(SystemError) {
                try hand(over: connection.rawValue)
            } catch {
                end(.failed(because: "\(error)"))
            }
        }
    }

    /// Said once, or anybody could fill the journal.
    private func refuse() {
        if !hasRefused {
            Log.write(.warning, "somebody else than user \(session.user) wanted that user's dialogue: refused")
        }
        hasRefused = true
    }

    // MARK: vicinity-factor

    /// - Parameter dialogue: nil: the machine's console is asked.
    private func hand(over dialogue: Int32?) throws(SystemError) {
        let connection = try UnixSocket.connect(to: paths.factor, isBlocking: false)
        let server = try UnixSocket.peer(of: connection.rawValue)
        guard server.user == 0 || server.user == geteuid() else {
            throw SystemError("connect", paths.factor, code: EPERM)
        }
        try send(dialogue, on: connection.rawValue)
        let channel = try LineChannel(
            connection, on: loop, maximumLine: FactorQuestion.maximumAnswer,
            maximumWaiting: FactorQuestion.maximumAnswer)
        channel.onLine = { [unowned self] line in
            ActionActor.assumeIsolated { end(FactorQuestion.answer(String(decoding: line, as: UTF8.self))) }
        }
        channel.onEnd = { [unowned self] in
            ActionActor.assumeIsolated { end(.failed(because: "vicinity-factor ended without an answer")) }
        }
        self.channel = channel
        timer = loop.schedule(at: deadline) { [unowned self] in
            ActionActor.assumeIsolated {
                timer = nil
                end(.failed(because: "nobody answered in time"))
            }
        }
    }

    private func send(_ dialogue: Int32?, on connection: Int32) throws(SystemError) {
        let left = max(deadline - Timestamp.now().boottime, 0)
        // Whoever has the last word on the time is here.
        let seconds = left / 1_000_000 + 2
        let words = [
            dialogue == nil ? "console" : "dialogue", FactorQuestion.escape(user), "\(session.user)", "\(seconds)",
            FactorQuestion.escape(FactorQuestion.cut(message)),
        ]
        let line = Array("\(words.joined(separator: " "))\n".utf8)
        let count =
            if let dialogue {
                try SystemError.check("sendmsg", paths.factor) {
                    unsafe vicinity_send_descriptor(connection, line, line.count, dialogue)
                }
            } else {
                UnixSocket.send(line[...], on: connection) ?? 0
            }
        // A new socket has room for a line.
        guard count == line.count else { throw SystemError("send", paths.factor, code: EPIPE) }
    }

    private static func answer(_ line: String) -> FactorAnswer {
        switch line {
        case "right": .right
        case "wrong": .wrong
        case "failed dismissed": .failed(because: "the person dismissed the question")
        case "failed timeout": .failed(because: "nobody answered in time")
        case "failed dialogue": .failed(because: "the dialogue ended without an answer; is pinentry installed?")
        case "failed garbled": .failed(because: "pinentry says what no pinentry says")
        case "failed console": .failed(because: "no password agent gave an answer on the console")
        case "failed service": .failed(because: "PAM has no service vicinity; see second-factor.md")
        case "failed account": .failed(because: "PAM does not let this account in")
        case "failed tries": .failed(because: "PAM lets nobody try any more")
        default: .failed(because: "PAM's service vicinity fails; see the journal of vicinity-factor")
        }
    }

    // MARK: Words

    /// What `vicinity-factor` takes of a message, in octets.
    private static let messageLimit = 1_000

    /// Between two characters, and on lines that it takes.
    private static func cut(_ text: String) -> String {
        var cut = ""
        for character in text where cut.utf8.count + character.utf8.count <= messageLimit {
            let isControl = character.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7F }
            cut.append(isControl ? " " : character)
        }
        return cut.isEmpty ? " " : cut
    }

    /// Each octet that could mean something else on the line as `%XX`.
    private static func escape(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF")
        var escaped = ""
        for octet in text.utf8 {
            switch octet {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                escaped.unicodeScalars.append(Unicode.Scalar(octet))
            default: escaped += "%\(digits[Int(octet >> 4)])\(digits[Int(octet & 15)])"
            }
        }
        return escaped
    }

    private static func name(_ user: UInt32) -> String? {
        guard let entry = unsafe getpwuid(user) else { return nil }
        return unsafe String(cString: entry.pointee.pw_name)
    }
}
