/// Yes, no, or not known (Kleene's strong three-valued logic): what is not known stays so, unless the rest decides.
public enum Truth: Int, Hashable, Sendable, Comparable {
    case no, maybe, yes

    public static func < (left: Truth, right: Truth) -> Bool { left.rawValue < right.rawValue }

    static prefix func ! (truth: Truth) -> Truth {
        switch truth {
        case .no: .yes
        case .maybe: .maybe
        case .yes: .no
        }
    }
}
