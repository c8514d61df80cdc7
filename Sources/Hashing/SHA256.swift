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
    public consuming func finish() -> String { hexadecimalDigits(of: digest()) }

    private consuming func digest() -> [UInt8] {
        var digest = [UInt8](repeating: 0, count: Int(crypto_hash_sha256_bytes()))
        unsafe crypto_hash_sha256_final(&state, &digest)
        return digest
    }

    /// Of one piece.
    public static func hexadecimal(_ octets: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(octets)
        return hash.finish()
    }

    /// Of one piece, in base64 with padding (RFC 4648), as the web's security policies have it.
    public static func base64(_ octets: [UInt8]) -> String {
        var hash = SHA256()
        hash.update(octets)
        let digest = hash.digest()
        let variant = Int32(sodium_base64_VARIANT_ORIGINAL)
        var text = [CChar](repeating: 0, count: sodium_base64_encoded_len(digest.count, variant))
        unsafe sodium_bin2base64(&text, text.count, digest, digest.count, variant)
        return String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}

/// Two lower-case digits an octet.
func hexadecimalDigits(of octets: [UInt8]) -> String {
    var text = ""
    for octet in octets { text += (octet < 16 ? "0" : "") + String(octet, radix: 16) }
    return text
}
