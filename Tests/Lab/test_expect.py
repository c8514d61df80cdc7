"""`python3 -m unittest discover Tests/Lab`: the judge must see what is wrong, and nothing else."""

import hashlib
import json
import sys
import unittest
from pathlib import Path
from types import SimpleNamespace

sys.path.insert(0, str(Path(__file__).resolve().parent))

from vicinity_lab import expect, peers, scenario  # noqa: E402


def line(kind: str, **more) -> dict:
    return {"type": f"wifi.{kind}", "ifindex": 3, "seq": None, **more}


def feed(*kinds: str) -> list[dict]:
    snapshot = {"type": "environment.snapshot", "seq": None}
    return [snapshot, *({**line(kind), "seq": number} for number, kind in enumerate(kinds, 1))]


class Sequences(unittest.TestCase):
    pair = {"repeat": "+", "events": [{"type": "wifi.associating"}, {"type": "wifi.join_failed"}]}

    def matches(self, kinds: list[str], items: list[dict]) -> bool:
        return expect.matches([line(kind) for kind in kinds], items)

    def test_is_exact(self):
        items = [{"type": "wifi.associating"}, {"type": "wifi.joined"}]
        self.assertTrue(self.matches(["associating", "joined"], items))
        self.assertFalse(self.matches(["associating"], items))
        self.assertFalse(self.matches(["associating", "joined", "left"], items))
        self.assertFalse(self.matches(["joined", "associating"], items))

    def test_groups_repeat_as_a_whole(self):
        self.assertTrue(self.matches(["associating", "join_failed"] * 3, [self.pair]))
        self.assertFalse(self.matches([], [self.pair]))
        self.assertFalse(self.matches(["associating", "join_failed", "associating"], [self.pair]))

    def test_repetition_gives_back_what_a_later_item_needs(self):
        items = [{"type": "wifi.left", "repeat": "*"}, {"type": "wifi.left"}]
        self.assertTrue(self.matches(["left"], items))
        self.assertTrue(self.matches(["left"] * 3, items))
        self.assertFalse(self.matches([], items))

    def test_one_of(self):
        items = [{"one_of": [[{"type": "wifi.roamed"}], [{"type": "wifi.left"}, {"type": "wifi.joined"}]]}]
        self.assertTrue(self.matches(["roamed"], items))
        self.assertTrue(self.matches(["left", "joined"], items))
        self.assertFalse(self.matches(["left"], items))
        self.assertFalse(self.matches(["roamed", "left", "joined"], items))

    def test_fields(self):
        value = {"type": "wifi.left", "cause": {"reason": 4, "note": None}}
        self.assertTrue(expect.agrees(value, {"cause.reason": 4}))
        self.assertTrue(expect.agrees(value, {"cause.reason": "*", "cause.note": "-", "cause.none": "-"}))
        self.assertFalse(expect.agrees(value, {"cause.reason": 3}))
        self.assertFalse(expect.agrees(value, {"cause.note": "*"}))
        self.assertFalse(expect.agrees(value, {"cause.reason": "-"}))

    def test_contains_looks_in_order(self):
        lines = [line("associating"), line("joined")]
        self.assertIsNone(expect.contains(lines, [{"type": "wifi.associating"}, {"type": "wifi.joined"}]))
        self.assertIsNotNone(expect.contains(lines, [{"type": "wifi.joined"}, {"type": "wifi.associating"}]))


class Invariants(unittest.TestCase):
    def assert_wrong(self, lines: list[dict], words: str):
        self.assertTrue(any(words in problem for problem in expect.invariants(lines)), expect.invariants(lines))

    def test_a_good_feed(self):
        self.assertEqual(expect.invariants(feed("associating", "joined", "roamed", "left", "associating",
                                                "join_failed")), [])

    def test_alternation(self):
        self.assert_wrong(feed("associating", "joined", "associating", "joined"), "joined twice")
        self.assert_wrong(feed("associating", "joined", "left", "left"), "while not joined")
        self.assert_wrong(feed("left"), "while not joined")
        self.assert_wrong(feed("roamed"), "while not joined")
        self.assert_wrong(feed("join_failed"), "without associating")

    def test_joined_in_the_snapshot(self):
        lines = feed("left")
        lines[0]["interfaces"] = [{"ifindex": 3, "wifi": {"state": "joined", "ssid_hex": "61"}}]
        self.assertEqual(expect.invariants(lines), [])

    def test_only_associating_in_the_snapshot(self):
        lines = feed("left")
        lines[0]["interfaces"] = [{"ifindex": 3, "wifi": {"state": "associating", "ssid_hex": "61"}}]
        self.assert_wrong(lines, "while not joined")

    def test_numbers_have_no_holes(self):
        lines = feed("associating", "joined")
        lines[2]["seq"] = 3
        self.assert_wrong(lines, "seq goes from 1 to 3")

    def test_the_first_line_is_the_snapshot(self):
        self.assert_wrong(feed("associating")[1:], "not environment.snapshot")
        self.assert_wrong([], "empty")

    def test_lines(self):
        for text, words in (("caf\u00e9", "ASCII"), ("{", "not JSON"), ('"' + "a" * 8192 + '"', "8195 octets")):
            self.assertTrue(any(words in problem for problem in expect.parse([text])[1]), words)
        self.assertEqual(expect.parse(['{"seq": 1}']), ([{"seq": 1}], []))


class Decisions(unittest.TestCase):
    items = [scenario.decision(item, "test") for item in (
        {"entered": "office", "assurance": "keyed"}, {"activated": "vpn"}, {"failed": "vpn", "action.kind": "vpn"},
        {"reloaded": 1})]
    lines = [
        {"type": "environment.snapshot"}, {"type": "wifi.joined"},
        {"type": "network.entered", "network": {"name": "office", "assurance": "keyed"}},
        {"type": "rule.activated", "rule": {"name": "vpn"}}, {"type": "action.started", "action": {"rule": "other"}},
        {"type": "action.failed", "action": {"rule": "vpn", "kind": "vpn"}},
        {"type": "agent.reloaded", "agent": {"problems": 1}}]

    def judge(self, lines: list[dict]) -> list[str]:
        return expect.judge_decisions(self.items, [json.dumps(line) for line in lines])

    def test_the_sequence_is_exact(self):
        self.assertEqual(self.judge(self.lines), [])
        for place in (2, 3, 5, 6):
            self.assertNotEqual(self.judge(self.lines[:place] + self.lines[place + 1:]), [], place)
            self.assertNotEqual(self.judge(self.lines + [self.lines[place]]), [], place)
        self.assertNotEqual(self.judge([*self.lines, {"type": "network.left", "network": {"name": "office"}}]), [])

    def test_values_count(self):
        wrong = {"type": "network.entered", "network": {"name": "office", "assurance": "claimed"}}
        self.assertNotEqual(self.judge([*self.lines[:2], wrong, *self.lines[3:]]), [])

    def test_groups(self):
        (group,) = [scenario.decision({"one_of": [[{"left": "office"}], [{"repeat": "+", "events": [
            {"deactivated": "vpn"}]}]]}, "test")]
        self.assertEqual(group["one_of"][0], [{"type": "network.left", "network.name": "office"}])
        self.assertEqual(group["one_of"][1][0]["events"], [{"type": "rule.deactivated", "rule.name": "vpn"}])
        self.assertRaises(scenario.ScenarioError, scenario.decision, {"rule.name": "vpn"}, "test")

    def test_each_agent_has_its_own_numbers(self):
        self.assertEqual([len(part) for part in expect.sessions(feed("associating") + feed())], [2, 1])
        self.assertEqual(expect.sessions([]), [])
        one = SimpleNamespace(expect={}, some=[], never=[])
        again = feed()
        again[0]["interfaces"] = [{"ifindex": 3, "wifi": {"state": "joined"}}]
        lines = feed("associating", "joined") + again + [{**line("left"), "seq": 1}]
        self.assertEqual(expect.judge_feed(one, {}, [json.dumps(entry) for entry in lines]), [])
        del lines[3]
        self.assertNotEqual(expect.judge_feed(one, {}, [json.dumps(entry) for entry in lines]), [])

    def test_only_listed_names_are_hashed_without_a_key(self):
        one = SimpleNamespace(aps={"home": SimpleNamespace(ssid=b"Seven Oaks", bssid="02:00:00:00:01:00")})
        rules = "[network.home]\nssid = [\"Seven Oaks\"]\n"
        bare = "sha256:" + hashlib.sha256(b"Seven Oaks").hexdigest()
        keyed = "hmac-sha256:0123abcd:" + "0" * 64
        for text, network, place, is_right in (
                (rules, "home", bare, True), (rules, "home", None, False), (rules, "home", keyed, False),
                (rules + "private = true\n", "home", keyed, True),
                (rules + "private = true\n", "home", bare, False), (rules, "unlisted", bare, True),
                (rules, "unlisted", keyed, True), (rules, "unlisted", "nomap", True), (rules, "unlisted", "x", False),
                ("[network.home]\nssid-glob = [\"Seven*\"]\n", "home", bare, False),
                ("[network.home]\nssid-glob = [\"Seven*\"]\n", "home", keyed, True)):
            one.rules = {"a.toml": text}
            feed = [json.dumps({"type": "network.entered", "network": {"name": network}})]
            line = {"type": "network.entered", "network": network, "network_type": "wifi"}
            log = [json.dumps(line if place is None else {**line, "wifi_environment": place})]
            self.assertEqual(expect.judge_analytics(one, feed, log) == [], is_right, (text, network, place))


class RuleFiles(unittest.TestCase):
    aps = {"home": scenario.AccessPoint("home", 1, b"Seven Oaks", bssid="02:00:00:00:01:00")}

    def files(self, **table) -> dict[str, str]:
        return scenario.rule_files(table, self.aps, "test", None)

    def test_what_depends_on_the_lab_is_replaced(self):
        home = (scenario.REPOSITORY / "Config/examples/home.toml").read_text()
        got = self.files(rules_file="Config/examples/home.toml", rules="# more",
                         replace={"02:00:5e:00:53:01": "@home", '"1m"': '"3s"', "# more": "@pin"})
        self.assertEqual(got, {"lab.toml": "@pin", "home.toml": home.replace(
            "02:00:5e:00:53:01", "02:00:00:00:01:00").replace('"1m"', '"3s"')})

    def test_what_is_not_there_cannot_be_replaced(self):
        self.assertRaises(scenario.ScenarioError, self.files, rules="# more", replace={"less": "nothing"})

    def test_the_guest_takes_what_the_host_read(self):
        table = {"rules_file": "Config/examples/home.toml", "replace": {"a": "b"}, "title": "left"}
        self.assertEqual(scenario.rule_files(table, self.aps, "test", {"home.toml": "x"}), {"home.toml": "x"})
        self.assertEqual(table, {"title": "left"})


class Air(unittest.TestCase):
    def test_in_order(self):
        lines = ["connected to a", "disconnected", "connected to b"]
        self.assertEqual(expect.judge_air(["connected to a", "connected to b"], lines), [])
        self.assertNotEqual(expect.judge_air(["connected to b", "connected to a"], lines), [])


class Peers(unittest.TestCase):
    ssids = {"Corp-Staff": "office"}
    visits = [peers.Visit("home", 100, 200), peers.Visit("office", 300, 400)]

    def read(self, *words: str):
        return peers.Mark.read("\t".join(words), self.ssids)

    def test_who_began_what(self):
        self.assertEqual(self.read("began 150 7", "/run/lab/marker", "enter", "home", "soon", "VICINITY_NETWORK=home"),
                         peers.Mark(150, "vicinity_soon", "home", True))
        script = "/etc/NetworkManager/dispatcher.d/90-lab"
        self.assertEqual(self.read("began 150 7", script, "wlan0", "down", "CONNECTION_ID=profile-home-3"),
                         peers.Mark(150, "nm_dispatcher", "home", False))
        self.assertIsNone(self.read("began 150 7", script, "wlan0", "dhcp4-change", "CONNECTION_ID=profile-home-3"))
        self.assertIsNone(self.read("ended 150 7", "/run/lab/marker", "enter", "home", "soon"))
        script = "/etc/networkd-dispatcher/routable.d/90-lab"
        self.assertEqual(self.read("began 350 7", script, "IFACE=wlan0", "STATE=routable", "ESSID=Corp-Staff"),
                         peers.Mark(350, "networkd_dispatcher", "office", True))

    def test_obsolete_is_what_begins_elsewhere(self):
        for at, network, is_obsolete in ((150, "home", False), (250, "home", True), (350, "home", True),
                                         (350, "office", False), (350, None, False), (450, None, True)):
            self.assertEqual(peers.Peers.is_obsolete(peers.Mark(at, "a", network, True), self.visits), is_obsolete)
        self.assertFalse(peers.Peers.is_obsolete(peers.Mark(250, "a", "home", False), self.visits))


class Files(unittest.TestCase):
    def test_the_workstation_has_verbs_of_its_own(self):
        names = [one.name for one in scenario.load_all(directory=scenario.WORKSTATION)]
        self.assertGreaterEqual(len(names), 2)
        steps = {verb for one in scenario.load_all(directory=scenario.WORKSTATION) for step in one.steps for verb in step}
        self.assertTrue({"reads", "as_user", "login", "kill"} <= steps)
        for one in scenario.load_all():
            for step in one.steps:
                self.assertFalse(scenario.WORKSTATION_VERBS.keys() & step.keys(), one.name)

    def test_every_scenario_can_be_read(self):
        names = [one.name for one in scenario.load_all()]
        self.assertGreaterEqual(len(names), 36)
        self.assertEqual(len([one for one in scenario.load_all() if one.core]), 9)

    def test_a_scenario_that_proves_nothing_is_refused(self):
        for one in scenario.load_all():
            self.assertTrue(one.air, f"{one.name}: nothing says that it happened")
            self.assertTrue(one.expect, f"{one.name}: nothing is expected")
            self.assertTrue(one.rules or one.decisions is None, f"{one.name}: nobody decides")

    def test_every_example_is_tried(self):
        tried = {name for one in scenario.load_all() if one.decisions for name in one.rules}
        examples = {path.name for path in (scenario.REPOSITORY / "Config/examples").glob("*.toml")}
        self.assertEqual(examples - tried, set())


if __name__ == "__main__":
    unittest.main()
