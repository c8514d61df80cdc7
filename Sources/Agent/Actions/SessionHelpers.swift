internal import ActionProtocol
internal import Glibc
internal import Platform

/// The `vicinity session` of each user who is logged in. They connect to us.
final class SessionHelpers {
    /// One of them.
    final class Session: Helper {
        let identifier: UInt32
        let user: String?
        private let channel: LineChannel

        init(_ identifier: UInt32, _ channel: LineChannel) {
            self.identifier = identifier
            self.channel = channel
            user = Session.name(identifier) ?? String(identifier)
        }

        func send(_ request: HelperRequest) { channel.send(request.line) }

        fileprivate func close() { channel.close() }

        private static func name(_ identifier: UInt32) -> String? {
            guard let entry = unsafe getpwuid(identifier) else { return nil }
            return unsafe String(cString: entry.pointee.pw_name)
        }
    }

    private static let limit = 32
    /// Connections that are accepted in one go: those who come faster than that wait their turn with everything else.
    private static let turn = 16

    private let loop: EventLoop
    private let listener: FileDescriptor
    private(set) var sessions: [UInt32: Session] = [:]

    var onStart: (Session) -> Void = { _ in }
    var onReport: (Session, HelperReport) -> Void = { _, _ in }
    var onEnd: (Session) -> Void = { _ in }

    init(_ listener: consuming FileDescriptor, on loop: EventLoop) throws(SystemError) {
        self.loop = loop
        let descriptor = listener.rawValue
        self.listener = listener
        try loop.watch(descriptor) { [unowned self] _ in accept() }
    }

    func stop() {
        loop.forget(listener.rawValue)
        for session in sessions.values { session.close() }
        sessions = [:]
    }

    private func accept() {
        for _ in 0..<SessionHelpers.turn {
            guard let connection = try? UnixSocket.accept(on: listener.rawValue) else { return }
            // Root has no desktop.
            guard let peer = try? UnixSocket.peer(of: connection.rawValue), peer.user != 0,
                sessions[peer.user] != nil || sessions.count < SessionHelpers.limit
            else { continue }
            begin(connection, peer.user)
        }
    }

    /// The last one of a user is the one that counts: an earlier one is what a crash or an upgrade left.
    private func begin(_ connection: consuming FileDescriptor, _ user: UInt32) {
        guard
            let channel = try? LineChannel(
                connection, on: loop, maximumLine: HelperReport.maximumSize,
                maximumWaiting: HelperRequest.maximumSize * 2)
        else { return }
        if let former = sessions[user] { end(former) }
        let session = Session(user, channel)
        sessions[user] = session
        channel.onLine = { [unowned self, unowned session] line in
            if let report = HelperReport(line: line) { onReport(session, report) } else { end(session) }
        }
        channel.onEnd = { [unowned self, unowned session] in end(session) }
        onStart(session)
    }

    private func end(_ session: Session) {
        guard sessions[session.identifier] === session else { return }
        sessions[session.identifier] = nil
        session.close()
        onEnd(session)
    }
}
