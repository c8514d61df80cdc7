internal import CPlatform
internal import Glibc
internal import Platform
internal import ProbeProtocol

extension ProbeRequest {
    /// Tries one address after the other until one proves a key or shows its page. Otherwise the answer is the one that came farthest.
    func answered(by deadline: Deadline) -> ProbeAnswer {
        var best: ProbeAnswer?
        for (position, address) in addresses.enumerated() {
            // Each has its share of what is left, so that one that swallows everything does not hide the others.
            let share = deadline.remaining / Int64(addresses.count - position)
            let answer = attempt(address, by: Deadline(in: share))
            switch answer {
            case .proven, .online, .interfaceGone, .badRequest: return answer
            default: if answer.distance > best?.distance ?? -1 { best = answer }
            }
        }
        return best ?? .badRequest
    }

    private func attempt(_ address: String, by deadline: Deadline) -> ProbeAnswer {
        let socket: FileDescriptor
        do throws(SystemError) {
            socket = FileDescriptor(
                owning: try SystemError.check("socket") {
                    unsafe vicinity_tcp_socket(address, interfaceName, interfaceIndex)
                })
        } catch {
            switch error.code {
            case ENODEV, ENXIO: return .interfaceGone
            case EINVAL: return .badRequest
            default: return .unreachable
            }
        }
        if let failure = connect(socket.rawValue, to: address, by: deadline) { return failure }
        return switch purpose {
        case .key(let pins): handshake(on: socket.rawValue, for: pins, by: deadline)
        case .page(let path, let response): fetch(path, response, on: socket.rawValue, by: deadline)
        }
    }

    /// Nil once the socket is connected.
    private func connect(_ socket: Int32, to address: String, by deadline: Deadline) -> ProbeAnswer? {
        var code: Int32 = 0
        if unsafe vicinity_tcp_connect(socket, address, port) < 0 {
            code = errno
            if code == EINPROGRESS || code == EINTR {
                guard deadline.waits(for: socket, POLLOUT) else { return .timedOut }
                code = vicinity_socket_error(socket)
            }
        }
        return switch code {
        case 0: nil
        case ECONNREFUSED, ECONNRESET: .refused
        case ENODEV, ENXIO: .interfaceGone
        case ETIMEDOUT: .timedOut
        default: .unreachable
        }
    }

    private func handshake(on socket: Int32, for pins: [SPKIPin], by deadline: Deadline) -> ProbeAnswer {
        guard let session = TLSSession(on: socket, name: isServerNameNumeric ? nil : serverName) else {
            return .tlsFailed(reason: TLSSession.reason)
        }
        while true {
            switch session.advance() {
            case .done:
                guard let key = session.provenKey else { return .tlsFailed(reason: "the handshake proves no key") }
                return pins.contains(key) ? .proven(key) : .pinMismatch(seen: key)
            case .wantsToRead: guard deadline.waits(for: socket, POLLIN) else { return .timedOut }
            case .wantsToWrite: guard deadline.waits(for: socket, POLLOUT) else { return .timedOut }
            case .failed(let reason): return .tlsFailed(reason: reason)
            }
        }
    }

    /// RFC 6066, section 3: an address is not told as a name.
    private var isServerNameNumeric: Bool {
        var octets = [UInt8](repeating: 0, count: 16)
        return unsafe inet_pton(AF_INET, serverName, &octets) == 1 || serverName.utf8.contains(UInt8(ascii: ":"))
    }
}

extension ProbeAnswer {
    /// How far an attempt came.
    fileprivate var distance: Int {
        switch self {
        case .badRequest, .interfaceGone: 0
        case .unreachable: 1
        case .timedOut: 2
        case .refused: 3
        case .tlsFailed, .unexpected: 4
        case .pinMismatch, .captured: 5
        case .proven, .online: 6
        }
    }
}
