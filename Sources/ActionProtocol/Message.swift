internal import JSON

/// A member is there but is not what it has to be.
struct Malformed: Error {}

extension JSONValue {
    /// More than any object has here.
    private static let maximumMembers = 16

    /// Nil unless it is a JSON text in which no object says anything twice: readers differ in which of the two counts.
    init?(message text: some Collection<UInt8>, maximumSize: Int) {
        guard let value = try? JSONValue(parsing: text, maximumSize: maximumSize), value.isUnambiguous else {
            return nil
        }
        self = value
    }

    private var isUnambiguous: Bool {
        switch self {
        case .object(let object):
            object.members.count <= JSONValue.maximumMembers
                && Set(object.members.map { Array($0.key.utf8) }).count == object.members.count
                && object.members.allSatisfy(\.value.isUnambiguous)
        case .array(let elements): elements.allSatisfy(\.isUnambiguous)
        default: true
        }
    }

    /// A member that may be missing; where it is there, it has to be what is read.
    func optional<Value>(_ key: String, _ read: (JSONValue) -> Value?) throws(Malformed) -> Value? {
        guard let member = self[key] else { return nil }
        guard let value = read(member) else { throw Malformed() }
        return value
    }
}
