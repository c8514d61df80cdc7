"""A machine's /run/vicinity and accounts that are the test's, in a mount namespace of its own: the program takes no other
path. And who answers there."""

import os
import signal
import socket
import subprocess
import tempfile
import time
from pathlib import Path

PROGRAM = Path(os.environ["SECOND_FACTOR_NEEDED"])
DIRECTORY = Path("/run/vicinity")
SOCKET = DIRECTORY / "second-factor.sock"
AGENT, STRANGER = 4711, 4712
SKIP, NEEDED = 0, 1
SECOND = 1_000_000


def boottime() -> int:
    return time.clock_gettime_ns(time.CLOCK_BOOTTIME) // 1000


def mount(*words: str) -> None:
    subprocess.run(["mount", *words], check=True)


class Server:
    """Listens as that user, in a process of its own, and does with each connection what it is given."""

    def __init__(self, handle, user: int = AGENT, backlog: int = 8):
        self.user = user
        ready, told = os.pipe()
        self.process = os.fork()
        if self.process == 0:
            try:
                listener = socket.socket(socket.AF_UNIX)
                listener.bind(str(SOCKET))
                os.chmod(SOCKET, 0o666)
                os.setresgid(user, user, user)
                os.setresuid(user, user, user)
                # Whoever connects sees who listened.
                listener.listen(backlog)
                os.write(told, b".")
                while True:
                    handle(listener)
            finally:
                os._exit(1)
        os.close(told)
        os.read(ready, 1)
        os.close(ready)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.kill(self.process, signal.SIGKILL)
        os.waitpid(self.process, 0)
        SOCKET.unlink(missing_ok=True)


def says(answer, user: int = AGENT) -> Server:
    """Answers at once; a callable is asked for the octets."""
    def handle(listener):
        connection, _ = listener.accept()
        connection.sendall(answer() if callable(answer) else answer)
        connection.close()
    return Server(handle, user)


def skip(age: int = 0) -> bytes:
    return b"vicinity-second-factor/1 skip %d\n" % (boottime() - age)


class accounts:
    """Puts lines in the place of the machine's accounts, after root's."""

    def __init__(self, lines: str):
        self.file = tempfile.NamedTemporaryFile("w", dir="/run/elsewhere")
        self.file.write("root:x:0:0::/root:/bin/sh\n" + lines)
        self.file.flush()
        os.chmod(self.file.name, 0o644)

    def __enter__(self):
        mount("--bind", self.file.name, "/etc/passwd")
        return self

    def __exit__(self, *_):
        subprocess.run(["umount", "/etc/passwd"], check=True)
        self.file.close()


def set_up() -> None:
    mount("--make-rprivate", "/")
    mount("-t", "tmpfs", "-o", "mode=0755", "tmpfs", "/run")
    os.mkdir("/run/elsewhere")
    DIRECTORY.mkdir()
