internal import Glibc
internal import Platform
internal import Rules
internal import WiFi

/// The rule files that a command is about.
enum RuleSource {
    static let option = Arguments.Option(
        "rules", "PATH", "a directory of rule files, or a file, whoever owns it; without it, the agent's", .file)

    /// What is left to do where there are no rules to go by.
    struct Failure: Error {
        let status: Int32
    }

    /// Reads and checks them; what is wrong is said on standard error.
    ///
    /// - Parameter path: nil for the agent's directories, whose files have to be root's.
    static func load(_ path: String?) throws(Failure) -> RuleSet {
        let files: RuleFiles
        if let path {
            // A directory that is not there would be an empty one.
            guard unsafe access(path, F_OK) == 0 else {
                Output.error("\(path.utf8.displayText): there is no such file or directory")
                throw Failure(status: 66)  // EX_NOINPUT
            }
            files = Files.isDirectory(path) ? RuleFiles(directories: [path], trust: .anyone) : RuleFiles(paths: [path])
        } else {
            files = RuleFiles(trust: .root)
            noteAbsence(of: files, in: RuleFiles.systemDirectories)
        }
        let result = RuleSet.load(files)
        for diagnostic in result.diagnostics { Output.diagnostic(diagnostic.description) }
        guard let ruleSet = result.ruleSet else { throw Failure(status: 65) }  // EX_DATAERR
        return ruleSet
    }

    /// Says where files would be looked for when there are none: silence would look like consent.
    static func noteAbsence(of files: RuleFiles, in directories: [String]) {
        guard files.files.isEmpty, files.diagnostics.isEmpty else { return }
        Output.error("no rule files (*.toml) in \(directories.joined(separator: ", "))".terminalText)
    }
}
