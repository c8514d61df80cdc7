"""Scenario files: what is on the air, what happens, and what the program under test must report."""

import tomllib
from dataclasses import dataclass, field
from pathlib import Path

LAB = Path(__file__).resolve().parent.parent
DIRECTORY = LAB / "scenarios"
WORKSTATION = LAB / "workstation"
REPOSITORY = LAB.parent.parent
MANAGERS = ("wpa_supplicant", "iwd", "networkmanager")
SECURITY = ("open", "owe", "wpa-psk", "wpa2-psk", "wpa3-sae", "wpa2-enterprise")
# The verbs of a step, each with the step's further keys. docs/lab.md says what they do.
# Any step may also wait until the station is back by itself (`rejoined`), and be told to who watches (`say`).
VERBS = {
    "join": {"passphrase", "station", "wait", "verify"}, "attempt": {"passphrase", "station", "until"}, "leave": {"station"},
    "roam": {"station"}, "ap_on": set(), "ap_off": set(), "ap_vanish": {"until"}, "deauth": {"times"},
    "rfkill": {"station", "until"}, "link": {"station"}, "rename": {"station"}, "supplicant": {"station"},
    "agent": set(), "flood": set(), "air": {"station"}, "feed": set(),
    "reach": {"station"}, "plug": {"verify"}, "unplug": set(), "server": {"only"}, "decided": set(), "ran": {"only"}, "quiet": set(),
    "resolver": set(), "page": set(),
    "write": {"text"}, "remove": set(), "status": set(),
}
# Those that only a workstation knows, and what of them looks until it sees what is asked for.
OBSERVATION = {"is", "says", "lacks", "exit", "limit"}
WORKSTATION_VERBS = {
    "reads": {"of", "user"} | OBSERVATION, "as_root": OBSERVATION, "as_user": {"user", "desktop", "within"} | OBSERVATION,
    "start": set(), "stop": set(), "kill": {"signal"}, "login": {"active"}, "logout": set(),
    "told": {"limit"}, "journal": {"by", "limit"}, "file": {"text", "mode", "owner"}, "unlink": set(),
    "flap": {"rate", "seconds", "growth"}, "accounted": {"limit"},
    "case": set(), "enrol": set(), "authenticator": set(), "asked": {"answer", "limit"}, "types": set(), "unasked": set(),
    "sudo": {"passes", "asks"}, "pull": {"user", "limit", "seconds"},
}
# While any step of a workstation goes on, so many plugs are pulled.
PULLS = "pulls"
# What an agent decides, as `decisions` and the step `decided` say it: the type, and what the name is of.
DECISIONS = {
    "entered": ("network.entered", "network.name"), "left": ("network.left", "network.name"),
    "assured": ("network.assurance_changed", "network.name"), "activated": ("rule.activated", "rule.name"),
    "deactivated": ("rule.deactivated", "rule.name"), "skipped": ("rule.skipped", "rule.name"),
    "failed": ("action.failed", "action.rule"), "cancelled": ("action.cancelled", "action.rule"),
    "reloaded": ("agent.reloaded", "agent.problems"),
    # Their own time is no decision, so that the step `told` alone knows them.
    "started": ("action.started", "action.rule"), "succeeded": ("action.succeeded", "action.rule"),
    "reverted": ("action.reverted", "action.rule"),
}
TRIES = 3  # when the air, not the program, does something else


class ScenarioError(Exception):
    """A scenario file that cannot be right."""


@dataclass
class AccessPoint:
    name: str
    index: int  # of its radio
    ssid: bytes
    security: str = "wpa2-psk"
    passphrase: str | None = None
    channel: int = 1
    country: str | None = "FI"
    hidden: bool = False
    on: bool = True
    bssid: str = ""

    @property
    def frequency(self) -> int:
        if self.channel > 14:
            return 5000 + 5 * self.channel
        return 2484 if self.channel == 14 else 2407 + 5 * self.channel

    def facts(self) -> dict:
        """The feed's fields that hold of whoever is associated here."""
        return {"wifi.ssid_hex": self.ssid.hex(), "wifi.bssid": self.bssid, "wifi.security": self.security}


@dataclass
class Wire:
    """A socket that the station's `eth0` can be plugged into."""

    name: str
    index: int  # of its subnet
    security: str = "none"  # or "802.1x"
    passphrase: str | None = None


@dataclass
class Scenario:
    name: str
    title: str
    managers: list[str]
    stations: list[str]
    aps: dict[str, AccessPoint]
    steps: list[dict]
    expect: dict[str, list]  # by station
    some: list[dict] = field(default_factory=list)
    never: list[str] = field(default_factory=list)
    air: list[str] = field(default_factory=list)
    wires: dict[str, Wire] = field(default_factory=dict)
    lan: list[str] = field(default_factory=list)  # access points that are on one wire
    rules: dict[str, str] = field(default_factory=dict)  # by file name
    decisions: list[dict] | None = None
    runs: dict[str, int] = field(default_factory=dict)
    configuration: str = ""  # the agent's own
    dhcp: bool = False
    limit: int = 90
    core: bool = False
    services: list[str] = field(default_factory=list)  # a workstation's, started besides
    failed: list[str] = field(default_factory=list)  # a workstation's units that end in failure
    package: bool = False  # a workstation has the package's next version, and knows which files it had without any

    @property
    def is_random(self) -> bool:
        return any(PULLS in step for step in self.steps)

    @property
    def agent_is_late(self) -> bool:
        return any(step.get("agent") == "start" for step in self.steps)


def octets(table: dict, where: str) -> bytes:
    if ("ssid" in table) == ("ssid_hex" in table):
        raise ScenarioError(f"{where}: one of ssid and ssid_hex")
    ssid = bytes.fromhex(table.pop("ssid_hex")) if "ssid_hex" in table else table.pop("ssid").encode()
    if len(ssid) > 32:
        raise ScenarioError(f"{where}: an SSID has at most 32 octets")
    return ssid


def event(item: dict, aps: dict[str, AccessPoint], where: str) -> dict:
    """`{ joined = "office" }` → the fields of a wifi.joined there. Groups are expanded within."""
    if "events" in item or "one_of" in item:
        expanded = dict(item)
        if "events" in item:
            expanded["events"] = [event(one, aps, where) for one in item["events"]]
        if "one_of" in item:
            expanded["one_of"] = [[event(one, aps, where) for one in branch] for branch in item["one_of"]]
        return expanded
    fields = dict(item)
    for verb in ("associating", "joined", "left", "roamed", "join_failed", "channel_changed"):
        if verb in fields:
            ap = aps.get(fields.pop(verb))
            if ap is None:
                raise ScenarioError(f"{where}: {item}: no such access point")
            fields = {"type": f"wifi.{verb}", **ap.facts(), **fields}
    if "type" not in fields:
        raise ScenarioError(f"{where}: {item}: neither a type nor one of the short forms")
    # "@office" means the BSSID of that access point.
    return {key: aps[value[1:]].bssid if isinstance(value, str) and value.startswith("@") else value
            for key, value in fields.items()}


def decision(item: dict, where: str) -> dict:
    """`{ activated = "vpn" }` → the fields of a rule.activated of that rule. Groups are expanded within."""
    if "events" in item or "one_of" in item:
        expanded = dict(item)
        if "events" in item:
            expanded["events"] = [decision(one, where) for one in item["events"]]
        if "one_of" in item:
            expanded["one_of"] = [[decision(one, where) for one in branch] for branch in item["one_of"]]
        return expanded
    fields = dict(item)
    if "assurance" in fields:
        fields["network.assurance"] = fields.pop("assurance")
    for verb in DECISIONS.keys() & fields.keys():
        kind, path = DECISIONS[verb]
        fields = {"type": kind, path: fields.pop(verb), **fields}
    if "type" not in fields:
        raise ScenarioError(f"{where}: {item}: neither a type nor one of {', '.join(DECISIONS)}")
    return fields


def rule_files(table: dict, aps: dict[str, AccessPoint], where: str, known: dict[str, str] | None) -> dict[str, str]:
    """The scenario's rules and those of the repository's files it names, with what depends on the lab replaced."""
    paths, own, replaced = table.pop("rules_file", []), table.pop("rules", ""), table.pop("replace", {})
    if known is not None:
        return known
    texts = {Path(path).name: (REPOSITORY / path).read_text() for path in ([paths] if isinstance(paths, str) else paths)}
    if own:
        texts["lab.toml"] = own
    for old, new in replaced.items():
        if not any(old in text for text in texts.values()):
            raise ScenarioError(f"{where}: {old} is in no rule file")
        # What the guest alone knows, as `@pin`, is left to it.
        value = aps[new[1:]].bssid if new[:1] == "@" and new[1:] in aps else new
        texts = {name: text.replace(old, value) for name, text in texts.items()}
    return texts


def load(path: Path, rules: dict[str, str] | None = None) -> Scenario:
    """`rules`: what its rule files came to elsewhere, for whoever cannot read the repository."""
    with path.open("rb") as file:
        table = tomllib.load(file)
    name = path.stem
    stations = table.pop("stations", ["wlan0"])
    aps = {}
    for position, (key, entry) in enumerate(table.pop("ap", {}).items()):
        index = len(stations) + position
        ap = AccessPoint(name=key, index=index, ssid=octets(entry, f"{name}: ap.{key}"), **entry)
        ap.bssid = ap.bssid or f"02:00:00:00:{index:02x}:00"
        if ap.security not in SECURITY:
            raise ScenarioError(f"{name}: ap.{key}: security is one of {', '.join(SECURITY)}")
        aps[key] = ap
    wires = {key: Wire(name=key, index=100 + position, **entry)
             for position, (key, entry) in enumerate(table.pop("wire", {}).items())}
    steps = table.pop("steps")
    known = VERBS | (WORKSTATION_VERBS if path.parent == WORKSTATION else {})
    for step in steps:
        verbs = known.keys() & step.keys()
        if len(verbs) != 1:
            raise ScenarioError(f"{name}: {step}: one verb of {', '.join(known)}")
        unknown = step.keys() - verbs - known[next(iter(verbs))] - {"rejoined", "say"}
        if path.parent == WORKSTATION:
            unknown -= {PULLS}
        if unknown:
            raise ScenarioError(f"{name}: {step}: unknown {', '.join(unknown)}")
        if "decided" in step:
            step["decided"] = decision(step["decided"], name)
        if "told" in step:
            step["told"] = (decision if DECISIONS.keys() & step["told"].keys() - {"left"} else
                            lambda item, where: event(item, aps, where))(step["told"], name)
    expect = table.pop("expect", {})
    if isinstance(expect, list):
        expect = {stations[0]: expect}
    expect = {station: [event(item, aps, name) for item in items] for station, items in expect.items()}
    some = [event(item, aps, name) for item in table.pop("some", [])]
    decisions = [decision(item, name) for item in table.pop("decisions")] if "decisions" in table else None
    try:
        return Scenario(name=name, title=table.pop("title"), managers=table.pop("managers", ["wpa_supplicant"]),
                        stations=stations, aps=aps, wires=wires, steps=steps, expect=expect, some=some,
                        decisions=decisions, rules=rule_files(table, aps, name, rules), **table)
    except (TypeError, KeyError) as error:
        raise ScenarioError(f"{name}: {error}") from error


def load_all(names: list[str] | None = None, directory: Path = DIRECTORY) -> list[Scenario]:
    paths = {path.stem: path for path in sorted(directory.glob("*.toml"))}
    unknown = [name for name in names or [] if name not in paths]
    if unknown:
        raise ScenarioError(f"no scenario {', '.join(unknown)}; there are {', '.join(paths)}")
    return [load(paths[name]) for name in names or paths]
