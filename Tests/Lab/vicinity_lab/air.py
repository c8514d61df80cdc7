"""In the guest: radios, access points (hostapd, in a network namespace of their own) and who watches them."""

import hashlib
import os
import re
import socket
import struct
import sys
from pathlib import Path

from .netlink import hears
from .scenario import AccessPoint, Scenario, Wire
from .watching import LAB, Log, Process, run, write

AIR = ["ip", "netns", "exec", "air"]
CONTROL = LAB / "hostapd"
SERVER = "10.1.0.2"  # inside the networks that have one
LAN = "lan"
KEY_MANAGEMENT = {"open": "NONE", "owe": "OWE", "wpa-psk": "WPA-PSK", "wpa2-psk": "WPA-PSK", "wpa3-sae": "SAE",
                  "wpa2-enterprise": "WPA-EAP"}


class Control:
    """The control socket that hostapd and wpa_supplicant share."""

    counter = 0

    def __init__(self, path: Path):
        Control.counter += 1
        self.local = LAB / f"control-{Control.counter}"
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(str(self.local))
        self.socket.settimeout(10)
        self.socket.connect(str(path))

    def ask(self, command: str) -> str:
        self.socket.send(command.encode())
        return self.socket.recv(65536).decode(errors="backslashreplace").strip()

    def do(self, command: str) -> str:
        answer = self.ask(command)
        if answer.startswith(("FAIL", "UNKNOWN")):
            raise RuntimeError(f"{command}: {answer}")
        return answer

    def close(self) -> None:
        self.socket.close()
        self.local.unlink(missing_ok=True)


def hostapd_configuration(ap: AccessPoint, lan: list[str]) -> str:
    lines = [f"interface=wlan{ap.index}", "driver=nl80211", f"ctrl_interface={CONTROL}", f"ssid2={ap.ssid.hex()}",
             f"hw_mode={'a' if ap.channel > 14 else 'g'}", f"channel={ap.channel}", "max_num_sta=10"]
    if ap.name in lan:
        lines.append(f"bridge={LAN}")
    if ap.country:
        lines += [f"country_code={ap.country}", "ieee80211d=1"]
    if ap.hidden:
        lines.append("ignore_broadcast_ssid=1")
    if ap.security != "open":
        lines += [f"wpa={1 if ap.security == 'wpa-psk' else 2}", f"wpa_key_mgmt={KEY_MANAGEMENT[ap.security]}",
                  "wpa_pairwise=CCMP", "rsn_pairwise=CCMP"]
    if ap.security in ("owe", "wpa3-sae"):
        lines.append("ieee80211w=2")
    if ap.passphrase and ap.security != "wpa2-enterprise":
        lines.append(f"wpa_passphrase={ap.passphrase}")
    if ap.security == "wpa2-enterprise":
        lines += eap_server(ap.index, ap.passphrase)
    return "\n".join(lines) + "\n"


def eap_server(index: int, password: str) -> list[str]:
    certificates = certificate_directory()
    users = write(LAB / f"eap-{index}", f'* PEAP\n"employee" MSCHAPV2 "{password}" [2]\n')
    return ["ieee8021x=1", "eap_server=1", f"eap_user_file={users}", f"ca_cert={certificates}/ca.pem",
            f"server_cert={certificates}/server.pem", f"private_key={certificates}/server.key"]


def certificate_directory() -> Path:
    """A certification authority and one server certificate, made once per boot."""
    directory = LAB / "certificates"
    if not directory.exists():
        directory.mkdir()
        new = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30"]
        run(*new, "-x509", "-subj", "/CN=Lab CA", "-keyout", f"{directory}/ca.key", "-out", f"{directory}/ca.pem")
        run(*new, "-subj", "/CN=radius.lab", "-addext", "subjectAltName=DNS:radius.lab",
            "-keyout", f"{directory}/server.key", "-out", f"{directory}/server.csr")
        extensions = write(directory / "extensions", "subjectAltName=DNS:radius.lab\nextendedKeyUsage=serverAuth\n")
        run("openssl", "x509", "-req", "-in", f"{directory}/server.csr", "-CA", f"{directory}/ca.pem", "-CAkey",
            f"{directory}/ca.key", "-CAcreateserial", "-days", "30", "-extfile", str(extensions),
            "-out", f"{directory}/server.pem")
    return directory


def certificate(name: str) -> Path:
    """Of a server inside, by itself, with its key; made once per boot."""
    path = LAB / f"{name}.pem"
    if not path.exists():
        run("openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "30",
            "-subj", "/CN=inside.corp.example", "-keyout", f"{LAB}/{name}.key", "-out", str(path))
    return path


def pin() -> str:
    """What the server inside is known by: the SHA-256 of its public key."""
    key = run("openssl", "x509", "-in", str(certificate("inside")), "-pubkey", "-noout")
    write(LAB / "inside.public", key)
    run("openssl", "pkey", "-pubin", "-in", f"{LAB}/inside.public", "-outform", "DER", "-out", f"{LAB}/inside.der")
    return hashlib.sha256((LAB / "inside.der").read_bytes()).hexdigest()


class Air:
    """The radios of one scenario: the stations' stay here, the access points' go to the namespace `air`."""

    def __init__(self, log: Log, scenario: Scenario):
        self.log, self.scenario = log, scenario
        self.hostapds: dict[str, Process] = {}
        self.servers: list[Process] = []
        self.server: Process | None = None
        self.is_restricted = False  # the server
        self.page: Process | None = None
        run("rmmod", "mac80211_hwsim", check=False)
        run("modprobe", "mac80211_hwsim", f"radios={len(scenario.stations) + len(scenario.aps)}")
        if not Path("/run/netns/air").exists():
            run("ip", "netns", "add", "air")
            run(*AIR, "ip", "link", "set", "lo", "up")
        for ap in scenario.aps.values():
            run("iw", "phy", self.phy(f"wlan{ap.index}"), "set", "netns", "name", "air")
            if ap.bssid != f"02:00:00:00:{ap.index:02x}:00":
                run(*AIR, "ip", "link", "set", f"wlan{ap.index}", "address", ap.bssid)
        self.phys = {station: self.phy(station) for station in scenario.stations}
        self.names = {station: station for station in scenario.stations}  # as renamed
        self.indexes = {station: socket.if_nametoindex(station) for station in scenario.stations}
        if scenario.lan:
            first = scenario.aps[scenario.lan[0]]
            run(*AIR, "ip", "link", "add", LAN, "address", first.bssid, "type", "bridge", "forward_delay", "0")
            run(*AIR, "ip", "link", "set", LAN, "up")
            self.serve_addresses(LAN, first.index)
        for wire in scenario.wires.values():
            self.lay(wire)
        started = [ap.name for ap in scenario.aps.values() if ap.on]
        for name in started:
            self.start(name)
        for name in started:
            self.wait_on(name)

    @staticmethod
    def phy(interface: str) -> str:
        return Path(f"/sys/class/net/{interface}/phy80211/name").read_text().strip()

    def start(self, name: str) -> None:
        ap = self.scenario.aps[name]
        configuration = write(LAB / f"hostapd-{ap.index}.conf", hostapd_configuration(ap, self.scenario.lan))
        self.hostapds[name] = Process(self.log, f"hostapd {name}", [*AIR, "hostapd", str(configuration)])

    def wait_on(self, name: str) -> None:
        self.hostapds[name].wait_for("AP-ENABLED")
        ap = self.scenario.aps[name]
        if self.scenario.dhcp and name not in self.scenario.lan:
            self.serve_addresses(f"wlan{ap.index}", ap.index)

    def serve_addresses(self, interface: str, subnet: int) -> None:
        run(*AIR, "ip", "address", "replace", f"10.0.{subnet}.1/24", "dev", interface)
        self.servers.append(Process(self.log, f"dnsmasq {interface}", [
            *AIR, "dnsmasq", "--keep-in-foreground", "--conf-file=/dev/null", "--port=0", "--user=root",
            "--log-facility=-", f"--interface={interface}", "--bind-interfaces", "--no-ping",
            f"--dhcp-range=10.0.{subnet}.50,10.0.{subnet}.99,1h", f"--dhcp-leasefile={LAB}/leases-{subnet}",
            "--dhcp-option=option:domain-name,corp.example", f"--pid-file={LAB}/dnsmasq-{subnet}.pid"]))

    def lay(self, wire: Wire) -> None:
        """The cable from the station's eth0 to a switch that asks for 802.1X, or for nothing. (Of several there is
        but one cable: the lab's is laid once.)"""
        run("modprobe", "virtio_net")
        run("ip", "link", "set", "eth1", "netns", "air")
        run(*AIR, "ip", "link", "set", "eth1", "up")
        self.serve_addresses("eth1", wire.index)
        if wire.security == "none":
            return
        lines = ["interface=eth1", "driver=wired", "logger_stdout=-1", "logger_stdout_level=1", "use_pae_group_addr=1",
                 *eap_server(wire.index, wire.passphrase)]
        configuration = write(LAB / f"hostapd-{wire.index}.conf", "\n".join(lines) + "\n")
        process = Process(self.log, f"hostapd {wire.name}", [*AIR, "hostapd", str(configuration)])
        self.servers.append(process)
        process.wait_for("AP-ENABLED")

    def serve(self, name: str, only: int | None) -> None:
        """A TLS server inside, with the key of that name; behind one access point only, where one is named."""
        self.stop_serving()
        path = certificate(name)
        run(*AIR, "ip", "address", "replace", f"{SERVER}/32", "dev", "lo")
        self.is_restricted = only is not None
        if self.is_restricted:
            # Before the kernel looks whether an address is its own.
            run(*AIR, "ip", "rule", "add", "pref", "100", "lookup", "local")
            run(*AIR, "ip", "rule", "del", "pref", "0")
            for ap in self.scenario.aps.values():
                if ap.index != only:
                    run(*AIR, "ip", "rule", "add", "pref", "50", "iif", f"wlan{ap.index}", "to", SERVER, "unreachable")
        self.server = Process(self.log, "server", [
            *AIR, "openssl", "s_server", "-www", "-accept", f"{SERVER}:443", "-cert", str(path), "-key",
            str(path.with_suffix(".key"))])
        self.server.wait_for("ACCEPT")

    def stop_serving(self) -> None:
        if self.server:
            self.server.stop()
            self.server = None
            if self.is_restricted:
                run(*AIR, "ip", "rule", "add", "pref", "0", "lookup", "local")
                run(*AIR, "ip", "rule", "del", "pref", "100")
                while not run(*AIR, "ip", "rule", "del", "pref", "50", check=False):
                    pass

    def show(self, answer: str) -> None:
        """A web server inside, which from now on says this to whoever asks."""
        page = write(LAB / "page", answer, 0o644)
        run(*AIR, "ip", "address", "replace", f"{SERVER}/32", "dev", "lo")
        if not self.page:
            self.page = Process(self.log, "page", [*AIR, sys.executable, "-m", "vicinity_lab.page", SERVER, str(page)])
            self.servers.append(self.page)
            self.page.wait_for("SERVING")

    def on(self, name: str) -> None:
        self.start(name)
        self.wait_on(name)

    def off(self, name: str) -> None:
        """Stops in order: tells its stations."""
        self.hostapds.pop(name).stop()

    def vanish(self, name: str) -> None:
        """Stops without a word, as when the power goes or the station walks away."""
        run(*AIR, "ip", "link", "set", f"wlan{self.scenario.aps[name].index}", "down")
        self.hostapds.pop(name).stop(9)

    def deauthenticate(self, name: str, station: str) -> None:
        control = Control(CONTROL / f"wlan{self.scenario.aps[name].index}")
        try:
            control.ask(f"DEAUTHENTICATE {mac(self.names[station])}")
        finally:
            control.close()

    def rfkill(self, station: str, blocked: bool) -> None:
        """Like a key on the keyboard, but for one radio: struct rfkill_event {idx, type, op, soft, hard}."""
        (directory,) = Path(f"/sys/class/ieee80211/{self.phys[station]}").glob("rfkill*")
        index = int((directory / "index").read_text())
        with open("/dev/rfkill", "r+b", buffering=0) as device:
            os.write(device.fileno(), struct.pack("=IBBBB", index, 1, 2, int(blocked), 0))

    def rename(self, station: str, name: str) -> None:
        # Before Linux 6.2 an interface that is up cannot be renamed.
        run("ip", "link", "set", self.names[station], "down")
        run("ip", "link", "set", self.names[station], "name", name)
        self.names[station] = name

    def stop(self) -> None:
        self.stop_serving()
        for process in [*self.servers, *self.hostapds.values()]:
            process.stop()
        run(*AIR, "ip", "link", "del", LAN, check=False)
        if self.scenario.wires:
            run("rmmod", "virtio_net")
        run("rmmod", "mac80211_hwsim", check=False)


class Watch:
    """`iw event` and `ip monitor` beside the program under test: what really happened."""

    def __init__(self, log: Log):
        self.log = log
        self.iw = self.start_iw()
        self.ip = Process(log, "ip", ["ip", "-oneline", "monitor", "link", "address"])

    def start_iw(self) -> Process:
        """iw resolves its groups on the socket that already gets events, and one that comes between makes it go on
        without that group and without a word. So look in the kernel, and begin again."""
        for _ in range(4):
            process = Process(self.log, "iw", ["iw", "event", "-t"], without="P2P-Device")
            if hears(process.pid, "mlme"):
                return process
            process.stop()
        raise RuntimeError("`iw event` does not hear nl80211")

    def stop(self) -> None:
        self.iw.stop()
        self.ip.stop()

    def wait(self, pattern: str, since: int, limit: float = 25) -> None:
        self.log.wait(f"the air to say: {pattern}",
                      lambda: any(re.search(pattern, text) for text in self.log.texts("iw", since)), limit)

    def associations(self, interface: str, since: int) -> list[str]:
        """What iw said about the interface's link."""
        return [text for text in self.log.texts("iw", since)
                if re.search(rf": {interface} \(phy #\d+\): (connected to|disconnected)", text)]

    def wait_joined(self, interface: str, index: int, ap: AccessPoint, since: int, limit: float = 40) -> None:
        """Associated with that access point, and the interface up: the handshake is over."""
        def joined() -> bool:
            associations = self.associations(interface, since)
            links = [text for text in self.log.texts("ip", since) if re.match(rf"{index}: .* state ", text)]
            return bool(associations and f" connected to {ap.bssid}" in associations[-1] and links
                        and " state UP " in links[-1])
        self.log.wait(f"the station to have joined {ap.name}", joined, limit)


def mac(interface: str) -> str:
    return Path(f"/sys/class/net/{interface}/address").read_text().strip()
