"""In the guest: the verbs that only a workstation knows."""

import os
import re
import select
import shutil
import time
from pathlib import Path

from . import expect
from .factor import Authenticator, Codes, ask, enrol
from .plugs import Plugs
from .scenario import PULLS
from .session import VT, execute, reader, wait_for_session
from .steps import Steps
from .storm import flap, resident
from .watching import LAB, AirTrouble, Timeout, run

TRIES = 5
LOOK_AGAIN = 0.5  # seconds: other programs' files and settings have no event of ours


class WorkstationSteps(Steps):
    def __init__(self, *arguments, seed: int):
        super().__init__(*arguments)
        self.told = 0  # so many lines of the feed have been waited for
        self.plugs = Plugs(self.log, self.air, seed) if self.scenario.is_random else None
        self.codes, self.authenticator = Codes(), Authenticator(self.log)

    def do(self, step: dict) -> None:
        if PULLS not in step:
            return super().do(step)
        self.station, name = self.scenario.stations[0], step.get("join")
        pulling = self.plugs.start(step[PULLS], name)
        if name is None:
            super().do(step)
            pulling.join()
            return
        self.log.add("step", f"join {name}, {step[PULLS]} plugs are pulled")
        self.go(name)
        pulling.join()
        # What was pulled may have taken the station off it, or do so only now.
        self.go(name)

    def go(self, name: str) -> None:
        """To a network, however often that takes: managers are killed, access points vanish."""
        ap = self.ap(name)
        for _ in range(TRIES):
            if self.is_on(ap):
                return
            since = self.log.mark()
            try:
                self.manager.select(ap, None)
                self.watch.wait_joined(self.interface, self.air.indexes[self.station], ap, since, 40)
                self.manager.wait_for_address(since)
            except (RuntimeError, Timeout) as error:
                self.log.add("step", f"again: {error}")
                self.wait_for_manager()
        if not self.is_on(ap):
            raise AirTrouble(f"the station does not get to {name}")

    def wait_for_manager(self) -> None:
        """Until NetworkManager, which may be starting, could use the interface."""
        deadline = time.monotonic() + 60
        while self.device_state() < 30 and time.monotonic() < deadline:
            select.select([], [], [], LOOK_AGAIN)

    def is_on(self, ap) -> bool:
        return self.device_state() == 100 and ap.bssid in run("iw", "dev", self.interface, "link", check=False)

    def device_state(self) -> int:
        """NMDeviceState: 30 is disconnected, 100 activated; 0 where NetworkManager says nothing."""
        code, text = execute(["nmcli", "-g", "GENERAL.STATE", "device", "show", self.interface])
        return int(text.split()[0]) if code == 0 and text[:1].isdigit() else 0

    # What other programs see

    def do_reads(self, name: str, step: dict) -> None:
        command, user, desktop = reader(name, step.get("of"), step.get("user", "alice"))
        self.observe(command, step, user, desktop, exit=None)

    def do_as_root(self, command: list[str], step: dict) -> None:
        self.observe(command, step, "root")

    def do_as_user(self, command: list[str], step: dict) -> None:
        self.observe(command, step, step.get("user", "alice"), step.get("desktop"))

    def observe(self, command: list[str], step: dict, user: str, desktop: str | None = None, exit: int | None = 0) -> None:
        """Until the command says what the step asks for, `limit` seconds long; without an expectation it is run once."""
        exit = step.get("exit", exit)
        deadline = time.monotonic() + (step.get("limit", 20) if {"is", "says", "lacks"} & step.keys() else 0)
        before = None
        while True:
            code, text = execute(command, user, desktop, step.get("within", False))
            if (code, text) != before:
                self.log.add(f"said to {user}", f"{' '.join(command)} -> {code}: {text}")
            before = code, text
            if ((exit is None or code == exit) and text == step.get("is", text)
                    and re.search(step.get("says", ""), text)
                    and not ("lacks" in step and re.search(step["lacks"], text))):
                return
            if time.monotonic() >= deadline:
                raise Timeout(f"{step}: exit {code}: {text}")
            select.select([], [], [], LOOK_AGAIN)

    # systemd and logind

    def do_start(self, unit: str, _step: dict) -> None:
        run("systemctl", "start", unit, limit=90)

    def do_stop(self, unit: str, _step: dict) -> None:
        run("systemctl", "stop", unit, limit=90)

    def do_kill(self, unit: str, step: dict) -> None:
        """The unit's main process alone, until it is gone."""
        pid = int(run("systemctl", "show", "--property=MainPID", "--value", unit))
        if not pid:
            raise RuntimeError(f"{unit} does not run")
        descriptor = os.pidfd_open(pid)
        try:
            run("systemctl", "kill", "--kill-whom=main", f"--signal={step.get('signal', 'SIGKILL')}", unit)
            if not select.select([descriptor], [], [], 20)[0]:
                raise Timeout(f"{unit} outlives {step.get('signal', 'SIGKILL')}")
        finally:
            os.close(descriptor)

    def do_login(self, user: str, step: dict) -> None:
        """On a terminal of their own, in front unless `active = false`."""
        run("systemctl", "start", f"getty@tty{VT[user]}.service")
        wait_for_session(self.log, user)
        if step.get("active", True):
            run(str(LAB / "busybox"), "chvt", str(VT[user]))

    def do_logout(self, user: str, _step: dict) -> None:
        """With everything that they run."""
        run("systemctl", "stop", f"getty@tty{VT[user]}.service")
        run("loginctl", "terminate-user", user, check=False)
        run(str(LAB / "busybox"), "chvt", "1")

    # What is told

    def do_told(self, fields: dict, step: dict) -> None:
        """Wait for the agent's next line with these fields after the one that was waited for last."""
        def place() -> int | None:
            lines = self.program.lines("agent")
            return next((number for number in range(self.told, len(lines))
                         if expect.agrees(lines[number], fields)), None)
        self.log.wait(f"the agent to tell {fields}", lambda: place() is not None, step.get("limit", 60))
        self.told = place() + 1

    def do_journal(self, pattern: str, step: dict) -> None:
        """Wait for a pattern in what a program (by its name in the journal) has said since the scenario began."""
        self.log.wait(f"{step['by']} to say {pattern}", lambda: any(
            re.search(pattern, text) for text in self.log.texts(step["by"])), step.get("limit", 40))

    def do_accounted(self, rules: list[str], step: dict) -> None:
        """Nothing is lost silently and nothing is left: for each transition of these rules the feed has its actions, and
        each that has begun has an end; no unit of a command is there any more."""
        def missing() -> list[str]:
            lines = self.program.lines("agent")
            ends = {line["action"]["id"] for line in lines if line["type"] in (
                "action.succeeded", "action.failed", "action.cancelled", "action.reverted")}
            begun = [line["action"]["id"] for line in lines if line["type"] == "action.started"]
            found = [f"action {number} has no end" for number in begun if number not in ends]
            for rule in rules:
                turns = sum(line["type"] in ("rule.activated", "rule.deactivated")
                            and line["rule"]["name"] == rule for line in lines)
                actions = len({line["action"]["id"] for line in lines if line["type"] in (
                    "action.succeeded", "action.failed", "action.cancelled") and line["action"]["rule"] == rule})
                if actions != turns:
                    found.append(f"{rule} has turned {turns} times and told the end of {actions} actions")
            return found
        try:
            self.log.wait("every action's end", lambda: not missing(), step.get("limit", 60))
        except Timeout:
            raise RuntimeError(", ".join(missing())) from None
        self.observe(["sh", "-c", "systemctl list-units --no-legend --all 'vicinity-command-*' | wc -l"],
                     {"is": "0"}, "root")

    def do_flap(self, interface: str, step: dict) -> None:
        """The link goes up and down `rate` times a second for `seconds`; the agent may grow by `growth` KiB."""
        units = ("vicinityd.service", "vicinity-act.service")
        before = {unit: resident(unit) for unit in units}
        count, took = flap(interface, step["rate"], step["seconds"])
        after = {unit: resident(unit) for unit in units}
        said = ", ".join(f"{unit} {before[unit]} -> {after[unit]} KiB" for unit in units)
        self.log.add("storm", f"{count} changes in {took:.1f} s: {count / took:.1f} a second; {said}")
        if after["vicinityd.service"] > before["vicinityd.service"] + step["growth"]:
            raise RuntimeError(f"the agent grew: {said}")

    # Second factors

    def do_case(self, name: str, _step: dict) -> None:
        """What follows is one row of the table that the host prints."""
        self.log.add("case", name)

    def do_enrol(self, user: str, _step: dict) -> None:
        enrol(user)

    def do_authenticator(self, what: str, _step: dict) -> None:
        if what == "start":
            self.authenticator.start()
        else:
            self.authenticator.end({"stop": "SIGTERM", "kill": "SIGKILL"}[what])

    def do_asked(self, pattern: str, step: dict) -> None:
        """Wait until alice is shown this, after what was waited for last, and type the answer, if there is one."""
        self.authenticator.wait(pattern, step.get("limit", 60))
        if "answer" in step:
            self.do_types(step["answer"], step)

    def do_types(self, text: str, _step: dict) -> None:
        self.authenticator.type(self.codes.fill(text))

    def do_unasked(self, seconds: float, _step: dict) -> None:
        """So long she is shown no dialogue: what time alone could bring does not come."""
        try:
            self.authenticator.wait("dialogue", seconds)
        except Timeout:
            return
        raise RuntimeError(f"a dialogue within {seconds} s")

    def do_sudo(self, answers: list[str], step: dict) -> None:
        """As alice, who types these."""
        typed = [self.codes.fill(answer) for answer in answers]
        code, text = execute(["sudo", "--reset-timestamp", "--stdin", "id", "-un"], "alice", typed="".join(
            f"{line}\n" for line in typed))
        self.log.add("sudo", f"{answers} -> {code}: {text}")
        # A prompt ends without a line feed.
        passed = code == 0 and text.endswith("root")
        if passed != step["passes"] or ("One-time password" in text) != step["asks"]:
            raise RuntimeError(f"{step}: exit {code}: {text}")

    def do_pull(self, answer: str, step: dict) -> None:
        """What PAM stacks are told at once, or within `limit` seconds; no answer takes longer than `seconds`."""
        deadline = time.monotonic() + step.get("limit", 0)
        while True:
            told, took = ask(step.get("user", "alice"))
            self.log.add("pull", f"{told} {took:.2f} s")
            if took > step.get("seconds", 5):
                raise RuntimeError(f"{step}: after {took:.2f} s")
            if told == answer:
                return
            if time.monotonic() >= deadline:
                raise RuntimeError(f"{step}: {told}")
            select.select([], [], [], LOOK_AGAIN)

    # Files

    def do_file(self, name: str, step: dict) -> None:
        """Any file; complete at once."""
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        hidden = path.with_name(f".{path.name}.lab")
        hidden.write_text(step["text"])
        hidden.chmod(int(step.get("mode", "644"), 8))
        shutil.chown(hidden, step.get("owner", "root"))
        hidden.rename(path)

    def do_unlink(self, name: str, _step: dict) -> None:
        Path(name).unlink()
