internal import CPlatform
internal import Glibc
internal import Platform

/// polkit's text agent, which asks on this terminal where no desktop does: pkttyagent(1), as systemctl(1) starts it.
final class TextAuthenticationAgent {
    private static let program = "/usr/bin/pkttyagent"

    private let process: pid_t

    /// Returns when it is ready, or cannot be; nil where there is none.
    init?() {
        var reading: Int32 = -1
        var writing: Int32 = -1
        guard unsafe vicinity_pipe(&reading, &writing) == 0 else { return nil }
        let ready = FileDescriptor(owning: reading)
        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The copy is not closed by exec; it is all that the agent gets besides the terminal.
        let copy: Int32 = writing == 3 ? 4 : 3
        unsafe posix_spawn_file_actions_adddup2(&actions, writing, copy)
        let words = [TextAuthenticationAgent.program, "--notify-fd", "\(copy)", "--fallback"]
        var arguments = unsafe words.map { unsafe strdup($0) } + [nil]
        defer { unsafe arguments.forEach { unsafe free($0) } }
        var process: pid_t = 0
        let code = unsafe posix_spawn(
            &process, TextAuthenticationAgent.program, &actions, nil, &arguments, environ)
        close(writing)
        guard code == 0 else { return nil }
        self.process = process
        // It closes its end when it is ready, and when it ends.
        var octet: UInt8 = 0
        while unsafe read(ready.rawValue, &octet, 1) < 0, errno == EINTR {}
    }

    func stop() {
        kill(process, SIGTERM)
        var status: Int32 = 0
        while unsafe waitpid(process, &status, 0) < 0, errno == EINTR {}
    }
}
