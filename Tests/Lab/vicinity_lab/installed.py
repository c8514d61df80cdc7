"""In the guest: the product as its package installed it, and what systemd and the journal say of it."""

import json
import os
import signal
import socket
import subprocess
import threading
import time
from pathlib import Path

from .air import pin
from .program import MARK
from .scenario import Scenario
from .watching import LAB, Log, Process, Timeout, run, wait_for_socket, write

SOCKET = Path("/run/vicinity/events.sock")
RULES = Path("/etc/vicinity/rules.d")
ANALYTICS = Path("/var/log/vicinity/analytics.jsonl")
UNIT = "vicinityd.service"


class FeedReader(threading.Thread):
    """The agent's feed as source `feed agent`, through restarts of the agent, and nothing twice or left out."""

    def __init__(self, log: Log):
        super().__init__(daemon=True)
        self.log = log
        self.last = "0:0"  # of an agent that never was: everything that the present one still holds
        self.start()

    def run(self) -> None:
        while True:
            try:
                wait_for_socket(SOCKET, None, 3600)
                self.read()
            except (OSError, Timeout) as error:
                self.log.add("reader", f"{type(error).__name__}: {error}")

    def read(self) -> None:
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(SOCKET))
            connection.sendall(json.dumps({"since": self.last}).encode() + b"\n")
            for line in connection.makefile("rb"):
                text = line.decode("utf-8", "backslashreplace").rstrip("\n")
                self.log.add("feed agent", text)
                self.last = json.loads(text).get("id") or self.last


class Journal(threading.Thread):
    """Each entry that is not the kernel's or ours, with who said it as its source."""

    def __init__(self, log: Log):
        super().__init__(daemon=True)
        self.log = log
        self.start()

    def run(self) -> None:
        command = ["journalctl", "--follow", "--lines=all", "--output=json", "--output-fields=SYSLOG_IDENTIFIER,MESSAGE",
                   "_TRANSPORT=stdout", "_TRANSPORT=syslog", "_TRANSPORT=journal"]
        with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE) as process:
            for line in process.stdout:
                entry = json.loads(line)
                message = entry.get("MESSAGE") or ""
                if not isinstance(message, str):  # octets that are no text
                    message = bytes(message).decode("utf-8", "backslashreplace")
                self.log.add(entry.get("SYSLOG_IDENTIFIER", "journal"), message)


class Installed:
    """What steps ask of the program under test, see `program.Program`; here systemd starts and ends it."""

    feeds = ["agent"]
    processes: list[Process] = []
    running = True

    def __init__(self, log: Log, scenario: Scenario):
        self.log, self.scenario = log, scenario
        for name, text in scenario.rules.items():
            self.write_rules(name, text)
        write(LAB / "mark", MARK, 0o755)
        self.marks = self.fifo("runs", "run")
        self.stamps = self.fifo("marks", "mark")
        self.journal = Journal(log)
        self.reader = FeedReader(log)

    def fifo(self, name: str, source: str) -> Process:
        """What rules' commands write there becomes lines of the log."""
        run("mkfifo", "--mode=666", str(LAB / name))
        # Open for reading and writing: there is no end of file between two runs.
        return Process(self.log, source, ["sh", "-c", f"exec cat <>/run/lab/{name}"])

    def write_rules(self, name: str, text: str) -> None:
        """Complete at once, as a package manager would."""
        RULES.mkdir(parents=True, exist_ok=True)
        write(RULES / f".{name}", text.replace("@pin", pin()) if "@pin" in text else text, 0o644).rename(RULES / name)

    def remove_rules(self, name: str) -> None:
        (RULES / name).unlink()

    def lines(self, feed: str) -> list[dict]:
        return [json.loads(text) for text in self.log.texts(f"feed {feed}")]

    def status(self) -> str:
        return run("vicinity", "status", "--format", "json", check=False)

    def wait_until_ready(self) -> None:
        self.log.wait("the agent's first line", lambda: self.log.texts("feed agent"), 120)

    def restart_agent(self) -> None:
        """Killed, without a chance to tidy up; systemd starts the next one."""
        since = self.log.mark()
        run("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", UNIT)
        self.log.wait("the first line of the next agent", lambda: self.log.texts("feed agent", since), 40)

    def signal(self, number: int) -> None:
        self.running = number == signal.SIGCONT
        run("systemctl", "kill", "--kill-whom=main", f"--signal={int(number)}", UNIT)

    def stop(self) -> list[str]:
        """Reads the analytics; which units have failed though no scenario expects it."""
        if ANALYTICS.exists():
            for line in ANALYTICS.read_text(errors="backslashreplace").splitlines():
                self.log.add("analytics", line)
        failed = run("systemctl", "list-units", "--failed", "--plain", "--no-legend", check=False).splitlines()
        names = [line.split()[0] for line in failed if line.strip()]
        return [f"failed: {run('systemctl', 'status', '--no-pager', name, check=False)}"
                for name in names if name not in self.scenario.failed]


def notify_ready() -> None:
    """sd_notify, for whoever waits for the driver."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as connection:
        connection.connect(os.environ["NOTIFY_SOCKET"])
        connection.send(b"READY=1")


def boot_seconds() -> float:
    return round(time.clock_gettime(time.CLOCK_BOOTTIME), 1)
