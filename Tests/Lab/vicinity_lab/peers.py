"""In the guest: NetworkManager's dispatcher, networkd-dispatcher and the agent's rules start the same small program on
the same transitions, and a capture of the kernel's messages says what there was to react to."""

import shutil
import signal
import statistics
from dataclasses import dataclass, field
from pathlib import Path

from .netlink import DISCONNECT, GenericNetlink, addresses, connects, events
from .watching import LAB, Timeout, write

SWITCHES = 12
BURST = 8
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
    network: str | None  # the one it is about; networkd-dispatcher's knows only where it is
    is_enter: bool
    visit: int | None = None  # by which profile, where it was told

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
            return Mark(int(at), "nm_dispatcher", profile[1], words[2] == "up", int(profile[2]) - 1)
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
        for number in range(SWITCHES):
            self.steps.do({"join": self.names[number % 2]})
            self.wait_for_all(number)
        self.steps.do({"leave": "joined"})
        self.wait_for_quiet()
        began_burst = len(self.marks())
        write(LAB / "marker-ms", f"{BURST_MS}\n", 0o644)
        for number in range(BURST):
            self.steps.do({"join": self.names[number % 2], "wait": "air"})
        self.steps.do({"leave": "joined"})
        self.wait_for_quiet(BURST_MS / 1000 * 4)
        self.workstation.capture.stop(signal.SIGINT)
        marks = self.marks()
        visits = self.visits()
        steady = visits[:SWITCHES]
        for number, visit in enumerate(steady):
            self.assign(visit, number, visits[number + 1] if number + 1 < len(visits) else None, marks[:began_burst])
        return self.report(steady, visits, marks, began_burst)

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
        """Until no program has begun for so long."""
        count = -1
        while count < len(self.log.texts("mark")):
            count = len(self.log.texts("mark"))
            try:
                self.log.wait("a mark", lambda: len(self.log.texts("mark")) > count, seconds)
            except Timeout:
                return

    def visits(self) -> list[Visit]:
        capture, family = LAB / "capture.pcap", GenericNetlink().family
        index = self.workstation.air.indexes["wlan0"]
        joins = [at for at, of in connects(capture, family) if of == index]
        losses = [at for at, of in events(capture, family, DISCONNECT) if of == index]
        ours = [at for at, of in addresses(capture) if of == index]
        if len(joins) != SWITCHES + BURST:
            raise RuntimeError(f"{len(joins)} connections in the capture, not {SWITCHES + BURST}")
        found = []
        for number, (at, following) in enumerate(zip(joins, [*joins[1:], FOREVER])):
            name = self.names[(number if number < SWITCHES else number - SWITCHES) % 2]
            found.append(Visit(name, at, min([loss for loss in losses if at < loss < following], default=following),
                               min([time for time in ours if at < time < following], default=None)))
        return found

    def assign(self, visit: Visit, number: int, following: Visit | None, marks: list[Mark]) -> None:
        """Whose programs are of this stay: by the profile where it is told, else by the time."""
        end = following.connected if following else FOREVER
        for mark in marks:
            table = visit.enters if mark.is_enter else visit.leaves
            if mark.visit is not None:
                if mark.visit == number:
                    table.setdefault(mark.who, mark.at)
            elif mark.is_enter and visit.connected < mark.at < end or not mark.is_enter and visit.left < mark.at < (
                    following.left if following else FOREVER) and mark.network in (None, visit.network):
                table.setdefault(mark.who, mark.at)

    def is_obsolete(self, mark: Mark, visits: list[Visit]) -> bool:
        """It is about a stay at a network that had ended when it began."""
        if not mark.is_enter:
            return False
        if mark.visit is not None:
            return mark.visit < len(visits) and not visits[mark.visit].connected <= mark.at < visits[mark.visit].left
        return not any(visit.connected <= mark.at < visit.left and mark.network in (None, visit.network)
                       for visit in visits)

    # What it comes to

    def report(self, steady: list[Visit], visits: list[Visit], marks: list[Mark], began_burst: int) -> dict:
        table = {who: self.of(who, steady, visits, marks, began_burst) for who in PEERS}

        def ratio(peer: str) -> float | None:
            rows = [(visit.enters[peer] - visit.connected) / (visit.enters["vicinity_soon"] - visit.connected)
                    for visit in steady if {peer, "vicinity_soon"} <= visit.enters.keys()]
            return round(statistics.median(rows), 2) if rows else None
        return {
            "switches": SWITCHES, "burst_switches": BURST, "burst_script_ms": BURST_MS,
            "burst_stay_ms": median((visit.left - visit.connected) / 1e6 for visit in visits[SWITCHES:]),
            "action_latency_ratio_vs_nm_dispatcher": ratio("nm_dispatcher"),
            "action_latency_ratio_vs_networkd_dispatcher": ratio("networkd_dispatcher"),
            "action_latency_from_address_ms": table["vicinity_usual"]["from_address_ms"],
            "obsolete_runs": sum(table[who][key] for who in ("vicinity_soon", "vicinity_usual")
                                 for key in ("obsolete_runs", "burst_obsolete_runs")), **table}

    def of(self, who: str, steady: list[Visit], visits: list[Visit], marks: list[Mark], began_burst: int) -> dict:
        enters = [visit for visit in steady if who in visit.enters]
        pairs = [(visit.leaves[who], following.enters[who]) for visit, following in zip(steady, steady[1:])
                 if who in visit.leaves and who in following.enters]
        obsolete = [sum(mark.who == who and self.is_obsolete(mark, visits) for mark in part)
                    for part in (marks[:began_burst], marks[began_burst:])]
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
            "burst_runs": sum(mark.who == who for mark in marks[began_burst:])}


def median(values) -> int | None:
    found = list(values)
    return round(statistics.median(found)) if found else None
