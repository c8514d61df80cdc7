import CNetlink
import Glibc
import Platform
import TestSupport
import Testing

@testable import Netlink

/// Real sockets, with the kernel at the other end.
@Suite struct SocketTests {
    private static let loopback: Int32 = 1

    private func links(by requester: NetlinkRequester) throws -> [LinkMessage] {
        try requester.answer(to: LinkMessage.all).compactMap { message in
            if case .link(let link)? = try RouteMessage(message) { link } else { nil }
        }
    }

    @Test func loopbackIsThere() throws {
        let loopback = try #require(try links(by: try NetlinkRequester(.route)).first { $0.isLoopback })
        #expect(loopback.index == SocketTests.loopback)
        #expect(loopback.name == "lo")
        #expect(loopback.hardwareType == 772)
    }

    @Test func everyDumpIsUnderstood() throws {
        let requester = try NetlinkRequester(.route)
        for request in [LinkMessage.all, AddressMessage.all, RouteEntry.all] {
            for message in try requester.answer(to: request) {
                #expect(throws: Never.self) { try RouteMessage(message) }
            }
        }
    }

    /// The kernel takes the question, and answers about this link and table alone.
    @Test(arguments: [IPAddress.Family.v4, .v6])
    func routesThroughOneLink(family: IPAddress.Family) throws {
        let requester = try NetlinkRequester(.route)
        do {
            for message in try requester.answer(to: RouteEntry.all(through: SocketTests.loopback, family)) {
                guard case .route(let route, false)? = try RouteMessage(message) else { continue }
                #expect(route.interfaceIndex == SocketTests.loopback)
                #expect(route.table == RouteEntry.mainTable)
            }
        } catch NetlinkError.refused(_, let code, _) {
            #expect(code == 2, "ENOENT: no address was ever set, so there is no table")
        }
        #expect(throws: NetlinkError.self) {
            try requester.answer(to: RouteEntry.all(through: .max, family))
        }
    }

    /// Each has a port of its own, so their answers never mix.
    @Test func twoSockets() throws {
        let (one, other) = (try NetlinkSocket(.route), try NetlinkSocket(.route))
        #expect(one.port != other.port)
        let (first, second) = (try NetlinkRequester(.route), try NetlinkRequester(.route))
        #expect(try links(by: first).map(\.index) == links(by: second).map(\.index))
        #expect(try links(by: first).map(\.index) == links(by: first).map(\.index))
    }

    @Test func kernelsRefusal() throws {
        let requester = try NetlinkRequester(.route)
        var request = NetlinkRequest(
            "RTM_GETLINK", type: 18, isDump: false,
            header: [0, 0, 0, 0] + Wire.number(Int32.max) + Wire.number(UInt64(0)))
        request.append(29, UInt32(8))
        #expect {
            try requester.answer(to: request)
        } throws: { error in
            // ENODEV
            guard case .refused("RTM_GETLINK", 19, _)? = error as? NetlinkError else { return false }
            return true
        }
        // And the socket goes on.
        #expect(try links(by: requester).isEmpty == false)
    }

    @Test func familyThatDoesNotExist() throws {
        #expect(throws: NetlinkError.familyNotFound("no-such-family")) {
            try GenericNetlinkFamily.resolve("no-such-family", by: try NetlinkRequester(.generic))
        }
    }

    @Test func controllerKnowsItself() throws {
        let (family, message) = try GenericNetlinkFamily.resolve("nlctrl", by: try NetlinkRequester(.generic))
        #expect(family.identifier == 16)
        #expect(family.groups["notify"] == GenericNetlinkFamily.controller.groups["notify"])
        #expect(message.type == 16)
        // Anybody may listen.
        try NetlinkSocket(.generic).join(16)
    }

    @Test func nothingToRead() throws {
        let socket = try NetlinkSocket(.route)
        var reader = DatagramReader(descriptor: socket.descriptor)
        guard case .nothing = try reader.next() else {
            Issue.record("something came")
            return
        }
    }

    /// Another process can write to our port; it is not the kernel.
    @Test func messageOfAnotherProcess() throws {
        let (ours, theirs) = (try NetlinkSocket(.route), try NetlinkSocket(.route))
        var address = sockaddr_nl()
        address.nl_family = sa_family_t(AF_NETLINK)
        address.nl_pid = ours.port
        let forged = Signal.linkRemoved().bytes
        let sent = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(theirs.descriptor, forged, forged.count, 0, $0, socklen_t(MemoryLayout<sockaddr_nl>.size))
            }
        }
        guard sent == forged.count else {
            // EPERM: the kernel keeps others than root from it.
            try Test.cancel("may not write to another socket")
        }
        var reader = DatagramReader(descriptor: ours.descriptor)
        guard case .datagram(let datagram, let isFromKernel) = try reader.next() else {
            Issue.record("nothing came")
            return
        }
        #expect(Array(datagram) == forged)
        #expect(!isFromKernel)
    }

    @Test func datagramThatDoesNotFit() throws {
        var pair: [Int32] = [-1, -1]
        #expect(socketpair(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0, &pair) == 0)
        defer { for descriptor in pair { close(descriptor) } }
        var reader = DatagramReader(descriptor: pair[0], capacity: 64)
        #expect(send(pair[1], [UInt8](repeating: 7, count: 65), 65, 0) == 65)
        #expect(send(pair[1], [UInt8](repeating: 7, count: 64), 64, 0) == 64)
        guard case .overrun = try reader.next() else {
            Issue.record("a cut datagram passed")
            return
        }
        guard case .datagram(let datagram, isFromKernel: true) = try reader.next() else {
            Issue.record("nothing came")
            return
        }
        #expect(datagram.count == 64)
    }

    /// In a network of its own: the kernel drops what a tiny buffer does not hold, and says so.
    @Test func overrun() async throws {
        // A thread that is in another network is of no use to anybody afterwards; this one ends.
        let loop = try EventLoop()
        try loop.start()
        let outcome = await withCheckedContinuation { continuation in
            loop.perform { continuation.resume(returning: Result { try Overrun.provoke() }) }
        }
        loop.stop()
        switch try outcome.get() {
        case .notPermitted: try Test.cancel("no network namespace of its own without privilege")
        case .untold(let messages): Issue.record("\(messages) messages and no overrun")
        // The queue goes on after the loss.
        case .told(let messages): #expect((1..<64).contains(messages))
        }
    }

    private enum Overrun: Sendable {
        case notPermitted
        case told(Int)
        case untold(Int)

        static func provoke() throws -> Overrun {
            // glibc has it, its Swift module does not.
            guard let symbol = dlsym(nil, "unshare") else { return .notPermitted }
            let unshare = unsafeBitCast(symbol, to: (@convention(c) (Int32) -> Int32).self)
            guard unshare(0x4000_0000) == 0 else { return .notPermitted }  // CLONE_NEWNET
            let socket = try NetlinkSocket(.route, receiveBuffer: 1)
            try socket.join(RouteGroup.link.rawValue)
            let requester = try NetlinkRequester(.route)
            for round in 0..<64 {
                let flags = UInt32(round % 2 == 0 ? 1 : 0)
                // RTM_NEWLINK: ifi_flags under the mask IFF_UP.
                let header =
                    [0, 0, 0, 0] + Wire.number(SocketTests.loopback) + Wire.number(flags) + Wire.number(UInt32(1))
                _ = try requester.answer(to: NetlinkRequest("RTM_NEWLINK", type: 16, isDump: false, header: header))
            }
            var reader = DatagramReader(descriptor: socket.descriptor)
            var isOverrun = false
            var messages = 0
            while true {
                switch try reader.next() {
                case .overrun: isOverrun = true
                case .datagram: messages += 1
                case .nothing, .closed: return isOverrun ? .told(messages) : .untold(messages)
                }
            }
        }
    }
}
