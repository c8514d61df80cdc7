"""In the guest: what the program costs, beside its peers and in the same boot."""

import json
import os
import select
import signal
import statistics
import subprocess
from dataclasses import replace
from pathlib import Path

from . import expect
from .air import Air, Watch
from .managers import MANAGERS
from .netlink import CAPTURE, GenericNetlink, connects, hears
from .program import ENVIRONMENT, Program
from .steps import Steps
from .watching import LAB, Log, Process

EVENTS = 24
IDLE_SECONDS = 60


def pss(pid: int) -> int:
    rows = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    return next(int(row.split()[1]) for row in rows if row.startswith("Pss:"))


def find(name: str) -> int:
    """The process that runs the program of that name."""
    for directory in Path("/proc").glob("[0-9]*"):
        try:
            if Path(os.readlink(directory / "exe")).name == name:
                return int(directory.name)
        except OSError:
            continue
    raise RuntimeError(f"no process {name}")


class Bench:
    def __init__(self, send, scenario, binaries: Path):
        self.send, self.scenario, self.binaries = send, scenario, binaries
        self.log = Log(send)
        self.results: dict = {}

    def run(self) -> dict:
        whole, self.scenario = self.scenario, replace(self.scenario, dhcp=False)
        self.with_manager("wpa_supplicant", self.latency)
        self.scenario = whole
        self.with_manager("wpa_supplicant", self.idle)
        for manager, name in (("iwd", "iwd"), ("networkmanager", "NetworkManager")):
            self.with_manager(manager, lambda steps, name=name: self.peer(steps, name))
        return self.results

    def with_manager(self, name: str, measure) -> None:
        log = self.log = Log(self.send)
        log.add("bench", f"{measure.__name__} under {name}")
        air = Air(log, self.scenario)
        watch = Watch(log)
        manager = MANAGERS[name](log, air, "wlan0")
        try:
            manager.start()
            measure(Steps(log, self.scenario, air, watch, {"wlan0": manager}, None))
        finally:
            manager.stop()
            watch.stop()
            air.stop()

    def latency(self, steps: Steps) -> None:
        """From the packet that says CONNECT to each reader's line."""
        capture = LAB / "bench.pcap"
        tcpdump = Process(self.log, "tcpdump", [*CAPTURE, str(capture)])
        tcpdump.wait_for("listening on")
        programs = [["iw", None, ["iw", "event", "-t"]],
                    ["program", "nobody", [str(self.binaries / "vicinity"), "watch", "--direct", "--format", "json"]]]
        reader = Process(self.log, "stamps", ["/usr/bin/python3", "-m", "vicinity_lab.stamps", json.dumps(programs)],
                         env=ENVIRONMENT | {"PATH": os.environ["PATH"], "PYTHONPATH": os.environ["PYTHONPATH"]})
        self.log.wait("both readers", lambda: self.stamps("program"))
        pids = {entry["source"]: entry["pid"] for entry in self.stamped() if "pid" in entry}
        if not hears(pids["iw"], "mlme"):
            raise RuntimeError("`iw event` missed a group; try again")
        for number in range(EVENTS):
            name = ("home", "office")[number % 2]
            steps.do({"join": name})
            self.log.wait(f"the program to say joined at {name}", lambda name=name: self.joined(steps, name), 15)
        for pid in pids.values():
            os.kill(pid, signal.SIGTERM)
        reader.stop()
        tcpdump.stop(signal.SIGINT)
        packets = connects(capture, GenericNetlink().family)
        arrivals = {
            "iw": [entry["at"] for entry in self.stamps("iw") if ": connected to" in entry["text"]],
            "program": [entry["at"] for entry in self.stamps("program") if '"wifi.associating"' in entry["text"]]}
        rows = []
        for at, following in zip(packets, [*packets[1:], (1 << 63, 0)]):
            late = {source: [arrival - at[0] for arrival in times if at[0] <= arrival < following[0]]
                    for source, times in arrivals.items()}
            if late["iw"] and late["program"]:
                rows.append((late["program"][0], late["iw"][0]))
        if len(rows) < 20:
            raise RuntimeError(f"only {len(rows)} of {len(packets)} connections were seen by both readers")
        self.results |= {
            "event_to_line_ratio_vs_iw": round(statistics.median(program / iw for program, iw in rows), 3),
            "event_to_line_events": len(rows),
            "event_to_line_us": round(statistics.median(program for program, _ in rows) / 1000),
            "event_to_line_iw_us": round(statistics.median(iw for _, iw in rows) / 1000)}

    def stamped(self) -> list[dict]:
        return [json.loads(text) for text in self.log.texts("stamps") if text.startswith("{")]

    def stamps(self, source: str) -> list[dict]:
        return [entry for entry in self.stamped() if entry["source"] == source and "at" in entry]

    def joined(self, steps: Steps, name: str) -> bool:
        return steps.is_at(self.scenario.aps[name], expect.parse([entry["text"] for entry in self.stamps("program")])[0])

    def idle(self, steps: Steps) -> None:
        """An agent with a rule, joined, without a reader and without events."""
        program = Program(self.log, self.scenario, self.binaries)
        program.prepare_agent()
        program.start_agent()
        try:
            steps.do({"join": "home"})
            self.log.wait("the rule's command", lambda: self.log.texts("run"), 30)
            # The neighbour's and the addresses' own changes come within the first half minute.
            select.select([], [], [], 30)
            trace = LAB / "strace"
            agent = program.agent.pid
            tracer = subprocess.Popen(["strace", "-f", "-p", str(agent), "-o", str(trace)], stderr=subprocess.DEVNULL)
            try:
                tracer.wait(IDLE_SECONDS)
            except subprocess.TimeoutExpired:
                tracer.terminate()
                tracer.wait()
            calls = [line for line in trace.read_text().splitlines() if "(" in line and "<detached" not in line]
            for line in calls:
                self.log.add("strace", line)
            self.results |= {"idle_pss_kb": pss(agent), "idle_syscalls_60s": len(calls),
                             "wpa_supplicant_pss_kb": pss(find("wpa_supplicant")), "iw_event_pss_kb": pss(find("iw"))}
        finally:
            program.stop()

    def peer(self, steps: Steps, name: str) -> None:
        steps.do({"join": "home"})
        self.results[f"{name.lower()}_pss_kb"] = pss(find(name))
