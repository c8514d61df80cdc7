/// Finds what was probably meant.
enum Spelling {
    /// The candidate nearest to `word`, if it is near enough to be a slip; the first of equally near ones.
    static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = Array(word.utf8.prefix(64))
        let limit = min(max(1, letters.count / 3), Spelling.slips)
        var best: (name: String, distance: Int)?
        for candidate in candidates {
            let other = Array(candidate.utf8)
            guard abs(other.count - letters.count) <= limit else { continue }
            guard let distance = distance(letters, other, upTo: limit) else { continue }
            if distance < best?.distance ?? .max { best = (candidate, distance) }
        }
        return best?.name
    }

    /// `; did you mean "…"?`, or nothing.
    static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// `a, b or c`
    static func list(_ words: [String], _ conjunction: String) -> String {
        guard words.count > 1, let last = words.last else { return words.first ?? "" }
        return "\(words.dropLast().joined(separator: ", ")) \(conjunction) \(last)"
    }

    /// More than so many are no slip any more.
    private static let slips = 6

    /// Insertions, deletions, replacements and swaps of neighbours (optimal string alignment); nil where there are more
    /// than `limit`, which shows early where words have nothing in common.
    private static func distance(_ left: [UInt8], _ right: [UInt8], upTo limit: Int) -> Int? {
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for row in 0..<left.count {
            var current = [row + 1]
            for column in 0..<right.count {
                let replacement = last[column] + (left[row] == right[column] ? 0 : 1)
                var least = min(replacement, last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, left[row] == right[column - 1], left[row - 1] == right[column] {
                    least = min(least, beforeLast[column - 1] + 1)
                }
                current.append(least)
            }
            if min(current.min() ?? 0, last.min() ?? 0) > limit { return nil }
            beforeLast = last
            last = current
        }
        return last[right.count] <= limit ? last[right.count] : nil
    }
}
