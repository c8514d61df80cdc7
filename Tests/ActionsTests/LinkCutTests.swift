import Actions
import Platform
import SystemBus
import TestSupport
import Testing

/// Taking links down by NetworkManager; the kernel's part is a matter of processes.
@Suite(.timeLimit(.minutes(10))) struct LinkCutTests {
    init() { #expect(ActionLoop.isRunning) }

    private static let name = "org.freedesktop.NetworkManager"
    private static let device = "org.freedesktop.NetworkManager.Device"

    /// NetworkManager with devices; by the name of the last part of their paths.
    private final class FakeDevices: @unchecked Sendable {
        struct Device {
            var isManaged = true
            var state: UInt32 = 100
        }

        private let devices: Lock<[String: Device]>
        private var fake: FakeService?
        /// Whether a disconnection takes a while.
        private let isSlow: Bool

        init(on bus: TestBus, _ devices: [String: Device], isSlow: Bool = false) throws {
            self.devices = Lock(devices)
            self.isSlow = isSlow
            fake = try FakeService(LinkCutTests.name, at: bus.address) { [unowned self] in answer($0) }
        }

        var service: FakeService {
            guard let fake else { fatalError("it is being made") }
            return fake
        }

        var states: [String: UInt32] { devices.withLock { $0.mapValues(\.state) } }

        private func set(_ name: String, _ path: String, _ state: UInt32) {
            devices.withLock { $0[name]?.state = state }
            service.send(path, LinkCutTests.device, "StateChanged", [.unsigned(state), .unsigned(100), .unsigned(39)])
        }

        private func answer(_ call: FakeService.Call) -> FakeService.Answer {
            let known = devices.withLock { $0 }
            if call.member == "GetAllDevices" {
                return .value(.list(known.keys.sorted().map { .path("/devices/\($0)") }, of: "o"))
            }
            let name = call.path.split(separator: "/").last.map(String.init) ?? ""
            guard let device = known[name] else { return .unknown }
            switch (call.member, call.text(1)) {
            case ("GetAll", _):
                return .value(
                    .properties([
                        "Interface": .text(name), "Managed": .flag(device.isManaged), "State": .unsigned(device.state),
                    ]))
            case ("Get", "State"): return .value(.variant(.unsigned(device.state)))
            case ("Disconnect", _):
                guard device.state > 30 else {
                    return .error("\(LinkCutTests.device).NotActive", "This device is not active")
                }
                set(name, call.path, isSlow ? 110 : 30)
                let path = call.path
                if isSlow { service.perform { [self] in set(name, path, 30) } }
                return .done
            default: return .unknown
            }
        }
    }

    @ActionActor private func problem(_ links: [String], _ daemon: TestBus) async -> String? {
        do throws(PlaceError) {
            try await LinkCut(Bus(.address(daemon.address))).cut(links)
            return nil
        } catch {
            return error.description
        }
    }

    @Test(arguments: [false, true]) @ActionActor func whatNetworkManagerManagesItDisconnects(isSlow: Bool) async throws
    {
        let daemon = try await TestBus.started()
        let fake = try FakeDevices(
            on: daemon, ["vct_a": .init(), "vct_b": .init(), "vct_c": .init(state: 30)], isSlow: isSlow)
        defer { fake.service.stop() }
        #expect(await problem(["vct_a", "vct_c"], daemon) == nil)
        #expect(fake.states == ["vct_a": 30, "vct_b": 100, "vct_c": 30])
    }

    /// It is asked of the kernel, where these links are none.
    @Test @ActionActor func whatItDoesNotManageOrDoItIsNotAskedForOnly() async throws {
        let daemon = try await TestBus.started()
        let fake = try FakeDevices(on: daemon, ["vct_a": .init(isManaged: false), "vct_b": .init()])
        defer { fake.service.stop() }
        #expect(await problem(["vct_a", "vct_none"], daemon) == nil)
        #expect(!fake.service.calls.contains("Disconnect"))
        fake.service.on("Disconnect") { _ in .error("\(LinkCutTests.name).PermissionDenied", "no") }
        #expect(await problem(["vct_b"], daemon) == nil)
        #expect(fake.service.calls.contains("Disconnect"))
    }

    @Test @ActionActor func whereNobodyKnowsTheLinkThatIsSaid() async throws {
        let daemon = try await TestBus.started()
        #expect(await problem([], daemon) == "disconnect: nobody knows which link led here")
    }
}
