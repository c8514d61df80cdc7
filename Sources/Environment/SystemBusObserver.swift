internal import CSystemd
internal import Glibc
internal import Platform

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
    private var bus: OpaquePointer?
    private var descriptor: Int32 = -1
    private var timer: EventLoop.Timer?
    private var retries = 0

    init(on loop: EventLoop, _ observe: @escaping (Observation) -> Void) {
        self.loop = loop
        self.observe = observe
        connect()
    }

    deinit {
        disconnect()
        if let timer { loop.cancel(timer) }
    }

    private func connect() {
        guard unsafe sd_bus_open_system(&bus) >= 0, let bus = unsafe bus else { return }
        descriptor = unsafe sd_bus_get_fd(bus)
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        // The daemon passes on only what the owner of the name sends. None of the calls waits for its answer.
        unsafe sd_bus_match_signal_async(
            bus, nil, "org.freedesktop.login1", "/org/freedesktop/login1", "org.freedesktop.login1.Manager",
            "PrepareForSleep",
            { message, context, _ in unsafe SystemBusObserver.from(context)?.prepareForSleep(message) ?? 0 }, nil,
            context)
        for name in SystemBusObserver.managers {
            let match =
                "type='signal',sender='org.freedesktop.DBus',interface='org.freedesktop.DBus',"
                + "member='NameOwnerChanged',arg0='\(name)'"
            unsafe sd_bus_add_match_async(
                bus, nil, match, { _, context, _ in unsafe SystemBusObserver.from(context)?.managerChanged() ?? 0 },
                nil, context)
        }
        try? loop.watch(descriptor) { [unowned self] _ in process() }
        process()
    }

    private func disconnect() {
        guard unsafe bus != nil else { return }
        loop.forget(descriptor)
        // Matches live as long as the connection.
        unsafe sd_bus_close(bus)
        unsafe sd_bus_unref(bus)
        unsafe bus = nil
        descriptor = -1
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

    /// sd-bus(3) wants to be called until it has nothing more to do, and says what it waits for then.
    private func process() {
        guard unsafe bus != nil else { return }
        while true {
            let result = unsafe sd_bus_process(bus, nil)
            if result == 0 { break }
            guard result > 0 else {
                disconnect()
                retry()
                return
            }
        }
        retries = 0
        let events = unsafe sd_bus_get_events(bus)
        try? loop.change(descriptor, to: events & Int32(POLLOUT) != 0 ? [.readable, .writable] : .readable)
        schedule()
    }

    private func schedule() {
        if let timer { loop.cancel(timer) }
        timer = nil
        var due: UInt64 = .max
        guard unsafe sd_bus_get_timeout(bus, &due) >= 0, due != .max else { return }
        // sd-bus counts without the time asleep; the loop's deadline may only be too early.
        var now = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &now)
        let remaining = Int64(clamping: due) - Int64(now.tv_sec) * 1_000_000 - Int64(now.tv_nsec) / 1_000
        timer = loop.schedule(at: Timestamp.now().boottime + max(remaining, 0) + 1_000) { [unowned self] in
            timer = nil
            process()
        }
    }

    /// The bus is restarted on upgrades, and with it, managers.
    private func retry() {
        guard retries < SystemBusObserver.retryLimit else { return }
        retries += 1
        timer = loop.schedule(at: Timestamp.now().boottime + SystemBusObserver.retryDelay) { [unowned self] in
            timer = nil
            connect()
            if unsafe bus == nil { retry() } else { observe(.lost(.managerChanged)) }
        }
    }
}
