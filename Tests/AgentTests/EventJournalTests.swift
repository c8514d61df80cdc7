import Feed
import Platform
import Testing

@testable import Agent

@Suite struct EventJournalTests {
    private func fields(_ body: FeedEvent.Body) -> [String: String]? {
        EventJournal.fields(of: FeedEvent(body, at: .now()), sequence: 7)
            .map { Dictionary($0.map { ($0.name, $0.value) }, uniquingKeysWith: { first, _ in first }) }
    }

    @Test func decisionsAndEndsAreEntriesWithFields() {
        let network = FeedEvent.NetworkFact(name: "office", assurance: "mutual")
        #expect(
            fields(.networkEntered(network)) == [
                "MESSAGE": "entered network office: mutual", "PRIORITY": "6", "VICINITY_EVENT": "network.entered",
                "VICINITY_SEQ": "7", "VICINITY_NETWORK": "office", "VICINITY_ASSURANCE": "mutual",
            ])
        var action = FeedEvent.ActionFact(
            id: 3, rule: "nas", index: 0, kind: "command", exit: 2, because: "exit status 2")
        action.user = "alice"
        action.output = Array("secret".utf8)
        #expect(
            fields(.actionFailed(action)) == [
                "MESSAGE": "rule nas: command in the session of alice failed: exit status 2", "PRIORITY": "4",
                "VICINITY_EVENT": "action.failed", "VICINITY_SEQ": "7", "VICINITY_RULE": "nas",
                "VICINITY_ACTION": "command", "VICINITY_ACTION_ID": "3", "VICINITY_EXIT": "2", "VICINITY_USER": "alice",
            ])
        let rule = FeedEvent.RuleFact(name: "nas", file: "/etc/vicinity/rules.d/a.toml", line: 4, because: "on home")
        #expect(fields(.ruleActivated(rule))?["VICINITY_RULE_FILE"] == "/etc/vicinity/rules.d/a.toml:4")
    }

    @Test func whatBeginsIsOnTheFeedAlone() {
        #expect(fields(.actionStarted(FeedEvent.ActionFact(id: 1, rule: "r", index: 0, kind: "unit"))) == nil)
        #expect(fields(.agentStopped) == nil)
    }
}
