/// Where a Linux machine is on the network: `import Vicinity`, and watch.
///
///     let monitor = try NetworkMonitor()
///     for await update in monitor.changes { … }
///     let network = try await WiFiNetwork.current()
///
/// The agent answers, and lets the program see names and addresses if its user was granted that, as a phone does with
/// the location. `EnvironmentMonitor` and the source `.kernel` ask the kernel, with the program's own rights.
@_exported public import Environment
@_exported public import Netlink
@_exported public import WiFi
