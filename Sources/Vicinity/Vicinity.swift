/// Where a Linux machine is on the network: `import Vicinity`, and watch.
///
///     let monitor = try EnvironmentMonitor()
///     for await update in monitor.changes { … }
///     let network = try await WiFiNetwork.current()
@_exported public import Environment
@_exported public import Netlink
@_exported public import WiFi
