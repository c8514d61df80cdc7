/// When each of several things is due; the first is found without looking at the others.
struct DeadlineQueue: Sendable {
    private struct Entry {
        let time: Int64
        let index: Int
    }

    private var times: [Int: Int64] = [:]
    /// A binary heap, the earliest first; entries that `times` does not know any more are passed over. The first one is
    /// always valid.
    private var heap: [Entry] = []

    /// The earliest time.
    var first: Int64? { heap.first?.time }

    subscript(index: Int) -> Int64? {
        get { times[index] }
        set {
            guard times[index] != newValue else { return }
            times[index] = newValue
            if let newValue { push(Entry(time: newValue, index: index)) }
            if heap.count > 2 * times.count + 64 { rebuild() }
            dropInvalid()
        }
    }

    /// What is due; it stays so until another time is set.
    func expired(at now: Int64) -> Set<Int> {
        guard let first, first <= now else { return [] }
        var found: Set<Int> = []
        var places = [0]
        while let place = places.popLast() {
            guard place < heap.count, heap[place].time <= now else { continue }
            if isValid(heap[place]) { found.insert(heap[place].index) }
            places += [2 * place + 1, 2 * place + 2]
        }
        return found
    }

    private func isValid(_ entry: Entry) -> Bool { times[entry.index] == entry.time }

    private mutating func dropInvalid() {
        while let first = heap.first, !isValid(first) { pop() }
    }

    private mutating func rebuild() {
        // Sorted is a heap.
        heap = times.map { Entry(time: $0.value, index: $0.key) }.sorted { $0.time < $1.time }
    }

    private mutating func push(_ entry: Entry) {
        heap.append(entry)
        var place = heap.count - 1
        while place > 0, case let parent = (place - 1) / 2, heap[place].time < heap[parent].time {
            heap.swapAt(place, parent)
            place = parent
        }
    }

    private mutating func pop() {
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < heap.count && heap[child].time < heap[least].time
            {
                least = child
            }
            guard least != place else { return }
            heap.swapAt(place, least)
            place = least
        }
    }
}
