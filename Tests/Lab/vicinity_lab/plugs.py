"""In the guest: plugs that are pulled at random while the station is on its way."""

import random
import select
import threading

from .session import execute
from .watching import run

UNIT, SESSION = "vicinityd.service", "vicinity-session.service"
LONGEST = 12.0  # seconds between two pulls


class Plugs:
    """The same seed pulls the same plugs after the same times."""

    def __init__(self, log, air, seed: int):
        self.log, self.air = log, air
        self.random = random.Random(seed)
        self.pulled: list[str] = []
        log.add("seed", str(seed))
        self.names = sorted(name.removeprefix("pull_") for name in dir(self) if name.startswith("pull_"))

    def start(self, count: int, ap: str | None) -> threading.Thread:
        """`count` plugs, one after the other, while something else goes on. Without an access point its plug is spared."""
        chosen = [(self.random.uniform(0, LONGEST), self.random.choice(
            [name for name in self.names if ap or name != "access_point"])) for _ in range(count)]
        thread = threading.Thread(target=self.carry_out, args=(chosen, ap), daemon=True)
        thread.start()
        return thread

    def carry_out(self, chosen: list[tuple[float, str]], ap: str | None) -> None:
        for pause, name in chosen:
            select.select([], [], [], pause)  # the moment is random: there is nothing to wait for
            self.log.add("plug", name)
            self.pulled.append(name)
            try:
                if name == "access_point":
                    self.pull_access_point(ap)
                else:
                    getattr(self, f"pull_{name}")()
            except Exception as error:  # as when what was to be killed does not run
                self.log.add("plug", f"{name}: {error}")

    def pull_agent(self, _ap=None) -> None:
        run("systemctl", "kill", "--kill-whom=main", "--signal=SIGKILL", UNIT, check=False)

    def pull_helper(self, _ap=None) -> None:
        run("pkill", "-KILL", "-x", "vicinity-act", check=False)

    def pull_session(self, _ap=None) -> None:
        execute(["systemctl", "--user", "kill", "--signal=SIGKILL", SESSION], "alice")

    def pull_manager(self, _ap=None) -> None:
        run("systemctl", "restart", "NetworkManager.service", limit=120)

    def pull_firewall(self, _ap=None) -> None:
        run("systemctl", "restart", "firewalld.service", limit=120)

    def pull_bus(self, _ap=None) -> None:
        run("busctl", "call", "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "ReloadConfig")

    def pull_access_point(self, ap: str) -> None:
        if ap in self.air.hostapds:
            self.air.vanish(ap)
        self.air.on(ap)
