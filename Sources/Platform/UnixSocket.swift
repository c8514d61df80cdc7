internal import CPlatform
internal import Glibc

/// Stream sockets in the file system, unix(7).
public enum UnixSocket {
    /// Who is at the other end, as the kernel noted it when the connection was made.
    public struct Peer: Hashable, Sendable {
        public var process: Int32
        public var user: UInt32
        public var groups: Set<UInt32>
    }

    /// Listens at `path`, in place of whatever socket a former process left there.
    ///
    /// - Parameter mode: permission bits; connecting takes write permission.
    public static func listen(at path: String, mode: UInt32) throws(SystemError) -> FileDescriptor {
        let listener = try make()
        let temporary = "\(path).new"
        unsafe unlink(temporary)
        try SystemError.check("bind", temporary) { unsafe vicinity_bind(listener.rawValue, temporary) }
        try SystemError.check("chmod", temporary) { unsafe chmod(temporary, mode) }
        try SystemError.check("listen", path) { Glibc.listen(listener.rawValue, 128) }
        // Nobody ever sees a path without a listener.
        try SystemError.check("rename", path) { unsafe rename(temporary, path) }
        return listener
    }

    /// - Parameter isBlocking: without, `EAGAIN` where the listener is behind in accepting.
    public static func connect(to path: String, isBlocking: Bool = true) throws(SystemError) -> FileDescriptor {
        let socket = try make(isBlocking: isBlocking)
        try SystemError.check("connect", path) { unsafe vicinity_connect(socket.rawValue, path) }
        return socket
    }

    /// Two connected sockets: ours, which does not block, and one for a child, which does.
    public static func pair() throws(SystemError) -> Pair {
        var first: Int32 = -1
        var second: Int32 = -1
        try SystemError.check("socketpair") { unsafe vicinity_socket_pair(&first, &second) }
        let pair = Pair(ours: FileDescriptor(owning: first), theirs: FileDescriptor(owning: second))
        try SystemError.check("fcntl") { fcntl(first, F_SETFL, O_NONBLOCK) }
        return pair
    }

    /// The two ends of `pair()`.
    public struct Pair: ~Copyable {
        let ours: FileDescriptor
        let theirs: FileDescriptor

        /// Ours.
        public var ourEnd: Int32 { ours.rawValue }

        /// The child's end.
        public var childEnd: Int32 { theirs.rawValue }

        /// Closes the child's end and gives ours away.
        public consuming func release() -> FileDescriptor {
            ours
        }
    }

    /// The next waiting connection, nil where there is none.
    public static func accept(on listener: Int32) throws(SystemError) -> FileDescriptor? {
        let descriptor = vicinity_accept(listener)
        if descriptor >= 0 { return FileDescriptor(owning: descriptor) }
        switch errno {
        case EAGAIN, ECONNABORTED, EINTR: return nil
        default: throw SystemError("accept")
        }
    }

    /// SO_PEERCRED and SO_PEERGROUPS of the connection.
    public static func peer(of connection: Int32) throws(SystemError) -> Peer {
        var process: pid_t = 0
        var user: uid_t = 0
        var group: gid_t = 0
        try SystemError.check("getsockopt SO_PEERCRED") {
            unsafe vicinity_peer_credentials(connection, &process, &user, &group)
        }
        var groups = [gid_t](repeating: 0, count: 256)
        let count = unsafe vicinity_peer_groups(connection, &groups, Int32(groups.count))
        return Peer(process: process, user: user, groups: Set(groups.prefix(Int(max(count, 0)))).union([group]))
    }

    /// Sends what fits without waiting; nil when the peer is gone. Never raises SIGPIPE.
    public static func send(_ octets: ArraySlice<UInt8>, on connection: Int32) -> Int? {
        while true {
            let count = unsafe octets.withUnsafeBytes {
                unsafe Glibc.send(connection, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if count >= 0 { return count }
            if errno == EAGAIN { return 0 }
            if errno != EINTR { return nil }
        }
    }

    /// Receives what is there: 0 at the end or when the peer is gone, nil where there is nothing yet.
    public static func receive(into buffer: inout [UInt8], on connection: Int32) -> Int? {
        while true {
            let count = unsafe recv(connection, &buffer, buffer.count, 0)
            if count >= 0 { return count }
            if errno == EAGAIN { return nil }
            if errno != EINTR { return 0 }
        }
    }

    /// Lets receiving wait for so long at most; then there is nothing yet. SO_RCVTIMEO of socket(7).
    public static func limitWaiting(_ connection: Int32, seconds: Int) {
        var limit = timeval(tv_sec: seconds, tv_usec: 0)
        _ = unsafe setsockopt(connection, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    private static func make(isBlocking: Bool = false) throws(SystemError) -> FileDescriptor {
        let kind = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | (isBlocking ? 0 : SOCK_NONBLOCK.rawValue)
        return FileDescriptor(owning: try SystemError.check("socket") { socket(AF_UNIX, Int32(kind), 0) })
    }
}
