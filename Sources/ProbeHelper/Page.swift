internal import Glibc
internal import ProbeProtocol

extension ProbeRequest {
    /// What is read of an answer at most.
    private static let maximumAnswer = 16 << 10

    /// Asks for a page, and judges what comes. Nothing of the machine is told but the server's name.
    func fetch(_ path: String, _ response: String?, on socket: Int32, by deadline: Deadline) -> ProbeAnswer {
        let host = serverName.utf8.contains(UInt8(ascii: ":")) ? "[\(serverName)]" : serverName
        let authority = port == 80 ? host : "\(host):\(port)"
        // By HTTP/1.0 the answer comes in one piece, whatever its length.
        let request =
            "GET \(path) HTTP/1.0\r\nHost: \(authority)\r\nCache-Control: no-cache\r\nConnection: close\r\n\r\n"
        guard deadline.writes(Array(request.utf8), to: socket) else {
            return deadline.remaining > 0 ? .unexpected : .timedOut
        }
        var answer: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 2_048)
        while true {
            guard deadline.waits(for: socket, POLLIN) else { return .timedOut }
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            if count > 0 { answer += buffer[..<count] }
            let isWhole = count <= 0 || answer.count >= Self.maximumAnswer
            if let verdict = PageAnswer(answer).verdict(expecting: response, isWhole: isWhole) { return verdict }
        }
    }
}

/// What a server, or somebody in its place, says by HTTP (RFC 9112), as far as it has come.
struct PageAnswer {
    private let head: ArraySlice<UInt8>
    /// Nil: the head is not over.
    private let body: ArraySlice<UInt8>?

    private static let defaultResponse = "NetworkManager is online"

    init(_ octets: [UInt8]) {
        var position = 0
        while position < octets.count {
            let end = octets[position...].firstIndex(of: 0x0A) ?? octets.count
            let line = octets[position..<end]
            if end < octets.count, line.isEmpty || line.elementsEqual([0x0D]) {
                (head, body) = (octets[..<position], octets[(end + 1)...])
                return
            }
            position = end + 1
        }
        (head, body) = (octets[...], nil)
    }

    /// Nil where more has to come before it can be told.
    func verdict(expecting response: String?, isWhole: Bool) -> ProbeAnswer? {
        guard let body else {
            // A status line without a head that ends is no answer.
            return isWhole || !couldBeHTTP ? .unexpected : nil
        }
        guard let status else { return .unexpected }
        switch status {
        case 204: return .online
        case 511: return .captured  // RFC 6585, section 6
        case 500...: return .unexpected
        case 200:
            let expected = response ?? Self.defaultResponse
            if response == nil, saysOnline { return .online }
            if body.starts(with: expected.utf8) { return .online }
            return isWhole || !expected.utf8.starts(with: body) ? .captured : nil
        default: return .captured
        }
    }

    private var couldBeHTTP: Bool {
        let start = Array("HTTP/1.".utf8)
        return head.prefix(start.count).elementsEqual(start.prefix(head.count))
    }

    /// `HTTP/1.x NNN …`
    private var status: Int? {
        let line = head.prefix { $0 != 0x0A }
        let digits = line.dropFirst(9).prefix(3)
        guard couldBeHTTP, line.count >= 12, line.dropFirst(8).first == 0x20,
            digits.allSatisfy({ (0x30...0x39).contains($0) })
        else { return nil }
        let status = digits.reduce(0) { $0 * 10 + Int($1 - 0x30) }
        return status >= 100 ? status : nil
    }

    private var saysOnline: Bool {
        head.split(separator: 0x0A).contains { line in
            let text = line.map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }.filter { $0 != 0x20 && $0 != 0x0D }
            return text.elementsEqual("x-networkmanager-status:online".utf8)
        }
    }
}
