internal import Glibc
public import Platform

/// A program of the system's that does something for us: with arguments, without a shell and without our variables.
@ActionActor
public struct Tool {
    public struct Answer: Sendable {
        public var code: Int32
        public var output: [UInt8]
        /// The beginning of what it said on standard error.
        public var errors: [UInt8]
    }

    /// Why there is no answer.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The program is not installed.
        case absent(String)
        case system(SystemError)
        case timedOut(String)
        case killed(String, signal: Int32)
        /// It said more than anybody wanted to hear.
        case tooLong(String)
        case cancelled

        public var description: String {
            switch self {
            case .absent(let program): "\(program) is not installed"
            case .system(let error): error.description
            case .timedOut(let program): "\(program) took too long"
            case .killed(let program, let signal): "\(program) was ended by signal \(signal)"
            case .tooLong(let program): "\(program) answered more than can be read"
            case .cancelled: "obsolete"
            }
        }
    }

    /// Runs a program to its end. Where the task is cancelled it is killed, with everything it started.
    ///
    /// - Parameters:
    ///   - arguments: an absolute path, then what the program is told.
    ///   - variables: `NAME=value`, all that it has in its environment.
    ///   - input: what it reads from its standard input.
    ///   - limit: octets that it may answer.
    ///   - timeout: µs.
    public static func run(
        _ arguments: [String], variables: [String] = ["LC_ALL=C.UTF-8", "PATH=/usr/sbin:/usr/bin:/sbin:/bin"],
        input: [UInt8] = [], limit: Int = 1 << 20, timeout: Int64 = 10_000_000
    ) async throws(Failure) -> Answer {
        let program = arguments.first ?? ""
        if Task.isCancelled { throw .cancelled }
        let loop = ActionActor.shared.loop
        let ended = Promise<ChildProcess.End>()
        let process: ChildProcess
        let readers: (output: PipeReader, errors: PipeReader)
        do throws(SystemError) {
            readers = (try PipeReader(on: loop, limit: limit), try PipeReader(on: loop))
            let file = try Files.inMemory(input)
            process = try ChildProcess(
                arguments, variables: variables, input: file.rawValue, output: readers.output.writing,
                errors: readers.errors.writing, on: loop)
            readers.output.handedOver()
            readers.errors.handedOver()
            process.ended = { end in ActionActor.assumeIsolated { ended.fulfil(end) } }
            do throws(SystemError) {
                try readers.output.start()
                try readers.errors.start()
            } catch {
                process.abandon()
                readers.output.stop()
                readers.errors.stop()
                throw error
            }
        } catch {
            throw error.code == ENOENT && error.operation == "posix_spawn" ? .absent(program) : .system(error)
        }
        let outcome = await ended.value(until: Timestamp.now().boottime + timeout)
        let output = readers.output.finish()
        let errors = readers.errors.finish()
        switch outcome {
        case .value(.exited(let code)):
            guard output.lost == 0 else { throw .tooLong(program) }
            return Answer(code: code, output: output.octets, errors: errors.octets)
        case .value(.killed(let signal)): throw .killed(program, signal: signal)
        case .value(.lost(let error)): throw .system(error)
        case .late:
            process.abandon()
            throw .timedOut(program)
        case .cancelled:
            process.abandon()
            throw .cancelled
        }
    }
}
