internal import Environment
internal import Platform

/// One line of the feed, shared by all who read it: written once for those who may know everything, once for those who
/// may not, and only when there is one to read it.
public final class FeedLine: Sendable {
    /// Nil for lines made for one reader alone.
    public let sequence: UInt64?
    public let type: String
    /// The interface's name at that time; nil for events of the whole machine.
    public let interface: String?
    /// The same for readers who may not see names.
    let shownInterface: String?
    /// When it happened (µs, boot time).
    public let boottime: Int64
    /// What an explanation was made of.
    let explanation: Explanation?

    private let content: Lock<Content>

    private struct Content: Sendable {
        /// What the octets are made of; nil where they were there from the beginning.
        var event: FeedEvent?
        var instance: String
        var full: [UInt8]?
        var hashed: [UInt8]?
    }

    public static let maximumLength = 8_192

    init(_ event: FeedEvent, _ sequence: UInt64?, _ instance: String) {
        self.sequence = sequence
        type = event.type
        interface = event.interface?.name
        shownInterface = event.interface.map { InterfaceName.shown($0.name, $0.index) }
        boottime = event.time.boottime
        explanation = nil
        var content = Content(event: event, instance: instance)
        if event.isLarge {
            // Kept as the line, which has a limit, not as what commands wrote.
            content.full = FullLine.octets(of: event, sequence, instance)
            content.event = event.withoutText
        }
        self.content = Lock(content)
    }

    /// A line for one reader, which is the same whatever that reader may know.
    init(type: String, boottime: Int64, octets: [UInt8], _ explanation: Explanation? = nil) {
        sequence = nil
        self.type = type
        interface = nil
        shownInterface = nil
        self.boottime = boottime
        self.explanation = explanation
        content = Lock(Content(event: nil, instance: "", full: octets, hashed: octets))
    }

    /// A line as a former agent left it.
    init(_ held: HeldEvents.Line) {
        sequence = held.sequence
        type = held.type
        interface = held.interface
        shownInterface = held.shownInterface
        boottime = held.boottime
        explanation = nil
        content = Lock(Content(event: nil, instance: "", full: held.full, hashed: held.hashed))
    }

    /// Printable ASCII, ended by LF, at most 8 KiB. With every name and address.
    public var octets: [UInt8] {
        content.withLock { content in
            if let octets = content.full { return octets }
            guard let event = content.event else { return [] }
            let octets = FullLine.octets(of: event, sequence, content.instance)
            content.full = octets
            return octets
        }
    }

    /// The same for readers who may not see names and addresses.
    public func octets(disclosing disclosure: FeedDisclosure) -> [UInt8] {
        content.withLock { content in
            if let octets = content.hashed { return octets }
            guard let event = content.event else { return [] }
            let octets = HashedLine.octets(of: event, sequence, content.instance, disclosure)
            content.hashed = octets
            return octets
        }
    }

    /// Other names may be told from now on: what was written for such readers is written anew.
    ///
    /// - Parameter hasOtherKey: whether names are hashed otherwise as well; of a line that a former agent left nobody
    ///   knows how, so that it tells none any more.
    func forgetDisclosed(hasOtherKey: Bool) {
        content.withLock { content in
            if content.event != nil {
                content.hashed = nil
            } else if hasOtherKey {
                content.hashed = content.hashed.map(HashedLine.withoutKeyedHashes)
            }
        }
    }

    /// Octets that it takes at present.
    var size: Int {
        content.withLock { ($0.full?.count ?? 512) + ($0.hashed?.count ?? 0) + 512 }
    }
}

extension FeedEvent {
    /// Whether it has more text than its line would.
    fileprivate var isLarge: Bool {
        switch body {
        case .actionSucceeded, .actionFailed, .actionCancelled, .actionReverted, .ruleActivated, .ruleDeactivated,
            .ruleSkipped, .secondFactorPassed, .secondFactorFailed, .secondFactorExpired:
            true
        default: false
        }
    }

    /// What a line without names is made of.
    fileprivate var withoutText: FeedEvent {
        func stripped(_ fact: ActionFact) -> ActionFact {
            var fact = fact
            (fact.because, fact.user, fact.output, fact.errors) = (nil, nil, [], [])
            return fact
        }
        func stripped(_ fact: SecondFactorFact) -> SecondFactorFact {
            SecondFactorFact(rule: fact.rule, network: fact.network)
        }
        func stripped(_ fact: RuleFact) -> RuleFact { RuleFact(name: fact.name, file: "", line: 0) }
        var event = self
        event.body =
            switch body {
            case .actionSucceeded(let fact): .actionSucceeded(stripped(fact))
            case .actionFailed(let fact): .actionFailed(stripped(fact))
            case .actionCancelled(let fact): .actionCancelled(stripped(fact))
            case .actionReverted(let fact): .actionReverted(stripped(fact))
            case .ruleActivated(let fact): .ruleActivated(stripped(fact))
            case .ruleDeactivated(let fact): .ruleDeactivated(stripped(fact))
            case .ruleSkipped(let fact): .ruleSkipped(stripped(fact))
            case .secondFactorPassed(let fact): .secondFactorPassed(stripped(fact))
            case .secondFactorFailed(let fact): .secondFactorFailed(stripped(fact))
            case .secondFactorExpired(let fact): .secondFactorExpired(stripped(fact))
            default: body
            }
        return event
    }
}
