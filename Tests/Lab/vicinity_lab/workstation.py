"""The workstation's side: a service of its systemd that runs the one scenario it was booted for."""

import json
import shutil
import signal
import traceback

from . import expect, scenario as scenarios
from .air import Air, Watch
from .guest import Sender, prepare
from .installed import Installed, boot_seconds, notify_ready
from .managers import WorkstationNetworkManager
from .netlink import CAPTURE
from .peers import Peers, install_dispatchers
from .session import wait_for_session
from .watching import LAB, AirTrouble, Log, Process, Timeout
from .workstation_steps import WorkstationSteps


class Workstation:
    """The air, and after it (see the unit of the driver) everything that watches the network."""

    def __init__(self, send, scenario, captures: bool, seed: int = 0):
        self.log, self.scenario, self.seed = Log(send), scenario, seed
        self.air = Air(self.log, scenario)
        self.watch = Watch(self.log)
        self.capture = self.start_capture() if captures else None
        self.installed = Installed(self.log, scenario)
        self.managers = {station: WorkstationNetworkManager(self.log, self.air, station) for station in scenario.stations}
        notify_ready()

    def start_capture(self) -> Process:
        process = Process(self.log, "tcpdump", [*CAPTURE, str(LAB / "capture.pcap")])
        process.wait_for("listening on")
        return process

    def wait_until_ready(self) -> None:
        for manager in self.managers.values():
            manager.start()
        self.installed.wait_until_ready()
        wait_for_session(self.log, "alice")
        self.log.add("session", f"ready {boot_seconds()} s after the start of the kernel")

    def steps(self) -> WorkstationSteps:
        return WorkstationSteps(self.log, self.scenario, self.air, self.watch, self.managers, self.installed,
                                seed=self.seed)

    def play(self) -> None:
        self.wait_until_ready()
        self.steps().run()
        for what, wanted in (
                ("all that is expected", lambda: expect.satisfied(
                    self.scenario, self.air.indexes, self.installed.lines("agent"), True)),
                ("the rules' commands", lambda: len(self.log.texts("run")) >= sum(self.scenario.runs.values()))):
            try:
                self.log.wait(what, wanted, 20)
            except Timeout:
                pass  # the host says what is missing


def run_scenario(send, scenario, captures: bool, seed: int) -> None:
    send({"kind": "begin", "scenario": scenario.name, "manager": "systemd"})
    problems, trouble, workstation = [], None, None
    try:
        workstation = Workstation(send, scenario, captures, seed)
        workstation.play()
    except AirTrouble as error:
        trouble = str(error)
    except Timeout as error:
        problems.append(f"Timeout: {error}")
    except Exception as error:
        problems.append(f"{type(error).__name__}: {error}\n{traceback.format_exc()}")
    if workstation:
        problems += workstation.installed.stop()
        if workstation.capture:
            workstation.capture.stop(signal.SIGINT)
            shutil.copyfile(LAB / "capture.pcap", LAB / "out" / f"{scenario.name}.pcap")
    send({"kind": "done", "scenario": scenario.name, "manager": "systemd", "problems": problems, "trouble": trouble,
          "indexes": workstation.air.indexes if workstation else {}, "feeds": Installed.feeds if workstation else []})


def main() -> None:
    job = json.loads((LAB / "job.json").read_text())
    send = Sender() if job["do"] != "shell" else lambda message: None
    send({"kind": "booted"})
    try:
        prepare()
        scenario = scenarios.load(scenarios.LAB / job["scenario"], job["rules"])
        if job["do"] == "run":
            run_scenario(send, scenario, job["captures"], job["seed"])
        else:
            if job["do"] == "peers":
                install_dispatchers()
            workstation = Workstation(send, scenario, captures=job["do"] == "peers")
            workstation.wait_until_ready()
            if job["do"] == "shell":
                signal.pause()
            send({"kind": "bench", "results": Peers(workstation).run()})
        send({"kind": "end"})
    except Exception:
        send({"kind": "failed", "text": traceback.format_exc()})
    signal.pause()  # until the power goes


if __name__ == "__main__":
    main()
