import Platform
import SystemBus
import TestSupport

@testable import Actions

/// systemd as org.freedesktop.systemd1(5) has it, as far as anybody here asks.
final class FakeSystemd: @unchecked Sendable {
    struct Unit {
        var state: String
        var result = "success"
        /// CLD_EXITED, CLD_KILLED
        var code: Int32 = 0
        var status: Int32 = 0
        var isTransient = false
    }

    private struct State {
        var units: [String: Unit] = [:]
        var isSubscribed = false
        var jobs: UInt32 = 0
        /// How jobs end; nil: they do not.
        var result: String? = "done"
    }

    private static let name = "org.freedesktop.systemd1"
    private static let exists = "org.freedesktop.systemd1.UnitExists"

    private let state = Lock(State())
    private var fake: FakeService?

    init(on bus: TestBus, _ units: [String: String] = [:]) throws {
        state.withLock { $0.units = units.mapValues { Unit(state: $0) } }
        fake = try FakeService(FakeSystemd.name, at: bus.address) { [unowned self] in answer($0) }
    }

    var service: FakeService {
        guard let fake else { fatalError("it is being made") }
        return fake
    }

    /// What the unit is; nil where there is none.
    subscript(_ unit: String) -> String? {
        get { state.withLock { $0.units[unit]?.state } }
        set { state.withLock { $0.units[unit] = newValue.map { Unit(state: $0) } } }
    }

    var commands: [String] {
        state.withLock { state in state.units.filter { $0.value.isTransient }.map(\.key).sorted() }
    }

    func endJobs(with result: String?) { state.withLock { $0.result = result } }

    /// A command ends by itself.
    func finish(_ unit: String, code: Int32 = 1, status: Int32 = 0) {
        service.perform { [self] in become("inactive", unit, code, status) }
    }

    // MARK: Answers

    /// Makes the unit that is asked for, as it does before it answers.
    func make(_ call: FakeService.Call) -> FakeService.Answer {
        let unit = call.text(0)
        let isNew = state.withLock { state in
            guard state.units[unit] == nil else { return false }
            state.units[unit] = Unit(state: "active", isTransient: true)
            return true
        }
        return isNew ? job(of: unit) : .error(FakeSystemd.exists, "Unit \(unit) was already loaded")
    }

    private func answer(_ call: FakeService.Call) -> FakeService.Answer {
        let unit = call.text(0)
        switch call.member {
        case "Get": return property(call.text(1), at: call.path)
        case "Subscribe":
            state.withLock { $0.isSubscribed = true }
            return .done
        case "LoadUnit": return .value(.path(ServiceManager.path(of: unit)))
        case "StartTransientUnit": return make(call)
        case "RefUnit", "UnrefUnit", "StartUnit", "StopUnit":
            guard self[unit] != nil else {
                return .error("org.freedesktop.systemd1.NoSuchUnit", "Unit \(unit) not loaded.")
            }
            switch call.member {
            case "RefUnit": return .done
            case "UnrefUnit":
                // What is collected is gone.
                state.withLock { state in
                    if state.units[unit]?.isTransient == true { state.units[unit] = nil }
                }
                return .done
            default: return start(call.member == "StartUnit", unit)
            }
        case "ListUnitsByPatterns":
            let entries: [BusArgument] = commands.map { name in
                .structure(
                    ["", "loaded", "active", "running", ""].reduce(into: [.text(name)]) { $0.append(.text($1)) } + [
                        .path(ServiceManager.path(of: name)), .unsigned(0), .text(""), .path("/"),
                    ])
            }
            return .value(.list(entries, of: "(ssssssouso)"))
        default: return .unknown
        }
    }

    private func property(_ name: String, at path: String) -> FakeService.Answer {
        if name == "Environment" { return .value(.variant(.texts(["HOME=/root", "SECRET=x"]))) }
        let unit = state.withLock { state in
            state.units.first { ServiceManager.path(of: $0.key) == path }?.value
        }
        switch name {
        case "ActiveState": return .value(.variant(.text(unit?.state ?? "inactive")))
        case "Result": return .value(.variant(.text(unit?.result ?? "success")))
        case "ExecMainCode": return .value(.variant(.signed(unit?.code ?? 0)))
        case "ExecMainStatus": return .value(.variant(.signed(unit?.status ?? 0)))
        default: return .noProperty
        }
    }

    private func start(_ isStart: Bool, _ unit: String) -> FakeService.Answer {
        if state.withLock({ $0.result }) == "done" {
            service.perform { [self] in become(isStart ? "active" : "inactive", unit, 2, 15) }
        }
        return job(of: unit)
    }

    /// What follows is told after the answer.
    private func job(of unit: String) -> FakeService.Answer {
        let (number, result) = state.withLock { state in
            state.jobs += 1
            return (state.jobs, state.result)
        }
        let path = BusArgument.path("\(ServiceManager.path)/job/\(number)")
        if let result {
            service.perform { [self] in
                guard state.withLock({ $0.isSubscribed }) else { return }
                service.send(
                    ServiceManager.path, "\(FakeSystemd.name).Manager", "JobRemoved",
                    [.unsigned(number), path, .text(unit), .text(result)])
            }
        }
        return .value(path)
    }

    private func become(_ new: String, _ unit: String, _ code: Int32, _ status: Int32) {
        let isKnown = state.withLock { state in
            guard state.units[unit] != nil else { return false }
            state.units[unit]?.state = new
            if new == "inactive" {
                state.units[unit]?.code = code
                state.units[unit]?.status = status
            }
            return state.isSubscribed
        }
        guard isKnown else { return }
        service.changed(
            ServiceManager.path(of: unit), "org.freedesktop.systemd1.Unit", ["ActiveState": .text(new)])
    }

    /// Forgets who asked for signals, and all transient units where it is another one and not the same anew.
    func forget(units: Bool = false) {
        state.withLock { state in
            state.isSubscribed = false
            if units { state.units = state.units.filter { !$0.value.isTransient } }
        }
    }
}
