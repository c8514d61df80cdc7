/// Finds what was probably meant.
package enum Spelling {
    /// The candidate nearest to `word`, if it is near enough to be a slip, whatever the case of letters; of equally
    /// near ones the first that `word` is the beginning of, or the first. Failing that the only one that `word` is the
    /// beginning of, or what others call by that word.
    package static func nearest(to word: String, among candidates: some Sequence<String>) -> String? {
        let letters = folded(word)
        let synonym = synonyms[word.lowercased()]
        let limit = min(max(1, letters.count / 3), Spelling.slips)
        var best: (name: String, distance: Int)?
        var beginnings: [String] = []
        for candidate in candidates {
            let other = folded(candidate)
            let isBeginning = letters.count > 1 && other.starts(with: letters)
            if isBeginning { beginnings.append(candidate) }
            if synonym == candidate { return candidate }
            guard abs(other.count - letters.count) <= limit else { continue }
            guard let distance = distance(letters, other, upTo: limit) else { continue }
            // Twice, so that the beginning of a word can count half.
            let rank = 2 * distance - (isBeginning ? 1 : 0)
            if rank < best?.distance ?? .max { best = (candidate, rank) }
        }
        return best?.name ?? (beginnings.count == 1 ? beginnings[0] : nil)
    }

    /// Lower case, with hyphens for underscores.
    private static func folded(_ word: String) -> [UInt8] {
        word.utf8.prefix(64).map { octet in
            switch octet {
            case 0x41...0x5A: octet | 0x20
            case UInt8(ascii: "_"): UInt8(ascii: "-")
            default: octet
            }
        }
    }

    /// What the same is called elsewhere.
    private static let synonyms = [
        "802.1x": "enterprise", "active": "running", "and": "all", "disabled": "enabled", "eap": "enterprise",
        "ethernet": "wired", "http_proxy": "http", "https_proxy": "https", "inactive": "stopped",
        "no_proxy": "no-proxy", "none": "open", "observe": "mode", "off": "down", "on": "up", "on-enter": "enter",
        "on-leave": "leave", "or": "any", "psk": "personal", "running": "up", "sae": "wpa3-sae", "started": "running",
        "stopped": "down", "title": "summary", "when": "on", "wifi": "any-wifi", "wpa-eap": "enterprise",
        "wpa2-personal": "wpa2-psk", "wpa3-personal": "wpa3-sae",
    ]

    /// `; did you mean "…"?`, or nothing.
    package static func hint(for word: String, among candidates: some Sequence<String>) -> String {
        nearest(to: word, among: candidates).map { "; did you mean \"\($0)\"?" } ?? ""
    }

    /// `a, b or c`
    package static func list(_ words: [String], _ conjunction: String) -> String {
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
