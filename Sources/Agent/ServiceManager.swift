internal import CSystemd

/// What is told to the service manager, sd_notify(3); nothing where there is none.
enum ServiceManager {
    static func ready(_ status: String) { notify("READY=1\nSTATUS=\(status)") }
    static func status(_ status: String) { notify("STATUS=\(status)") }
    static func stopping() { notify("STOPPING=1") }

    private static func notify(_ state: String) { _ = unsafe sd_notify(0, state) }
}
