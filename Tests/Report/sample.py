"""A month of somebody's history, as the agent writes it: `sample.py [days] > history.jsonl`. Always the same.

Some names are hostile on purpose: whatever shows them has to show them as text."""
import datetime
import json
import random
import sys

HOSTILE = '<script>document.title="owned"</script>'
QUOTES = "caf\u00e9 \"'`&amp; \u202eevil\u202c \x1b[31m"
ZONE = datetime.timezone.utc


class History:
    def __init__(self):
        self.chance = random.Random(7)
        self.records = []
        self.boot = 0
        self.outings = 0

    def add(self, when, kind, **fields):
        self.records.append((when, self.boot, kind, fields))

    def at(self, day, hour):
        """Around an hour of a day."""
        minutes = hour * 60 + self.chance.gauss(0, 12)
        return day + datetime.timedelta(minutes=minutes)

    def start(self, when):
        self.boot += 1
        self.add(when, "agent.started")

    def enter(self, when, name, assurance, rules=()):
        self.add(when, "network.entered", network={"name": name, "assurance": assurance}, evidence=["ssid", "security"])
        for number, (rule, actions) in enumerate(rules):
            self.rule(when, "rule.activated", rule, name)
            for index in range(actions):
                failed = self.chance.random() < 0.03
                self.add(when + datetime.timedelta(seconds=2 + index), "action.failed" if failed else "action.succeeded",
                         action={"id": number * 10 + index + 1, "rule": rule, "index": index, "kind": "command", "exit": 32 if failed else 0,
                                 "duration_ms": 40, **({"because": "exit 32"} if failed else {})})

    def leave(self, when, name, since, assurance, rules=()):
        self.add(when, "network.left", network={"name": name, "assurance": assurance,
                                                "minutes": int((when - since).total_seconds() // 60)}, evidence=["ssid"])
        for rule, _ in rules:
            self.rule(when, "rule.deactivated", rule, name)

    def rule(self, when, kind, rule, network):
        self.add(when, kind, rule={"name": rule, "file": f"/etc/vicinity/rules.d/{rule}.toml", "line": 7, "because": f"on {network}, keyed"})

    def stay(self, start, end, name, assurance="keyed", rules=()):
        self.enter(start, name, assurance, rules)
        if name == "office":
            for _ in range(self.chance.randint(0, 4)):
                self.add(start + (end - start) * self.chance.random(), "wifi.roamed",
                         wifi={"wifi_environment": "sha256:" + "ab" * 32, "security": "wpa2-enterprise"}, cause={})
            if self.chance.random() < 0.5:
                end_kind = self.chance.choice(["passed", "passed", "passed", "failed", "expired"])
                self.add(start + datetime.timedelta(seconds=31), f"second_factor.{end_kind}",
                         second_factor={"rule": "sign-in", "network": name, "user": "ana",
                                        **({"because": "the password was wrong"} if end_kind == "failed" else {})})
        self.leave(end, name, start, assurance, rules)

    def workday(self, day):
        nas, office = [("nas", 1)], [("office-proxy", 2), ("sign-in", 0)]
        morning, leave, back, night = (self.at(day, hour) for hour in (6.8, 8.3, 18.0, 23.2))
        self.stay(morning, leave, "home", rules=nas)
        arrival, lunch, after, done = (self.at(day, hour) for hour in (8.9, 12.1, 13.0, 17.2))
        self.stay(arrival, lunch, "office", "mutual", office)
        if self.chance.random() < 0.3:
            self.stay(lunch + datetime.timedelta(minutes=9), after - datetime.timedelta(minutes=8), QUOTES, "claimed", [("away", 1)])
        self.stay(after, done, "office", "mutual", office)
        if self.chance.random() < 0.4:
            self.stay(done + datetime.timedelta(minutes=6), back - datetime.timedelta(minutes=8), "train", "claimed", [("away", 1)])
        if self.chance.random() < 0.25:
            self.add(back, "wifi.join_failed", wifi={"wifi_environment": "hmac-sha256:1f0c77aa:" + "5a" * 32, "security": "wpa2-psk"},
                     cause={"reason": 15})
        self.stay(back, night, "home", rules=nas)

    def weekend(self, day):
        morning, night = self.at(day, 9), self.at(day, 23.5)
        out, back = self.at(day, 14), self.at(day, 17.5)
        self.stay(morning, out, "home", rules=[("nas", 1)])
        if self.chance.random() < 0.8:
            self.outings += 1
            place = ["cafe", "unlisted", HOSTILE, "parents"][self.outings % 4]
            self.stay(out + datetime.timedelta(minutes=25), back - datetime.timedelta(minutes=20), place, "claimed", [("away", 1)])
        self.stay(back, night, "home", rules=[("nas", 1)])

    def write(self, days, end):
        first = end - datetime.timedelta(days=days)
        for number in range(days):
            day = first + datetime.timedelta(days=number)
            self.start(self.at(day, 6.2))
            (self.weekend if day.weekday() >= 5 else self.workday)(day)
        self.records.sort(key=lambda record: record[0])
        for when, boot, kind, fields in self.records:
            print(json.dumps({"time": when.strftime("%Y-%m-%dT%H:%M:%S.%fZ"), "boottime_us": int(when.timestamp() * 1e6) % 10**12,
                              "boot": f"boot-{boot}", "type": kind, **fields, "rules_digest": "ab12"}, separators=(",", ":")))


if __name__ == "__main__":
    History().write(int(sys.argv[1]) if len(sys.argv) > 1 else 30, datetime.datetime(2026, 11, 30, tzinfo=ZONE))
