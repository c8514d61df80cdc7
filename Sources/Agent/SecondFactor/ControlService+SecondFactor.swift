internal import Feed
internal import Platform
internal import Rules
internal import SystemBus

/// A program that waits for the second factor of whom it runs for.
final class FactorRequest {
    let call: BusCall
    let user: UInt32
    let reason: String
    /// Tells that the program has gone.
    var match: SystemBus.Match?
    /// Of the demand, once there is one.
    var demand: UInt64?

    init(_ call: BusCall, _ user: UInt32, _ reason: String) {
        self.call = call
        self.user = user
        self.reason = reason
    }
}

/// Programs ask whether a second factor is needed, and have it asked for.
extension ControlService {
    private static let logind = "org.freedesktop.login1"
    private static let driver = "org.freedesktop.DBus"

    func tellFactorStatus(_ user: UInt32, _ call: BusCall) {
        permissions.find(user) { [weak self] level in
            self?.target.factorStatus { [weak self] status in
                self?.finish(call) { _ in call.answer([status.argument(for: level)]) }
            }
        }
    }

    func requireFactor(_ reason: String, _ user: UInt32, _ name: String, _ call: BusCall) {
        target.factorStatus { [weak self] status in
            guard let self else { return }
            guard status.standing.isNeeded else { return finish(call) { _ in call.answer([.text("skipped")]) } }
            guard call.mayAsk else {
                return finish(call) { $0.refuse(call, .needsPerson, "a person has to give a second factor") }
            }
            guard waiting.demand(user) else {
                return finish(call) {
                    $0.refuse(call, .busy, "too many programs wait for a second factor; try again later")
                }
            }
            let request = FactorRequest(call, user, reason)
            factorRequests[ObjectIdentifier(request)] = request
            // Before it is asked who that is: one that has gone by then is not found.
            request.match = bus.watchOwner(of: call.sender) { [weak self, weak request] owner in
                if owner == nil, let request { self?.end(request) }
            }
            findSession(of: call.sender) { [weak self] session in
                guard let self, factorRequests[ObjectIdentifier(request)] != nil else { return }
                switch session {
                case .failure(let unknown): refuse(request, .factorUnavailable, unknown.because)
                case .success(let session):
                    let caller = FactorCaller(user: user, name: name, session: session, reason: reason)
                    request.demand = target.requireFactor(caller) { [weak self] in self?.take($0, request) }
                }
            }
        }
    }

    /// Nobody is asked for a program any more.
    func withdrawFactors() { for request in factorRequests.values { end(request) } }

    private func take(_ end: FactorEnd, _ request: FactorRequest) {
        request.demand = nil
        let because = end.because.map { ": \($0)" } ?? ""
        switch end.outcome {
        case .passed: self.end(request) { $0.answer([.text("passed")]) }
        case .failed where end.wasAsked: refuse(request, .factorDenied, "the second factor was not given\(because)")
        case .failed: refuse(request, .factorUnavailable, "nobody is asked for a second factor\(because)")
        case .expired: refuse(request, .factorExpired, "nobody gave the second factor in time")
        case .cancelled: refuse(request, .busy, "the second factor is not asked for now\(because)")
        }
    }

    private func refuse(_ request: FactorRequest, _ refusal: Refusal, _ text: String) {
        end(request) { $0.refuse(refusal.rawValue, text) }
    }

    private func end(_ request: FactorRequest, _ answer: (BusCall) -> Void = { _ in }) {
        guard factorRequests.removeValue(forKey: ObjectIdentifier(request)) != nil else { return }
        if let match = request.match { bus.ignore(match) }
        if let demand = request.demand { target.withdrawFactor(demand) }
        waiting.demanded(request.user)
        finish(request.call) { _ in answer(request.call) }
    }

    // MARK: Whom a program runs for

    private struct Unknown: Error {
        var because = "systemd-logind does not say which session the program belongs to"
    }

    /// logind's identifier; nil of what belongs to none.
    ///
    /// The number of a process can be another's by the time that logind looks at it: of the same user, or else it is
    /// not the user's session and nobody is asked.
    private func findSession(of sender: String, _ found: @escaping (Result<String?, Unknown>) -> Void) {
        bus.call(
            Self.driver, "/org/freedesktop/DBus", Self.driver, "GetConnectionUnixProcessID", [.text(sender)]
        ) { [weak self] reply in
            guard let self, case .values(let values) = reply, values.count == 1,
                let process = values[0].number.flatMap({ UInt32(exactly: $0) })
            else { return found(.failure(Unknown(because: "the bus does not say which program asks"))) }
            bus.call(
                Self.logind, "/org/freedesktop/login1", "\(Self.logind).Manager", "GetSessionByPID",
                [.unsigned(process)], startsService: true
            ) { [weak self] reply in
                switch reply {
                case .failed("org.freedesktop.login1.NoSessionForPID"?, _): found(.success(nil))
                case .values(let values):
                    guard let self, values.count == 1, let path = values[0].text, SystemBus.isPath(path) else {
                        return found(.failure(Unknown()))
                    }
                    findIdentifier(of: path, found)
                case .absent, .failed: found(.failure(Unknown()))
                }
            }
        }
    }

    private func findIdentifier(of path: String, _ found: @escaping (Result<String?, Unknown>) -> Void) {
        bus.call(
            Self.logind, path, "org.freedesktop.DBus.Properties", "Get",
            [.text("\(Self.logind).Session"), .text("Id")]
        ) { reply in
            guard case .values(let values) = reply, values.count == 1, let identifier = values[0].text else {
                return found(.failure(Unknown()))
            }
            found(.success(identifier))
        }
    }
}
