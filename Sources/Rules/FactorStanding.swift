/// Whether PAM stacks have to ask for the second factor, and what says so.
public struct FactorStanding: Hashable, Sendable {
    public enum Verdict: String, Hashable, Sendable, CaseIterable {
        /// A rule that holds lets it be skipped, and nothing speaks against that.
        case skip
        /// A rule that holds says `require`.
        case required
        /// A rule has demanded one that was not given.
        case demanded
        /// A rule would let it be skipped, but nobody knows whether its place is still this one.
        case unsettled
        /// A rule would let it be skipped, but does not hold.
        case inactive
        /// No rule lets it be skipped.
        case unsaid
        /// It is not known where the machine is.
        case unknown
    }

    public var verdict: Verdict
    /// The rule that decides; nil where none does, or it is gone.
    public var rule: String?
    /// What it says.
    public var location: SourceLocation?

    public init(_ verdict: Verdict, rule: String? = nil, at location: SourceLocation? = nil) {
        self.verdict = verdict
        self.rule = rule
        self.location = location
    }

    /// Whatever is no clear leave to skip it.
    public var isNeeded: Bool { verdict != .skip }
}
