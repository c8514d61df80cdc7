import Foundation
import Glibc
import Testing

/// In the place of the service manager, sd_notify(3).
final class NotifySocket {
    let path: String
    private let descriptor: Int32

    init(in directory: String) throws {
        path = directory + "/notify"
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        #expect(result == 0 && chmod(path, 0o666) == 0)
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(descriptor) }

    /// The next word that is not one of these, nor about what is kept.
    func next(except words: Set<String> = []) throws -> [Substring] {
        while true {
            var buffer = [UInt8](repeating: 0, count: 4_096)
            let count = recv(descriptor, &buffer, buffer.count, 0)
            try #require(count > 0)
            let lines = String(decoding: buffer[..<count], as: UTF8.self).split(separator: "\n")
            if !words.contains(String(lines[0])), !lines[0].hasPrefix("FDSTORE") { return lines }
        }
    }
}
