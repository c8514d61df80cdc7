internal import Hashing
internal import Platform
public import Rules

/// The rules in force on this machine, and how to tell that two processes have read the same ones.
public struct InstalledRules: Sendable {
    /// Nil where there is an error anywhere, and no last good rules take their place.
    public let ruleSet: RuleSet?
    public let configuration: AgentConfiguration?
    /// SHA-256 of the files in force, in lower-case hexadecimal digits: names and contents, in their order.
    public let digest: String
    /// What is wrong with the files in place, as people read it.
    public let problems: [String]
    /// Differs where the files in place do, good or not.
    public let fingerprint: String

    /// Where they are.
    public struct Directories: Hashable, Sendable {
        /// Of rule files, the strongest first.
        public var rules: [String]
        /// Of `vicinity.toml` and `vicinity.toml.d`, the strongest first.
        public var configuration: [String]
        public var trust: RuleFiles.Trust

        /// Everything that is read, to be watched.
        public var watched: [String] {
            rules + configuration.flatMap { ["\($0)/vicinity.toml", "\($0)/vicinity.toml.d"] }
        }

        public init(rules: [String], configuration: [String], trust: RuleFiles.Trust) {
            self.rules = rules
            self.configuration = configuration
            self.trust = trust
        }

        /// The administrator's before those made at run time before the vendor's; root's, all of them.
        public static let system = Directories(roots: ["/etc/vicinity", "/run/vicinity", "/usr/lib/vicinity"])

        /// One directory with `vicinity.toml` and `rules.d`, which belongs to root.
        public init(root: String) { self.init(roots: [root]) }

        private init(roots: [String]) {
            self.init(rules: roots.map { "\($0)/rules.d" }, configuration: roots, trust: .root)
        }
    }

    /// Reads and checks the files.
    ///
    /// - Parameters:
    ///   - lastGood: where the files of the last good rules are kept, for the next one that needs them; renewed here.
    ///   - fallsBack: whether they take the place of files that are wrong.
    public init(reading directories: Directories, lastGood path: String, fallsBack: Bool) {
        let installed = InstalledFiles(reading: directories)
        let (configuration, wrong) = AgentConfiguration.load(installed.configuration)
        let result = RuleSet.load(installed.rules)
        let diagnostics = (wrong + result.diagnostics).filter { $0.severity == .error }
        var problems = diagnostics.map(\.description)
        let lastGood = LastGoodRules(path: path)
        fingerprint = diagnostics.isEmpty ? installed.digest : installed.digest + problems.joined()
        if let configuration, let ruleSet = result.ruleSet {
            do throws(SystemError) {
                try lastGood.save(installed.configuration.files, installed.rules.files)
            } catch {
                problems.append("\(error): should these files be wrong at the next start, there will be no rules")
            }
            self.ruleSet = ruleSet
            self.configuration = configuration
            digest = installed.digest
        } else if fallsBack, let former = lastGood.load() {
            ruleSet = former.ruleSet
            self.configuration = former.configuration
            digest = former.digest
        } else {
            ruleSet = nil
            self.configuration = nil
            digest = installed.digest
        }
        self.problems = problems
    }

    /// Of the files in place now, without looking at what is in them.
    public static func digest(of directories: Directories) -> String { InstalledFiles(reading: directories).digest }
}

/// The files in place.
private struct InstalledFiles {
    let configuration: RuleFiles
    let rules: RuleFiles

    init(reading directories: InstalledRules.Directories) {
        configuration = RuleFiles.configuration(in: directories.configuration, trust: directories.trust)
        rules = RuleFiles(directories: directories.rules, trust: directories.trust)
    }

    var digest: String { RuleFile.digest(configuration.files, rules.files) }
}

extension RuleFile {
    /// Lengths stand before what they are of, so that no two sets of files come to the same octets.
    static func digest(_ configuration: [RuleFile], _ rules: [RuleFile]) -> String {
        var hash = SHA256()
        for files in [configuration, rules] {
            hash.update(Array("\(files.count);".utf8))
            for file in files {
                hash.update(Array("\(file.path.utf8.count):\(file.path)\(file.contents.count):".utf8))
                hash.update(file.contents)
            }
        }
        return hash.finish()
    }
}
