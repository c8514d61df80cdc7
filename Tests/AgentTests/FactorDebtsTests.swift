import JSON

import Testing

@testable import Agent
@testable import Rules

@Suite struct FactorDebtsTests {
    private func rule(_ name: String, _ lines: String) throws -> (rule: Rule, ruleSet: RuleSet) {
        let text = "[rule.\(name)]\non = \"any-wifi\"\n\(lines)\n"
        let ruleSet = try #require(RuleSet.load([RuleFile(path: "a.toml", contents: Array(text.utf8))]).ruleSet)
        return (try #require(ruleSet.rule(named: name)), ruleSet)
    }

    private func run(_ rule: Rule, _ edge: Rule.Edge) -> [Decision] {
        rule.actions(on: edge).indices.map { .run(ActionRequest(rule: rule, edge: edge, index: $0, network: nil)) }
    }

    private static let two = """
        enter = [ { second-factor = { message = "a" } }, { notify = "b" }, { second-factor = { message = "c" } } ]
        leave = [ { second-factor = { message = "d" } } ]
        """

    @Test func whatIsDemandedIsOwedUntilAllOfItIsGiven() throws {
        let (rule, _) = try rule("ask", Self.two)
        var debts = FactorDebts()
        debts.note(run(rule, .enter))
        #expect(debts.all.count == 2)
        debts.settle("ask", .leave)
        debts.settle("other", .enter)
        #expect(debts.all.count == 2)
        debts.settle("ask", .enter)
        #expect(debts.all == [.init(rule: "ask", edge: .enter)])
        // Demanded anew.
        debts.note(run(rule, .enter))
        #expect(debts.all.count == 2)
    }

    @Test func theOtherEdgeTakesItsPlace() throws {
        let (rule, _) = try rule("ask", Self.two)
        var debts = FactorDebts()
        debts.note(run(rule, .enter))
        debts.note([.cancel(rule: "ask", edge: .enter)] + run(rule, .leave))
        #expect(debts.all == [.init(rule: "ask", edge: .leave)])
        debts.note([.cancel(rule: "other", edge: .leave)])
        #expect(debts.all.count == 1)
    }

    @Test func otherRulesMayDemandItNoLonger() throws {
        let (rule, ruleSet) = try rule("ask", Self.two)
        var debts = FactorDebts()
        debts.note(run(rule, .enter))
        #expect(debts.demanded(by: ruleSet) == debts)
        #expect(debts.demanded(by: nil).all.isEmpty)
        #expect(debts.demanded(by: try self.rule("ask", "notify = \"x\"").ruleSet).all.isEmpty)
    }

    @Test(arguments: [
        "", "{}", "{\"owed\":1}", "{\"owed\":[1]}", "{\"owed\":[{\"rule\":\"a\"}]}",
        "{\"owed\":[{\"rule\":\"a\",\"edge\":\"x\"}]}",
    ])
    func whatMakesNoSenseIsNoState(text: String) {
        let value = try? JSONValue(parsing: Array(text.utf8), maximumSize: 1_000)
        #expect(FactorDebts(value?["owed"]) == nil)
    }

    @Test func theyComeBackAsTheyWere() throws {
        let debts = FactorDebts([
            .init(rule: "a", edge: .enter), .init(rule: "a", edge: .enter), .init(rule: "b", edge: .leave),
        ])
        var writer = JSONWriter()
        writer.object { debts.write(to: &$0) }
        #expect(FactorDebts(try JSONValue(parsing: writer.octets, maximumSize: 1_000)["owed"]) == debts)
    }
}
