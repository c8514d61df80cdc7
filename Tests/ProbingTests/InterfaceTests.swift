import Foundation
import Glibc
import Netlink
import Platform
import ProbeProtocol
import Probing
import Testing

extension ProbingTests {
    /// A machine with two links, in namespaces: the server is behind one of them only, and the route to it as well.
    @Suite(.serialized, .enabled(if: Rooms.isPermitted, "takes root and network namespaces")) struct InterfaceTests {
        @Test func usesNoOtherLinkThanItsOwn() throws {
            let identity = try #require(Identity.elliptic)
            let (rooms, scratch) = (try Rooms(), try Scratch())
            let server = try TLSServer(
                identity, on: "10.99.0.1", through: ["nsenter", "--net=/run/netns/\(rooms.office)"])
            let paths = try rooms.paths(scratch)
            let inside = try Stage.outcome(of: rooms.question(on: "wlan0", server.port, identity.pin), paths: paths)
            #expect(inside == .proven(identity.pin))
            // The machine would find the way by itself.
            let route = try run("nsenter", "--net=/run/netns/\(rooms.machine)", "ip", "route", "get", "10.99.0.1")
            #expect(route.contains("dev wlan0"))
            let outside = try Stage.outcome(of: rooms.question(on: "eth0", server.port, identity.pin), paths: paths)
            #expect([.unreachable, .timedOut].contains(outside), "\(outside)")
        }

        /// The other network may have a server at the same address; it does not have its key.
        @Test func tellsAnImpostorAtTheSameAddress() throws {
            let (identity, other) = (try #require(Identity.elliptic), try #require(Identity.other))
            let (rooms, scratch) = (try Rooms(), try Scratch())
            try run(
                "nsenter", "--net=/run/netns/\(rooms.elsewhere)", "ip", "address", "add", "10.99.0.1/32", "dev", "lo")
            let impostor = try TLSServer(
                other, on: "10.99.0.1", through: ["nsenter", "--net=/run/netns/\(rooms.elsewhere)"])
            let question = try rooms.question(on: "eth0", impostor.port, identity.pin)
            // On a link the neighbour answers for each of its addresses.
            #expect(try Stage.outcome(of: question, paths: rooms.paths(scratch)) == .pinMismatch(seen: other.pin))
        }

        @Test func tellsWhenTheLinkIsGone() throws {
            let identity = try #require(Identity.elliptic)
            let (rooms, scratch) = (try Rooms(), try Scratch())
            let question = try rooms.question(on: "eth0", 443, identity.pin)
            try run("nsenter", "--net=/run/netns/\(rooms.machine)", "ip", "link", "delete", "eth0")
            #expect(try Stage.outcome(of: question, paths: rooms.paths(scratch)) == .interfaceGone)
            // Another that took over its name is another.
            try run(
                "nsenter", "--net=/run/netns/\(rooms.machine)", "ip", "link", "add", "eth0", "type", "veth", "peer",
                "name", "eth1")
            #expect(try Stage.outcome(of: question, paths: rooms.paths(scratch)) == .interfaceGone)
        }

        @Test func tellsWhenTheLinkIsDown() throws {
            let identity = try #require(Identity.elliptic)
            let (rooms, scratch) = (try Rooms(), try Scratch())
            let question = try rooms.question(on: "wlan0", 443, identity.pin)
            try run("nsenter", "--net=/run/netns/\(rooms.machine)", "ip", "link", "set", "wlan0", "down")
            #expect(try Stage.outcome(of: question, paths: rooms.paths(scratch)) == .unreachable)
        }
    }
}

/// The namespaces: a machine, and what is behind each of its links. They are entered by nsenter(1): ip(8) would make
/// mounts of its own, which takes a root that is a mount point.
private final class Rooms {
    static let isPermitted =
        geteuid() == 0 && (try? run("unshare", "--net", "true")) != nil && (try? run("ip", "-Version")) != nil

    private static let prefix = "vicinity-probe-\(getpid())"
    let machine = "\(prefix)-machine"
    let office = "\(prefix)-office"
    let elsewhere = "\(prefix)-elsewhere"

    init() throws {
        for name in [machine, office, elsewhere] { try run("ip", "netns", "add", name) }
        for (name, link, number) in [(office, "wlan0", 1), (elsewhere, "eth0", 2)] {
            try run(
                "nsenter", "--net=/run/netns/\(machine)", "ip", "link", "add", link, "type", "veth", "peer", "name",
                "peer0", "netns", name)
            try run(
                "nsenter", "--net=/run/netns/\(machine)", "ip", "address", "add", "10.77.\(number).1/24", "dev", link)
            try run("nsenter", "--net=/run/netns/\(machine)", "ip", "link", "set", link, "up")
            try run(
                "nsenter", "--net=/run/netns/\(name)", "ip", "address", "add", "10.77.\(number).2/24", "dev", "peer0")
            try run("nsenter", "--net=/run/netns/\(name)", "ip", "link", "set", "peer0", "up")
            try run("nsenter", "--net=/run/netns/\(name)", "ip", "link", "set", "lo", "up")
            try run("nsenter", "--net=/run/netns/\(name)", "ip", "route", "add", "default", "via", "10.77.\(number).1")
        }
        try run("nsenter", "--net=/run/netns/\(office)", "ip", "address", "add", "10.99.0.1/32", "dev", "lo")
        try run(
            "nsenter", "--net=/run/netns/\(machine)", "ip", "route", "add", "10.99.0.1", "via", "10.77.1.2", "dev",
            "wlan0")
    }

    deinit {
        for name in [machine, office, elsewhere] { _ = try? run("ip", "netns", "delete", name) }
    }

    func index(of link: String) throws -> UInt32 {
        let said = try run("nsenter", "--net=/run/netns/\(machine)", "ip", "-oneline", "link", "show", link)
        return try #require(said.split(separator: ":").first.flatMap { UInt32($0) })
    }

    /// The helper, inside the machine.
    func paths(_ scratch: Scratch) throws -> ProbePaths {
        .helper(
            try scratch.script(
                "inside", "#!/bin/sh\nexec nsenter --net=/run/netns/\(machine) \(ProbePaths.spawning.helper)\n"))
    }

    func question(on link: String, _ port: UInt16, _ pin: SPKIPin) throws -> ProbeQuestion {
        ProbeQuestion(
            interfaceIndex: try index(of: link), interfaceName: link, serverName: "inside.example", port: port,
            address: IPAddress("10.99.0.1"), purpose: .key([pin]), timeout: 1_500_000)
    }
}
