/// What a person sees of a network's name: two names whose skeletons are equal could be taken for each other.
///
/// The skeleton of Unicode's UTS #39 made coarser: besides confusable characters it evens out upper and lower case,
/// everything that is not seen, white space at either end, and the number and kind of spaces, dashes and underscores
/// between words. Since likeness then runs in chains, `i`, `I`, `l`, `1` and `|` count as one, as do `m` and `rn`.
/// Octets that are not UTF-8 are like themselves only.
///
/// The data are those of Unicode 15.0: every canonical decomposition, simple case folding in the basic plane, fonts
/// and widths, and those confusables that pass for ASCII or are of the basic plane and at most three characters long,
/// apart from the conjoining parts of Hangul. Case is not evened out where that would make one ASCII letter of two:
/// a capital Greek nu is N and a small one v.
///
/// For warnings. It grants nothing: names that differ are different networks.
public struct NameSkeleton: Hashable, Sendable {
    let elements: [NameElement]

    init(_ name: [NameElement]) {
        var decomposed: [NameElement] = []
        decomposed.reserveCapacity(name.count)
        for element in name where !element.isInvisible { element.appendDecomposition(to: &decomposed) }
        var elements: [NameElement] = []
        elements.reserveCapacity(decomposed.count)
        var like: [NameElement] = []
        var gap: Gap?
        for element in decomposed {
            if element.isWhiteSpace {
                gap = gap ?? .space
                continue
            }
            like.removeAll(keepingCapacity: true)
            element.appendLikeness(to: &like)
            for part in like {
                if part.isWhiteSpace {
                    gap = gap ?? .space
                } else if part == .dash || part == .underscore {
                    gap = .dash
                } else {
                    if gap == .dash || gap == .space && !elements.isEmpty { elements.append(.dash) }
                    gap = nil
                    elements.append(part)
                }
            }
        }
        if gap == .dash { elements.append(.dash) }
        // Likeness may have changed what canonical order goes by, and nobody sees the order of marks.
        elements.sortMarks { $0.value < $1.value }
        self.elements = elements
    }

    private enum Gap {
        /// Not seen at either end.
        case space
        case dash
    }
}

extension NameElement {
    static let dash = NameElement(0x2d)
    static let underscore = NameElement(0x5f)
}

extension SSID {
    /// What a person sees of it; nil where no name is told (`isHidden`).
    public var skeleton: NameSkeleton? { isHidden ? nil : NameSkeleton(NameElement.elements(of: octets)) }
}
