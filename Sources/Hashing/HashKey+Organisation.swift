internal import Platform

extension HashKey {
    /// As systemd hands the organisation's key over, systemd.exec(5) under CREDENTIALS.
    public static let credential = "vicinity.hash-key"

    /// The organisation's key.
    ///
    /// - Parameters:
    ///   - file: where the configuration says that it is; nil: it comes as a credential.
    ///   - credentials: `$CREDENTIALS_DIRECTORY`; nil: outside of the unit, where systemd has handed it over, or would.
    public static func organisations(file: String?, credentials: String? = nil) throws(HashKeyError) -> HashKey {
        var first: HashKeyError?
        for path in file.map({ [$0] }) ?? credentialPaths(credentials) {
            do throws(HashKeyError) {
                return try shared(path)
            } catch {
                // That one is missing is no reason to look no farther, unless all are.
                guard case .unreadable(let problem) = error, problem.isMissing else { throw error }
                first = first ?? error
            }
        }
        throw first ?? .isNoKey(credential)
    }

    private static func credentialPaths(_ directory: String?) -> [String] {
        let directories =
            directory.map { [$0] }
            ?? ["/run/credentials/vicinityd.service", "/etc/credstore", "/run/credstore", "/usr/lib/credstore"]
        return directories.map { "\($0)/\(credential)" }
    }
}
