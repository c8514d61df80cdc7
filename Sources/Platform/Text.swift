extension String {
    /// Whether `text` occurs in it, compared octet by octet.
    ///
    /// The standard library's `contains` belongs to its regular expressions, and one use of it links all of them: a
    /// megabyte of code in the agent.
    public func contains(_ text: String) -> Bool {
        let wanted = Array(text.utf8)
        var rest = Array(utf8)[...]
        while rest.count >= wanted.count {
            if rest.starts(with: wanted) { return true }
            rest.removeFirst()
        }
        return false
    }
}
