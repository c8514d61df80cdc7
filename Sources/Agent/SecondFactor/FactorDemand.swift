internal import Rules

/// A second factor that a rule demands of the person at the screen, or a program asks for.
struct FactorDemand: Hashable {
    /// Of the action's run.
    var identifier: UInt64
    /// Empty where a program asks.
    var rule: String
    var edge: Rule.Edge
    /// In the rule files; nil where the rule is about none.
    var network: String?
    /// Whether that is one place, and not any of its kind, as the built-in networks are.
    var isPlace = true
    var factor: EdgeAction.SecondFactor
    /// The program that asks; nil where a rule demands it.
    var caller: FactorCaller?

    /// Whether who answers this one has answered the other.
    func isSame(as other: FactorDemand) -> Bool {
        rule == other.rule && edge == other.edge && network == other.network && factor == other.factor
            && caller == other.caller
    }

    var place: String? { isPlace ? network : nil }

    /// What the person is told: words of the rule files alone, never a name from the air.
    ///
    /// polkit puts values in the place of `$(key)`, and loses what follows a `$(` without an end.
    var message: String {
        let text = place.map { "\(factor.message) (network \($0))" } ?? factor.message
        var defused = String.UnicodeScalarView()
        for scalar in text.unicodeScalars {
            if scalar == "(", defused.last == "$" { defused.append(" ") }
            defused.append(scalar)
        }
        return String(defused)
    }
}

/// How a demand ended.
package struct FactorEnd: Hashable, Sendable {
    package enum Outcome: Hashable, Sendable {
        case passed, failed
        /// Nobody answered in time.
        case expired
        /// It is not demanded any more.
        case cancelled
    }

    package var outcome: Outcome
    /// Who was asked.
    var user: String?
    package var because: String?
    /// Whether somebody was asked at all.
    package var wasAsked = true
}
