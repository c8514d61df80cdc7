/// What `vicinity.toml` says about the agent itself.
public struct AgentConfiguration: Hashable, Sendable {
    /// Every rule only tells what it would do: for a roll-out.
    public var isObserving = false
    /// The longest that a rule can be held, in microseconds.
    public var maximumHold: Int64 = 28_800_000_000
    /// A rule that wants to change more often within a minute is held on the protected side.
    public var changesPerMinute = 6
    /// Nil: nobody is asked how far packets get.
    public var connectivity: ConnectivityCheck?
    /// Who may see where the machine is.
    public var permission = PermissionConfiguration()
    /// What is written about where the machine was.
    public var analytics = AnalyticsConfiguration()
    /// How long the history is kept, µs.
    public var historyRetention = 365 * AnalyticsConfiguration.day

    public init() {}

    public static let keys = [
        "mode", "max-hold", "changes-per-minute", "connectivity", "permission", "analytics", "history",
    ]
    private static let holdRange: ClosedRange<Int64> = 60_000_000...604_800_000_000
    private static let changesRange = 2...60

    /// What the engine needs of it.
    public var engineOptions: RuleEngine.Options {
        var options = RuleEngine.Options()
        options.isObserving = isObserving
        options.changesPerMinute = changesPerMinute
        options.maximumHold = maximumHold
        return options
    }

    /// Reads the files one after the other; of a key that stands in several, the last one counts.
    ///
    /// - Returns: no configuration where there is an error in any of them.
    public static func load(_ files: [RuleFile]) -> (configuration: AgentConfiguration?, diagnostics: [Diagnostic]) {
        var configuration = AgentConfiguration()
        var diagnostics: [Diagnostic] = []
        for file in files {
            var checker = FileChecker(file: file)
            do throws(TOMLError) {
                for entry in try TOMLValue.parse(file.contents) { configuration.read(entry, &checker) }
            } catch {
                checker.syntaxError(error)
            }
            diagnostics += checker.diagnostics + checker.remark
        }
        let isClean = !diagnostics.contains { $0.severity == .error }
        return (isClean ? configuration : nil, diagnostics)
    }

    /// The same; a file that could not be read spoils it as one that is wrong does.
    public static func load(_ source: RuleFiles) -> (configuration: AgentConfiguration?, diagnostics: [Diagnostic]) {
        let (configuration, diagnostics) = load(source.files)
        let isClean = !source.diagnostics.contains { $0.severity == .error }
        return (isClean ? configuration : nil, source.diagnostics + diagnostics)
    }

    private mutating func read(_ entry: TOMLMember, _ checker: inout FileChecker) {
        switch entry.key {
        case "mode": isObserving = checker.isObserving(entry.value)
        case "max-hold": maximumHold = checker.duration(entry.value, in: Self.holdRange) ?? maximumHold
        case "changes-per-minute":
            changesPerMinute = checker.integer(entry.value, in: Self.changesRange) ?? changesPerMinute
        case "connectivity": connectivity = checker.connectivity(entry.value)
        case "permission": permission = checker.permission(entry.value) ?? permission
        case "analytics": analytics = checker.analytics(entry.value) ?? analytics
        case "history": historyRetention = checker.historyRetention(entry.value) ?? historyRetention
        default: checker.unknownKey(entry, in: "the agent's configuration", known: Self.keys)
        }
    }
}
