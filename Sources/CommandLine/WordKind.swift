/// What a word of a command line stands for: what shells offer for it.
enum WordKind: Equatable {
    case text
    /// One of these, and nothing else is accepted.
    case words([String])
    /// One of these as a rule.
    case usually([String])
    case file
    case directory
    case rule
    case network
    case ruleOrNetwork
    case interface
    case user
    case command

    /// One of the words of a type.
    static func one<Choice: RawRepresentable<String> & CaseIterable>(of type: Choice.Type) -> WordKind {
        .words(Choice.allCases.map(\.rawValue))
    }
}
