import Environment
import Netlink
import Platform
import Rules
import WiFi

/// Texts that claim to be rule files, each alone and beside a good one.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let result = RuleSet.load([RuleFile(path: "1.toml", contents: text)])
    let hasErrors = result.diagnostics.contains { $0.severity == .error }
    check((result.ruleSet == nil) == hasErrors, "refused without a reason, or taken with an error")
    let lines = text.count { $0 == 0x0a } + 1
    for diagnostic in result.diagnostics {
        check(
            (0...lines).contains(diagnostic.line) && diagnostic.column >= 0, "a place outside the file: \(diagnostic)")
        check(
            diagnostic.description.unicodeScalars.allSatisfy { $0 == "\n" || $0.value >= 0x20 && $0.value != 0x7f },
            "a control character in a message")
    }
    guard let ruleSet = result.ruleSet else { return 0 }
    var engine = RuleEngine(ruleSet: ruleSet)
    var time = Timestamp(wall: 0, boottime: 1_000_000)
    for environment in [office, NetworkEnvironment(), office] {
        _ = engine.update(environment, at: time)
        for _ in 0..<4 {
            guard let due = engine.nextDeadline else { break }
            time = time.advanced(by: max(due - time.boottime, 0))
            _ = engine.advance(to: time)
        }
    }
    return 0
}

/// Joined to a network that the seeds list.
private let office: NetworkEnvironment = {
    var environment = NetworkEnvironment()
    var interface = Interface(index: 3, name: "wlan0", kind: .wifi)
    interface.isAdministrativelyUp = true
    interface.operationalState = .up
    interface.wifi = .joined(
        WiFiNetwork(
            ssid: SSID(utf8: "Corp-Staff"), bssid: BSSID("02:00:00:00:00:01"), security: .wpa2Enterprise))
    environment.interfaces[3] = interface
    return environment
}()
