"""What the lines of a feed must be: the scenario's expectations, and what holds in every scenario."""

import hashlib
import json
import re
import tomllib


def lookup(line: dict, path: str):
    value = line
    for key in path.split("."):
        if not isinstance(value, dict) or key not in value:
            return None
        value = value[key]
    return value


def agrees(line: dict, fields: dict) -> bool:
    """Every field has the value asked for; "*" is any value but null, "-" is none."""
    for path, wanted in fields.items():
        found = lookup(line, path)
        if wanted == "*" and found is not None or wanted == "-" and found is None:
            continue
        if found != wanted:
            return False
    return True


def matches(lines: list[dict], items: list[dict]) -> bool:
    """Whether the lines are exactly the sequence that the items describe."""
    return len(lines) in ends(lines, 0, items)


def ends(lines: list[dict], start: int, items: list[dict]) -> set[int]:
    """Every place where the sequence of items may end when it begins at `start`."""
    places = {start}
    for item in items:
        places = set().union(*(ends_of_item(lines, place, item) for place in places))
    return places


def ends_of_item(lines: list[dict], start: int, item: dict) -> set[int]:
    branches = item.get("one_of") or ([item["events"]] if "events" in item else None)
    repeat = item.get("repeat", "1")
    fields = {key: value for key, value in item.items() if key != "repeat"}

    def once(place: int) -> set[int]:
        if branches is not None:
            return set().union(*(ends(lines, place, branch) for branch in branches))
        return {place + 1} if place < len(lines) and agrees(lines[place], fields) else set()

    reached = {start} if repeat in "*?" else set()
    frontier = {start}
    while frontier:
        frontier = set().union(*(once(place) for place in frontier)) - reached
        reached |= frontier
        if repeat not in "*+":
            break
    return reached


def contains(lines: list[dict], items: list[dict]) -> dict | None:
    """The first item that is missing when the items are looked for in order among the lines."""
    place = 0
    for item in items:
        while place < len(lines) and not agrees(lines[place], item):
            place += 1
        if place == len(lines):
            return item
        place += 1
    return None


def wifi_of(lines: list[dict], ifindex: int) -> list[dict]:
    return [line for line in lines if str(line.get("type", "")).startswith("wifi.") and line.get("ifindex") == ifindex]


def decisions_of(lines: list[dict]) -> list[dict]:
    """What an agent made of it all. How far its commands are takes its own time: `runs` counts them."""
    return [line for line in lines if str(line.get("type", "")).startswith(("network.", "rule.", "action."))
            and line["type"] not in ("action.started", "action.succeeded") or line.get("type") == "agent.reloaded"]


def satisfied(scenario, indexes: dict[str, int], lines: list[dict], by_agent: bool = False) -> bool:
    """Whether all that was expected has come (more may follow)."""
    decided = not by_agent or scenario.decisions is None or matches(decisions_of(lines), scenario.decisions)
    return decided and contains(lines, scenario.some) is None and all(
        matches(wifi_of(lines, indexes[station]), items) for station, items in scenario.expect.items())


def sessions(lines: list[dict]) -> list[list[dict]]:
    """Each begins with a snapshot: who lost an agent and found the next one has more than one."""
    parts: list[list[dict]] = []
    for line in lines:
        if not parts or line.get("type") == "environment.snapshot":
            parts.append([])
        parts[-1].append(line)
    return parts


def parse(raw: list[str]) -> tuple[list[dict], list[str]]:
    """The lines as values, and what is wrong with them as lines."""
    lines, problems = [], []
    for text in raw:
        if not text.isascii() or any(ord(character) < 32 for character in text):
            problems.append(f"not printable ASCII: {text!r}")
        if len(text) + 1 > 8192:
            problems.append(f"a line of {len(text) + 1} octets")
        try:
            lines.append(json.loads(text))
        except ValueError:
            problems.append(f"not JSON: {text!r}")
    return lines, problems


def invariants(lines: list[dict]) -> list[str]:
    """What design and schema promise in every scenario."""
    problems = []
    if not lines:
        return ["the feed is empty"]
    if lines[0].get("type") != "environment.snapshot":
        problems.append(f"the first line is {lines[0].get('type')}, not environment.snapshot")
    numbers = [line["seq"] for line in lines if line.get("seq") is not None]
    for before, after in zip(numbers, numbers[1:]):
        if after != before + 1:
            problems.append(f"seq goes from {before} to {after}")
    states = {entry.get("ifindex"): lookup(entry, "wifi.state") for entry in lookup(lines[0], "interfaces") or []}
    joined = {index: state == "joined" for index, state in states.items()}
    associating = {index: state == "associating" for index, state in states.items()}
    for line in lines:
        kind, index = line.get("type"), line.get("ifindex")
        if kind == "wifi.joined":
            if joined.get(index):
                problems.append(f"seq {line.get('seq')}: joined twice without leaving")
            joined[index], associating[index] = True, False
        elif kind in ("wifi.left", "wifi.roamed") and not joined.get(index, False):
            problems.append(f"seq {line.get('seq')}: {kind} while not joined")
        elif kind == "wifi.associating":
            associating[index] = True
        elif kind == "wifi.join_failed":
            if not associating.get(index):
                problems.append(f"seq {line.get('seq')}: join_failed without associating")
            associating[index] = False
        if kind == "wifi.left":
            joined[index] = False
    return problems


def summary(line: dict) -> str:
    shown = [str(line.get("type"))]
    for path in ("wifi.ssid_hex", "wifi.bssid", "wifi.previous_bssid", "wifi.security", "cause", "network.name",
                 "network.assurance", "rule.name", "rule.because", "action.rule", "action.kind", "action.because",
                 "agent.problems"):
        value = lookup(line, path)
        if value is not None:
            shown.append(json.dumps(value) if isinstance(value, dict) else str(value))
    return " ".join(shown)


def judge_feed(scenario, indexes: dict[str, int], raw: list[str], validator=None) -> list[str]:
    """Everything that is wrong with one reader's feed."""
    lines, problems = parse(raw)
    for session in sessions(lines) or [[]]:
        problems += invariants(session)
    if validator is not None:
        for line in lines:
            problems += [f"seq {line.get('seq')}: schema: {error.json_path}: {error.message}"
                         for error in validator.iter_errors(line)]
    for station, items in scenario.expect.items():
        got = wifi_of(lines, indexes[station])
        if not matches(got, items):
            problems.append("\n".join([f"{station}: expected", *(f"    {item}" for item in items),
                                       "  but got", *(f"    {summary(line)}" for line in got)]))
    missing = contains(lines, scenario.some)
    if missing is not None:
        problems.append(f"never came: {missing}")
    problems += [f"must never appear: {summary(line)}" for line in lines if line.get("type") in scenario.never]
    return problems


def judge_decisions(items: list[dict], raw: list[str]) -> list[str]:
    """Everything that is wrong with what an agent decided."""
    got = decisions_of(parse(raw)[0])
    if matches(got, items):
        return []
    return ["\n".join(["expected the decisions", *(f"    {item}" for item in items), "  but got",
                       *(f"    {summary(line)}" for line in got)])]


def judge_air(patterns: list[str], lines: list[str]) -> list[str]:
    """The scenario really happened: each pattern in this order in what `iw event` printed."""
    place = 0
    for pattern in patterns:
        while place < len(lines) and not re.search(pattern, lines[place]):
            place += 1
        if place == len(lines):
            return [f"the air never said: {pattern}"]
        place += 1
    return []


def told_of_networks(lines: list[dict], scenario) -> list[tuple[str, str]]:
    """What a reader was told of places, and what it learnt of them from the snapshot of an agent that was there first."""
    known = {name for text in scenario.rules.values() for name in tomllib.loads(text).get("network", {})} | {"unlisted"}
    told, learnt, here = [], set(), set()
    for number, line in enumerate(lines):
        if line["type"] == "environment.snapshot" and number > 0:
            # An agent that is started again where it was has not arrived there.
            learnt = (known & set(line["networks"])) - here
            told += [("network.entered", name) for name in sorted(learnt)]
            here = known & set(line["networks"])
        elif line["type"] == "network.entered" and line["network"]["name"] in learnt:
            learnt.discard(line["network"]["name"])
        elif line["type"] in ("network.entered", "network.left"):
            name = line["network"]["name"]
            told.append((line["type"], name))
            here = here | {name} if line["type"] == "network.entered" else here - {name}
    return told


KEYED = re.compile("hmac-sha256:[0-9a-f]{8}:[0-9a-f]{64}|nomap")


def judge_analytics(scenario, feed: list[str], log: list[str]) -> list[str]:
    """The log says of networks what the feed says, each name as the hash it shall have, and no address or name."""
    problems = []
    told = told_of_networks([json.loads(line) for line in feed], scenario)
    lines = [json.loads(line) for line in log]
    # What the agent told before this reader came, as when the station had joined already, its feed does not hold.
    logged = [(line["type"], line["network"]) for line in lines]
    if logged[len(logged) - len(told):] != told:
        problems.append(f"analytics: expected {told}, got {log}")
    listed, hidden = set(), set()
    private, exact = set(), set()
    for text in scenario.rules.values():
        for name, network in tomllib.loads(text).get("network", {}).items():
            names = {ssid.encode() for ssid in network.get("ssid", [])}
            names |= {bytes.fromhex(digits) for digits in network.get("ssid-hex", [])}
            (hidden if network.get("private") else listed).update(names)
            if network.get("private"):
                private.add(name)
            elif names and "ssid-glob" not in network:
                exact.add(name)
    # A listed name is known to everybody, be it that another network has it, as an evil twin does.
    bare = {"sha256:" + hashlib.sha256(name).hexdigest() for name in listed - hidden}
    for line, text in zip(lines, log):
        place = line.get("wifi_environment")
        if (line["network_type"] == "wifi") != (place is not None):
            problems.append(f"analytics: a hash that is too much or missing in {text}")
        elif place is not None and place not in bare and not KEYED.fullmatch(place):
            problems.append(f"analytics: the bare hash of a name that is nobody's business in {text}")
        elif line["network"] in exact and KEYED.fullmatch(place or "") and not listed & hidden and place != "nomap":
            problems.append(f"analytics: no bare hash of a listed name in {text}")
        elif line["network"] in private and place is not None and not KEYED.fullmatch(place):
            problems.append(f"analytics: the bare hash of a private network in {text}")
        for ap in scenario.aps.values():
            name = ap.ssid.decode(errors="replace")
            if name in text or ap.ssid.hex() in text or ap.bssid in text:
                problems.append(f"analytics: a name or an address in {text}")
    return problems
