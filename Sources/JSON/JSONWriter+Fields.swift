/// Key and value at once; a value that is nil is written as `null`, so that leaving a field out is said with `if let`.
extension JSONWriter {
    public mutating func field(_ key: StaticString, _ value: String) {
        self.key(key)
        string(value)
    }

    public mutating func field(_ key: StaticString, _ value: String?) {
        self.key(key)
        if let value { string(value) } else { null() }
    }

    public mutating func field(_ key: StaticString, _ value: Bool) {
        self.key(key)
        bool(value)
    }

    public mutating func field(_ key: StaticString, _ value: Bool?) {
        self.key(key)
        if let value { bool(value) } else { null() }
    }

    @inlinable
    public mutating func field(_ key: StaticString, _ value: some FixedWidthInteger) {
        self.key(key)
        integer(value)
    }

    @inlinable
    public mutating func field<Integer: FixedWidthInteger>(_ key: StaticString, _ value: Integer?) {
        self.key(key)
        if let value { integer(value) } else { null() }
    }

    /// Two lower-case hexadecimal digits an octet.
    public mutating func field(_ key: StaticString, hexadecimal value: some Collection<UInt8>) {
        self.key(key)
        hexadecimal(value)
    }

    public mutating func object<Failure>(
        _ key: StaticString, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try object(body)
    }

    public mutating func array<Failure>(
        _ key: StaticString, _ body: (inout JSONWriter) throws(Failure) -> Void
    ) throws(Failure) {
        self.key(key)
        try array(body)
    }
}
