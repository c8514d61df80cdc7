internal import CPlatform
internal import Glibc

/// Tells when the civil time is set, by a person or for want of accuracy, `TFD_TIMER_CANCEL_ON_SET` of
/// timerfd_create(2).
public final class ClockWatch {
    private let loop: EventLoop
    private let descriptor: FileDescriptor

    public init(on loop: EventLoop, _ changed: @escaping () -> Void) throws(SystemError) {
        self.loop = loop
        let watch = try SystemError.check("timerfd_create") { vicinity_clock_watch() }
        descriptor = FileDescriptor(owning: watch)
        try loop.watch(watch) { _ in
            var expirations: UInt64 = 0
            // ECANCELED is what was waited for.
            guard unsafe read(watch, &expirations, 8) < 0, errno == ECANCELED else { return }
            vicinity_clock_rearm(watch)
            changed()
        }
    }

    deinit { loop.forget(descriptor.rawValue) }
}
