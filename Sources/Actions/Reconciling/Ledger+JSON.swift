internal import JSON
internal import Rules

extension Ledger {
    /// The ledger as a file has it.
    ///
    /// - Parameter boot: which boot of the machine it is of.
    func octets(boot: String) -> [UInt8] {
        var writer = JSONWriter()
        writer.object { writer in
            writer.field("boot", boot)
            writer.field("protecting", isProtecting)
            writer.array("places") { writer in
                for place in order {
                    if let entry = entries[place] { Ledger.write(place, entry, to: &writer) }
                }
            }
            writer.array("lifted") { writer in
                for (place, wish) in lifted.sorted(by: { $0.key.description < $1.key.description }) {
                    Ledger.write(place, wish, to: &writer)
                }
            }
        }
        writer.endLine()
        return writer.octets
    }

    private static func write(_ place: PlaceName, _ entry: Entry, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("place", place.description)
            writer.field("rule", entry.rule)
            writer.field("index", entry.index)
            writer.field("effect", entry.effect.word)
            writer.field("settled", entry.isSettled)
            writer.array("settings") { writer in
                for (name, item) in entry.items.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("name", name)
                        writer.field("ours", item.ours.text)
                        if let earlier = item.earlier { writer.field("earlier", earlier.text) }
                        writer.field("saved", item.saved.text)
                        writer.field("wanted", item.isWanted)
                    }
                }
            }
        }
    }

    private static func write(_ place: PlaceName, _ wish: Wish, to writer: inout JSONWriter) {
        writer.object { writer in
            writer.field("place", place.description)
            writer.field("rule", wish.rule)
            writer.field("index", wish.index)
            writer.field("effect", wish.effect.word)
            writer.array("settings") { writer in
                for (name, value) in wish.settings.sorted(by: { $0.key < $1.key }) {
                    writer.object { writer in
                        writer.field("name", name)
                        writer.field("ours", value.text)
                    }
                }
            }
        }
    }

    /// Reads what `octets(boot:)` wrote; nil for anything else. Of another boot, what it took away is left out.
    init?(_ octets: [UInt8], boot: String?) {
        guard let value = try? JSONValue(parsing: octets, maximumSize: Ledger.maximumSize),
            let former = value["boot"]?.string, let places = value["places"]?.array,
            let lifted = value["lifted"]?.array, let isProtecting = value["protecting"]?.bool
        else { return nil }
        self.init()
        self.isProtecting = isProtecting
        for value in places {
            guard let place = value["place"]?.string.flatMap(PlaceName.init), let entry = Entry(value) else {
                return nil
            }
            self[place] = entry
        }
        for value in lifted {
            guard let place = value["place"]?.string.flatMap(PlaceName.init), let wish = Wish(value) else {
                return nil
            }
            self.lifted[place] = wish
        }
        if let boot, former != boot { forgetVolatile() }
    }

    static let maximumSize = 16 << 20
}

extension Ledger.Entry {
    fileprivate init?(_ value: JSONValue) {
        guard let rule = value["rule"]?.string, let index = value["index"]?.integer,
            let effect = Effect(value["effect"]?.string), let isSettled = value["settled"]?.bool,
            let settings = value["settings"]?.array
        else { return nil }
        self.init(rule: rule, index: Int(clamping: index), effect: effect, items: [:], isSettled: isSettled)
        for setting in settings {
            guard let name = setting["name"]?.string, let ours = Setting(setting["ours"]),
                let saved = Setting(setting["saved"]), let isWanted = setting["wanted"]?.bool
            else { return nil }
            items[name] = Ledger.Item(
                ours: ours, earlier: setting["earlier"].flatMap(Setting.init), saved: saved, isWanted: isWanted)
        }
    }
}

extension Ledger.Wish {
    fileprivate init?(_ value: JSONValue) {
        guard let rule = value["rule"]?.string, let index = value["index"]?.integer,
            let effect = Effect(value["effect"]?.string), let list = value["settings"]?.array
        else { return nil }
        self.init(rule: rule, index: Int(clamping: index), effect: effect, settings: [:])
        for setting in list {
            guard let name = setting["name"]?.string, let ours = Setting(setting["ours"]) else { return nil }
            settings[name] = ours
        }
    }
}

extension Setting {
    fileprivate var text: String? { if case .value(let text) = self { text } else { nil } }

    fileprivate init?(_ value: JSONValue?) {
        switch value {
        case .null?: self = .unset
        case .string(let text)?: self = .value(text)
        default: return nil
        }
    }
}

extension Effect {
    fileprivate var word: String {
        switch self {
        case .relaxing: "relaxing"
        case .neutral: "neutral"
        case .tightening: "tightening"
        }
    }

    fileprivate init?(_ word: String?) {
        let all: [Effect] = [.relaxing, .neutral, .tightening]
        guard let effect = all.first(where: { $0.word == word }) else { return nil }
        self = effect
    }
}
