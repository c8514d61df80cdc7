package import ActionProtocol
internal import Feed
package import Platform
package import Rules
internal import SystemBus

/// What people may have done by hand, if they may.
package protocol Controlled: AnyObject {
    /// Whether any user may hold a rule, or release it, as it is now.
    func mayUsersHold(_ rule: String) -> Bool
    /// - Returns: when it ends at the latest, µs since 1970.
    func hold(_ rule: String, _ request: HoldRequest) throws(OverrideError) -> Int64
    func release(_ rule: String, by user: String) throws(OverrideError)
    func run(_ rule: String, by user: String) throws(OverrideError)
    /// - Parameter done: given how many problems there are.
    func reload(_ done: @escaping (Int) -> Void)
    /// Takes away what rules have set of the machine's proxy.
    ///
    /// - Parameter done: called once, at a later time.
    func resetProxy(by user: String, _ done: @escaping (ActionEnd) -> Void)
    /// Whether a second factor is needed, by what the kernel says after this.
    func factorStatus(_ done: @escaping (FactorStatus) -> Void)
    /// Has the person asked for whom a program runs.
    ///
    /// - Parameter done: called once, at a later time.
    /// - Returns: what `withdrawFactor` takes.
    func requireFactor(_ caller: FactorCaller, _ done: @escaping (FactorEnd) -> Void) -> UInt64
    func withdrawFactor(_ identifier: UInt64)
}

/// The agent's object on the system bus: `/io/vicinity` of `io.vicinity`, with the interface `io.vicinity.Manager1`.
///
/// Root is asked nothing; users may hold what a rule's `user-hold` lets them; everything else takes polkit's word.
/// Who calls is known by its unique name alone, from the daemon. Everything happens on the loop's thread.
package final class ControlService {
    package static let name = "io.vicinity"
    package static let path = "/io/vicinity"
    package static let interface = "io.vicinity.Manager1"
    package static let action = "io.vicinity.manage"
    /// To see where the machine is.
    package static let locationAction = "io.vicinity.read-location"

    /// Names of errors, besides those of `OverrideError`.
    package enum Refusal: String {
        case invalid = "org.freedesktop.DBus.Error.InvalidArgs"
        case busy = "org.freedesktop.DBus.Error.LimitsExceeded"
        case notAuthorized = "io.vicinity.Error.NotAuthorized"
        /// The administrator's configuration forbids it, whatever polkit says.
        case restricted = "io.vicinity.Error.Restricted"
        /// What was asked for could not be kept.
        case notKept = "io.vicinity.Error.NotKept"
        /// What was to be taken away stays, or some of it.
        case notReset = "io.vicinity.Error.NotReset"
        /// The second factor was asked for and not given.
        case factorDenied = "io.vicinity.Error.SecondFactorDenied"
        /// Nobody gave it in time.
        case factorExpired = "io.vicinity.Error.SecondFactorExpired"
        /// Nobody could be asked for it.
        case factorUnavailable = "io.vicinity.Error.SecondFactorUnavailable"
        /// The same call may succeed if a person may be asked.
        case needsPerson = "org.freedesktop.DBus.Error.InteractiveAuthorizationRequired"
    }

    private let names: UserNames
    let bus: SystemBus
    private let authority: PolicyAuthority
    unowned let target: any Controlled
    let permissions: PermissionBook
    private var object: BusObject?
    var waiting = WaitingCalls()
    /// Programs whose user is asked for a second factor.
    var factorRequests: [ObjectIdentifier: FactorRequest] = [:]
    /// What is written about where the machine was; nil where nothing ever is.
    var analytics: AnalyticsKeeper?
    /// Removes the history, and answers how many files that were.
    var purgeHistory: () throws(SystemError) -> Int = { 0 }
    /// Told what is wrong, nil once nothing is.
    private let report: (String?) -> Void

    /// - Parameters:
    ///   - address: of another bus than the machine's.
    ///   - limit: how long polkit may take where no person is asked, µs.
    ///   - report: told why nobody can have anything done by hand, and with nil that somebody can.
    package init(
        of target: any Controlled, _ permissions: PermissionBook, on loop: EventLoop, address: String? = nil,
        limit: UInt64 = 10_000_000, _ report: @escaping (String?) -> Void
    ) {
        names = UserNames(on: loop)
        self.target = target
        self.permissions = permissions
        self.report = report
        bus = SystemBus(on: loop, address: address)
        authority = PolicyAuthority(bus, limit: limit)
        object = BusObject(ControlService.path, ControlService.interface, ControlRequest.methods, on: bus) {
            [unowned self] in take($0)
        }
        bus.onConnect = { [unowned self] in serve() }
        bus.onLoss = { [unowned self] in
            object?.withdraw()
            withdrawFactors()
            report("the system bus is gone: no rule can be held or run by hand")
        }
    }

    package func start() {
        bus.connect()
        if !bus.exists { report("there is no system bus: no rule can be held or run by hand") }
    }

    package func stop() {
        object?.withdraw()
        withdrawFactors()
        bus.close()
    }

    private func serve() {
        do throws(SystemError) {
            try object?.export()
        } catch {
            return report("\(error): no rule can be held or run by hand")
        }
        bus.own(ControlService.name) { [unowned self] ownership in
            switch ownership {
            case .ours: report(nil)
            case .others:
                report(
                    "another process has the name \(ControlService.name) on the system bus: it is the one to be asked")
            case .refused(let error):
                report(
                    "the system bus refuses the name \(ControlService.name) (\(error ?? "no answer")): no rule can be "
                        + "held or run by hand; is /usr/share/dbus-1/system.d/io.vicinity.conf installed?")
            }
        }
    }

    // MARK: Calls

    private func take(_ call: BusCall) {
        guard let request = ControlRequest(call.method, call.values) else {
            return refuse(call, .invalid, ControlRequest.problem(with: call.method))
        }
        guard waiting.enter(call.sender) else {
            return refuse(call, .busy, "too many calls wait for an answer; try again later")
        }
        let driver = "org.freedesktop.DBus"
        bus.call(driver, "/org/freedesktop/DBus", driver, "GetConnectionUnixUser", [.text(call.sender)]) {
            [weak self] reply in
            guard let self else { return }
            guard case .values(let values) = reply, values.count == 1,
                let user = values[0].number.flatMap({ UInt32(exactly: $0) })
            else { return finish(call) { $0.refuse(call, .notAuthorized, "the bus does not say who calls") } }
            authorize(request, call, user)
        }
    }

    private func authorize(_ request: ControlRequest, _ call: BusCall, _ user: UInt32) {
        if case .requestPermission = request { return authorizeReading(request, call, user) }
        // Everybody may have themselves asked, and PAM stacks tell everybody whether they ask.
        if user == 0 || request.isOfFactor { return carryOut(request, call, user, isUsers: false) }
        if case .analyticsStatus = request { return carryOut(request, call, user, isUsers: false) }
        if case .setAnalyticsConsent = request {
            // Nobody else can say it.
            guard waiting.change(user, at: Timestamp.now().boottime) else {
                return finish(call) { $0.refuse(call, .busy, "too many changes within a minute; try again later") }
            }
            return carryOut(request, call, user, isUsers: false)
        }
        if case .revokePermission(user) = request {
            // What is one's own everybody may give back.
            guard waiting.change(user, at: Timestamp.now().boottime) else {
                return finish(call) { $0.refuse(call, .busy, "too many changes within a minute; try again later") }
            }
            return carryOut(request, call, user, isUsers: false)
        }
        if let rule = request.heldRule, target.mayUsersHold(rule) {
            guard waiting.change(user, at: Timestamp.now().boottime) else {
                return finish(call) { $0.refuse(call, .busy, "too many changes within a minute; try again later") }
            }
            return carryOut(request, call, user, isUsers: true)
        }
        askPolkit(request, call, user)
    }

    /// Who may see everything anyway is asked nothing, and who may not whatever happens is not asked either.
    private func authorizeReading(_ request: ControlRequest, _ call: BusCall, _ user: UInt32) {
        permissions.find(user) { [weak self] level in
            guard let self else { return }
            switch level {
            case .full: finish(call) { _ in call.answer([.text(level.rawValue)]) }
            case .restricted: finish(call) { $0.refuseRestricted(call) }
            case .hashed, .notDetermined, .denied: askPolkit(request, call, user)
            }
        }
    }

    private func askPolkit(_ request: ControlRequest, _ call: BusCall, _ user: UInt32) {
        guard waiting.ask(user) else {
            return finish(call) { $0.refuse(call, .busy, "too many calls wait for polkit; try again later") }
        }
        let details = ["polkit.message": "Authentication is required to \(request.purpose)"]
        authority.check(.busName(call.sender), request.action, details, mayAsk: call.mayAsk) { [weak self] verdict in
            guard let self else { return }
            waiting.answered(user)
            if verdict == .authorized { return carryOut(request, call, user, isUsers: false) }
            finish(call) { $0.refuse(call, polkit: verdict, request.action) }
        }
    }

    private func carryOut(_ request: ControlRequest, _ call: BusCall, _ user: UInt32, isUsers: Bool) {
        names.find(user) { [weak self] name in
            guard let self else { return }
            // The rules may be others by now.
            if isUsers, let rule = request.heldRule, !target.mayUsersHold(rule) {
                return finish(call) { $0.refuse(call, polkit: .denied, request.action) }
            }
            perform(request, call, user, name, isUsers: isUsers)
        }
    }

    private func perform(
        _ request: ControlRequest, _ call: BusCall, _ user: UInt32, _ name: String, isUsers: Bool
    ) {
        do throws(OverrideError) {
            switch request {
            case .hold(let rule, let isOn, let duration, let endsWithPlace):
                var request = HoldRequest(isOn: isOn, by: name)
                request.isUsers = isUsers
                request.duration = duration
                request.endsWithPlace = endsWithPlace
                let end = try target.hold(rule, request)
                finish(call) { _ in call.answer([.unsigned64(UInt64(clamping: end))]) }
            case .release(let rule):
                try target.release(rule, by: name)
                finish(call) { _ in call.answer() }
            case .run(let rule):
                try target.run(rule, by: name)
                finish(call) { _ in call.answer() }
            case .reload:
                target.reload { [weak self] problems in
                    self?.finish(call) { _ in call.answer([.unsigned(UInt32(clamping: problems))]) }
                }
            case .resetProxy:
                target.resetProxy(by: name) { [weak self] end in
                    self?.finish(call) { service in
                        guard end.result == .succeeded else {
                            return service.refuse(call, .notReset, end.because ?? "it was not taken away")
                        }
                        call.answer([.text(String(decoding: end.output, as: UTF8.self))])
                    }
                }
            case .factorStatus: tellFactorStatus(user, call)
            case .requireFactor(let reason): requireFactor(reason, user, name, call)
            case .requestPermission: grant(user, call, by: name)
            case .grantPermission(let other): grant(other, call, by: name)
            case .revokePermission(let other): revoke(other, call, by: name)
            case .listGrants:
                let users = permissions.granted.map { BusArgument.unsigned($0) }
                finish(call) { _ in call.answer([.list(users, of: "u")]) }
            case .rotateHashKey, .purgeAnalytics, .setAnalyticsConsent, .analyticsStatus:
                performAnalytics(request, call, user, name)
            }
        } catch {
            finish(call) { _ in call.refuse(error.busName, error.description) }
        }
    }

    // MARK: Analytics

    private func performAnalytics(_ request: ControlRequest, _ call: BusCall, _ user: UInt32, _ name: String) {
        guard let analytics else { return finish(call) { $0.refuse(call, .notKept, "nothing is written here") } }
        do {
            switch request {
            case .rotateHashKey:
                let key = try analytics.rotateKey()
                finish(call) { _ in call.answer([.text(key)]) }
            case .purgeAnalytics(let history):
                var count = try analytics.purge()
                if history { count += try purgeHistory() }
                Log.write(.notice, "analytics log\(history ? " and history" : "") purged by \(name)")
                finish(call) { _ in call.answer([.unsigned(UInt32(clamping: count))]) }
            case .setAnalyticsConsent(let consent):
                try analytics.consent(consent, of: user, named: name)
                Log.write(.notice, "uid \(user) \(consent ? "agrees to" : "refuses") the analytics log")
                finish(call) { _ in call.answer() }
            default:
                let status = analytics.status(of: user)
                finish(call) { _ in call.answer([.text(status)]) }
            }
        } catch let error as AnalyticsKeeper.KeyRefusal {
            if case .isOrganisations = error {
                finish(call) { $0.refuse(call, .restricted, error.description) }
            } else {
                finish(call) { $0.refuse(call, .notKept, error.description) }
            }
        } catch {
            finish(call) { $0.refuse(call, .notKept, "\(error)") }
        }
    }

    // MARK: Permission

    private func grant(_ user: UInt32, _ call: BusCall, by name: String) {
        // What the configuration says may be something else by now.
        permissions.find(user) { [weak self] level in
            guard let self else { return }
            guard level != .restricted else { return finish(call) { $0.refuseRestricted(call) } }
            do throws(SystemError) {
                try permissions.grant(user)
                Log.write(.notice, "uid \(user) may see where this machine is, granted by \(name)")
                answerLevel(of: user, call)
            } catch {
                finish(call) { $0.refuse(call, .notKept, "\(error): nothing is granted") }
            }
        }
    }

    private func revoke(_ user: UInt32, _ call: BusCall, by name: String) {
        do throws(SystemError) {
            if try permissions.revoke(user) {
                Log.write(.notice, "uid \(user) may no longer see where this machine is, revoked by \(name)")
            }
            answerLevel(of: user, call)
        } catch {
            finish(call) { $0.refuse(call, .notKept, "\(error): revoked until the agent is started anew") }
        }
    }

    /// Says what the user may see now, which is not only a matter of what was granted.
    private func answerLevel(of user: UInt32, _ call: BusCall) {
        permissions.find(user) { [weak self] level in
            self?.finish(call) { _ in call.answer([.text(level.rawValue)]) }
        }
    }

    private func refuseRestricted(_ call: BusCall) {
        refuse(call, .restricted, "the administrator's configuration forbids it: [permission] of vicinity.toml")
    }

    func finish(_ call: BusCall, _ body: (ControlService) -> Void) {
        waiting.leave(call.sender)
        body(self)
    }

    func refuse(_ call: BusCall, _ refusal: Refusal, _ text: String) { call.refuse(refusal.rawValue, text) }

    private func refuse(_ call: BusCall, polkit verdict: PolicyAuthority.Verdict, _ action: String) {
        switch verdict {
        case .needsPerson:
            refuse(call, .needsPerson, "polkit demands that a person authenticates for \(action)")
        case .nobodyToAsk:
            refuse(
                call, .notAuthorized,
                "polkit finds nobody to ask for \(action): no authentication agent runs in your session")
        case .authorized, .denied: refuse(call, .notAuthorized, "polkit refuses \(action)")
        case .dismissed: refuse(call, .notAuthorized, "nobody authenticated")
        case .absent: refuse(call, .notAuthorized, "polkit does not run, so only root may do this")
        case .failed(let error):
            refuse(call, .notAuthorized, "polkit gives no answer\(error.map { " (\($0))" } ?? ""): refused")
        }
    }
}

extension OverrideError {
    /// The error's name on the bus.
    package var busName: String {
        let name =
            switch self {
            case .unknownRule: "UnknownRule"
            case .disabled: "RuleDisabled"
            case .tooLong: "TooLong"
            case .notHeld: "NotHeld"
            case .nothingToRun: "NothingToRun"
            case .observing: "Observing"
            }
        return "io.vicinity.Error.\(name)"
    }
}
