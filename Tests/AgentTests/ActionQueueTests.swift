@testable import Agent
import Testing

@Suite struct ActionQueueTests {
    private func started(_ queue: inout ActionQueue<String>) -> [UInt64] {
        var all: [UInt64] = []
        while let next = queue.next() { all.append(next.identifier) }
        return all
    }

    @Test func aLaneIsInOrderAndWaitsForNoOther() {
        var queue = ActionQueue<String>()
        for (number, lane) in ["a", "a", "b", "a"].enumerated() {
            queue.add("\(number)", as: UInt64(number), to: lane)
        }
        #expect(started(&queue) == [0, 2])
        #expect(queue.finish(2) == "2" && queue.finish(2) == nil)
        #expect(started(&queue) == [])
        #expect(queue.finish(0) == "0")
        #expect(started(&queue) == [1])
        #expect(queue.job(1) == "1" && queue.job(3) == nil)
        queue.finish(1)
        #expect(started(&queue) == [3])
        #expect(!queue.isEmpty)
        queue.finish(3)
        #expect(queue.isEmpty)
    }

    @Test func noMoreThanAFewRunAndTheLongestWaitingIsNext() {
        var queue = ActionQueue<String>(maximumRunning: 2)
        for number: UInt64 in 0..<4 { queue.add("", as: number, to: "\(number)") }
        queue.add("", as: 4, to: "0")
        #expect(started(&queue) == [0, 1])
        queue.finish(0)
        #expect(started(&queue) == [2])
        queue.finish(1)
        queue.finish(2)
        #expect(started(&queue) == [3, 4])
    }

    @Test func whatWaitsIsDroppedAndWhatRunsIsNamed() {
        var queue = ActionQueue<String>()
        for number: UInt64 in 0..<3 { queue.add("old", as: number, to: "a") }
        queue.add("new", as: 3, to: "a")
        queue.add("old", as: 4, to: "b")
        #expect(queue.next()?.identifier == 0)
        let (dropped, running) = queue.cancel { $0 == "old" }
        #expect(dropped.map(\.identifier) == [1, 2, 4] && running == [0])
        #expect(started(&queue) == [])
        queue.finish(0)
        #expect(started(&queue) == [3])
        // A lane that was emptied can be used again.
        queue.add("new", as: 5, to: "b")
        #expect(started(&queue) == [5])
    }
}
