internal import JSON
internal import Platform

/// Whether a set of nftables has an element: `element` is `present`, or unset.
///
/// nft(8) is spoken to in JSON, libnftables-json(5): its own grammar has no quotes that could be trusted.
@ActionActor
final class SetPlace: Place {
    static let setting = "element"

    private let set: (family: String, table: String, name: String)
    private let element: SetElement
    private let program: String

    init(_ set: (family: String, table: String, name: String), _ element: String, program: String) {
        self.set = set
        self.element = SetElement(element)
        self.program = program
    }

    func read(_ names: Set<String>) async throws(PlaceError) -> Settings? {
        let contents = try await contents()
        let isPresent = contents.elements.contains { element.isCovered(by: $0) }
        return [SetPlace.setting: isPresent ? .value("present") : .unset]
    }

    func write(_ settings: Settings) async throws(PlaceError) {
        guard let wanted = settings[SetPlace.setting] else { return }
        let type = try await contents().type
        // nft would ask the name server who that is.
        if case .name = element, type.contains("addr") {
            throw .failed("\(element) is no address, and \(title) has \(type)")
        }
        try await change(wanted == .value("present") ? "add" : "delete")
    }

    private var title: String { "the set \(set.family) \(set.table) \(set.name)" }

    private func change(_ verb: StaticString) async throws(PlaceError) {
        let answer = try await ask(verb, "element") { writer in
            writer.array("elem") { writer in element.write(to: &writer) }
        }
        guard answer.code != 0 else { return }
        throw .failed("\(verb) of \(element), \(title): \(SetPlace.text(answer.errors))")
    }

    private func contents() async throws(PlaceError) -> (type: String, elements: [SetElement]) {
        let answer = try await ask("list", "set") { _ in }
        guard answer.code == 0 else {
            let what = SetPlace.text(answer.errors)
            if what.contains("No such file") {
                throw .failed("there is no such thing as \(title): nft add set … makes it, or the firewall's file does")
            }
            throw .failed("\(title): \(what)")
        }
        guard let answer = try? JSONValue(parsing: answer.output, maximumSize: 4 << 20),
            case .array(let objects)? = answer["nftables"],
            let found = objects.lazy.compactMap({ $0["set"] }).first
        else { throw .failed("\(title): nft answers something else than libnftables-json(5)") }
        var elements: [SetElement] = []
        if case .array(let values)? = found["elem"] { elements = values.compactMap { SetElement($0) } }
        return (found["type"]?.string ?? "", elements)
    }

    private func ask(
        _ verb: StaticString, _ kind: StaticString, _ more: (inout JSONWriter) -> Void
    ) async throws(PlaceError) -> Tool.Answer {
        var writer = JSONWriter()
        writer.object { writer in
            writer.array("nftables") { writer in
                writer.object { writer in
                    writer.object(verb) { writer in
                        writer.object(kind) { writer in
                            writer.field("family", set.family)
                            writer.field("table", set.table)
                            writer.field("name", set.name)
                            more(&writer)
                        }
                    }
                }
            }
        }
        do throws(Tool.Failure) {
            return try await Tool.run([program, "-j", "-f", "-"], input: writer.octets, limit: 4 << 20)
        } catch {
            switch error {
            case .cancelled: throw .cancelled
            case .absent: throw .failed("\(title): nft is not there; apt install nftables")
            default: throw .failed("\(title): \(error)")
            }
        }
    }

    /// In one line.
    private static func text(_ octets: [UInt8]) -> String {
        let line = octets.split(separator: UInt8(ascii: "\n")).first ?? []
        let text = String(decoding: line.filter { (0x20...0x7E).contains($0) }.prefix(200), as: UTF8.self)
        return text.isEmpty ? "nft failed" : text
    }
}
