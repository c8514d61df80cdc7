"""A little generic netlink, for what `iw` cannot do fast enough, and captures of it."""

import select
import socket
import struct
import time
from pathlib import Path

GENERIC, CONTROLLER = 16, 16
REQUEST, ACKNOWLEDGE = 1, 4
NEW_INTERFACE, DEL_INTERFACE, CONNECT, DISCONNECT = 7, 8, 46, 48
NEW_ADDRESS = 20
WIPHY, IFINDEX, IFNAME, IFTYPE, MAC, WDEV = 1, 3, 4, 5, 6, 153
P2P_DEVICE = 10
# Frames of the longest message, as many as come at once: by default there is room for eight, and the rest is lost.
CAPTURE = ["tcpdump", "-i", "nlmon0", "-Z", "root", "--immediate-mode", "-s", "32768", "-B", "32768", "-U", "-w"]


def attribute(kind: int, value: bytes) -> bytes:
    return struct.pack("=HH", 4 + len(value), kind) + value + bytes(-len(value) % 4)


def attributes(data: bytes) -> dict[int, bytes]:
    found, place = {}, 0
    while place + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, place)
        if length < 4:
            break
        found[kind & 0x3FFF] = data[place + 4:place + length]
        place += (length + 3) & ~3
    return found


class GenericNetlink:
    def __init__(self):
        self.socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, GENERIC)
        self.socket.bind((0, 0))
        self.sequence = 0
        about = self.request(CONTROLLER, 3, attribute(2, b"nl80211\0"))
        self.family = struct.unpack("=H", about[1])[0]
        self.groups = {}
        for entry in attributes(about[7]).values():
            group = attributes(entry)
            self.groups[group[1].rstrip(b"\0").decode()] = struct.unpack("=I", group[2])[0]

    def request(self, family: int, command: int, body: bytes) -> dict[int, bytes]:
        """The attributes of the answer, after the kernel has acknowledged the request."""
        self.sequence += 1
        message = struct.pack("=IHHIIBBH", 20 + len(body), family, REQUEST | ACKNOWLEDGE, self.sequence, 0,
                              command, 1, 0) + body
        self.socket.send(message)
        answer: dict[int, bytes] = {}
        while True:
            data = self.socket.recv(65536)
            while data:
                length, kind, _, sequence, _ = struct.unpack_from("=IHHII", data)
                if sequence == self.sequence and kind == 2:
                    (error,) = struct.unpack_from("=i", data, 16)
                    if error:
                        raise OSError(-error, f"nl80211 command {command}")
                    return answer
                if sequence == self.sequence:
                    answer = attributes(data[20:length])
                data = data[(length + 3) & ~3:]

    def flood(self, wiphy: int, count: int) -> None:
        """Interface messages without any radio: a P2P device has no netdev, so it comes and goes quickly."""
        new = attribute(WIPHY, struct.pack("=I", wiphy)) + attribute(IFNAME, b"flood\0") + attribute(
            IFTYPE, struct.pack("=I", P2P_DEVICE))
        for _ in range(count):
            wdev = self.request(self.family, NEW_INTERFACE, new)[WDEV]
            self.request(self.family, DEL_INTERFACE, attribute(WDEV, wdev))


def sockets(pid: int) -> list[list[str]]:
    """The rows of /proc/net/netlink (… Groups at 3, Drops at 8 …) that are a process's."""
    inodes = set()
    for descriptor in Path(f"/proc/{pid}/fd").iterdir():
        try:
            target = str(descriptor.readlink())
        except OSError:
            continue
        if target.startswith("socket:["):
            inodes.add(target[8:-1])
    rows = [line.split() for line in Path("/proc/net/netlink").read_text().splitlines()[1:]]
    return [row for row in rows if row[9] in inodes]


def drops(pid: int) -> int:
    """How many messages the kernel did not deliver to a process."""
    return sum(int(row[8]) for row in sockets(pid))


def hears(pid: int, group: str, limit: float = 8) -> bool:
    """Whether a process has subscribed to a group of nl80211, now or before long."""
    bit = 1 << GenericNetlink().groups[group] - 1
    deadline = time.monotonic() + limit
    while not any(int(row[3], 16) & bit for row in sockets(pid)):
        if time.monotonic() > deadline:
            return False
        select.select([], [], [], 0.02)  # nothing tells when another process subscribes
    return True


def messages(capture: Path):
    """(time in ns, type, message from its header on) of each netlink message in an nlmon capture; a multicast is there
    once for each socket that heard it."""
    data = capture.read_bytes()
    order = "<" if data[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    scale = 1 if data[:4] in (b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d") else 1000
    place = 24
    while place + 16 <= len(data):
        seconds, fraction, length, _ = struct.unpack_from(order + "IIII", data, place)
        message = data[place + 16:place + 16 + length][16:]  # after the cooked header of link type 253
        place += 16 + length
        if len(message) >= 20:
            yield seconds * 1_000_000_000 + fraction * scale, struct.unpack_from("=H", message, 4)[0], message


def once(found: list[tuple[int, bytes]]) -> list[tuple[int, bytes]]:
    """The first of those that are alike within half a second."""
    kept: dict[bytes, tuple[int, bytes]] = {}
    for at, message in sorted(found):
        kept.setdefault(message[16:] + (at // 500_000_000).to_bytes(8, "big"), (at, message))
    return sorted(kept.values())


def events(capture: Path, family: int, command: int) -> list[tuple[int, int, bytes | None]]:
    """(time in ns, ifindex, access point) of each multicast nl80211 message with that command, once however many
    sockets heard it."""
    found = []
    for at, message in once([(at, message) for at, kind, message in messages(capture)
                             if kind == family and message[16] == command and message[8:12] == bytes(4)]):
        table = attributes(message[20:])
        found.append((at, struct.unpack("=I", table[IFINDEX])[0], table.get(MAC)))
    return found


def connects(capture: Path, family: int) -> list[tuple[int, int]]:
    """(time in ns, ifindex) of each nl80211 CONNECT."""
    return [(at, index) for at, index, _ in events(capture, family, CONNECT)]


def addresses(capture: Path) -> list[tuple[int, int]]:
    """(time in ns, ifindex) of each RTM_NEWADDR for IPv4, be it an answer to who set it or a multicast."""
    return [(at, struct.unpack_from("=I", message, 20)[0]) for at, kind, message in messages(capture)
            if kind == NEW_ADDRESS and message[16] == socket.AF_INET and len(message) >= 24]
