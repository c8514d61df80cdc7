internal import Platform

/// Tells programs in PAM stacks whether the second factor may be skipped, by what the kernel says at that moment.
///
/// Whoever connects gets one line, `vicinity-second-factor/1 skip STAMP` or `needed STAMP`, and is let go. The stamp is
/// when the oldest of the evidence was read (µs, boot time). Who gets no line has to take it for `needed`.
///
/// @unchecked: touched on the loop's thread only.
final class SecondFactorQueries: @unchecked Sendable {
    /// Who waits for longer gives up on its own, µs.
    private static let patience: Int64 = 1_000_000
    private static let connectionLimit = 64
    /// Connections that are accepted in one go: those who come faster than that wait their turn with everything else.
    private static let turn = 16

    private let loop: EventLoop
    private let listener: FileDescriptor
    private let verify: (@escaping @Sendable (Bool) -> Void) -> Void
    private let maySkip: () -> Bool
    private var waiting: [Question] = []
    /// Who waits in this process for what the kernel says.
    private var waitingHere: [(since: Int64, answer: (Bool) -> Void)] = []
    private var isVerifying = false

    private final class Question {
        let connection: FileDescriptor
        let since: Int64

        init(_ connection: consuming FileDescriptor, since: Int64) {
            self.connection = connection
            self.since = since
        }
    }

    /// - Parameters:
    ///   - verify: has the kernel asked anew, and calls what it is given when that is taken in, with whether it answered.
    ///   - maySkip: what the rules say.
    init(
        _ listener: consuming FileDescriptor, on loop: EventLoop,
        verify: @escaping (@escaping @Sendable (Bool) -> Void) -> Void, maySkip: @escaping () -> Bool
    ) throws(SystemError) {
        self.loop = loop
        self.verify = verify
        self.maySkip = maySkip
        let descriptor = listener.rawValue
        self.listener = listener
        try loop.watch(descriptor) { [unowned self] _ in accept() }
    }

    func stop() {
        loop.forget(listener.rawValue)
        waiting = []
        waitingHere = []
    }

    /// Has the kernel asked as for those who connect, and tells whether it answered.
    func read(_ body: @escaping (_ isCurrent: Bool) -> Void) {
        waitingHere.append((Timestamp.now().boottime, body))
        ask()
    }

    private func accept() {
        let now = Timestamp.now().boottime
        waiting.removeAll { $0.since < now - SecondFactorQueries.patience }
        for _ in 0..<SecondFactorQueries.turn {
            guard let connection = try? UnixSocket.accept(on: listener.rawValue) else { break }
            // Those beyond are let go without a word.
            if waiting.count < SecondFactorQueries.connectionLimit { waiting.append(Question(connection, since: now)) }
        }
        ask()
    }

    /// However many ask, the kernel is asked by one at a time.
    private func ask() {
        guard !isVerifying, !(waiting.isEmpty && waitingHere.isEmpty) else { return }
        isVerifying = true
        let stamp = Timestamp.now().boottime
        verify { [weak self] isCurrent in self?.answer(stamp, isCurrent) }
    }

    private func answer(_ stamp: Int64, _ isCurrent: Bool) {
        isVerifying = false
        // Who came later is answered by what is read later.
        let answered = waiting.filter { $0.since <= stamp }
        waiting.removeAll { $0.since <= stamp }
        let line = Array("vicinity-second-factor/1 \(isCurrent && maySkip() ? "skip" : "needed") \(stamp)\n".utf8)
        for question in answered { _ = UnixSocket.send(line[...], on: question.connection.rawValue) }
        let told = waitingHere.filter { $0.since <= stamp }
        waitingHere.removeAll { $0.since <= stamp }
        for (_, answer) in told { answer(isCurrent) }
        ask()
    }
}
