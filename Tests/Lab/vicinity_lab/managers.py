"""In the guest: the programs that manage the station's radio, behind one set of verbs."""

import json
import signal
import socket
from pathlib import Path

from .air import KEY_MANAGEMENT, Air, Control, certificate_directory
from .scenario import AccessPoint
from .watching import LAB, Log, Process, run, wait_for_socket, write


class WpaSupplicant:
    """wpa_supplicant alone, one process per station."""

    def __init__(self, log: Log, air: Air, station: str):
        self.log, self.air, self.station = log, air, station
        self.source = f"wpa_supplicant {station}"
        self.networks: list[str] = []
        self.start()

    def start(self) -> None:
        interface = self.air.names[self.station]
        directory = LAB / f"wpa-{self.station}"
        configuration = write(LAB / f"wpa-{self.station}.conf", f"ctrl_interface={directory}\nupdate_config=0\n")
        self.process = Process(self.log, self.source, [
            "wpa_supplicant", "-D", "nl80211", "-i", interface, "-c", str(configuration)])
        wait_for_socket(directory / interface, self.process, kind=socket.SOCK_DGRAM)
        self.control = Control(directory / interface)

    def select(self, ap: AccessPoint, passphrase: str | None) -> None:
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
                         "phase2": '"auth=MSCHAPV2"', "ca_cert": f'"{certificate_directory()}/ca.pem"',
                         "domain_match": '"radius.lab"'}
        for key, value in settings.items():
            self.control.do(f"SET_NETWORK {network} {key} {value}")
        self.networks.append(network)
        self.control.do(f"SELECT_NETWORK {network}")

    def roam(self, ap: AccessPoint, watch) -> None:
        since = self.log.mark()
        self.control.do(f"SCAN freq={ap.frequency}")
        watch.wait("scan finished", since)
        self.control.do(f"ROAM {ap.bssid}")

    def leave(self) -> None:
        self.control.do("DISCONNECT")

    def rejoin(self) -> None:
        self.control.do("RECONNECT")

    def kill(self) -> None:
        self.control.close()
        self.process.stop(signal.SIGKILL)

    def stop(self) -> None:
        self.control.close()
        self.process.stop()


MANAGERS = {"wpa_supplicant": WpaSupplicant}
