"""In the guest: alice's second factor, who asks her for it, and what programs in PAM stacks are told."""

import re
import select
import subprocess
import time
from pathlib import Path

from .session import as_user, execute
from .watching import Log, Process, run, write

NEEDED = "/usr/libexec/vicinity/second-factor-needed"
PASSWORD = "lab value three"
SECRET = "3132333435363738393031323334353637383930"  # of RFC 6238, appendix B
STEP = 30  # seconds that a code is of
AHEAD = 2  # so many codes before their time are taken: `window`


def enrol(user: str) -> None:
    """With a password and a second factor."""
    # The usual hash takes seconds under emulation.
    subprocess.run(["chpasswd", "--crypt-method", "SHA256"], input=f"{user}:{PASSWORD}\n", text=True, check=True)
    write(Path("/etc/users.oath"), f"HOTP/T30/6 {user} - {SECRET}\n")


class Codes:
    """Those of an app. None is older than one that was taken before: PAM would say that it has been used."""

    step = 0

    def now(self) -> int:
        return int(time.time()) // STEP

    def of(self, step: int) -> str:
        return run("oathtool", "--totp", f"--now=@{step * STEP}", SECRET).strip()

    def take(self) -> str:
        while self.step - self.now() >= AHEAD:
            select.select([], [], [], STEP - time.time() % STEP)  # the next one is not there earlier
        self.step = max(self.step + 1, self.now())
        return self.of(self.step)

    def used(self) -> str:
        return self.of(self.step)

    def wrong(self) -> str:
        """Of no time for hours."""
        return self.of(self.now() + 1_000)

    def fill(self, text: str) -> str:
        """What is to be typed."""
        values = {"@code": self.take, "@used": self.used, "@wrong": self.wrong, "@password": lambda: PASSWORD}
        return values[text]() if text in values else text


class Authenticator:
    """The authentication agent of alice's session. What it shows is looked at once, in order."""

    source, unit = "authentication", "authentication.service"

    def __init__(self, log: Log):
        self.log, self.process, self.place = log, None, 0

    def start(self) -> None:
        self.process = Process(self.log, self.source, [
            "systemd-run", "--user", "--quiet", "--collect", "--pipe", "--wait", f"--unit={self.unit}", "--",
            "/run/lab/bin/authentication"], stdin=subprocess.PIPE, **as_user("alice"))
        self.process.wait_for("registered", 60)

    def end(self, signal: str) -> None:
        execute(["systemctl", "--user", "kill", f"--signal={signal}", self.unit], "alice")
        self.log.wait("the authentication agent's end", lambda: self.process.ended)

    def wait(self, pattern: str, limit: float) -> None:
        def found() -> int | None:
            texts = self.log.texts(self.source)
            return next((number for number in range(self.place, len(texts)) if re.search(pattern, texts[number])), None)
        self.log.wait(f"alice to be shown {pattern}", lambda: found() is not None, limit)
        self.place = found() + 1

    def type(self, text: str) -> None:
        self.process.process.stdin.write(f"{text}\n".encode())
        self.process.process.stdin.flush()


def ask(user: str) -> tuple[str, float]:
    """What a PAM stack is told, and after how many seconds."""
    options = as_user(user)
    began = time.monotonic()
    code = subprocess.run([NEEDED], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, **options).returncode
    return "skip" if code == 0 else "needed", time.monotonic() - began
