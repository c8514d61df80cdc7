internal import CSystemd
internal import Platform
internal import SystemBus

/// What only the system bus tells: that the machine is about to sleep or woke up (systemd-logind), and that a network
/// manager came, went or was started anew, after which its links have to be read again.
///
/// Without a bus there is nothing to observe and nothing is lost but that. Everything happens on the loop's thread.
@safe
final class SystemBusObserver {
    /// Who changes Wi-Fi links behind the kernel's back, by the names they own.
    private static let managers = ["fi.w1.wpa_supplicant1", "net.connman.iwd", "org.freedesktop.NetworkManager"]
    /// A bus that went away is tried again after this long, so many times (µs).
    private static let retryDelay: Int64 = 2_000_000
    private static let retryLimit = 5

    private let loop: EventLoop
    private let observe: (Observation) -> Void
    private var bus: SystemBus?
    private var timer: EventLoop.Timer?
    private var retries = 0

    init(on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.loop = loop
        self.observe = observe
        connect()
    }

    deinit {
        bus?.close()
        if let timer { loop.cancel(timer) }
    }

    private func connect() {
        bus = SystemBus(
            on: loop, processed: { [unowned self] in retries = 0 },
            lost: { [unowned self] in
                bus = nil
                retry()
            })
        guard let bus else { return }
        let connection = unsafe bus.connection
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The daemon passes on only what the owner of the name sends. None of the calls waits for its answer.
        unsafe sd_bus_match_signal_async(
            connection, nil, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
            "PrepareForSleep",
            { message, context, _ in unsafe SystemBusObserver.from(context)?.prepareForSleep(message) ?? 0 }, nil,
            context)
        for name in SystemBusObserver.managers {
            let match =
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(name)'"
            unsafe sd_bus_add_match_async(
                connection, nil, match,
                { _, context, _ in unsafe SystemBusObserver.from(context)?.managerChanged() ?? 0 }, nil, context)
        }
        bus.process()
    }

    private static func from(_ context: UnsafeMutableRawPointer?) -> SystemBusObserver? {
        unsafe context.map { unsafe Unmanaged<SystemBusObserver>.fromOpaque($0).takeUnretainedValue() }
    }

    private func prepareForSleep(_ message: OpaquePointer?) -> Int32 {
        var isStarting: Int32 = 0
        guard unsafe sd_bus_message_read_basic(message, CChar(UInt8(ascii: "b")), &isStarting) > 0 else { return 0 }
        observe(isStarting != 0 ? .suspending : .resumed)
        return 0
    }

    private func managerChanged() -> Int32 {
        observe(.lost(.managerChanged))
        return 0
    }

    /// The bus is restarted on upgrades, and with it, managers.
    private func retry() {
        guard retries < SystemBusObserver.retryLimit else { return }
        retries += 1
        timer = loop.schedule(at: Timestamp.now().boottime + SystemBusObserver.retryDelay) { [unowned self] in
            timer = nil
            connect()
            if bus == nil { retry() } else { observe(.lost(.managerChanged)) }
        }
    }
}
