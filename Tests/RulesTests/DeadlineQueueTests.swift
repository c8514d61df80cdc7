import Testing

@testable import Rules

@Suite struct DeadlineQueueTests {
    @Test func isWhatADictionaryWouldBe() {
        var generator = SeededGenerator(state: 11)
        var queue = DeadlineQueue()
        var times: [Int: Int64] = [:]
        for step in 0..<20_000 {
            let index = Int.random(in: 0..<60, using: &generator)
            let time =
                Int.random(in: 0..<4, using: &generator) == 0 ? nil : Int64.random(in: 0..<100, using: &generator)
            queue[index] = time
            times[index] = time
            #expect(queue.first == times.values.min())
            #expect(queue[index] == time)
            let now = Int64(step % 110)
            #expect(queue.expired(at: now) == Set(times.filter { $0.value <= now }.keys))
        }
    }
}
