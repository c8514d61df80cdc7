"""The guest's side: runs the job it was booted for and sends what happens to the host, one JSON value a line."""

import json
import os
import shutil
import signal
import sys
import threading
import traceback
from pathlib import Path

from . import expect, scenario as scenarios
from .air import Air, Watch
from .bench import Bench
from .managers import MANAGERS
from .netlink import CAPTURE
from .program import Program
from .steps import Steps
from .watching import LAB, PORTS, RESOLVER, AirTrouble, Log, Process, Timeout, run

# Autoload would find most of them, but hostapd gives up ("key addition failed") before it has.
MODULES = ["mac80211", "ccm", "ctr", "cmac", "gcm", "ghash-generic", "aes_generic", "michael_mic", "nlmon", "dummy", "bridge"]


class Sender:
    """The port to the host."""

    def __init__(self):
        (port,) = (port for port in PORTS.iterdir() if (port / "name").read_text().strip() == "lab.results")
        self.port = open(Path("/dev") / port.name, "wb", buffering=0)
        self.lock = threading.Lock()

    def __call__(self, message: dict) -> None:
        data = json.dumps(message).encode() + b"\n"
        with self.lock:
            while data:
                data = data[self.port.write(data):]


def prepare() -> None:
    """What a Debian does while it boots, as far as the lab needs it."""
    run("ip", "link", "set", "lo", "up")
    for name in ("regulatory.db", "regulatory.db.p7s"):
        link = Path("/lib/firmware") / name
        if not link.exists():
            link.symlink_to(f"{name}-debian")
    run("modprobe", "-a", *MODULES)
    run("ip", "link", "add", "nlmon0", "type", "nlmon")
    run("ip", "link", "set", "nlmon0", "up")
    os.chmod("/dev/rfkill", 0o664)  # as udev has it
    (LAB / "out").mkdir()
    run("mount", "-t", "9p", "-o", "trans=virtio,version=9p2000.L,msize=512000", "out", str(LAB / "out"))


def run_scenario(send: Sender, scenario, manager: str, binaries: Path | None, captures: bool,
                 readable: bool = False) -> bool:
    """Whether the air did its part; if not, nothing can be said about the program."""
    log = Log(send)
    send({"kind": "begin", "scenario": scenario.name, "manager": manager})
    problems: list[str] = []
    trouble = None
    indexes: dict[str, int] = {}
    air = watch = program = capture = None
    managers: dict = {}
    # The host's, and then the last scenario's, says nothing of the networks here.
    RESOLVER.unlink(missing_ok=True)
    RESOLVER.write_text("")
    try:
        air = Air(log, scenario)
        watch = Watch(log)
        indexes = air.indexes
        if captures and not any("flood" in step for step in scenario.steps):
            capture = Process(log, "tcpdump", [*CAPTURE, str(LAB / "capture.pcap")])
            capture.wait_for("listening on")
        if binaries:
            program = Program(log, scenario, binaries, readable)
            if not scenario.agent_is_late:
                program.start()
        for station in scenario.stations:
            managers[station] = MANAGERS[manager](log, air, station)
            managers[station].start()
        Steps(log, scenario, air, watch, managers, program).run()
        if program:
            for feed in program.feeds:
                try:
                    log.wait(f"all that is expected on feed {feed}",
                             lambda feed=feed: expect.satisfied(scenario, indexes, program.lines(feed), feed == "agent"),
                             15)
                except Timeout:
                    pass  # the host says what is missing
            wanted = sum(scenario.runs.values())
            try:
                log.wait("the rules' commands", lambda: len(log.texts("run")) >= wanted, 10)
            except Timeout:
                pass
    except AirTrouble as error:
        trouble = str(error)
    except (Timeout, RuntimeError, OSError, ValueError, KeyError) as error:
        problems.append(f"{type(error).__name__}: {error}" + ("" if isinstance(error, Timeout) else
                                                              "\n" + traceback.format_exc()))
    finally:
        for manager_process in managers.values():
            manager_process.stop()
        if program:
            problems += program.stop()
        if capture:
            capture.stop(signal.SIGINT)
            shutil.copyfile(LAB / "capture.pcap", LAB / "out" / f"{scenario.name}.{manager}.pcap")
        if air:
            air.stop()
        if watch:
            watch.stop()
        shutil.rmtree(LAB / "agent", ignore_errors=True)
        for path in LAB.glob("*.stderr"):
            path.unlink()
    send({"kind": "done", "scenario": scenario.name, "manager": manager, "indexes": indexes, "problems": problems,
          "trouble": trouble, "feeds": program.feeds if program else []})
    return trouble is None


def main() -> None:
    job = json.loads((LAB / "job.json").read_text())
    if job["do"] == "shell":
        prepare()
        run("modprobe", "mac80211_hwsim", "radios=3")
        return
    send = Sender()
    send({"kind": "booted"})
    try:
        prepare()
        binaries = LAB / "bin" if job["binaries"] else None
        if job["do"] == "run":
            for name, manager in job["scenarios"]:
                for _ in range(scenarios.TRIES):
                    if run_scenario(send, scenarios.load(scenarios.DIRECTORY / f"{name}.toml", job["rules"][name]),
                                    manager, binaries, job.get("captures", False)):
                        break
        elif job["do"] == "demo":
            run_scenario(send, scenarios.load(scenarios.LAB / "demo.toml"), "wpa_supplicant", binaries, False, True)
        elif job["do"] == "bench":
            scenario = scenarios.load(scenarios.LAB / "bench.toml")
            send({"kind": "bench", "results": Bench(send, scenario, binaries).run()})
        send({"kind": "end"})
    except Exception:
        traceback.print_exc()
        send({"kind": "failed", "text": traceback.format_exc()})
    sys.stdout.flush()
    os.sync()


if __name__ == "__main__":
    main()
