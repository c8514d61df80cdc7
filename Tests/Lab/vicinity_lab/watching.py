"""In the guest: everything that any process says, in one log that steps wait on."""

import ctypes
import os
import select
import socket
import subprocess
import threading
import time
from pathlib import Path

LAB = Path("/run/lab")
PORTS = Path("/sys/class/virtio-ports")
RESOLVER = Path("/etc/resolv.conf")


class Timeout(Exception):
    """What a step waited for did not come."""


class AirTrouble(Exception):
    """The air did not do what the scenario wants, as on a machine too busy for a handshake: not the program's fault,
    and worth another try."""


class Log:
    def __init__(self, sink):
        self.entries: list[tuple[str, str]] = []  # (source, text)
        self.changed = threading.Condition()
        self.sink = sink

    def add(self, source: str, text: str) -> None:
        with self.changed:
            self.entries.append((source, text))
            self.sink({"kind": "line", "source": source, "text": text, "at": round(time.time(), 6)})
            self.changed.notify_all()

    def mark(self) -> int:
        with self.changed:
            return len(self.entries)

    def texts(self, source: str, since: int = 0) -> list[str]:
        return [text for origin, text in self.entries[since:] if origin == source]

    def wait(self, what: str, predicate, limit: float = 25):
        """Until `predicate()` is true; called again whenever something was said."""
        with self.changed:
            result = self.changed.wait_for(predicate, limit)
        if not result:
            raise Timeout(f"waited {limit:.0f} s for {what}")
        return result


class Process:
    """A child whose output goes to the log line by line."""

    def __init__(self, log: Log, source: str, command: list[str], without: str | None = None, **options):
        self.log, self.source = log, source
        self.without = without  # lines that hold this are not worth logging
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, **options}
        self.process = subprocess.Popen(command, **options)
        self.ended = False
        self.since = log.mark()
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def read(self) -> None:
        with self.process.stdout as stream:
            for line in stream:
                text = line.decode("utf-8", "backslashreplace").rstrip("\n")
                if self.without is None or self.without not in text:
                    self.log.add(self.source, text)
        with self.log.changed:
            self.ended = True
            self.log.changed.notify_all()

    @property
    def pid(self) -> int:
        return self.process.pid

    def alive(self) -> bool:
        return self.process.poll() is None

    def wait_for(self, words: str, limit: float = 25) -> None:
        """Until it has said the words; its end is a failure."""
        self.log.wait(f"{self.source} to say {words}", lambda: self.ended or any(
            words in text for text in self.log.texts(self.source, self.since)), limit)
        if not any(words in text for text in self.log.texts(self.source, self.since)):
            raise RuntimeError(f"{self.source} ended: {self.log.texts(self.source, self.since)[-3:]}")

    def stop(self, signal_number: int = 15, limit: float = 8) -> int:
        """Ask it to end, then make it; its last lines are in the log afterwards."""
        if self.alive():
            self.process.send_signal(signal_number)
        try:
            code = self.process.wait(limit)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        self.reader.join(2)
        return code


def wait_for_socket(path: Path, process: Process | None, limit: float = 20, kind=socket.SOCK_STREAM) -> None:
    """Until somebody listens there: inotify says when to look again, also where the directory is yet to come."""
    libc = ctypes.CDLL(None)
    descriptor = libc.inotify_init1(os.O_CLOEXEC)
    deadline = time.monotonic() + limit
    try:
        while (process is None or process.alive()) and time.monotonic() < deadline:
            for directory in (path.parent, path.parent.parent):
                libc.inotify_add_watch(descriptor, os.fsencode(directory), 0x104)  # IN_CREATE, IN_ATTRIB
            with socket.socket(socket.AF_UNIX, kind) as probe:
                if probe.connect_ex(str(path)) == 0:
                    return
            # Between bind and listen there is no event: look again soon.
            if select.select([descriptor], [], [], 0.1 if path.exists() else 1)[0]:
                os.read(descriptor, 4096)
    finally:
        os.close(descriptor)
    raise Timeout(f"nobody listens on {path}")


def run(*command: str, check: bool = True, limit: float = 30) -> str:
    result = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                            text=True, errors="backslashreplace", timeout=limit)
    if check and result.returncode != 0:
        raise RuntimeError(f"{' '.join(command)}: exit {result.returncode}: {result.stdout.strip()}")
    return result.stdout


def write(path: Path, text: str, mode: int = 0o600) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    os.chmod(path, mode)
    return path
