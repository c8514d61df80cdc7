"""In the guest: a link that goes up and down as often as is asked for, and what that costs the product."""

import fcntl
import re
import select
import socket
import struct
import time
from pathlib import Path

from .watching import run

SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP = 0x8913, 0x8914, 1


def set_link(interface: str, is_up: bool) -> None:
    """By ioctl: a program of its own for each change would be the slowest part of it."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        name = interface.encode().ljust(16, b"\0")
        (flags,) = struct.unpack_from("H", fcntl.ioctl(handle, SIOCGIFFLAGS, name + bytes(16)), 16)
        flags = flags | IFF_UP if is_up else flags & ~IFF_UP
        fcntl.ioctl(handle, SIOCSIFFLAGS, name + struct.pack("H", flags) + bytes(14))


def flap(interface: str, rate: float, seconds: float) -> tuple[int, float]:
    """So many changes a second, or as many as this machine can do; ends up. How many they were, and in what time."""
    began, count = time.monotonic(), 0
    while (now := time.monotonic()) < began + seconds or count % 2:
        due = began + count / rate
        if due > now:
            select.select([], [], [], due - now)
        set_link(interface, is_up=count % 2 == 1)
        count += 1
    return count, time.monotonic() - began


def resident(unit: str) -> int:
    """The resident set of a unit's main process in KiB; 0 where it does not run."""
    pid = int(run("systemctl", "show", "--property=MainPID", "--value", unit))
    try:
        return int(re.search(r"VmRSS:\s+(\d+) kB", Path(f"/proc/{pid}/status").read_text()).group(1)) if pid else 0
    except FileNotFoundError:
        return 0
