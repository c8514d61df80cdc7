internal import CSodium

/// SHA-256 of FIPS 180-4, by libsodium, over pieces one after the other.
public struct SHA256 {
    private var state = crypto_hash_sha256_state()

    public init() {
        unsafe crypto_hash_sha256_init(&state)
    }

    public mutating func update(_ octets: [UInt8]) {
        unsafe crypto_hash_sha256_update(&state, octets, UInt64(octets.count))
    }

    /// 64 lower-case hexadecimal digits.
    public consuming func finish() -> String {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_bytes()))
        unsafe crypto_hash_sha256_final(&state, &digest)
        return hexadecimalDigits(of: digest)
    }

    /// Of one piece.
    public static func hexadecimal(_ octets: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(octets)
        return hash.finish()
    }
}

/// Two lower-case digits an octet.
func hexadecimalDigits(of octets: [UInt8]) -> String {
    var text = ""
    for octet in octets { text += (octet < 16 ? "0" : "") + String(octet, radix: 16) }
    return text
}
