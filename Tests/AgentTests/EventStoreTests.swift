import Feed
import Glibc
import Platform
import Testing

@testable import Agent

/// The feed's lines in the service manager's hands.
@Suite struct EventStoreTests {
    /// In the place of the service manager: keeps copies, which outlive whoever gave them.
    private final class Keeper {
        var kept: [ServiceManager.Passed] = []

        deinit { for entry in kept { close(entry.descriptor) } }

        func store() -> EventStore {
            EventStore(
                keep: { [unowned self] in kept.append(.init(name: $1, descriptor: dup($0))) },
                letGo: { [unowned self] name in
                    for entry in kept where entry.name == name { close(entry.descriptor) }
                    kept.removeAll { $0.name == name }
                })
        }

        /// What the next agent finds, however the last one ended.
        func left(to store: EventStore? = nil) -> HeldEvents? {
            (store ?? self.store()).left(kept.map { .init(name: $0.name, descriptor: dup($0.descriptor)) })
        }
    }

    private func line(_ encoder: inout FeedEncoder) -> FeedLine {
        encoder.line(for: FeedEvent(.agentReloaded(problems: 1), at: .now()))
    }

    @Test func theNextAgentGoesOnWhereThisOneWas() throws {
        let keeper = Keeper()
        #expect(keeper.left() == nil)
        let store = keeper.store()
        var encoder = FeedEncoder()
        store.begin(with: try #require(empty(encoder)))
        #expect(keeper.left()?.sequence == 0)
        for _ in 0..<3 { store.append(line(&encoder), disclosing: encoder.disclosure) }
        // The next one begins a file of its own with that, and there is one, however many there were before.
        let next = keeper.store()
        let left = try #require(keeper.left(to: next))
        #expect(left.instance == encoder.instance && left.sequence == 3 && left.count == 3)
        next.begin(with: left)
        #expect(keeper.kept.count == 1)
        var continued = FeedEncoder(continuing: left)
        next.append(line(&continued), disclosing: continued.disclosure)
        #expect(keeper.left()?.sequence == 4)
    }

    /// Killed between keeping the new file and letting the old one go.
    @Test func ofTwoFilesTheOneThatWasGoneOnWithCounts() throws {
        let keeper = Keeper()
        let first = keeper.store()
        var encoder = FeedEncoder()
        first.begin(with: try #require(empty(encoder)))
        first.append(line(&encoder), disclosing: encoder.disclosure)
        let left = try #require(keeper.left())
        let second = EventStore(keep: { keeper.kept.append(.init(name: $1, descriptor: dup($0))) }, letGo: { _ in })
        second.begin(with: left)
        var continued = FeedEncoder(continuing: left)
        second.append(line(&continued), disclosing: continued.disclosure)
        #expect(keeper.kept.count == 2)
        // And the one after that has only one again.
        let third = keeper.store()
        let both = try #require(keeper.left(to: third))
        #expect(both.sequence == 2)
        third.begin(with: both)
        #expect(keeper.kept.count == 1)
    }

    @Test func garbageIsNothing() throws {
        let keeper = Keeper()
        for octets: [UInt8] in [[], Array("garbage".utf8), [UInt8](repeating: 0, count: 100_000)] {
            let file = try Files.inMemory(octets)
            keeper.kept = [.init(name: "events-a", descriptor: dup(file.rawValue))]
            #expect(keeper.left() == nil)
            for entry in keeper.kept { close(entry.descriptor) }
            keeper.kept = []
        }
    }

    @Test func aFileThatHasGrownIsWrittenAnew() throws {
        let keeper = Keeper()
        let store = keeper.store()
        var encoder = FeedEncoder()
        store.begin(with: try #require(empty(encoder)))
        var fact = FeedEvent.ActionFact(id: 1, rule: "r", index: 0, kind: "command")
        fact.output = Array(repeating: UInt8(ascii: "x"), count: 6_000)
        var count = 0
        while !store.isLarge {
            store.append(
                encoder.line(for: FeedEvent(.actionSucceeded(fact), at: .now())), disclosing: encoder.disclosure)
            count += 1
            try #require(count < 10_000)
        }
        let left = try #require(keeper.left())
        #expect(left.sequence == UInt64(count) && left.count == min(count, HeldEvents.limit))
        store.begin(with: left)
        #expect(!store.isLarge)
        #expect(keeper.kept.count == 1)
        #expect(keeper.left() == left)
    }

    private func empty(_ encoder: FeedEncoder) -> HeldEvents? { HeldEvents(instance: encoder.instance) }
}
