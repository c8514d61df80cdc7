internal import Platform

/// The proxy of GNOME and GTK: keys below /system/proxy/ in dconf, by the program `dconf` inside the session. Values are
/// GVariant text, as `dconf dump` writes it.
@ActionActor
public final class GNOMEPlace: Place {
    private nonisolated static let directory = "/system/proxy/"

    private let variables: [String]
    private let profile: String
    private let program: String

    /// - Parameters:
    ///   - variables: `NAME=value`, those of the session: HOME, XDG_RUNTIME_DIR, DBUS_SESSION_BUS_ADDRESS, …
    ///   - profile: which databases dconf reads for users, dconf(7).
    public init(variables: [String], profile: String = "/etc/dconf/profile/user", program: String = "/usr/bin/dconf") {
        self.variables = variables + ["LC_ALL=C.UTF-8", "PATH=/usr/bin:/bin"]
        self.profile = profile
        self.program = program
    }

    public func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        guard Files.exists(program) else { return nil }
        // The user's own database: what an administrator gave everybody must not be put back as the user's.
        let answer = try await run(
            ["dump", GNOMEPlace.directory], input: "\(userDatabase)\n", profile: "/proc/self/fd/0", "read")
        let held = GNOMEPlace.parse(answer)
        return Dictionary(uniqueKeysWithValues: names.map { ($0, held[$0] ?? .unset) })
    }

    public func write(_ settings: Settings) async throws(PlaceError) {
        let text: String
        do throws(UnfitValue) { text = try GNOMEPlace.text(settings) } catch { throw error.placeError }
        // All in one change; only what is to be as if it never was has to be said key by key, the mode first.
        if !text.isEmpty { _ = try await run(["load", GNOMEPlace.directory], input: text, "write") }
        let unset = settings.filter { $0.value == .unset }.keys.sorted {
            ($0 == "mode" ? "" : $0) < ($1 == "mode" ? "" : $1)
        }
        for name in unset {
            _ = try await run(["reset", GNOMEPlace.directory + name], input: "", "write")
        }
    }

    /// The line of the profile that says where the user's own values are.
    private var userDatabase: String {
        let lines = ((try? Files.read(profile, limit: 4_096)) ?? []).split(separator: UInt8(ascii: "\n"))
        let texts = lines.map { String(decoding: $0, as: UTF8.self) }
        return texts.first { $0.hasPrefix("user-db:") || $0.hasPrefix("service-db:") } ?? "user-db:user"
    }

    private func run(
        _ arguments: [String], input: String, profile: String? = nil, _ purpose: String
    ) async throws(PlaceError) -> [UInt8] {
        let own = profile.map { ["DCONF_PROFILE=\($0)"] } ?? []
        let kept = own.isEmpty ? variables : variables.filter { !$0.hasPrefix("DCONF_PROFILE=") }
        let answer: Tool.Answer
        do throws(Tool.Failure) {
            answer = try await Tool.run([program] + arguments, variables: kept + own, input: Array(input.utf8))
        } catch {
            throw error == .cancelled ? .cancelled : .failed("\(purpose) of GNOME's proxy: \(error)")
        }
        guard answer.code == 0 else {
            let said = String(decoding: answer.errors.prefix(300).filter { (0x20...0x7E).contains($0) }, as: UTF8.self)
            let isLocked = said.contains("non-writable")
            throw .failed(
                isLocked
                    ? "\(purpose) of GNOME's proxy: the administrator has locked these keys, dconf(7); leave \"gnome\" out "
                        + "of the rule's targets"
                    : "\(purpose) of GNOME's proxy: dconf: \(said)")
        }
        return answer.output
    }

    // MARK: Key files

    nonisolated static func text(_ settings: Settings) throws(UnfitValue) -> String {
        var groups: [String: [String]] = [:]
        for (name, setting) in settings.sorted(by: { $0.key < $1.key }) {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            let isName = parts.allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { (0x61...0x7A).contains($0) || $0 == UInt8(ascii: "-") }
            }
            guard isName, parts.count <= 2 else { throw UnfitValue(name: "(a key)", place: "dconf") }
            guard case .value(let value) = setting else { continue }
            // A value is one line, and one that begins or ends with a blank would lose it.
            guard !value.isEmpty, value.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }), value.utf8.first != 0x20 else {
                throw UnfitValue(name: name, place: "dconf")
            }
            groups[parts.count == 1 ? "/" : String(parts[0]), default: []].append("\(parts.last ?? "")=\(value)")
        }
        return groups.sorted { $0.key < $1.key }.map { "[\($0.key)]\n\($0.value.joined(separator: "\n"))\n" }.joined()
    }

    nonisolated static func parse(_ text: [UInt8]) -> Settings {
        var settings: Settings = [:]
        var group = ""
        for line in text.split(separator: UInt8(ascii: "\n")) {
            let line = String(decoding: line, as: UTF8.self)
            if line.hasPrefix("["), line.hasSuffix("]") {
                group = line == "[/]" ? "" : "\(line.dropFirst().dropLast())/"
            } else if let end = line.firstIndex(of: "=") {
                settings[group + line[..<end]] = .value(String(line[line.index(after: end)...]))
            }
        }
        return settings
    }
}
