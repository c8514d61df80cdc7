/// A connected stream socket on which both sides say lines, on the thread of its event loop. Neither side is waited for.
public final class LineChannel {
    private let loop: EventLoop
    private let connection: FileDescriptor
    private let maximumLine: Int
    private let maximumWaiting: Int
    private var input: [UInt8] = []
    private var waiting: [UInt8] = []
    private var isOpen = true

    /// Each line without its LF.
    public var onLine: (ArraySlice<UInt8>) -> Void = { _ in }
    /// Called once, when the other side has hung up, says a longer line than is allowed, or does not read what it is
    /// told. Not after `close()`.
    public var onEnd: () -> Void = {}

    /// - Parameters:
    ///   - connection: does not block.
    ///   - maximumLine: octets of a line that is read.
    ///   - maximumWaiting: octets that wait to be read by the other side.
    public init(
        _ connection: consuming FileDescriptor, on loop: EventLoop, maximumLine: Int, maximumWaiting: Int
    ) throws(SystemError) {
        self.loop = loop
        self.maximumLine = maximumLine
        self.maximumWaiting = maximumWaiting
        let descriptor = connection.rawValue
        self.connection = connection
        try loop.watch(descriptor) { [self] readiness in ready(readiness) }
    }

    /// Says a line, which has its LF.
    public func send(_ line: [UInt8]) {
        guard isOpen else { return }
        let isFree = waiting.isEmpty
        waiting += line
        if isFree { flush() }
        if waiting.count > maximumWaiting { end() }
    }

    public func close() {
        guard isOpen else { return }
        isOpen = false
        // The loop lets go of this object, and with it the descriptor is closed.
        loop.forget(connection.rawValue)
        (onLine, onEnd) = ({ _ in }, {})
    }

    private func end() {
        guard isOpen else { return }
        let onEnd = onEnd
        close()
        onEnd()
    }

    private func ready(_ readiness: EventLoop.Readiness) {
        if readiness.contains(.writable) { flush() }
        guard isOpen, !readiness.isDisjoint(with: [.readable, .hungUp, .failed]) else { return }
        var buffer = [UInt8](repeating: 0, count: 64 << 10)
        // One who never stops talking is heard in turn with everything else.
        guard let count = UnixSocket.receive(into: &buffer, on: connection.rawValue) else { return }
        guard count > 0 else { return end() }
        input += buffer[..<count]
        var start = input.startIndex
        while isOpen, let newline = input[start...].firstIndex(of: UInt8(ascii: "\n")) {
            guard newline - start < maximumLine else { return end() }
            onLine(input[start..<newline])
            start = newline + 1
        }
        guard isOpen else { return }
        input.removeSubrange(..<start)
        if input.count >= maximumLine { end() }
    }

    private func flush() {
        guard isOpen else { return }
        guard let count = UnixSocket.send(waiting[...], on: connection.rawValue) else { return end() }
        waiting.removeFirst(count)
        try? loop.change(connection.rawValue, to: waiting.isEmpty ? .readable : [.readable, .writable])
    }
}
