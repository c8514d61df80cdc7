/// Whether a PAM service by which people are asked for a second factor takes more than a password.
public enum FactorStack {
    /// Of polkit's agent helper.
    public static let polkit = "polkit-1"
    /// Of `vicinity-factor`, where polkit cannot ask.
    public static let own = "vicinity"

    private static let remedy = "see second-factor.md"

    /// Why it does not, in words; nil where it does. Read anew each time.
    public static func problem(in service: String) -> String? {
        do throws(PAMStackError) {
            return problem(of: try PAMStack(service: service), in: service)
        } catch {
            return "whether PAM's \(service) asks for a second factor cannot be said: \(error); \(remedy)"
        }
    }

    public static func problem(of stack: PAMStack, in service: String = polkit) -> String? {
        guard !stack.demandsFactor else { return nil }
        let factors = stack.factorModules
        guard !factors.isEmpty else {
            return "PAM's \(service) asks for a password alone: it needs one of "
                + "\(PAMStack.factors.sorted().joined(separator: ", ")); \(remedy)"
        }
        for module in factors {
            if let loophole = module.arguments.first(where: PAMStack.loopholes.contains) {
                return "PAM's \(service) lets people pass without a second factor: \(module.name) with \(loophole) "
                    + "(\(module.file):\(module.line)); \(remedy)"
            }
        }
        let places = factors.map { "\($0.name) (\($0.file):\($0.line))" }.joined(separator: ", ")
        return "PAM's \(service) can be passed without its second factor, \(places): another line lets people through; "
            + remedy
    }
}
