import Environment
import Glibc
import Platform
import Testing

/// A private bus, on which the test owns the names of logind and of supplicants.
///
/// The address comes from the environment of the process, so that these run one after the other.
@Suite(.serialized, .timeLimit(.minutes(10)))
struct SystemBusTests {
    private func kinds(_ stream: AsyncStream<EnvironmentUpdate>, until kind: EnvironmentChange.Kind) async
        -> [EnvironmentChange.Kind]
    {
        var kinds: [EnvironmentChange.Kind] = []
        for await update in stream {
            guard case .change(let change) = update else { continue }
            kinds.append(change.kind)
            if change.kind == kind { break }
        }
        return kinds
    }

    /// Lets a manager come and go until somebody notices: then the matches are in place.
    private func provoke(_ name: String, on bus: PrivateBus, seenBy monitor: EnvironmentMonitor) async {
        let seen = Lock(false)
        let notice = Task {
            _ = await kinds(monitor.changes, until: .resynced(.managerChanged))
            seen.withLock { $0 = true }
        }
        while !seen.withLock({ $0 }) {
            bus.own(name)
            bus.disown(name)
            await Task.yield()
        }
        await notice.value
    }

    @Test func aManagerThatComesOrGoesMakesEverythingBeReadAgain() async throws {
        let bus = try PrivateBus()
        let monitor = try EnvironmentMonitor()
        for name in ["fi.w1.wpa_supplicant1", "net.connman.iwd", "org.freedesktop.NetworkManager"] {
            await provoke(name, on: bus, seenBy: monitor)
        }
    }

    @Test func sleepAndWakeAreToldAndEverythingIsReadAgain() async throws {
        let bus = try PrivateBus()
        bus.own("org.freedesktop.login1")
        let monitor = try EnvironmentMonitor()
        await provoke("net.connman.iwd", on: bus, seenBy: monitor)
        let changes = monitor.changes
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        bus.prepareForSleep(true)
        bus.prepareForSleep(false)
        var told: [EnvironmentChange.Kind] = []
        while told.last != .resynced(.resume), case .change(let change)? = await iterator.next() {
            told.append(change.kind)
        }
        #expect(told.filter { $0 != .resynced(.managerChanged) } == [.suspended, .resumed, .resynced(.resume)])
    }

    @Test func whatAStrangerWhispersIsNotBelieved() async throws {
        let bus = try PrivateBus()
        bus.own("org.freedesktop.login1")
        let monitor = try EnvironmentMonitor()
        await provoke("net.connman.iwd", on: bus, seenBy: monitor)
        let changes = monitor.changes
        var iterator = changes.makeAsyncIterator()
        _ = await iterator.next()
        bus.whisperOfSleep(true)
        // What comes of this comes after what came of that.
        bus.prepareForSleep(true)
        bus.prepareForSleep(false)
        bus.whisperOfSleep(true)
        bus.own("org.freedesktop.NetworkManager")
        var told: [EnvironmentChange.Kind] = []
        var isOver = false
        while !isOver, case .change(let change)? = await iterator.next() {
            isOver = change.kind == .resynced(.managerChanged) && told.contains(.resumed)
            told.append(change.kind)
        }
        #expect(told.filter { [.suspended, .resumed].contains($0) } == [.suspended, .resumed])
    }

    @Test func withoutABusEverythingElseWorks() throws {
        setenv("DBUS_SYSTEM_BUS_ADDRESS", "unix:path=/nonexistent/bus", 1)
        defer { unsetenv("DBUS_SYSTEM_BUS_ADDRESS") }
        #expect(try EnvironmentMonitor().environment.interfaces.values.contains { $0.kind == .loopback })
    }
}
