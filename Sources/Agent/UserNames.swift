internal import Glibc
internal import Platform
internal import WiFi

/// What users are called.
///
/// Directories can be far away, so each name is looked up on a thread of its own, and told on the loop's. @unchecked:
/// touched on the loop's thread only.
final class UserNames: @unchecked Sendable {
    private static let maximumLength = 64

    private let loop: EventLoop
    /// Who waits for a name. They stay here, so that nothing of theirs ends on another thread.
    private var waiting: [UInt64: (String) -> Void] = [:]
    private var last: UInt64 = 0

    init(on loop: EventLoop) {
        self.loop = loop
    }

    /// Looks a name up that is fit for showing; `uid 1000` for one that nobody knows.
    func find(_ user: UInt32, _ body: @escaping (String) -> Void) {
        last += 1
        let identifier = last
        waiting[identifier] = body
        do throws(SystemError) {
            let worker = try EventLoop()
            try worker.start()
            worker.perform { [self] in
                let name = UserNames.name(of: user)
                loop.perform { [self] in finish(identifier, name) }
                worker.stop()
            }
        } catch {
            finish(identifier, UserNames.unknown(user))
        }
    }

    private func finish(_ identifier: UInt64, _ name: String) { waiting.removeValue(forKey: identifier)?(name) }

    private static func name(of user: UInt32) -> String {
        var entry = unsafe passwd()
        var buffer = [CChar](repeating: 0, count: 16_384)
        var result: UnsafeMutablePointer<passwd>?
        guard unsafe getpwuid_r(user, &entry, &buffer, buffer.count, &result) == 0, unsafe result != nil,
            let name = unsafe entry.pw_name
        else { return unknown(user) }
        return unsafe String(cString: name).utf8.prefix(maximumLength).displayText
    }

    private static func unknown(_ user: UInt32) -> String { "uid \(user)" }
}
