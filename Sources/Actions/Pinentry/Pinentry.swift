internal import Glibc
public import Platform

/// Shows a question in the user's session: pinentry, with somebody else's connection as its input and output. What is
/// typed goes through nobody between them.
@ActionActor
public protocol Pinentry: AnyObject {
    /// Returns when the program has ended; where its task is cancelled, ends it with everything that it started.
    func run(_ program: String, on connection: PinentryConnection) async throws(PlaceError)
}

/// Closed when nobody has it any more.
public final class PinentryConnection: Sendable {
    private let descriptor: FileDescriptor

    /// - Parameter descriptor: blocks, since pinentry takes it for a pipe.
    public init(_ descriptor: consuming FileDescriptor) { self.descriptor = descriptor }

    public var rawValue: Int32 { descriptor.rawValue }

    /// For everybody who has a copy, the program and the other end among them.
    public func hangUp() { _ = shutdown(rawValue, Int32(SHUT_RDWR)) }
}

/// As this machine does it best.
@ActionActor
public func systemPinentry(_ manager: ServiceManager) -> any Pinentry {
    SystemCommands.isBooted ? PinentryUnit(manager) : PinentryProcess()
}
