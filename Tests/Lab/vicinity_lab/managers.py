"""In the guest: the programs that manage the station's radio, behind one set of verbs."""

import json
import re
import shutil
import socket
from pathlib import Path

from .air import KEY_MANAGEMENT, Air, Control, certificate_directory
from .scenario import AccessPoint, Wire
from .watching import LAB, Log, Process, run, wait_for_socket, write


UDHCPC = """#!/bin/sh
ip address flush dev $interface scope global
[ "$1" = bound ] || exit 0
ip address add $ip/$mask dev $interface
ip route replace default via $router dev $interface
"""


class WpaSupplicant:
    """wpa_supplicant alone, one process per station."""

    def __init__(self, log: Log, air: Air, station: str):
        self.log, self.air, self.station = log, air, station
        self.source = f"wpa_supplicant {station}"
        self.control: Control | None = None
        self.process: Process | None = None

    def start(self) -> None:
        interface = self.air.names[self.station]
        directory = LAB / f"wpa-{self.station}"
        configuration = write(LAB / f"wpa-{self.station}.conf", f"ctrl_interface={directory}\nupdate_config=0\n")
        self.process = Process(self.log, self.source, [
            "wpa_supplicant", "-D", "nl80211", "-i", interface, "-c", str(configuration)])
        wait_for_socket(directory / interface, self.process, kind=socket.SOCK_DGRAM)
        self.control = Control(directory / interface)

    def select(self, ap: AccessPoint, passphrase: str | None, verify: bool = True) -> None:
        """Profiles of the access point's network, and only that one enabled."""
        network = self.control.do("ADD_NETWORK")
        secret = passphrase or ap.passphrase
        frequencies = " ".join(str(frequency) for frequency in sorted(
            {other.frequency for other in self.air.scenario.aps.values()}))
        settings = {"ssid": ap.ssid.hex(), "key_mgmt": KEY_MANAGEMENT[ap.security], "scan_freq": frequencies}
        if ap.hidden:
            settings["scan_ssid"] = "1"
        if ap.security in ("owe", "wpa3-sae"):
            settings["ieee80211w"] = "2"
        if ap.security in ("wpa-psk", "wpa2-psk"):
            settings["psk"] = f'"{secret}"'
        if ap.security == "wpa3-sae":
            settings["sae_password"] = f'"{secret}"'
        if ap.security == "wpa2-enterprise":
            settings |= {"eap": "PEAP", "identity": '"employee"', "password": f'"{secret}"',
                         "phase2": '"auth=MSCHAPV2"'}
            if verify:
                settings |= {"ca_cert": f'"{certificate_directory()}/ca.pem"', "domain_match": '"radius.lab"'}
        for key, value in settings.items():
            self.control.do(f"SET_NETWORK {network} {key} {value}")
        self.control.do(f"SELECT_NETWORK {network}")

    def roam(self, ap: AccessPoint, watch) -> None:
        since = self.log.mark()
        self.control.do(f"SCAN freq={ap.frequency}")
        watch.wait("scan finished", since)
        self.control.do(f"ROAM {ap.bssid}")

    def wait_for_address(self, _since: int) -> None:
        """There is no DHCP client beside a bare wpa_supplicant: ask once."""
        write(LAB / "udhcpc.script", UDHCPC, 0o755)
        run(str(LAB / "busybox"), "udhcpc", "-i", self.air.names[self.station], "-f", "-q", "-n", "-t", "5", "-s",
            str(LAB / "udhcpc.script"))

    def leave(self) -> None:
        self.control.do("DISCONNECT")
        run("ip", "address", "flush", "dev", self.air.names[self.station], "scope", "global")

    def stop(self) -> None:
        if self.control:
            self.control.close()
        if self.process:
            self.process.stop()


class WithBus:
    """A manager that is spoken to over the system bus."""

    bus: Process | None = None

    def __init__(self, log: Log, air: Air, station: str):
        self.log, self.air, self.station = log, air, station
        if WithBus.bus is None or not WithBus.bus.alive():
            Path("/run/dbus").mkdir(exist_ok=True)
            Path("/run/dbus/system_bus_socket").unlink(missing_ok=True)
            WithBus.bus = Process(log, "dbus", ["dbus-daemon", "--system", "--nofork", "--nopidfile"])
            wait_for_socket(Path("/run/dbus/system_bus_socket"), WithBus.bus)
        self.processes: list[Process] = []

    def spawn(self, source: str, name: str, *command: str) -> Process:
        """A daemon that owns a name on the bus once it is ready."""
        process = Process(self.log, source, list(command))
        self.processes.append(process)
        self.wait_for_name(name, process)
        return process

    def stop(self) -> None:
        for process in reversed(self.processes):
            process.stop()

    def wait_for_name(self, name: str, process: Process) -> None:
        """Until somebody owns the name on the bus; `dbus-monitor` is told of each new owner."""
        since = self.log.mark()
        monitor = Process(self.log, "owners", [
            "dbus-monitor", "--system", f"type=signal,member=NameOwnerChanged,arg0={name}"])
        self.log.wait("dbus-monitor", lambda: self.log.texts("owners", since))

        def owned() -> bool:
            return process.ended or any(name in text for text in self.log.texts("owners", since)) or self.has_owner(name)
        try:
            self.log.wait(f"{name} on the bus", owned)
        finally:
            monitor.stop()
        if process.ended:
            raise RuntimeError(f"{process.source} ended: {self.log.texts(process.source)[-5:]}")

    def wait_for_address(self, since: int) -> None:
        """It brings its own DHCP client."""
        index = self.air.indexes[self.station]
        self.log.wait("an address", lambda: any(
            re.match(rf"{index}: .* inet 10\.0\.", text) for text in self.log.texts("ip", since)), 60)

    @staticmethod
    def has_owner(name: str) -> bool:
        return "true" in run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus",
                             "org.freedesktop.DBus", "NameHasOwner", "s", name, check=False)


class Iwd(WithBus):
    """iwd, in developer mode: only there can it be told to roam."""

    NAME = "net.connman.iwd"

    def start(self) -> None:
        shutil.rmtree("/var/lib/iwd", ignore_errors=True)
        Path("/var/lib/iwd").mkdir(mode=0o700)
        network = "true" if self.air.scenario.dhcp else "false"
        write(Path("/etc/iwd/main.conf"), f"[General]\nEnableNetworkConfiguration={network}\n"
                                          "[Network]\nNameResolvingService=none\n[Scan]\nDisablePeriodicScan=true\n"
                                          # Not to be scanned: nothing of the lab is there.
                                          "[Rank]\nBandModifier5GHz=0.0\nBandModifier6GHz=0.0\n")
        self.spawn("iwd", self.NAME, "/usr/libexec/iwd", "--developer", "--interfaces", self.air.names[self.station])

    def call(self, path: str, interface: str, method: str, *arguments: str, check: bool = True) -> str:
        return run("busctl", "--json=short", "--timeout=40", "call", self.NAME, path, interface, method, *arguments,
                   check=check, limit=60)

    def objects(self, interface: str) -> dict[str, dict]:
        answer = json.loads(self.call("/", "org.freedesktop.DBus.ObjectManager", "GetManagedObjects"))
        return {path: {key: value["data"] for key, value in interfaces[interface].items()}
                for path, interfaces in answer["data"][0].items() if interface in interfaces}

    def station_path(self) -> str:
        since = self.log.mark()
        monitor = Process(self.log, "iwd signals", [
            "dbus-monitor", "--system", f"type=signal,sender={self.NAME},member=InterfacesAdded"])
        self.log.wait("dbus-monitor", lambda: self.log.texts("iwd signals", since))
        try:
            self.log.wait("iwd's station", lambda: self.objects(f"{self.NAME}.Station"))
        finally:
            monitor.stop()
        return next(iter(self.objects(f"{self.NAME}.Station")))

    def scan(self, path: str, since: int) -> None:
        """A scan that ends after `since`: one that iwd has begun by itself will do."""
        self.call(path, f"{self.NAME}.Station", "Scan", check=False)
        self.log.wait("iwd's scan to end", lambda: any(
            "scan finished" in text for text in self.log.texts("iw", since)), 30)

    def select(self, ap: AccessPoint, passphrase: str | None, verify: bool = True) -> None:
        kind = "open" if ap.security == "open" else "psk"
        secret = f"[Security]\nPassphrase={passphrase or ap.passphrase}\n" if kind == "psk" else ""
        write(Path(f"/var/lib/iwd/{ap.ssid.decode()}.{kind}"), f"{secret}[Settings]\nAutoConnect=false\n")
        path = self.station_path()
        network = f"{path}/{ap.ssid.hex()}_{kind}"
        for _ in range(3):
            if network in self.objects(f"{self.NAME}.Network"):
                break
            self.scan(path, self.log.mark())
        # Answers when the handshake is over, so it must not be waited for.
        Process(self.log, "busctl", ["busctl", "--timeout=60", "call", self.NAME, network, f"{self.NAME}.Network",
                                     "Connect"])

    def roam(self, ap: AccessPoint, _watch) -> None:
        path = self.station_path()
        self.scan(path, self.log.mark())
        octets = [str(int(octet, 16)) for octet in ap.bssid.split(":")]
        self.call(path, f"{self.NAME}.StationDebug", "Roam", "ay", "6", *octets)

    def leave(self) -> None:
        self.call(self.station_path(), f"{self.NAME}.Station", "Disconnect", check=False)


class NetworkManager(WithBus):
    """NetworkManager with wpa_supplicant under it, which keeps a control socket for roaming. One looks after all the
    stations."""

    daemon: Process | None = None
    control_directory = LAB / "wpa-nm"
    profiles = 0
    is_plugged = True

    @property
    def addresses(self) -> list[str]:
        return ["ipv4.method", "auto" if self.air.scenario.dhcp else "disabled", "ipv6.method", "disabled"]

    def start(self) -> None:
        if NetworkManager.daemon is None or NetworkManager.daemon.ended:
            self.start_daemons()
        self.wait_until_managed(lambda: NetworkManager.daemon.ended)

    def wait_until_managed(self, has_ended, limit: float = 40) -> None:
        self.log.wait("NetworkManager to manage the station", lambda: has_ended() or any(
            f"({self.air.names[self.station]}): state change: unavailable -> disconnected" in text
            or "supplicant interface state" in text for text in self.log.texts("NetworkManager")), limit)

    def start_daemons(self) -> None:
        wired = ",except:type:ethernet" if self.air.scenario.wires else ""
        for directory in ("/run/NetworkManager", "/var/lib/NetworkManager", "/etc/NetworkManager/system-connections"):
            shutil.rmtree(directory, ignore_errors=True)
            Path(directory).mkdir(parents=True, mode=0o700)
        write(Path("/etc/NetworkManager/NetworkManager.conf"),
              "[main]\nplugins=keyfile\nauth-polkit=root-only\ndns=none\nno-auto-default=*\n"
              f"[keyfile]\nunmanaged-devices=except:type:wifi{wired}\n[logging]\nlevel=INFO\n")
        # It loads only what root owns, and who unpacked the layer need not be root.
        for plugins in Path("/usr/lib").glob("*/NetworkManager"):
            run("chown", "--recursive", "root:root", str(plugins))
        # Without udev a writable /sys would leave every device unmanaged.
        run("mount", "-o", "remount,ro", "/sys", check=False)
        self.spawn("wpa_supplicant", "fi.w1.wpa_supplicant1", "wpa_supplicant", "-u", "-O", str(self.control_directory))
        NetworkManager.daemon = self.spawn(
            "NetworkManager", "org.freedesktop.NetworkManager", "NetworkManager", "--debug")

    def select(self, ap: AccessPoint, passphrase: str | None, verify: bool = True) -> None:
        secret = passphrase or ap.passphrase
        management = {"wpa2-psk": "wpa-psk", "wpa3-sae": "sae"}.get(ap.security)
        secrets = ["wifi-sec.key-mgmt", management, "wifi-sec.psk", secret] if management else []
        if ap.security == "wpa2-enterprise":
            secrets = ["wifi-sec.key-mgmt", "wpa-eap", *self.eap(secret, verify)]
        self.bring_up("wifi", self.air.names[self.station], ap.name, "ssid", ap.ssid.decode(), *secrets)

    @staticmethod
    def eap(secret: str, verify: bool) -> list[str]:
        demands = ["802-1x.ca-cert", f"{certificate_directory()}/ca.pem", "802-1x.domain-suffix-match", "radius.lab"]
        return ["802-1x.eap", "peap", "802-1x.phase2-auth", "mschapv2", "802-1x.identity", "employee",
                "802-1x.password", secret, *(demands if verify else [])]

    def bring_up(self, kind: str, interface: str, name: str, *settings: str) -> None:
        """By a profile of its own: the same network may be joined by another one later."""
        NetworkManager.profiles += 1
        profile = f"profile-{name}-{NetworkManager.profiles}"
        run("nmcli", "connection", "add", "type", kind, "ifname", interface, "con-name", profile, "autoconnect", "no",
            *settings, *self.addresses)
        run("nmcli", "--wait", "0", "connection", "up", profile)

    def plug(self, wire: Wire, verify: bool | None) -> None:
        """`verify`: none is a profile without 802.1X."""
        if not self.is_plugged:
            # A link that comes up is no use to it before it has noticed.
            since = self.log.mark()
            run("ip", "link", "set", "eth0", "up")
            self.log.wait("NetworkManager to notice the cable", lambda: any(
                "(eth0): state change: unavailable -> disconnected" in text
                for text in self.log.texts("NetworkManager", since)), 40)
            self.is_plugged = True
        secrets = [] if verify is None else self.eap(wire.passphrase, verify)
        self.bring_up("ethernet", "eth0", wire.name, *secrets)

    def unplug(self) -> None:
        """QEMU's cable cannot be pulled from within; to the station it is the same."""
        run("nmcli", "--wait", "10", "device", "disconnect", "eth0", check=False)
        run("ip", "link", "set", "eth0", "down")
        self.is_plugged = False

    def roam(self, ap: AccessPoint, watch) -> None:
        control = Control(self.control_directory / self.air.names[self.station])
        try:
            since = self.log.mark()
            control.ask(f"SCAN freq={ap.frequency}")
            watch.wait("scan finished", since)
            control.do(f"ROAM {ap.bssid}")
        finally:
            control.close()

    def leave(self) -> None:
        run("nmcli", "--wait", "10", "device", "disconnect", self.air.names[self.station], check=False)

    def stop(self) -> None:
        super().stop()
        run("mount", "-o", "remount,rw", "/sys", check=False)


class WorkstationNetworkManager(NetworkManager):
    """That of a workstation, whose systemd starts it; what it says is in the journal."""

    control_directory = Path("/run/wpa_supplicant")

    def __init__(self, log: Log, air: Air, station: str):
        self.log, self.air, self.station = log, air, station

    def start(self) -> None:
        self.wait_until_managed(lambda: False, 240)

    def stop(self) -> None:
        pass  # it ends with the machine


MANAGERS = {"wpa_supplicant": WpaSupplicant, "iwd": Iwd, "networkmanager": NetworkManager}
