internal import CSodium

/// The key of hashes that only its holder can make: HMAC of RFC 2104 with SHA-256, by libsodium.
///
/// Names of networks are few and guessable, so that a bare hash of one hides nothing. Without the key a guess cannot be
/// tried.
public struct HashKey: Sendable {
    /// Octets.
    public static let length = 32

    package let octets: [UInt8]
    /// Names the key without telling it: the first 8 hexadecimal digits of its SHA-256.
    public let identifier: String

    /// Nil for another number of octets than 32.
    public init?(_ octets: [UInt8]) {
        guard octets.count == HashKey.length else { return nil }
        self.octets = octets
        identifier = String(SHA256.hexadecimal(octets).prefix(8))
    }

    /// A new one, from the kernel's generator.
    public static func random() -> HashKey {
        var generator = SystemRandomNumberGenerator()
        let octets = (0..<length).map { _ in UInt8.random(in: 0 ... .max, using: &generator) }
        guard let key = HashKey(octets) else { fatalError("a key of \(octets.count) octets") }
        return key
    }

    /// `hmac-sha256:`, the key's identifier, `:` and 64 lower-case hexadecimal digits.
    public func hash(_ message: [UInt8]) -> String {
        var code = [UInt8](repeating: 0, count: Int(crypto_auth_hmacsha256_bytes()))
        unsafe crypto_auth_hmacsha256(&code, message, UInt64(message.count), octets)
        return "hmac-sha256:\(identifier):\(hexadecimalDigits(of: code))"
    }
}
