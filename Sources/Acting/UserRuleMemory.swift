internal import Environment
internal import Hashing
internal import JSON
internal import Netlink
internal import Platform
internal import WiFi

/// Which of a user's rules held, and where: so that a helper that was started anew on the same networks runs nothing
/// twice. The place is kept as a digest, with no name from the air.
struct UserRuleMemory {
    private static let maximumSize = 1 << 20

    let path: String

    /// The rules that held; nil where the machine has moved, or was started anew, since.
    func rules(in environment: NetworkEnvironment) -> [String]? {
        guard let contents = try? Files.read(path, limit: UserRuleMemory.maximumSize),
            let value = try? JSONValue(parsing: contents, maximumSize: UserRuleMemory.maximumSize),
            value["place"]?.string == UserRuleMemory.place(of: environment)
        else { return nil }
        return (value["rules"]?.array ?? []).compactMap(\.string)
    }

    func remember(_ rules: [String], in environment: NetworkEnvironment) {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("place", UserRuleMemory.place(of: environment))
            writer.array("rules") { writer in
                for rule in rules.sorted() { writer.string(rule) }
            }
        }
        writer.endLine()
        guard (try? Files.read(path, limit: UserRuleMemory.maximumSize)) != writer.octets else { return }
        do throws(SystemError) {
            try Files.replace(path, with: writer.octets, mode: 0o600)
        } catch {
            Log.write(.warning, "\(error): after a restart, rules that hold would be entered again")
        }
    }

    private static func place(of environment: NetworkEnvironment) -> String {
        let links = environment.interfaces.values.compactMap { interface in
            interface.wifi?.network.map {
                "\(interface.index) \($0.ssid?.hexadecimal ?? "") \($0.bssid?.description ?? "")"
            }
        }
        return SHA256.hexadecimal(Array("\(Boot.identifier)\n\(links.sorted().joined(separator: "\n"))".utf8))
    }
}
