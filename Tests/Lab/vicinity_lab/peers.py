"""In the guest: NetworkManager's dispatcher, networkd-dispatcher and the agent's rules start the same small program on
the same transitions, and a capture of the kernel's messages says what there was to react to."""

import json
import re
import shutil
import signal
import statistics
import time
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

from . import expect
from .netlink import CONNECT, DISCONNECT, GenericNetlink, addresses, events
from .watching import LAB, Timeout, run, write

SWITCHES = 10
BURST = 6
BURST_MS = 4000  # so long a script then takes
NETWORKD_STATES = ("routable", "off", "no-carrier")
PEERS = ("nm_dispatcher", "networkd_dispatcher", "vicinity_soon", "vicinity_usual")
FOREVER = 1 << 63


def install_dispatchers() -> None:
    """Before any of them starts."""
    marker = Path(shutil.copy(LAB / "bin/marker", LAB / "marker"))
    for directory in ("NetworkManager/dispatcher.d", *(f"networkd-dispatcher/{state}.d" for state in NETWORKD_STATES)):
        Path("/etc", directory).mkdir(mode=0o755, parents=True, exist_ok=True)
        shutil.copy(marker, Path("/etc", directory, "90-lab"))
    # A rule may otherwise change six times a minute.
    write(Path("/etc/vicinity/vicinity.toml"), "changes-per-minute = 60\n", 0o644)


@dataclass
class Mark:
    """One start of the marker."""

    at: int  # ns
    who: str
    network: str | None  # the one it is about
    is_enter: bool

    @staticmethod
    def read(text: str, ssids: dict[str, str]) -> "Mark | None":
        head, *words = text.split("\t")
        what, at = head.split()[:2]
        values = dict(word.split("=", 1) for word in words if "=" in word)
        words = [word for word in words if "=" not in word]
        if what != "began":
            return None
        if words[0].startswith("/etc/NetworkManager"):
            profile = values.get("CONNECTION_ID", "").split("-")
            if words[1:2] != ["wlan0"] or words[2:3] not in (["up"], ["down"]) or profile[0] != "profile":
                return None
            return Mark(int(at), "nm_dispatcher", profile[1], words[2] == "up")
        if words[0].startswith("/etc/networkd-dispatcher"):
            if values.get("IFACE") != "wlan0":
                return None
            return Mark(int(at), "networkd_dispatcher", ssids.get(values.get("ESSID", "")), values["STATE"] == "routable")
        return Mark(int(at), f"vicinity_{words[3]}", words[2], words[1] == "enter")


@dataclass
class Visit:
    """One stay at a network, as the kernel told it (ns)."""

    network: str
    connected: int
    left: int = FOREVER
    address: int | None = None
    enters: dict[str, int] = field(default_factory=dict)  # by whom: when the first program began
    leaves: dict[str, int] = field(default_factory=dict)


class Peers:
    def __init__(self, workstation):
        self.workstation, self.log = workstation, workstation.log
        self.steps, self.names = workstation.steps(), ("home", "office")
        self.ssids = {ap.ssid.decode(): ap.name for ap in workstation.scenario.aps.values()}

    def run(self) -> dict:
        # Everything has been read and nobody has gone anywhere yet.
        self.wait_for_quiet()
        self.idle_pss = pss_of("vicinityd.service")
        for number in range(SWITCHES):
            self.go(self.names[number % 2])
            self.wait_for_all(number)
        self.steps.do({"leave": "joined"})
        self.wait_for_quiet()
        count, began_burst = len(self.marks()), time.time_ns()
        write(LAB / "marker-ms", f"{BURST_MS}\n", 0o644)
        for number in range(BURST):
            self.go(self.names[number % 2])
        self.steps.do({"leave": "joined"})
        self.wait_for_quiet(BURST_MS / 1000 * 4)
        self.workstation.capture.stop(signal.SIGINT)
        visits, marks = self.visits(), self.marks()
        for visit in visits:
            self.log.add("visit", str(visit))
        for mark in marks:
            if self.is_obsolete(mark, visits):
                self.log.add("obsolete", str(mark))
        seen = len([text for text in self.log.texts("iw") if " connected to " in text])
        if seen != len(visits):
            # Whoever acts on what the capture lacks would count as obsolete.
            raise RuntimeError(f"{seen} associations, and the capture has {len(visits)}: {self.log.texts('tcpdump')[-3:]}")
        steady = [visit for visit in visits if visit.connected < began_burst]
        for visit, following in zip(steady, [*steady[1:], None]):
            self.assign(visit, following, marks[:count])
        return self.report(steady, visits, marks, count)

    def go(self, name: str) -> None:
        """To another network; a try more is nothing against the air here."""
        ap = self.workstation.scenario.aps[name]
        for last in (False, False, True):
            since = self.log.mark()
            self.log.add("step", f"go {name}")
            self.workstation.managers["wlan0"].select(ap, None)
            try:
                return self.workstation.watch.wait_joined(
                    "wlan0", self.workstation.air.indexes["wlan0"], ap, since, 60)
            except Timeout:
                if last:
                    raise

    # What happened

    def marks(self) -> list[Mark]:
        return [mark for text in self.log.texts("mark") if (mark := Mark.read(text, self.ssids))]

    def wait_for_all(self, number: int) -> None:
        """Everybody's program for entering has begun; who says nothing within the limit is counted as missing."""
        def all_began() -> bool:
            enters = [mark.who for mark in self.marks() if mark.is_enter]
            return all(enters.count(who) > number for who in PEERS)
        try:
            self.log.wait("every dispatcher", all_began, 60)
        except Timeout as timeout:
            self.log.add("peers", str(timeout))

    def wait_for_quiet(self, seconds: float = 10) -> None:
        """Until nobody has begun anything for so long; that NetworkManager's scans take the link down and up, which
        networkd-dispatcher hears, has no end."""
        def count() -> int:
            return sum(mark.who != "networkd_dispatcher" for mark in self.marks())
        before = -1
        while before < count():
            before = count()
            try:
                self.log.wait("a mark", lambda: count() > before, seconds)
            except Timeout:
                return

    def visits(self) -> list[Visit]:
        capture, family = LAB / "capture.pcap", GenericNetlink().family
        index = self.workstation.air.indexes["wlan0"]
        aps = {bytes.fromhex(ap.bssid.replace(":", "")): ap.name for ap in self.workstation.scenario.aps.values()}
        joins = [(at, aps[ap]) for at, of, ap in events(capture, family, CONNECT) if of == index and ap in aps]
        losses = [at for at, of, _ in events(capture, family, DISCONNECT) if of == index]
        ours = [at for at, of in addresses(capture) if of == index]
        found = []
        for (at, name), following in zip(joins, [*(at for at, _ in joins[1:]), FOREVER]):
            found.append(Visit(name, at, min([loss for loss in losses if at < loss < following], default=following),
                               min([moment for moment in ours if at < moment < following], default=None)))
        return found

    def assign(self, visit: Visit, following: Visit | None, marks: list[Mark]) -> None:
        """Whose programs are of this stay: everybody's began before the next."""
        entered = following.connected if following else FOREVER
        left = following.left if following else FOREVER
        for mark in marks:
            if mark.is_enter and visit.connected < mark.at < entered and mark.network == visit.network:
                visit.enters.setdefault(mark.who, mark.at)
            # networkd-dispatcher is told nothing of what was left.
            if not mark.is_enter and visit.left < mark.at < left and (
                    mark.network == visit.network or mark.who == "networkd_dispatcher"):
                visit.leaves.setdefault(mark.who, mark.at)

    @staticmethod
    def is_obsolete(mark: Mark, visits: list[Visit]) -> bool:
        """It is about a stay at a network where the station no longer is as it begins."""
        return mark.is_enter and not any(
            visit.connected <= mark.at < visit.left and mark.network in (None, visit.network) for visit in visits)

    def steps_of(self, visits: list[Visit]) -> dict:
        """Where the time of a rule with `ready = "link"` goes (ms): until the link is authorised and we know, until that
        is decided, until systemd has been asked for the command's unit, until the program runs."""
        told = [(nanoseconds(line["time"]), line) for line in self.workstation.installed.lines("agent")]

        starts = unit_starts()

        def first(visit: Visit, fields: dict) -> int | None:
            return min((at for at, line in told if visit.connected <= at < visit.left
                        and expect.agrees(line, fields)), default=None)
        found = []
        for visit in visits:
            rule = f"{visit.network}-soon"
            asked = min((at for at, of in starts if of == rule and visit.connected <= at < visit.left), default=None)
            moments = [visit.connected, first(visit, {"type": "wifi.joined"}),
                       first(visit, {"type": "rule.activated", "rule.name": rule}), asked,
                       visit.enters.get("vicinity_soon")]
            if None not in moments:
                found.append([after - before for before, after in zip(moments, moments[1:])])
        return {name: median(row[number] / 1e6 for row in found)
                for number, name in enumerate(("authorised_ms", "decided_ms", "asked_ms", "began_ms"))}

    # What it comes to

    def report(self, steady: list[Visit], visits: list[Visit], marks: list[Mark], count: int) -> dict:
        table = {who: self.of(who, steady, visits, marks, count) for who in PEERS}

        def ratio(peer: str) -> float | None:
            rows = [(visit.enters[peer] - visit.connected) / (visit.enters["vicinity_soon"] - visit.connected)
                    for visit in steady if {peer, "vicinity_soon"} <= visit.enters.keys()]
            return round(statistics.median(rows), 2) if rows else None
        return {
            "switches": len(steady), "burst_switches": len(visits) - len(steady), "burst_script_ms": BURST_MS,
            "burst_stay_ms": median((visit.left - visit.connected) / 1e6 for visit in visits[len(steady):]),
            "action_latency_ratio_vs_nm_dispatcher": ratio("nm_dispatcher"),
            "action_latency_ratio_vs_networkd_dispatcher": ratio("networkd_dispatcher"),
            "vicinity_steps": self.steps_of(steady),
            "agent_pss_kb": self.idle_pss,
            "action_latency_from_address_ms": table["vicinity_usual"]["from_address_ms"],
            "obsolete_runs": sum(table[who][key] for who in ("vicinity_soon", "vicinity_usual")
                                 for key in ("obsolete_runs", "burst_obsolete_runs")), **table}

    def of(self, who: str, steady: list[Visit], visits: list[Visit], marks: list[Mark], count: int) -> dict:
        enters = [visit for visit in steady if who in visit.enters]
        pairs = [(visit.leaves[who], following.enters[who]) for visit, following in zip(steady, steady[1:])
                 if who in visit.leaves and who in following.enters]
        obsolete = [sum(mark.who == who and self.is_obsolete(mark, visits) for mark in part)
                    for part in (marks[:count], marks[count:])]
        return {
            "entered": len(enters), "left": sum(who in visit.leaves for visit in steady),
            "from_connect_ms": median((visit.enters[who] - visit.connected) / 1e6 for visit in enters),
            "from_address_ms": median((visit.enters[who] - visit.address) / 1e6 for visit in enters if visit.address),
            "from_disconnect_ms": median((visit.leaves[who] - visit.left) / 1e6 for visit in steady if who in visit.leaves),
            "leave_before_enter": sum(leave < enter for leave, enter in pairs), "switches_with_both": len(pairs),
            "left_after_next_connect": sum(
                who in visit.leaves and visit.leaves[who] > following.connected
                for visit, following in zip(steady, steady[1:])),
            "obsolete_runs": obsolete[0], "burst_obsolete_runs": obsolete[1],
            "burst_runs": sum(mark.who == who for mark in marks[count:])}


def pss_of(unit: str) -> int:
    """The proportional set size of a unit's main process (kB), proc_pid_smaps_rollup(5)."""
    process = run("systemctl", "show", "--property=MainPID", "--value", unit).strip()
    rollup = Path("/proc", process, "smaps_rollup").read_text()
    return int(re.search(r"^Pss: +(\d+) kB", rollup, re.MULTILINE).group(1))


def unit_starts() -> list[tuple[int, str]]:
    """When systemd began to start the unit of each command (ns), and of which rule."""
    found = []
    for line in run("journalctl", "--output=json", "--output-fields=MESSAGE,_SOURCE_REALTIME_TIMESTAMP", "_PID=1",
                    limit=120).splitlines():
        entry = json.loads(line)
        match = re.match(r"Starting vicinity-command-\d+\.service - Vicinity: ([^.]+)\.\.\.", str(entry.get("MESSAGE")))
        if match and "_SOURCE_REALTIME_TIMESTAMP" in entry:
            found.append((int(entry["_SOURCE_REALTIME_TIMESTAMP"]) * 1000, match.group(1)))
    return found


def nanoseconds(text: str) -> int:
    """Of the feed's `time`."""
    moment = datetime.fromisoformat(text)
    return int(moment.timestamp()) * 1_000_000_000 + moment.microsecond * 1000


def median(values) -> int | None:
    found = list(values)
    return round(statistics.median(found)) if found else None
