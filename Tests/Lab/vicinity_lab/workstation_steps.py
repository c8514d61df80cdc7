"""In the guest: the verbs that only a workstation knows."""

import os
import re
import select
import shutil
import time
from pathlib import Path

from . import expect
from .session import VT, execute, reader, wait_for_session
from .steps import Steps
from .watching import LAB, Timeout, run

LOOK_AGAIN = 0.5  # seconds: other programs' files and settings have no event of ours


class WorkstationSteps(Steps):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.told = 0  # so many lines of the feed have been waited for

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
