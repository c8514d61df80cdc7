internal import Glibc
internal import Platform

/// A pipe that a program writes to: what comes is taken off at once, and kept up to a limit.
final class PipeReader {
    private let loop: EventLoop
    private let descriptor: FileDescriptor
    private var theirs: FileDescriptor?
    private let limit: Int
    private var captured = CapturedOutput()

    /// - Parameter limit: octets that are kept.
    init(on loop: EventLoop, limit: Int = CapturedOutput.maximumLength) throws(SystemError) {
        let pipe = try OutputPipe()
        var writing: FileDescriptor?
        descriptor = pipe.release(writing: &writing)
        theirs = writing
        self.loop = loop
        self.limit = limit
    }

    /// The program's end, until `handedOver`; -1 then.
    var writing: Int32 { theirs?.rawValue ?? -1 }

    /// The program has its end: ours of it is closed.
    func handedOver() { theirs = nil }

    func start() throws(SystemError) {
        try loop.watch(descriptor.rawValue) { [self] _ in
            if !read() { stop() }
        }
    }

    /// Makes the loop let go of it.
    func stop() { loop.forget(descriptor.rawValue) }

    /// Everything, with what is in the pipe now; its end is not waited for, since anybody may hold the other end open.
    func finish() -> CapturedOutput {
        _ = read()
        stop()
        return captured
    }

    /// Takes what is there, no more than a few buffers at once so that the loop gets round. False at its end.
    private func read() -> Bool {
        var buffer = [UInt8](repeating: 0, count: 16 << 10)
        for _ in 0..<8 {
            let count = unsafe Glibc.read(descriptor.rawValue, &buffer, buffer.count)
            if count == 0 { return false }
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            captured.append(buffer[..<count], limit: limit)
        }
        return true
    }
}
