internal import InstalledRules
internal import Platform

/// The rule files and the agent's configuration: read at the start, and again whenever they change or somebody asks.
///
/// Reading ten thousand rules takes a good part of a second, so it happens on a thread of its own; what comes of it is
/// told on the loop's. @unchecked: touched on the loop's thread only.
final class RuleSource: @unchecked Sendable {
    /// Editors write a file in several steps, package managers many files: it is read when nothing happened for so
    /// long, at the latest after the second time (µs).
    private static let quiet: Int64 = 200_000
    private static let patience: Int64 = 2_000_000

    private let paths: AgentPaths
    private let loop: EventLoop
    private let loaded: (InstalledRules) -> Void
    private var watch: DirectoryWatch?
    private var timer: EventLoop.Timer?
    private var firstChange: Int64?
    private var isReading = false
    /// Set where something may have changed since the reading began, with whether that has to be told in any case.
    private var again: Bool?
    /// Who waits for the reading that is going on, and for the one after it.
    private var awaited: [() -> Void] = []
    private var awaitedNext: [() -> Void] = []
    private var fingerprint: String?

    /// - Parameter loaded: called after a reload that somebody asked for, or that found other files than before.
    init(_ paths: AgentPaths, on loop: EventLoop, _ loaded: @escaping (InstalledRules) -> Void) {
        self.paths = paths
        self.loop = loop
        self.loaded = loaded
    }

    /// Reads on the calling thread, and from then on follows the files.
    ///
    /// - Throws: where the files cannot be followed; they can still be read again.
    func start(_ body: (InstalledRules) -> Void) throws(SystemError) {
        defer {
            let first = RuleSource.read(paths, atStart: true)
            fingerprint = first.fingerprint
            body(first)
        }
        // Watched before it is read, so that no change falls between the two.
        watch = try DirectoryWatch(paths.ruleDirectories.watched, on: loop) { [unowned self] in
            changed()
        }
    }

    /// Reads once more and tells what came of it in any case.
    ///
    /// - Parameter done: called after that.
    func reload(_ done: (() -> Void)? = nil) {
        if let done { isReading ? awaitedNext.append(done) : awaited.append(done) }
        read(telling: true)
    }

    private func changed() {
        let now = Timestamp.now().boottime
        let first = firstChange ?? now
        firstChange = first
        if let timer { loop.cancel(timer) }
        timer = loop.schedule(at: min(now + RuleSource.quiet, first + RuleSource.patience)) { [unowned self] in
            timer = nil
            firstChange = nil
            read(telling: false)
        }
    }

    private func read(telling: Bool) {
        guard !isReading else {
            again = telling || again ?? false
            return
        }
        isReading = true
        let paths = paths
        do throws(SystemError) {
            let worker = try EventLoop()
            try worker.start()
            worker.perform { [self] in
                let result = RuleSource.read(paths, atStart: false)
                loop.perform { [self] in finish(result, telling) }
                worker.stop()
            }
        } catch {
            // No thread to be had: better late than never.
            finish(RuleSource.read(paths, atStart: false), telling)
        }
    }

    private func finish(_ result: InstalledRules, _ telling: Bool) {
        isReading = false
        if result.fingerprint != fingerprint || telling {
            fingerprint = result.fingerprint
            loaded(result)
        }
        let over = awaited
        awaited = awaitedNext
        awaitedNext = []
        for done in over { done() }
        guard let again else { return }
        self.again = nil
        read(telling: again)
    }

    /// - Parameter atStart: where the files are wrong, the last good ones take their place.
    private static func read(_ paths: AgentPaths, atStart: Bool) -> InstalledRules {
        InstalledRules(reading: paths.ruleDirectories, lastGood: paths.lastGoodRules, fallsBack: atStart)
    }
}
