#!/usr/bin/env python3
"""Seeds for the fuzz targets, from the captures and examples of the repository: seeds.py DIRECTORY"""

import collections
import json
import pathlib
import re
import struct
import sys

root = pathlib.Path(__file__).resolve().parents[2]
output = pathlib.Path(sys.argv[1])
FAMILY = 33  # World.family


def datagrams(path):
    """(seconds, bus, octets) of a pcap file in this machine's order."""
    data = path.read_bytes()
    position = 24
    while position + 16 <= len(data):
        seconds, fraction, captured, _ = struct.unpack_from("=IIII", data, position)
        packet = data[position + 16 : position + 16 + captured]
        position += 16 + captured
        if len(packet) > 16:
            yield seconds + fraction / 1e6, struct.unpack_from(">H", packet, 14)[0], packet[16:]


def messages(datagram):
    position = 0
    while position + 16 <= len(datagram):
        length, kind, _, sequence, _ = struct.unpack_from("=IHHII", datagram, position)
        if length < 16:
            return
        yield position, kind, sequence, datagram[position + 16 : position + length]
        position += (length + 3) & ~3


def attributes(octets):
    position = 0
    while position + 4 <= len(octets):
        length, kind = struct.unpack_from("=HH", octets, position)
        if length < 4:
            return
        yield kind & 0x3FFF, octets[position + 4 : position + length]
        position += (length + 3) & ~3


def write(target, name, octets):
    directory = output / target
    directory.mkdir(parents=True, exist_ok=True)
    (directory / name).write_bytes(octets)


def seed_captures(path):
    seen = collections.Counter()
    packets = list(datagrams(path))
    for _, bus, datagram in packets:
        if bus == 16:
            seen.update(kind for _, kind, _, _ in messages(datagram) if kind > 16)
    family = seen.most_common(1)[0][0] if seen else FAMILY
    records, elements, before = [], set(), None
    for time, bus, datagram in packets:
        if bus not in (0, 16):
            continue
        octets = bytearray(datagram)
        kind = 1 if bus == 0 else 0
        for position, message, sequence, payload in messages(datagram):
            if bus == 16 and message == family:
                struct.pack_into("=H", octets, position + 4, FAMILY)
                for attribute, body in attributes(payload[4:]):
                    if attribute == 77:
                        elements.add(bytes(body))
                    if attribute == 47:
                        elements.update(bytes(entry) for number, entry in attributes(body) if number in (6, 11))
            if sequence:
                kind = 3  # what somebody was answered
        wait = min(int((time - (before or time)) * 1000), 60000)
        before = time
        records.append(struct.pack("=BHH", kind, wait, len(octets)) + octets)
        if wait > 20:
            records.append(struct.pack("=BHH", 2, 0, 0))
    for start in range(0, len(records), 24):
        write("Kernel", f"{path.stem}-{start}", b"".join(records[start : start + 24]))
    for number, body in enumerate(sorted(elements)):
        write("Elements", f"{path.stem}-{number}", b"\0" + body)
    # A few thousand octets of the file are enough to vary.
    head = path.read_bytes()[:24]
    body, files = b"", 0
    data = path.read_bytes()
    position = 24
    while position + 16 <= len(data):
        captured = struct.unpack_from("=I", data, position + 8)[0]
        body += data[position : position + 16 + captured]
        position += 16 + captured
        if len(body) > 6000:
            write("Captures", f"{path.stem}-{files}", head + body)
            body, files = b"", files + 1
    block = struct.pack("=IIIHHq", 0x0A0D0D0A, 28, 0x1A2B3C4D, 1, 0, -1) + struct.pack("=I", 28)
    block += struct.pack("=IIHHI", 1, 20, 253, 0, 0) + struct.pack("=I", 20)
    for number, (time, bus, datagram) in enumerate(packets[:20]):
        packet = struct.pack(">HH10xH", 4, 0x338, bus) + datagram
        padded = packet + b"\0" * (-len(packet) % 4)
        stamp = int(time * 1e6)
        length = 32 + len(padded)
        block += struct.pack("=IIIIIII", 6, length, 0, stamp >> 32, stamp & 0xFFFFFFFF, len(packet), len(packet))
        block += padded + struct.pack("=I", length)
        write("Captures", f"{path.stem}-ng-{number}", block)


def seed_recording():
    """What `vicinity record` writes: notes between the messages."""
    notes = [
        "", " device 3 1 wlan", " answer 0 0 inventory overrun", " answer 0 1 radio 3 1", " answer 1 0 association 3 1",
        " answer 0 0 path", " answer 0 0 neighbour 3 192.0.2.1", " answer 0 0 access-point 3 02:00:00:00:00:00",
        " answer 0 0 station 3 1 02:00:00:00:00:00", " failure radio 3 1",
    ]
    octets = struct.pack("=IHHQII", 0xA1B2C3D4, 2, 4, 0, 262144, 253)
    for note in notes:
        text = ("vicinity/1" + note).encode()
        message = struct.pack("=IHHII", 16 + len(text), 1, 0, 0, 0) + text
        packet = struct.pack(">HH10xH", 4, 0x338, 0) + message
        octets += struct.pack("=IIII", 1700000000, 0, len(packet), len(packet)) + packet
        write("Captures", f"notes{len(octets)}", octets)


def seed_rules():
    """Files of the tests with every key, and single keys to the edges of what is allowed."""
    text = (root / "Tests/RulesTests/GoodFiles.swift").read_text()
    for number, file in enumerate(re.findall(r'"""\n(.*?)\n {8}"""', text, re.S)):
        write("RuleFiles", f"whole-{number}", re.sub("^ {8}", "", file, flags=re.M).encode())
    rule = '[network.office]\nssid = ["Corp-Staff"]\nsecurity = ["enterprise"]\n[rule.a]\non = "office"\n'
    for number, key in enumerate(re.findall(r'#"(.*?)"#', text)):
        table = "[network.a]\n" if re.match("ssid|security|bssid|gateway|dns|subnet|interface|stable", key) else rule
        write("RuleFiles", f"key-{number}", f"{table}{key}\n".encode())


def seed_probe_lines():
    """What the agent asks its helper, and what that answers."""
    pin = "0123456789abcdef" * 4
    request = {"interface": "wlan0", "index": 3, "server": "inside.example", "port": 443,
               "addresses": ["192.0.2.1", "2001:db8::1"], "pins": [pin, "A" * 43 + "="], "milliseconds": 3000}
    answers = [{"outcome": "proven", "pin": pin}, {"outcome": "pin_mismatch", "seen": pin},
               {"outcome": "tls_failed", "reason": "wrong version number"}, {"outcome": "refused"}]
    for number, line in enumerate([request, *answers]):
        write("ProbeLines", str(number), json.dumps(line).encode() + b"\n")


def seed_feed():
    """What readers ask of the feed, and what it says."""
    requests = [{}, {"since": "9f0c3a5e1b7d2f64:17", "types": ["wifi.*", "agent.stopped"], "interface": "wlan0"},
                {"follow": False}, {"why": "office"}, {"why": ""}]
    for number, request in enumerate(requests):
        write("FeedRequests", str(number), json.dumps(request).encode())
    wifi = {"ssid": "Corp-Staff", "ssid_hex": "436f72702d5374616666", "bssid": "02:00:00:00:00:00",
            "frequency_mhz": 2412, "channel": 1, "security": "wpa2-psk", "signal_dbm": -30}
    interface = {"interface": "wlan0", "ifindex": 4, "kind": "wifi", "usable": True, "addresses": ["192.0.2.7/24"],
                 "wifi": {"state": "joined", **wifi}}
    lines = [
        {"seq": None, "type": "environment.snapshot", "permission": "full", "as_of_seq": 0, "interfaces": [interface],
         "route": {"ifindex": 4, "gateway": "192.0.2.1"}, "connectivity": "internet", "networks": ["office"], "rules": []},
        {"type": "wifi.left", "wifi": wifi, "cause": {"reason": 3, "by_ap": True}},
        {"type": "wifi.roamed", "wifi": {**wifi, "previous_bssid": "02:00:00:00:01:00"}},
        {"type": "wifi.joined", "wifi": wifi}, {"type": "link.up", "kind": "wifi"}, {"type": "link.down"},
        {"type": "address.changed", "address": {"added": ["192.0.2.7/24"], "removed": []}},
        {"type": "connectivity.changed", "connectivity": "portal"},
        {"type": "network.entered", "network": {"name": "office", "assurance": "keyed", "previous": "unknown"}},
        {"type": "rule.activated", "rule": {"name": "office", "file": "a.toml", "line": 1, "because": "on office"}},
        {"type": "agent.resynced", "cause": {"resync": "overrun"}}, {"type": "agent.suspended"}, {"type": "agent.resumed"},
        {"seq": None, "type": "feed.gap", "gap": {"lost": 7}},
    ]
    text = b""
    for number, line in enumerate(lines):
        head = {"schema": "vicinity/1", "seq": number, "id": f"9f0c3a5e1b7d2f64:{number}",
                "time": f"2026-11-30T12:00:{number:02}.123456Z", "boottime_us": 123456789 + number * 1_000_000}
        octets = json.dumps({**head, "interface": "wlan0", "ifindex": 4, **line}).encode() + b"\n"
        write("FeedLines", str(number), octets)
        text += octets
    write("FeedLines", "all", text)


def seed_helper_lines():
    """What the agent asks of root's helper and of those in sessions, and what they say."""
    digest = "0123456789abcdef" * 4
    record = {"event": "rule.activated", "network": "office", "assurance": "keyed", "interface": "wlan0", "ifindex": 4,
              "ssid_hex": "436f72702d5374616666", "bssid": "02:00:00:00:00:00", "security": "wpa2-psk",
              "links": ["wlan0", "eth0"]}
    state = {"rule": "office", "index": 0, "record": record}
    lines = [
        {"do": "hold", "pass": 7, "digest": digest, "states": [state, {**state, "index": 1}]},
        {"do": "run", "id": 7, "digest": digest, **state, "edge": "enter"},
        {"do": "run", "id": 8, "digest": digest, **state, "edge": "leave", "outcome": "failure", "consequence": 1},
        {"do": "cancel", "id": 7}, {"do": "portal", "digest": digest, **state}, {"do": "prepare"},
        {"do": "verify", "daemon": "networkmanager"}, {"do": "protect", "after_ms": 10000}, {"do": "release"},
        {"is": "outdated", "digest": digest, "pass": 7}, {"is": "outdated", "digest": digest, "id": 7},
        {"is": "started", "id": 7}, {"is": "settled", "pass": 7}, {"is": "settled"}, {"is": "noted"},
        {"is": "state", "rule": "office", "index": 0, "outcome": "held"},
        {"is": "state", "rule": "office", "index": 0, "outcome": "failed", "because": "no such zone"},
        {"is": "ended", "id": 7, "result": "failed", "exit": 3, "duration_us": 4000, "because": "exit 3",
         "output": "6f75740a", "output_lost": 0, "errors": "", "errors_lost": 9},
    ]
    for number, line in enumerate(lines):
        write("HelperLines", str(number), json.dumps(line).encode() + b"\n")


for fixture in sorted((root / "Tests/Fixtures").glob("*.pcap*")):
    seed_captures(fixture)
seed_recording()
seed_probe_lines()
seed_feed()
seed_helper_lines()
for example in sorted((root / "Config/examples").glob("*.toml")):
    write("RuleFiles", example.name, example.read_bytes())
seed_rules()
