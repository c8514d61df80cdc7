import Environment
import Netlink
import Platform
import Rules
import WiFi

/// Texts that claim to be rule files: what is loaded of them, how it is complained about, and what comes of the rules.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let file = RuleFile(path: "1.toml", contents: text)
    let result = RuleSet.load([file])
    let hasErrors = result.diagnostics.contains { $0.severity == .error }
    check((result.ruleSet == nil) == hasErrors, "refused without a reason, or taken with an error")
    let lines = text.count { $0 == 0x0a } + 1
    for diagnostic in result.diagnostics { checkDiagnostic(diagnostic, lines) }
    guard let ruleSet = result.ruleSet else { return 0 }
    // Once more beside itself: everything is there already.
    let twice = RuleSet.load([file, RuleFile(path: "2.toml", contents: text)])
    check(
        twice.diagnostics.count { $0.code == .duplicateName && $0.file == "2.toml" }
            == ruleSet.networks.count + ruleSet.rules.count, "names that stand in two files")
    let reviewed = RuleSet.load([file], reviewing: true)
    check(reviewed.ruleSet != nil, "a review refuses")
    for diagnostic in reviewed.diagnostics { checkDiagnostic(diagnostic, lines) }

    let proven = Set(ruleSet.networks.lazy.filter { $0.probe != nil }.map(\.name))
    for environment in environments {
        checkSimulation(of: ruleSet, in: environment, proven: [])
        if !proven.isEmpty { checkSimulation(of: ruleSet, in: environment, proven: proven) }
    }
    checkEngine(ruleSet)
    return 0
}

private func checkDiagnostic(_ diagnostic: Diagnostic, _ lines: Int) {
    check(!diagnostic.message.isEmpty, "nothing is said")
    check(
        (0...lines).contains(diagnostic.line) && (diagnostic.line == 0) == (diagnostic.column == 0)
            && diagnostic.column >= 0, "a place outside the file: \(diagnostic)")
    let text = diagnostic.description
    check(text.unicodeScalars.allSatisfy { isPlain($0) || $0 == "\n" }, "what a terminal might obey: \(text)")
    check(diagnostic.line == 0 || text.count { $0 == "\n" } == 2, "not three lines: \(text)")
}

private func isPlain(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.properties.generalCategory {
    case .control, .format, .surrogate, .privateUse, .unassigned, .lineSeparator, .paragraphSeparator: false
    default: true
    }
}

private func checkSimulation(of ruleSet: RuleSet, in environment: NetworkEnvironment, proven: Set<String>) {
    let time = Timestamp(wall: 59_999_999, boottime: 1_000_000)
    let simulation = Simulation(of: ruleSet, in: environment, proven: proven, at: time)
    check(simulation.rules.map(\.rule) == ruleSet.rules, "rules come and go")
    let active = Set(simulation.rules.filter(\.isActive).map(\.rule.name))
    for state in simulation.rules {
        check(!state.because.isEmpty, "no reason for \(state.rule.name)")
        check(state.rule.isEnabled || !state.isActive, "\(state.rule.name) holds although it is disabled")
        // Everything hangs on this: protection goes down where it is certain, or where somebody said that it may.
        if state.isActive, state.rule.leaning == .relaxing, state.rule.acceptedWeakness == nil {
            check(
                simulation.judgement.assurance >= .mutual && !environment.isSuspended,
                "\(state.rule.name) lowers protection on \(simulation.judgement.assurance)")
        }
    }
    for request in simulation.states {
        check(active.contains(request.rule.name) && !request.rule.isObserving, "\(request.rule.name) asks for a state")
    }
    check(
        Set(simulation.states.map(\.action.target)).count == simulation.states.count, "two states of one target")
    for request in simulation.actions {
        check(!request.rule.isObserving && request.rule.isEnabled, "\(request.rule.name) acts")
    }
}

/// From one place to the next, with time passing or not.
private func checkEngine(_ ruleSet: RuleSet) {
    var engine = RuleEngine(ruleSet: ruleSet)
    var time = Timestamp(wall: 0, boottime: 1_000_000)
    for environment in [environments[0], NetworkEnvironment(), environments[1], environments[0]] {
        _ = engine.update(environment, at: time)
        for _ in 0..<4 {
            guard let due = engine.nextDeadline else { break }
            time = time.advanced(by: max(due - time.boottime, 0))
            _ = engine.advance(to: time)
        }
    }
}

// MARK: Places

/// What the seeds and the dictionary list.
private let environments: [NetworkEnvironment] = {
    let office = wifi("Corp-Staff", .wpa2Enterprise, isCertain: true)
    let home = wifi("Seven Oaks", .wpa3SAE)
    let desk = wire(isCertain: true)
    var suspended = environment(office)
    suspended.isSuspended = true
    var metered = environment(home, desk)
    metered.isMetered = true
    return [
        environment(office), environment(home), environment(wifi("Corp-Staff", .open)), environment(desk),
        environment(wire(isCertain: nil), office), metered, environment(), suspended,
    ]
}()

private func environment(_ links: Interface...) -> NetworkEnvironment {
    var environment = NetworkEnvironment()
    for link in links { environment.interfaces[link.index] = link }
    environment.primaryRoute = links.first.map { PrimaryRoute(interfaceIndex: $0.index, gateway: nil) }
    environment.connectivity = links.isEmpty ? .none : .internet
    return environment
}

private func wifi(_ name: String, _ security: Security, isCertain: Bool? = nil) -> Interface {
    var link = Interface(index: 3, name: "wlan0", kind: .wifi)
    link.wifi = .joined(WiFiNetwork(ssid: SSID(utf8: name), bssid: BSSID("02:00:5e:10:00:01"), security: security))
    return described(link, isCertain)
}

private func wire(isCertain: Bool?) -> Interface {
    described(Interface(index: 4, name: "eth0", kind: .ethernet), isCertain)
}

private func described(_ link: Interface, _ isCertain: Bool?) -> Interface {
    var link = link
    link.isAdministrativelyUp = true
    link.operationalState = .up
    if let address = IPAddress("192.0.2.7"), let router = IPAddress("192.0.2.1") {
        link.addresses = [InterfaceAddress(address: address, prefixLength: 24)]
        link.evidence.gateways = [Gateway(address: router, hardwareAddress: MACAddress("02:00:5e:10:00:01"))]
    }
    link.evidence.searchDomains = ["corp.example"]
    link.evidence.authentication = isCertain.map { EAPDemands(certificationAuthority: true, serverName: $0) }
    return link
}
