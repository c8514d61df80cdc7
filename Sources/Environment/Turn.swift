internal import Platform

/// One observation's passage through the reducer: what it concerns, and what comes of it.
struct Turn {
    let time: Timestamp
    /// The interface concerned, as it is now.
    var link: Interface
    /// Everything is being read again.
    var isResync = false
    /// Whether no message of the link may be missing.
    var isLinkCurrent = true
    /// Everything is being read for the first time: what is found was there before, nothing has changed.
    var isInitial = false
    var changes: [EnvironmentChange] = []
    var queries: [Query] = []

    var index: Int32 { link.index }

    mutating func publish(_ kind: EnvironmentChange.Kind, at time: Timestamp? = nil) {
        guard !isInitial else { return }
        changes.append(
            EnvironmentChange(
                time: time ?? self.time, interface: InterfaceReference(index: link.index, name: link.name), kind: kind))
    }
}

/// What comes of an observation.
public struct Reduction: Sendable {
    /// In the order in which they are to be told.
    public var changes: [EnvironmentChange] = []
    /// To be answered by whoever made the observation.
    public var queries: [Query] = []
    /// Whether a link became known or unknown, which nobody is told of but rules have to heed.
    public var hasBlurred = false
}
