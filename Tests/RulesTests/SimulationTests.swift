import Platform
import Testing

@testable import Rules

@Suite struct SimulationTests {
    /// The clock stands still in a simulation, and a rule's hour would be a moment away for ever.
    @Test(.timeLimit(.minutes(10))) func endsAMomentBeforeAnHour() {
        let set = ruleSet("[rule.a]\non = \"wired\"\ntime = \"08:00-18:00\"\n")
        var time = Place.hour(7)
        time.wall += 3_599_999_999
        let before = Simulation(of: set, in: Place.environment(Place.wire()), at: time)
        #expect(before.rules.map(\.isActive) == [false])
        time.wall += 1
        #expect(Simulation(of: set, in: Place.environment(Place.wire()), at: time).rules.map(\.isActive) == [true])
    }

    /// A day's end can be written as the beginning of the next.
    @Test(arguments: ["22:00-00:00", "22:00-24:00"]) func midnight(time: String) {
        let set = ruleSet("[rule.a]\non = \"wired\"\ntime = \"\(time)\"\n")
        let active = [21, 22, 23, 0].map { hour in
            Simulation(of: set, in: Place.environment(Place.wire()), at: Place.hour(hour)).rules[0].isActive
        }
        #expect(active == [false, true, true, false])
    }
}
