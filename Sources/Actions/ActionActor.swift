internal import Glibc
public import Platform

/// What carries out actions in a helper runs here, on one event loop: the bus, processes and files of a back end are
/// touched by nobody else, and whoever waits for one lets the others go on.
@globalActor
public actor ActionActor {
    public static let shared = ActionActor()

    /// Somebody has to run it: a helper's `main` by `run()`, tests by `start()`.
    public nonisolated let loop: EventLoop

    private init() {
        do {
            loop = try EventLoop()
        } catch {
            // No descriptor to be had at the very start of a process.
            fatalError("\(error)")
        }
    }

    public nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }

    /// Runs a handler of the loop's, which is called on its thread, as the code of this actor that it is.
    public nonisolated static func assumeIsolated<Result>(_ body: @ActionActor () -> Result) -> Result {
        shared.loop.checkIsolated()
        return withoutActuallyEscaping(body) { body in unsafe unsafeBitCast(body, to: (() -> Result).self)() }
    }
}
