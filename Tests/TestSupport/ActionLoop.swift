import Actions
import Platform

/// The loop of the actor of all actions, on a thread of its own: one for all the tests of a process, since the actor is
/// one.
public enum ActionLoop {
    public static let isRunning: Bool = (try? ActionActor.shared.loop.start()) != nil
}
