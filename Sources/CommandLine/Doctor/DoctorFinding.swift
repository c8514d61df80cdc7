/// What came of one check.
struct DoctorFinding: Equatable {
    enum Status: String {
        case ok
        /// Nothing is wrong, but good to know.
        case note
        /// It works, and not all of it, or not safely.
        case warning
        /// Something does not work.
        case failure
    }

    /// What was looked at.
    let subject: String
    let status: Status
    let text: String
    /// What to do about it; nil where there is nothing to do.
    let remedy: String?

    static func ok(_ subject: String, _ text: String) -> DoctorFinding {
        DoctorFinding(subject: subject, status: .ok, text: text, remedy: nil)
    }

    static func note(_ subject: String, _ text: String, _ remedy: String? = nil) -> DoctorFinding {
        DoctorFinding(subject: subject, status: .note, text: text, remedy: remedy)
    }

    static func warning(_ subject: String, _ text: String, _ remedy: String) -> DoctorFinding {
        DoctorFinding(subject: subject, status: .warning, text: text, remedy: remedy)
    }

    static func failure(_ subject: String, _ text: String, _ remedy: String) -> DoctorFinding {
        DoctorFinding(subject: subject, status: .failure, text: text, remedy: remedy)
    }
}
