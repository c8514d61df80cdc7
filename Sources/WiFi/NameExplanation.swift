/// How two names differ that a person could take for each other: "differs only in a trailing space".
///
/// Said of `a` for whoever knows `b`, in printable ASCII, to follow the former's name. "does not look like it" where
/// their skeletons differ, "is the same" where their octets do not.
public func explanation(of a: SSID, lookingLike b: SSID) -> String {
    guard a != b else { return "is the same" }
    guard let skeleton = a.skeleton, skeleton == b.skeleton else { return "does not look like it" }
    let reasons = Comparison(a, b).reasons
    let shown = reasons.prefix(4)
    let rest = reasons.count - shown.count
    let all = shown + (rest > 0 ? ["\(rest) more"] : [])
    let list = all.count < 2 ? all.joined() : all.dropLast().joined(separator: ", ") + " and " + (all.last ?? "")
    return (reasons.count == 1 ? "differs only in " : "differs in ") + list
}

private struct Comparison {
    private(set) var reasons: [String] = []

    init(_ a: SSID, _ b: SSID) {
        let left = Parts(NameElement.elements(of: a.octets))
        let right = Parts(NameElement.elements(of: b.octets))
        compare("leading", left.leading, right.leading)
        compare("trailing", left.trailing, right.trailing)
        if left.invisible != right.invisible { compareInvisible(left.invisible, right.invisible) }
        walk(left.units, right.units)
        // The same characters that are not seen, elsewhere.
        if reasons.isEmpty { reasons = ["where its invisible characters are"] }
    }

    private mutating func add(_ reason: String) {
        if !reasons.contains(reason) { reasons.append(reason) }
    }

    private mutating func compare(_ end: String, _ left: [NameElement], _ right: [NameElement]) {
        guard left != right else { return }
        switch (left.isEmpty, right.isEmpty) {
        case (false, true): add("\(white(left, end))")
        case (true, false): add("the lack of \(white(right, end))")
        default: add("\(white(left, end)) for \(white(right, end))")
        }
    }

    private func white(_ elements: [NameElement], _ end: String) -> String {
        if elements == [NameElement(0x20)] { return "a \(end) space" }
        if elements.allSatisfy({ $0 == NameElement(0x20) }) { return "\(elements.count) \(end) spaces" }
        return "\(end) \(codePoints(elements))"
    }

    private mutating func compareInvisible(_ left: [NameElement], _ right: [NameElement]) {
        var missing = right
        var added: [NameElement] = []
        for element in left {
            if let index = missing.firstIndex(of: element) { missing.remove(at: index) } else { added.append(element) }
        }
        for element in added { add("the invisible \(codePoints([element]))") }
        for element in missing { add("the lack of the invisible \(codePoints([element]))") }
    }

    /// Goes through both, by the shortest pieces that look the same.
    private mutating func walk(_ left: [Unit], _ right: [Unit]) {
        var left = left[...]
        var right = right[...]
        while !left.isEmpty || !right.isEmpty {
            var leftCount = min(1, left.count)
            var rightCount = min(1, right.count)
            while true {
                let these = NameSkeleton.likeness(of: left.prefix(leftCount))
                let those = NameSkeleton.likeness(of: right.prefix(rightCount))
                if these == those { break }
                let growsLeft = these.count <= those.count && leftCount < left.count
                let growsRight = those.count <= these.count && rightCount < right.count
                if growsLeft { leftCount += 1 }
                if growsRight { rightCount += 1 }
                if !growsLeft, !growsRight {
                    leftCount = left.count
                    rightCount = right.count
                    break
                }
            }
            judge(left.prefix(leftCount).flatMap(\.elements), right.prefix(rightCount).flatMap(\.elements))
            left = left.dropFirst(leftCount)
            right = right.dropFirst(rightCount)
        }
    }

    private mutating func judge(_ left: [NameElement], _ right: [NameElement]) {
        if left == right { return }
        let (these, those) = (left.decomposed, right.decomposed)
        if these == those { return add("Unicode normalisation (NFC/NFD)") }
        if these.lowercased == those.lowercased { return add("upper and lower case") }
        add("\(shown(left)) for \(shown(right))")
    }

    private func shown(_ elements: [NameElement]) -> String {
        if elements.isEmpty { return "nothing" }
        guard elements.allSatisfy({ 0x20..<0x7f ~= $0.value }) else { return codePoints(elements) }
        return "\"" + String(String.UnicodeScalarView(elements.compactMap(\.scalar))) + "\""
    }

    private func codePoints(_ elements: [NameElement]) -> String {
        elements.map { $0.scalar?.codePoint ?? "0x" + String($0.value & 0xff, radix: 16) }.joined(separator: " ")
    }
}

/// A name without what is not seen of it.
private struct Parts {
    var leading: [NameElement] = []
    var trailing: [NameElement] = []
    var invisible: [NameElement] = []
    var units: [Unit] = []

    init(_ name: [NameElement]) {
        invisible = name.filter(\.isInvisible)
        var visible = name.filter { !$0.isInvisible }[...]
        leading = Array(visible.prefix(while: \.isWhiteSpace))
        visible = visible.dropFirst(leading.count)
        trailing = visible.reversed().prefix(while: \.isWhiteSpace).reversed()
        for element in visible.dropLast(trailing.count) {
            if element.isGap, let last = units.indices.last, units[last].isGap {
                units[last].elements.append(element)
            } else {
                units.append(Unit(elements: [element], isGap: element.isGap))
            }
        }
    }
}

/// A character, or all there is between two words.
private struct Unit {
    var elements: [NameElement]
    var isGap: Bool
}

extension NameElement {
    fileprivate var isGap: Bool {
        if isWhiteSpace { return true }
        var like: [NameElement] = []
        appendLikeness(to: &like)
        return like == [.dash] || like == [.underscore]
    }
}

extension NameSkeleton {
    /// Of a piece of a name, in which white space counts at the ends too.
    fileprivate static func likeness(of units: ArraySlice<Unit>) -> [NameElement] {
        var elements: [NameElement] = []
        for unit in units {
            elements += unit.isGap ? [.dash] : NameSkeleton(unit.elements).elements
        }
        elements.sortMarks { $0.value < $1.value }
        return elements
    }
}

extension [NameElement] {
    fileprivate var lowercased: [NameElement] {
        flatMap { element in
            element.scalar?.properties.lowercaseMapping.unicodeScalars.map { NameElement($0.value) } ?? [element]
        }
    }
}
