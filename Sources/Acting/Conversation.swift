internal import ActionProtocol
internal import Actions
internal import Platform

/// The agent at the other end of a connection: its requests come in, reports go out.
@ActionActor
final class Conversation {
    private let channel: LineChannel

    /// - Parameters:
    ///   - isRoot: whether it may ask for what only root asks for.
    ///   - take: called with each request; false where it is not this one's to ask.
    ///   - ended: called once when the other side has gone, or said something that no agent of ours says.
    init(
        _ connection: consuming FileDescriptor, isRoot: Bool,
        take: @escaping @ActionActor (HelperRequest) -> Bool, ended: @escaping @ActionActor () -> Void
    ) throws(SystemError) {
        // An agent that does not listen is none.
        channel = try LineChannel(
            connection, on: ActionActor.shared.loop, maximumLine: HelperRequest.maximumSize,
            maximumWaiting: 4 << 20)
        channel.onLine = { [unowned self] line in
            ActionActor.assumeIsolated {
                guard let request = HelperRequest(line: line) else {
                    Log.write(.error, "a request that no agent of ours makes: the connection is closed")
                    channel.close()
                    return ended()
                }
                guard !request.takesRoot || isRoot, take(request) else {
                    // Whoever waits for an answer shall not do so for ever.
                    channel.close()
                    return ended()
                }
            }
        }
        channel.onEnd = { ActionActor.assumeIsolated { ended() } }
    }

    func tell(_ report: HelperReport) { channel.send(report.line) }

    func close() { channel.close() }
}
