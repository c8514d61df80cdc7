"""In the guest: the program under test, as an unprivileged user, and the commands that its rules run."""

import json
import os
import signal
from pathlib import Path

from .air import pin
from .scenario import Scenario
from .watching import LAB, Log, Process, run, wait_for_socket, write

# Rules run this: `mark NAME`. The runner reads what it says, so that a run is an event like any other.
MARK = """#!/bin/sh
echo "$1 event=$VICINITY_EVENT network=$VICINITY_NETWORK ssid_hex=$VICINITY_SSID_HEX uid=$(id -u)" > /run/lab/runs
"""
SOCKET = LAB / "agent/run/events.sock"
RULES = LAB / "agent/etc/rules.d"
NOBODY = {"user": "nobody", "group": "nogroup", "extra_groups": []}
ENVIRONMENT = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": "/nonexistent"}


class Program:
    """`vicinity watch` straight from the kernel, and, where there are rules, the agent and a reader of its feed."""

    def __init__(self, log: Log, scenario: Scenario, directory: Path, readable: bool = False):
        self.log, self.scenario, self.directory = log, scenario, directory
        self.readable = readable  # also what a person sees, as source `shown`
        self.processes: list[Process] = []
        self.agent: Process | None = None
        self.reader: Process | None = None
        self.running = False  # and not stopped by a step
        self.recording: Path | None = None
        self.feeds = ["direct"]
        if scenario.rules:
            self.feeds.append("agent")

    def start(self) -> None:
        if self.scenario.core:
            self.recording = LAB / "recorded/recording.pcap"
            self.recording.parent.mkdir(exist_ok=True)
            os.chown(self.recording.parent, 65534, 65534)
            self.processes.append(Process(self.log, "record", [
                str(self.directory / "vicinity"), "record", str(self.recording)], stderr=self.complaints("record"),
                env=ENVIRONMENT, **NOBODY))
        self.spawn("direct", "vicinity", "watch", "--direct", "--format", "json")
        if self.scenario.rules:
            self.prepare_agent()
            self.start_agent()
            self.spawn_reader()
        if self.readable:
            self.processes.append(Process(self.log, "shown", [
                str(self.directory / "vicinity"), "watch", "--socket", str(SOCKET), "--format", "text"], env=ENVIRONMENT, **NOBODY))
            self.processes[-1].wait_for("")
        for feed in self.feeds:
            self.log.wait(f"the first line of feed {feed}", lambda feed=feed: self.log.texts(f"feed {feed}")
                          or any(process.ended for process in self.processes), 20)
        self.running = True

    def spawn(self, feed: str, *command: str) -> Process:
        self.processes.append(Process(self.log, f"feed {feed}", [str(self.directory / command[0]), *command[1:]],
                                      stderr=self.complaints(feed), env=ENVIRONMENT, **NOBODY))
        return self.processes[-1]

    def spawn_reader(self) -> None:
        self.reader = self.spawn("agent", "vicinity", "watch", "--socket", str(SOCKET), "--format", "json")

    def complaints(self, name: str):
        return open(LAB / f"{name}.stderr", "ab")

    def prepare_agent(self) -> None:
        directory = LAB / "agent"
        for name, text in self.scenario.rules.items():
            self.write_rules(name, text)
        if self.scenario.configuration:
            write(directory / "etc/vicinity.toml", self.scenario.configuration, 0o644)
        for name in ("run", "state", "log"):
            (directory / name).mkdir(exist_ok=True)
            os.chown(directory / name, 65534, 65534)
        for path in (directory, directory / "etc", directory / "etc/rules.d"):
            os.chmod(path, 0o755)
        write(LAB / "mark", MARK, 0o755)
        if not (LAB / "runs").exists():
            os.mkfifo(LAB / "runs")
            os.chmod(LAB / "runs", 0o666)
        # Open for reading and writing: there is no end of file between two runs.
        self.processes.append(Process(self.log, "run", ["sh", "-c", "exec cat <>/run/lab/runs"]))

    def write_rules(self, name: str, text: str) -> None:
        """Complete at once, as a package manager would."""
        hidden = write(RULES / f".{name}", text.replace("@pin", pin()) if "@pin" in text else text, 0o644)
        hidden.rename(RULES / name)

    def remove_rules(self, name: str) -> None:
        (RULES / name).unlink()

    def start_agent(self) -> None:
        directory = LAB / "agent"
        self.agent = agent = Process(self.log, "vicinityd", [
            str(self.directory / "vicinityd"), "--config", str(directory / "etc"), "--runtime-directory",
            str(directory / "run"), "--state-directory", str(directory / "state"), "--log-directory",
            str(directory / "log")], env=ENVIRONMENT, **NOBODY)
        self.processes.append(agent)
        wait_for_socket(SOCKET, agent)

    def restart_agent(self) -> None:
        """Killed, without a chance to tidy up; what the reader says of that is no complaint."""
        for process in (self.agent, self.reader):
            self.processes.remove(process)
        self.agent.stop(signal.SIGKILL)
        self.reader.process.wait(8)
        (LAB / "agent.stderr").write_text("")
        since = self.log.mark()
        self.start_agent()
        self.spawn_reader()
        self.log.wait("the first line of the next agent", lambda: self.log.texts("feed agent", since), 20)

    def status(self) -> str:
        return run("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", str(self.directory / "vicinity"),
                   "status", "--format", "json", "--socket", str(SOCKET), check=False)

    def lines(self, feed: str) -> list[dict]:
        values = []
        for text in self.log.texts(f"feed {feed}"):
            try:
                values.append(json.loads(text))
            except ValueError:
                pass
        return values

    def signal(self, number: int) -> None:
        self.running = number == signal.SIGCONT
        for process in self.processes:
            process.process.send_signal(number)

    def stop(self) -> list[str]:
        """Ends all; what they complained of, and how they ended when not well."""
        problems = []
        for process in reversed(self.processes):
            if not process.alive():
                problems.append(f"{process.source} had ended with {process.process.returncode}")
            process.stop(signal.SIGTERM)
        analytics = LAB / "agent/log/analytics.jsonl"
        if analytics.exists():
            for line in analytics.read_text(errors="backslashreplace").splitlines():
                self.log.add("analytics", line)
        if self.recording:
            self.replay(self.recording)
        return problems + [f"{path.name}: {line}" for path in LAB.glob("*.stderr")
                           for line in path.read_text(errors="replace").splitlines()[-20:]]

    def replay(self, recording: Path) -> None:
        """What was recorded says the same again: it is judged like any other feed."""
        for line in run(str(self.directory / "vicinity"), "watch", "--replay", str(recording), "--format", "json",
                        check=False).splitlines():
            self.log.add("feed recorded", line)
        recording.unlink()
        self.feeds.append("recorded")
