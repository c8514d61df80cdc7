internal import Glibc
internal import Platform

/// The agent's user, as whom root touches the agent's files: what they are is for that user to say, and what is made is
/// that user's.
enum AgentIdentity {
    private static let name = "vicinity"

    /// Makes this process the user's whose state it is, for good; the directory as well, where there is none. Whoever is
    /// not root stays who they are.
    static func assume(of state: String) throws(SystemError) {
        guard geteuid() == 0 else { return }
        var status = stat()
        if unsafe lstat(state, &status) == 0 {
            guard status.st_mode & S_IFMT == S_IFDIR else { throw SystemError("open", state, code: ENOTDIR) }
            return try become(status.st_uid, status.st_gid)
        }
        let (user, group) = account()
        if let end = state.utf8.lastIndex(of: UInt8(ascii: "/")), end != state.startIndex {
            try Files.makeDirectory(String(state[..<end]), mode: 0o755)
        }
        try SystemError.check("mkdir", state) { unsafe mkdir(state, 0o700) }
        try SystemError.check("chown", state) { unsafe lchown(state, user, group) }
        try become(user, group)
    }

    /// Root where there is no such user: what is root's now, systemd gives to the user whose service it starts.
    private static func account() -> (user: uid_t, group: gid_t) {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 65_536)
        var result: UnsafeMutablePointer<passwd>?
        guard unsafe getpwnam_r(name, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil else {
            return (0, 0)
        }
        return unsafe (entry.pw_uid, entry.pw_gid)
    }

    private static func become(_ user: uid_t, _ group: gid_t) throws(SystemError) {
        guard user != 0 else { return }
        try SystemError.check("setgroups") { setgroups(0, nil) }
        // Of a process of root's: real, effective and saved.
        try SystemError.check("setgid") { setgid(group) }
        try SystemError.check("setuid") { setuid(user) }
    }
}
