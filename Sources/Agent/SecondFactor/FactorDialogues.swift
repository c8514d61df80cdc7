/// Has a person asked where polkit cannot: by PAM's service `vicinity`, in a dialogue of the session's or on the console.
protocol FactorDialogues: AnyObject {
    /// - Parameters:
    ///   - limit: how long the person may take (µs).
    ///   - done: called once, at a later time, unless it is withdrawn.
    func ask(
        _ question: FactorDesk.Question, _ demand: FactorDemand, _ session: Seat.Session, limit: Int64,
        _ done: @escaping (FactorDesk.Answer) -> Void)
    /// Nobody is to answer any more.
    func withdraw(_ question: FactorDesk.Question)
}
