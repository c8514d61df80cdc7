internal import COpenSSL
internal import ProbeProtocol

/// One handshake on a connected socket.
@safe
struct TLSSession: ~Copyable {
    enum Progress {
        case done, wantsToRead, wantsToWrite
        /// OpenSSL's word for it.
        case failed(String)
    }

    private let session: OpaquePointer

    /// - Parameter name: told to the server; nil for none.
    init?(on socket: Int32, name: String?) {
        let session: OpaquePointer?
        if let name {
            unsafe session = copenssl_open(socket, name)
        } else {
            unsafe session = copenssl_open(socket, nil)
        }
        guard let session = unsafe session else { return nil }
        unsafe self.session = session
    }

    deinit {
        unsafe copenssl_close(session)
    }

    func advance() -> Progress {
        switch unsafe copenssl_handshake(session) {
        case copenssl_done: .done
        case copenssl_wants_to_read: .wantsToRead
        case copenssl_wants_to_write: .wantsToWrite
        default: .failed(Self.reason)
        }
    }

    /// The key that the peer has proved to hold; nil where it has not.
    var provenKey: SPKIPin? {
        var digest = [UInt8](repeating: 0, count: 32)
        guard unsafe copenssl_proven_key(session, &digest) == 1 else { return nil }
        return SPKIPin(octets: digest)
    }

    /// The last thing that went wrong in the library.
    static var reason: String {
        var text = [CChar](repeating: 0, count: 128)
        unsafe copenssl_reason(&text, text.count)
        let octets = text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }
        return octets.isEmpty ? "connection closed" : String(decoding: octets, as: UTF8.self)
    }
}
