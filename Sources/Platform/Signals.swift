internal import CPlatform

/// Signals as events of the loop, signalfd(2). They are blocked from the moment it is made, so that none is lost.
public final class Signals {
    private let loop: EventLoop
    private let descriptor: FileDescriptor

    /// To be made before any other thread is, which inherit the mask.
    public init(_ signals: [Int32], on loop: EventLoop, _ handler: @escaping (Int32) -> Void) throws(SystemError) {
        self.loop = loop
        let descriptor = try SystemError.check("signalfd") { unsafe vicinity_signals(signals, Int32(signals.count)) }
        self.descriptor = FileDescriptor(owning: descriptor)
        try loop.watch(descriptor) { _ in
            while case let signal = vicinity_next_signal(descriptor), signal != 0 { handler(signal) }
        }
    }

    deinit { loop.forget(descriptor.rawValue) }
}
