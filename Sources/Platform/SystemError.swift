public import Glibc

/// A system call that failed: what was asked, of what, and why.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The call or the purpose, such as `open` or `bind`.
    public let operation: String
    /// The file, socket or interface concerned; empty where there is none.
    public let subject: String
    /// `errno(3)`.
    public let code: Int32

    public init(_ operation: String, _ subject: String = "", code: Int32 = errno) {
        self.operation = operation
        self.subject = subject
        self.code = code
    }

    /// There is no such file.
    public var isMissing: Bool { code == ENOENT }

    public var description: String {
        let reason = unsafe String(cString: strerror(code))
        return subject.isEmpty ? "\(operation): \(reason)" : "\(operation) \(subject): \(reason)"
    }
}

extension SystemError {
    /// Runs a call that answers -1 on failure, again when a signal interrupted it (`EINTR`).
    @discardableResult
    public static func check<Result: FixedWidthInteger>(
        _ operation: String, _ subject: String = "", _ call: () -> Result
    ) throws(SystemError) -> Result {
        while true {
            let result = call()
            if result >= 0 { return result }
            let code = errno
            if code != EINTR { throw SystemError(operation, subject, code: code) }
        }
    }
}
