internal import Actions
internal import InstalledRules
internal import Platform
internal import Rules

/// The rule files as this helper reads them itself: whoever asks for an action names the rules it means by their digest.
@ActionActor
final class RuleBook {
    private let directories: InstalledRules.Directories
    private let lastGood: String
    private var rules: InstalledRules?
    /// Of the files that were read last, good or not.
    private var read = ""

    init(_ directories: InstalledRules.Directories, lastGood path: String) {
        self.directories = directories
        lastGood = path
    }

    /// Of the rules in force; other than any digest where there are none.
    var digest: String { current.digest }

    /// The rules that this digest is of; nil where those in force are others.
    func ruleSet(_ digest: String) -> RuleSet? {
        let rules = current
        return rules.digest == digest ? rules.ruleSet : nil
    }

    /// Whether no rule does more than tell.
    var isObserving: Bool { rules?.configuration?.isObserving ?? false }

    /// Read anew where files have changed since.
    private var current: InstalledRules {
        let digest = InstalledRules.digest(of: directories)
        if let rules, read == digest { return rules }
        let rules = InstalledRules(reading: directories, lastGood: lastGood, fallsBack: true)
        for problem in rules.problems { Log.write(.warning, problem) }
        self.rules = rules
        read = digest
        return rules
    }
}
