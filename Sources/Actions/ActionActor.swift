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

    /// Begins a task on the loop's thread. Without that preference every task begins on one of a pool of threads, which
    /// there would be for nothing else, and hops over from there.
    @discardableResult
    public nonisolated static func task<Result: Sendable>(
        @_implicitSelfCapture _ body: @escaping @ActionActor @Sendable () async -> Result
    ) -> Task<Result, Never> {
        Task(executorPreference: shared.loop) { await body() }
    }

    /// Runs a handler of the loop's, which is called on its thread, as the code of this actor that it is.
    public nonisolated static func assumeIsolated<Result>(_ body: @ActionActor () -> Result) -> Result {
        shared.loop.checkIsolated()
        return withoutActuallyEscaping(body) { body in unsafe unsafeBitCast(body, to: (() -> Result).self)() }
    }
}
