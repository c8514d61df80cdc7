import Glibc
import Platform
import SystemBus
import TestSupport
import Testing

@testable import Actions
@testable import Rules

/// Places and what else talks over D-Bus, against services that are there, are not, do not answer, refuse, talk
/// nonsense, crash, and lose their bus, in each of the methods that they are asked by.
@Suite(
    .enabled(if: Files.exists("/usr/bin/dbus-daemon"), "dbus-daemon is not installed"), .serialized,
    .timeLimit(.minutes(5)))
struct FaultyServicesTests {
    enum Kind: String, CaseIterable, Sendable {
        case unit, connection, zone, lock, notification
    }

    init() { #expect(ActionLoop.isRunning) }

    /// What is done and whether it is so, with the service behind it.
    @ActionActor private final class Subject {
        let service: FakeService
        /// Does it by way of a bus, from where it is not done.
        let act: @ActionActor (Bus, _ limit: Int64) async throws -> Void
        /// Whether a bus says that it is done; nil where nobody asks.
        let look: (@ActionActor (Bus) async throws -> Bool)?
        let isDone: () -> Bool
        let undo: () -> Void
        /// What nothing was said about stays away with its service.
        let forget: () -> Void

        init(_ kind: Kind, on bus: TestBus) throws {
            func looks(_ place: any Place, _ name: String, _ value: String) async throws -> Bool {
                try await place.read([name])?[name] == .value(value)
            }
            switch kind {
            case .unit:
                let fake = try FakeSystemd(on: bus, ["vpn.service": "inactive"])
                service = fake.service
                act = { bus, limit in
                    let place = UnitPlace("vpn.service", of: ServiceManager(bus, isOfUser: false), limit: limit)
                    try await place.write(["active": .value("yes")])
                }
                look = { bus in
                    try await looks(
                        UnitPlace("vpn.service", of: ServiceManager(bus, isOfUser: false)), "active", "yes")
                }
                isDone = { fake["vpn.service"] == "active" }
                undo = { fake["vpn.service"] = "inactive" }
                forget = { fake.forget() }
            case .connection:
                let fake = try FakeNetworkManager(on: bus, [.init(id: "corp vpn", uuid: "u-1")])
                service = fake.service
                act = { bus, limit in
                    try await NetworkManagerPlace("corp vpn", on: bus, limit: limit).write(["state": .value("up")])
                }
                look = { bus in try await looks(NetworkManagerPlace("corp vpn", on: bus), "state", "up") }
                isDone = { fake.isUp("u-1") }
                undo = { fake.set("u-1", isUp: false) }
                forget = {}
            case .zone:
                let fake = try FakeFirewall(on: bus)
                service = fake.service
                act = { bus, _ in
                    try await ZonePlace("wlan0", of: Firewalld(bus)).write(["zone": .value("drop")])
                }
                look = { bus in try await looks(ZonePlace("wlan0", of: Firewalld(bus)), "zone", "drop") }
                isDone = { fake["wlan0"] == "drop" }
                undo = { fake["wlan0"] = nil }
                forget = {}
            case .lock:
                let fake = try FakeLogin(on: bus, [.init(id: "1", kind: "wayland"), .init(id: "2", kind: "tty")])
                service = fake.service
                act = { bus, limit in try await SessionLock(bus, limit: limit).lock() }
                look = nil
                isDone = { fake.locked == ["1", "2"] }
                undo = { fake.unlock() }
                forget = {}
            case .notification:
                let fake = try FakeDesktop(on: bus)
                service = fake.service
                act = { bus, _ in
                    try await Notifications(bus).notify(
                        EdgeAction.Notification(summary: "office", body: "<b>", urgency: .normal))
                }
                look = nil
                isDone = { fake.shown == ["office: &lt;b&gt;"] }
                undo = { fake.clear() }
                forget = {}
            }
        }
    }

    /// Other tests may keep the loop for a while.
    private static let patience: Int64 = 60_000_000
    private static let haste: Int64 = 150_000

    @ActionActor private func bus(_ daemon: TestBus, limit: Int64 = patience) -> Bus {
        Bus(.address(daemon.address), limit: limit)
    }

    @ActionActor private func words(_ body: @ActionActor () async throws -> Void) async -> String? {
        do {
            try await body()
            return nil
        } catch {
            #expect(error is PlaceError)
            return "\(error)"
        }
    }

    @Test(arguments: Kind.allCases) @ActionActor func whatIsThereDoesIt(kind: Kind) async throws {
        let daemon = try await TestBus.started()
        let subject = try Subject(kind, on: daemon)
        defer { subject.service.stop() }
        let bus = bus(daemon)
        if let look = subject.look { #expect(try await !look(bus)) }
        try await subject.act(bus, Self.patience)
        #expect(subject.isDone())
        if let look = subject.look { #expect(try await look(bus)) }
        // What is so already stays so.
        try await subject.act(bus, Self.patience)
    }

    @Test(arguments: Kind.allCases) @ActionActor func whatIsNotThereIsNamed(kind: Kind) async throws {
        let daemon = try await TestBus.started()
        let subject = try Subject(kind, on: daemon)
        subject.service.stop()
        let bus = bus(daemon)
        let problem = await words { try await subject.act(bus, Self.patience) }
        let expected =
            kind == .notification ? "no desktop shows notifications" : "is not running"
        #expect(problem?.contains(expected) == true, "\(problem ?? "done")")
        if let look = subject.look {
            #expect(await words { _ = try await look(bus) }?.contains("is not running") == true)
        }
        daemon.end()
        #expect(await words { try await subject.act(bus, Self.patience) }?.contains("there is no D-Bus") == true)
    }

    enum Fault: CaseIterable, Sendable {
        case silence, refusal, nonsense, emptiness, crash, noBus
    }

    /// Whatever goes wrong in whichever method: nothing is said to be so that is not, nobody waits for ever, and when
    /// all is well again it works.
    @Test(arguments: Kind.allCases, Fault.allCases) @ActionActor
    func nothingIsClaimedThatIsNotSo(kind: Kind, fault: Fault) async throws {
        let daemon = try await TestBus.started()
        let subject = try Subject(kind, on: daemon)
        let service = subject.service
        defer { service.stop() }
        try await subject.act(bus(daemon), Self.patience)
        _ = try await subject.look?(bus(daemon))
        let members = Set(
            service.calls.flatMap { member in
                member == "Get" ? service.calls(of: "Get").map { "Get \($0.text(1))" } : [member]
            })
        #expect(!members.isEmpty)
        let limit = fault == .silence ? Self.haste : Self.patience
        let bus = bus(daemon, limit: limit)
        for member in members.sorted() {
            subject.undo()
            let began = Timestamp.now().boottime
            service.on(member) { _ in
                switch fault {
                case .silence: return .nothing
                case .refusal: return .error("org.example.Error.Refused", "it refused \u{1B}[31m")
                // Whatever is expected, it is not this; what is expected of a notification is a number.
                case .nonsense: return .value(kind == .notification ? .text("x") : .unsigned(4_000_000_000))
                case .emptiness: return .done
                case .crash:
                    service.crash()
                    return .nothing
                case .noBus:
                    daemon.end()
                    return .nothing
                }
            }
            // A lock that nobody confirms takes all of its time.
            let isSlow = kind == .lock && [.nonsense, .emptiness].contains(fault)
            let problem = await words { try await subject.act(bus, isSlow ? 2 * Self.haste : limit) }
            if let problem {
                #expect(!problem.unicodeScalars.contains { $0.value < 0x20 })
                if fault == .refusal { #expect(problem.contains("it refused"), "\(member)") }
            } else {
                #expect(subject.isDone(), "\(member) with \(fault): said to be done")
            }
            if let look = subject.look {
                var seen: Bool?
                let problem = await words { seen = try await look(bus) }
                #expect(problem != nil || seen == subject.isDone(), "\(member) with \(fault): \(seen as Any)")
            }
            #expect(Timestamp.now().boottime - began < Self.patience, "\(member) with \(fault)")

            service.on(member, nil)
            switch fault {
            case .noBus:
                // It has seen the end of the bus, or does now.
                service.vanish()
                try await daemon.restart()
                subject.forget()
                service.appear()
            case .crash:
                subject.forget()
                service.appear()
            default: break
            }
            subject.undo()
            let again = fault == .silence ? self.bus(daemon) : bus
            let end = await words { try await subject.act(again, Self.patience) }
            #expect(end == nil, "\(member) after \(fault)")
            #expect(subject.isDone(), "\(member) after \(fault)")
        }
    }

    // MARK: What each says of itself

    @Test @ActionActor func aJobThatDoesNotEndIsNotWaitedForLongerThanTheLimit() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeSystemd(on: daemon, ["slow.service": "inactive"])
        defer { fake.service.stop() }
        fake.endJobs(with: nil)
        let place = UnitPlace("slow.service", of: ServiceManager(bus(daemon), isOfUser: false), limit: Self.haste)
        let problem = await words { try await place.write(["active": .value("yes")]) }
        #expect(problem?.contains("not done after 0 s, it is inactive; systemctl status slow.service") == true)
    }

    /// No more is heard of a job of one that ended.
    @Test @ActionActor func aManagerThatEndsInTheMiddleIsNotWaitedFor() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeSystemd(on: daemon, ["slow.service": "inactive"])
        defer { fake.service.stop() }
        fake.endJobs(with: nil)
        let manager = ServiceManager(bus(daemon), isOfUser: false)
        let place = UnitPlace("slow.service", of: manager)
        let start = ActionActor.task { await self.words { try await place.write(["active": .value("yes")]) } }
        await fake.service.called("StartUnit")
        fake.service.vanish()
        #expect(await start.value?.contains("systemd ended in the middle of it") == true)
        // The next one has to be asked for signals anew.
        fake.forget()
        fake.service.appear()
        fake.endJobs(with: "done")
        try await place.write(["active": .value("yes")])
        #expect(fake.service.calls(of: "Subscribe").count == 2)
    }

    @Test @ActionActor func somebodyElsesJobTakesThePlaceOfOursOnce() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeSystemd(on: daemon, ["vpn.service": "inactive"])
        defer { fake.service.stop() }
        fake.endJobs(with: "canceled")
        let place = UnitPlace("vpn.service", of: ServiceManager(bus(daemon), isOfUser: false))
        let problem = await words { try await place.write(["active": .value("yes")]) }
        #expect(problem?.contains("something else stops and starts it too") == true)
        #expect(fake.service.calls(of: "StartUnit").count == 2)
    }

    @Test @ActionActor func aConnectionSaysWhyItIsNotUp() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeNetworkManager(
            on: daemon, [.init(id: "a", uuid: "u-1"), .init(id: "b", uuid: "u-2"), .init(id: "b", uuid: "u-3")])
        defer { fake.service.stop() }
        let bus = bus(daemon)
        fake.refuseNext(because: 9)
        let secret = await words { try await NetworkManagerPlace("a", on: bus).write(["state": .value("up")]) }
        #expect(secret?.contains("it needs a secret that is not stored") == true)
        let two = await words { try await NetworkManagerPlace("b", on: bus).write(["state": .value("up")]) }
        #expect(two?.contains("2 connections are called b: say which by its UUID, u-2 or u-3") == true)
        let none = await words { try await NetworkManagerPlace("c", on: bus).write(["state": .value("up")]) }
        #expect(none?.contains("there is no connection c") == true)
        #expect(try await NetworkManagerPlace("c", on: bus).read(["state"]) == ["state": .value("down")])
    }

    @Test @ActionActor func aZoneThatIsNotThereIsToldWithThoseThatAre() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeFirewall(on: daemon)
        defer { fake.service.stop() }
        let place = ZonePlace("wlan0", of: Firewalld(bus(daemon)))
        let problem = await words { try await place.write(["zone": .value("nowhere")]) }
        #expect(problem?.contains("firewalld has no such zone; it has block, drop, home, public, work") == true)
        // In none already.
        try await place.write(["zone": .unset])
    }

    @Test @ActionActor func aSessionThatDoesNotLockIsNamed() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeLogin(
            on: daemon,
            [
                .init(id: "1", kind: "wayland"), .init(id: "2", kind: "tty", hasLocker: false),
                .init(id: "3", kind: "x11", isRemote: true),
            ])
        defer { fake.service.stop() }
        let bus = bus(daemon)
        let lock = ActionActor.task {
            await self.words { try await SessionLock(bus, limit: Self.patience).lock() }
        }
        // The one is locked by then, and the other is waited for.
        await fake.service.called("Get", times: 2)
        fake.service.vanish()
        let problem = await lock.value
        #expect(problem == "lock: session 2 of ada: systemd-logind ended in the middle of it", "\(problem ?? "locked")")
        #expect(fake.locked == ["1"])
    }
}
