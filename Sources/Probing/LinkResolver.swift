internal import CSystemd
internal import Glibc
internal import Netlink
internal import Platform
internal import SystemBus

/// Asks systemd-resolved for addresses, of one link's name servers only: org.freedesktop.resolve1(5).
///
/// The connection lasts as long as there are questions. Everything happens on the loop's thread.
@safe
final class LinkResolver {
    enum Answer: Hashable {
        /// At least one.
        case addresses([IPAddress])
        case unknownName
        case unavailable
    }

    /// A question that was asked.
    @safe
    final class LookUp {
        fileprivate let interfaceIndex: UInt32
        fileprivate let completion: (Answer) -> Void
        fileprivate var slot: OpaquePointer?
        fileprivate var answer: Answer?

        fileprivate init(on interfaceIndex: UInt32, completion: @escaping (Answer) -> Void) {
            self.interfaceIndex = interfaceIndex
            self.completion = completion
        }

        deinit {
            unsafe sd_bus_slot_unref(slot)
        }

        fileprivate func take(_ reply: OpaquePointer?) {
            unsafe answer = LinkResolver.answer(in: reply, for: interfaceIndex)
        }
    }

    /// `SD_RESOLVED_…` of systemd's resolved-def.h: by unicast DNS, the name as it is, and nothing of this machine's own:
    /// not made up (which is what comes from `/etc/hosts`), not remembered, not of its own zone. Caches are kept by link,
    /// so another link's would not be asked in any case; but this one's may be of the network it was in before.
    private static let flags: UInt64 = 1 << 0 | 1 << 8 | 1 << 11 | 1 << 12 | 1 << 13

    /// What is asked longer than this is forgotten by the bus, in microseconds; whoever asks has less patience.
    private static let patience: UInt64 = 10_000_000

    private let loop: EventLoop
    private let address: String?
    private var bus: SystemBus?
    private var lookUps: [ObjectIdentifier: LookUp] = [:]

    /// - Parameter address: of the bus; nil for the system's.
    init(on loop: EventLoop, bus address: String?) {
        self.loop = loop
        self.address = address
    }

    /// - Parameter completion: called once, from the loop and never from within this, unless it is cancelled.
    func lookUp(
        _ name: String, on interfaceIndex: UInt32, completion: @escaping (Answer) -> Void
    ) -> LookUp {
        let lookUp = LookUp(on: interfaceIndex, completion: completion)
        lookUps[ObjectIdentifier(lookUp)] = lookUp
        if bus == nil {
            bus = SystemBus(
                on: loop, address: address, processed: { [unowned self] in deliver() },
                lost: { [unowned self] in hasLostBus() })
        }
        if let bus, unsafe ask(lookUp, name, bus.connection) {
            // Sends it as soon as there is a connection.
            loop.schedule(at: 0) { [weak bus] in bus?.process() }
        } else {
            lookUp.answer = .unavailable
            loop.schedule(at: 0) { [weak self] in self?.deliver() }
        }
        return lookUp
    }

    func cancel(_ lookUp: LookUp) {
        lookUps[ObjectIdentifier(lookUp)] = nil
        closeIfIdle()
    }

    private func ask(_ lookUp: LookUp, _ name: String, _ connection: OpaquePointer) -> Bool {
        var message: OpaquePointer?
        guard
            unsafe sd_bus_message_new_method_call(
                connection, &message, "org.freedesktop.resolve1", "/org/freedesktop/resolve1",
                "org.freedesktop.resolve1.Manager", "ResolveHostname") >= 0
        else { return false }
        defer { unsafe sd_bus_message_unref(message) }
        var index = Int32(bitPattern: lookUp.interfaceIndex)
        var family = AF_UNSPEC
        var flags = Self.flags
        let context = unsafe Unmanaged.passUnretained(lookUp).toOpaque()
        // A resolver that does not run is none of this machine's, and not started.
        return unsafe sd_bus_message_set_auto_start(message, 0) >= 0
            && sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &index) >= 0
            && name.withCString { unsafe sd_bus_message_append_basic(message, CChar(UInt8(ascii: "s")), $0) } >= 0
            && sd_bus_message_append_basic(message, CChar(UInt8(ascii: "i")), &family) >= 0
            && sd_bus_message_append_basic(message, CChar(UInt8(ascii: "t")), &flags) >= 0
            && sd_bus_call_async(
                connection, &lookUp.slot, message,
                { reply, context, _ in
                    if let context = unsafe context {
                        unsafe Unmanaged<LookUp>.fromOpaque(context).takeUnretainedValue().take(reply)
                    }
                    return 0
                }, context, Self.patience) >= 0
    }

    /// What was answered meanwhile; not from within the bus, since whoever hears it may let go of that.
    private func deliver() {
        for (identifier, lookUp) in lookUps {
            guard let answer = lookUp.answer, lookUps.removeValue(forKey: identifier) != nil else { continue }
            lookUp.completion(answer)
        }
        closeIfIdle()
    }

    private func hasLostBus() {
        bus = nil
        for lookUp in lookUps.values where lookUp.answer == nil { lookUp.answer = .unavailable }
        deliver()
    }

    private func closeIfIdle() {
        guard lookUps.isEmpty else { return }
        bus?.close()
        bus = nil
    }

    // MARK: Answers

    private static func answer(in reply: OpaquePointer?, for interfaceIndex: UInt32) -> Answer {
        if let error = unsafe sd_bus_message_get_error(reply) {
            return unsafe failure(error.pointee.name.map { unsafe String(cString: $0) } ?? "")
        }
        guard unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "a")), "(iiay)") >= 0 else {
            return .unavailable
        }
        var addresses: [IPAddress] = []
        while unsafe sd_bus_message_enter_container(reply, CChar(UInt8(ascii: "r")), "iiay") > 0 {
            var index: Int32 = 0
            var family: Int32 = 0
            var octets: UnsafeRawPointer?
            var count = 0
            guard unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "i")), &index) > 0,
                unsafe sd_bus_message_read_basic(reply, CChar(UInt8(ascii: "i")), &family) > 0,
                unsafe sd_bus_message_read_array(reply, CChar(UInt8(ascii: "y")), &octets, &count) >= 0,
                unsafe sd_bus_message_exit_container(reply) >= 0
            else { return .unavailable }
            let address = unsafe IPAddress(octets: UnsafeRawBufferPointer(start: octets, count: count))
            // Another link's answer says nothing about this one.
            if let address, index == Int32(bitPattern: interfaceIndex), Int32(address.family.rawValue) == family {
                addresses.append(address)
            }
        }
        return addresses.isEmpty ? .unknownName : .addresses(addresses)
    }

    private static func failure(_ name: String) -> Answer {
        switch name {
        case "org.freedesktop.resolve1.NoSuchRR", "org.freedesktop.resolve1.DnsError.NXDOMAIN": .unknownName
        default: .unavailable
        }
    }
}
