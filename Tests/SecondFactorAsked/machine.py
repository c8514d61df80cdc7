"""PAM's files and accounts of the test's own, in its mount namespace, and a `vicinity-factor` as vicinity-act has it."""

import array
import os
import select
import signal
import socket
import subprocess
import time
from pathlib import Path
from urllib.parse import quote

PROGRAM = Path(os.environ["VICINITY_FACTOR"])
USER, UID = "ada", 4711
SECRET = "3132333435363738393031323334353637383930"
PASSWORD = "correct horse"
OATH = Path("/etc/users.oath")
SERVICE = Path("/etc/pam.d/vicinity")
FACTOR = "auth required pam_oath.so usersfile=/etc/users.oath window=2 digits=6\naccount required pam_permit.so\n"
PASSWORD_AND_FACTOR = (
    "auth required pam_unix.so nodelay\n"
    "auth required pam_oath.so usersfile=/etc/users.oath window=2 digits=6\n"
    "account required pam_unix.so\n")
QUESTIONS = Path("/run/systemd/ask-password")
# s; what takes longer hangs.
LIMIT = 20


def set_up() -> None:
    """Everything in /etc that a test writes vanishes with this process's mounts."""
    subprocess.run(["mount", "--make-rprivate", "/"], check=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", "/mnt"], check=True)
    subprocess.run(["cp", "-a", "/etc", "/mnt/etc"], check=True)
    subprocess.run(["mount", "--bind", "/mnt/etc", "/etc"], check=True)
    QUESTIONS.mkdir(parents=True, exist_ok=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "mode=755", "tmpfs", str(QUESTIONS)], check=True)
    hashed = subprocess.run(["openssl", "passwd", "-6", PASSWORD], capture_output=True, text=True, check=True)
    with open("/etc/passwd", "a") as passwd, open("/etc/shadow", "a") as shadow:
        passwd.write(f"{USER}:x:{UID}:{UID}::/nonexistent:/bin/false\n")
        shadow.write(f"{USER}:{hashed.stdout.strip()}:19000:0:99999:7:::\n")


def service(text: str) -> None:
    SERVICE.write_text(text)


def enrol(counter: int = 0) -> None:
    """By events, not by time: the next code is known, and a used one is used."""
    OATH.write_text(f"HOTP {USER} - {SECRET} {counter}\n")
    OATH.chmod(0o600)


def code(counter: int) -> str:
    made = subprocess.run(["oathtool", "--hotp", f"--counter={counter}", SECRET], capture_output=True, text=True, check=True)
    return made.stdout.strip()


def children(process: int) -> list[int]:
    try:
        return [int(word) for word in Path(f"/proc/{process}/task/{process}/children").read_text().split()]
    except (FileNotFoundError, ProcessLookupError):
        return []


def is_gone(process: int) -> bool:
    """Whether it runs no more; nobody may have reaped it yet."""
    try:
        return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except (FileNotFoundError, ProcessLookupError):
        return True


def wait_until(condition, what: str):
    end = time.monotonic() + LIMIT
    while not (found := condition()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {LIMIT} s: {what}")
        os.sched_yield()
    return found


class Asked:
    """One `vicinity-factor`. `ours` is the end that vicinity-act has, `dialogue` the one that a pinentry gets."""

    def __init__(self, line: bytes | None = None, has_dialogue: bool = True, seconds: int = 30, message: str = "Confirm",
                 user: str = USER, uid: int = UID, send: bool = True):
        self.ours, theirs = socket.socketpair()
        self.ours.settimeout(LIMIT)
        self.dialogue, end = socket.socketpair()
        self.dialogue.settimeout(LIMIT)
        self.process = subprocess.Popen([str(PROGRAM)], stdin=theirs, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        theirs.close()
        if line is None:
            words = ["dialogue" if has_dialogue else "console", quote(user), str(uid), str(seconds), quote(message)]
            line = " ".join(words).encode() + b"\n"
        descriptors = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [end.fileno()]))] if has_dialogue else []
        if send:
            self.ours.sendmsg([line], descriptors)
        end.close()

    def answer(self) -> str | None:
        """None where it ended without a word."""
        data = b""
        while not data.endswith(b"\n"):
            try:
                more = self.ours.recv(64)
            except ConnectionResetError:
                more = b""
            if not more:
                return None if not data else "cut " + data.decode()
            data += more
        return data.decode().strip()

    @property
    def child(self) -> int:
        """The process in which PAM runs."""
        return wait_until(lambda: children(self.process.pid), "PAM's process")[0]

    def wait(self) -> int:
        return self.process.wait(LIMIT)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.ours.close()
        self.dialogue.close()
        self.wait()
        self.process.stderr.close()


class Pinentry:
    """The program that the session runs: in a process of its own, with its end of the dialogue as input and output."""

    GREETING = b"OK Pleased to meet you\n"

    def __init__(self, asked: Asked, *pins: str, greeting: bytes = GREETING, replies=None):
        """`replies` by the command: octets, or "hang", "die"."""
        self.heard: list[str] = []
        told, tell = os.pipe()
        self.log = told
        self.process = os.fork()
        if self.process:
            os.close(tell)
            asked.dialogue.close()
            return
        try:
            os.close(told)
            asked.ours.close()
            self._run(asked.dialogue, list(pins), greeting, replies or {}, tell)
        finally:
            os._exit(0)

    @staticmethod
    def _run(connection, pins, greeting, replies, tell):
        def act(reply):
            if reply == "hang":
                signal.pause()
            if reply == "die":
                os.kill(os.getpid(), signal.SIGKILL)
            connection.sendall(reply)
        connection.settimeout(None)
        act(greeting)
        for line in connection.makefile("rb"):
            os.write(tell, line)
            command = line.split()[0].decode()
            if command in replies:
                act(replies[command])
            elif command == "GETPIN":
                pin = pins.pop(0)
                connection.sendall(b"D " + quote(pin, safe=" ").encode() + b"\nOK\n" if pin else b"OK\n")
            else:
                connection.sendall(b"OK\n")

    def hears(self, command: str) -> None:
        """Until it has been told that."""
        while command not in [line.split()[0] for line in self.heard]:
            if not select.select([self.log], [], [], LIMIT)[0]:
                raise AssertionError(f"{command} never came: {self.heard}")
            data = os.read(self.log, 65536)
            if not data:
                raise AssertionError(f"it ended before {command}: {self.heard}")
            self.heard += data.decode().splitlines()

    def end(self) -> list[str]:
        """Everything that it has heard."""
        try:
            os.kill(self.process, signal.SIGKILL)
        except ProcessLookupError:
            pass
        os.waitpid(self.process, 0)
        while data := os.read(self.log, 65536):
            self.heard += data.decode().splitlines()
        os.close(self.log)
        return self.heard
