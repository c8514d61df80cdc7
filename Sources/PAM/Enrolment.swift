/// Who has which factor, by the files of the modules.
public enum Enrolment {
    /// The file that a line looks into for a user; nil where it is none that has a name, as of fingers.
    public static func path(of module: PAMStack.Module, for user: String, home: String) -> String? {
        guard let key = PAMStack.usersFileKeys[module.name] else { return nil }
        let defaults = [
            "pam_u2f": "\(home)/.config/Yubico/u2f_keys", "pam_google_authenticator": "\(home)/.google_authenticator",
        ]
        guard let written = module.value(of: key) else { return defaults[module.name] }
        var path = written.hasPrefix("~/") ? home + written.dropFirst() : written
        for (variable, value) in [("${USER}", user), ("%u", user), ("${HOME}", home), ("%h", home)] {
            path = path.replacing(variable, by: value)
        }
        return path
    }

    /// Whether a user is in the file of a module.
    public static func isListed(_ user: String, in contents: [UInt8], of module: String) -> Bool {
        let lines = contents.split(separator: UInt8(ascii: "\n"))
        switch module {
        // `HOTP/T30/6 ada - 00…`, of liboath's usersfile.
        case "pam_oath":
            return lines.contains { line in
                let words = line.split { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
                return words.count >= 4 && words[0].starts(with: "HOTP".utf8) && words[1].elementsEqual(user.utf8)
            }
        // `ada:handle,key,…`, pam_u2f(8).
        case "pam_u2f":
            return lines.contains { line in
                line.starts(with: "\(user):".utf8) && line.count > user.utf8.count + 1
            }
        // A file of one user's.
        default: return lines.contains { !$0.isEmpty }
        }
    }
}

extension String {
    /// Octet by octet, as the modules do.
    fileprivate func replacing(_ text: String, by value: String) -> String {
        var result: [UInt8] = []
        var rest = Array(utf8)[...]
        while !rest.isEmpty {
            if rest.starts(with: text.utf8) {
                result += Array(value.utf8)
                rest = rest.dropFirst(text.utf8.count)
            } else if let octet = rest.popFirst() {
                result.append(octet)
            }
        }
        return String(decoding: result, as: UTF8.self)
    }
}
