import Testing

@testable import CommandLine

@Suite struct MomentTextTests {
    /// 2026-11-30T12:00:00Z
    private let now: Int64 = 1_796_040_000_000_000

    private func read(_ text: String) -> Int64? { MomentText.microseconds(of: text, now: now) }

    @Test(
        arguments: [
            ("now", 0), ("2h", -7_200), ("90s", -90), ("3d", -259_200), ("1w", -604_800),
            ("2026-11-30T11:59:58Z", -2), ("2026-11-30T12:00:00.5Z", 0), ("2026-11-30T13:00+01:00", 0),
            ("2026-11-30 06:30:00-0530", 0), ("2026-11-29T12:00Z", -86_400),
        ] as [(String, Int64)])
    func momentsAreFound(text: String, seconds: Int64) {
        #expect(read(text).map { ($0 - now) / 1_000_000 } == seconds)
    }

    @Test func fractionsCount() {
        #expect(read("2026-11-30T12:00:00.000007Z") == now + 7)
        #expect(read("2026-11-30T12:00:00.25Z") == now + 250_000)
    }

    @Test func daysAreLocal() throws {
        let today = try #require(read("today"))
        #expect(today <= now && now - today < 86_400_000_000)
        #expect(read("00:00") == today && read("00:00:01") == today + 1_000_000)
        let yesterday = try #require(read("yesterday"))
        // Where clocks are changed in between, an hour more or less.
        #expect((82_800...90_000).contains((today - yesterday) / 1_000_000))
        #expect(read("2026-01-02").map { $0 % 900_000_000 } == 0)
    }

    @Test(
        arguments: [
            "", "2", "h", "-2h", "tomorrow", "24:00", "12:60", "12", "2026-02-30", "2026-13-01", "2026-00-10",
            "2026-11-30T", "2026-11-30T12", "2026-11-30T12:00:00.Z", "2026-11-30T12:00:00.1234567Z",
            "2026-11-30T12:00:00Zx", "2026-11-30x12:00", "1969-12-31", "99999999999999999999d", "9999999w",
            "2026-11-30T12:00:60Z", "١٢:٣٠", "\u{1b}[2J", "2026-11-30T12:00+25:00", "999999999999999999h", "1d2h",
        ])
    func othersAreRefused(text: String) {
        #expect(read(text) == nil)
    }
}
