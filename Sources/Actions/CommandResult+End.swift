public import ActionProtocol
internal import Platform

extension ActionEnd {
    public init(_ result: CommandResult) {
        self.init(result.isSuccess ? .succeeded : .failed)
        duration = result.duration
        switch result.end {
        case .exited(let code): exit = code
        case .killed(let signal): because = "ended by signal \(signal)"
        case .timedOut: because = "timed out"
        case .failedToStart(let error): because = error.description
        case .lost(let why): because = why
        case .cancelled, .dropped:
            self.result = .cancelled
            because = "obsolete"
        }
        (output, outputLost) = (result.output.octets, result.output.lost)
        (errors, errorsLost) = (result.errors.octets, result.errors.lost)
    }
}
