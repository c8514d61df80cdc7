public import Platform

/// Why a netlink socket or request failed.
public enum NetlinkError: Error, Hashable, Sendable, CustomStringConvertible {
    /// libnl refused; the operation and its explanation.
    case library(operation: String, explanation: String)
    case system(SystemError)
    /// The kernel answered with an error: `errno` and its own words, where it had any.
    case refused(operation: String, code: Int32, explanation: String?)
    /// No complete answer in time.
    case timedOut(operation: String)
    /// The kernel's state changed during every one of the tries.
    case interrupted(operation: String)
    /// The answer was not understood.
    case malformed(operation: String, MalformedMessage)
    /// The kernel has no such generic netlink family: for `nl80211`, no Wi-Fi.
    case familyNotFound(String)

    public var description: String {
        switch self {
        case .library(let operation, let explanation): "\(operation): \(explanation)"
        case .system(let error): error.description
        case .refused(let operation, let code, let explanation):
            SystemError(operation, code: code).description + (explanation.map { " (\($0))" } ?? "")
        case .timedOut(let operation): "\(operation): the kernel did not answer in time"
        case .interrupted(let operation): "\(operation): the kernel's state changed during every try"
        case .malformed(let operation, let reason): "\(operation): \(reason)"
        case .familyNotFound(let name):
            name == "nl80211"
                ? "this kernel has no nl80211: no Wi-Fi driver is loaded (cfg80211)"
                : "this kernel has no generic netlink family \(name)"
        }
    }
}
