"""In the guest: the verbs of a scenario. Each waits for what proves that it happened."""

import json
import signal
import socket
from pathlib import Path

from . import expect
from .air import SERVER
from .netlink import GenericNetlink, drops
from .scenario import VERBS, WORKSTATION_VERBS
from .watching import LAB, RESOLVER, AirTrouble, Timeout, run


class Steps:
    def __init__(self, log, scenario, air, watch, managers, program):
        self.log, self.scenario, self.air, self.watch = log, scenario, air, watch
        self.managers, self.program = managers, program
        self.decided = 0  # so many decisions have been waited for

    def run(self) -> None:
        for step in self.scenario.steps:
            self.do(step)

    def do(self, step: dict) -> None:
        self.since = self.log.mark()
        if step.get("say"):
            self.log.add("say", step["say"])
        self.log.add("step", ", ".join(f"{key} {value}" for key, value in step.items()))
        self.station = step.get("station", self.scenario.stations[0])
        verb = next(verb for verb in VERBS | WORKSTATION_VERBS if verb in step)
        getattr(self, f"do_{verb}")(step[verb], step)
        if "rejoined" in step:
            self.wait_joined(self.ap(step["rejoined"]), step)

    @property
    def manager(self):
        return self.managers[self.station]

    @property
    def interface(self) -> str:
        return self.air.names[self.station]

    def ap(self, name: str):
        return self.scenario.aps[name]

    # Stations

    def do_join(self, name: str, step: dict) -> None:
        self.manager.select(self.ap(name), step.get("passphrase"), step.get("verify", True))
        self.wait_joined(self.ap(name), step)
        tries = [text for text in self.watch.associations(self.interface, self.since) if " connected to " in text]
        if len(tries) > 1:
            raise AirTrouble(f"the station needed {len(tries)} tries to join {name}")
        if self.scenario.dhcp and step.get("wait") != "air":
            self.manager.wait_for_address(self.since)

    def wait_joined(self, ap, step: dict) -> None:
        """On the air and, unless told otherwise, on the feeds too: whoever leaves at once (`wait = "air"`) may be
        gone before anybody could ask whether it was authorised."""
        self.watch.wait_joined(self.interface, self.air.indexes[self.station], ap, self.since)
        if step.get("wait") != "air" and self.program and self.program.running:
            self.wait_for_feeds(f"joined at {ap.name}", lambda lines: self.is_at(ap, lines), required=False)

    def is_at(self, ap, lines: list[dict]) -> bool:
        wifi = expect.wifi_of(lines, self.air.indexes[self.station])
        return bool(wifi) and wifi[-1]["type"] in ("wifi.joined", "wifi.roamed") and expect.lookup(
            wifi[-1], "wifi.bssid") == ap.bssid

    def wait_for_feeds(self, what: str, predicate, required: bool = True) -> None:
        """Every reader of the program. What is not required is judged on the host, at the end."""
        for feed in self.program.feeds:
            try:
                self.log.wait(f"feed {feed} to say {what}", lambda feed=feed: predicate(self.program.lines(feed)), 10)
            except Timeout as timeout:
                if required:
                    raise
                self.log.add("step", str(timeout))

    def do_attempt(self, name: str, step: dict) -> None:
        self.manager.select(self.ap(name), step.get("passphrase"))
        self.watch.wait(step["until"], self.since, 40)

    def do_roam(self, name: str, step: dict) -> None:
        self.manager.roam(self.ap(name), self.watch)
        self.wait_joined(self.ap(name), step)

    def do_leave(self, how: str, _step: dict) -> None:
        self.manager.leave()
        if how == "joined":
            self.watch.wait(rf"{self.interface} \(phy #\d+\): disconnected", self.since)

    def do_reach(self, name: str, _step: dict) -> None:
        """A packet to the access point's own address, which has to be resolved for it; or a connection to the server
        inside, by this station's way."""
        if name == "server":
            with socket.socket() as connection:
                connection.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, self.interface.encode())
                connection.settimeout(10)
                connection.connect((SERVER, 443))
            return
        run(str(LAB / "busybox"), "ping", "-c", "1", "-W", "10", "-I", self.interface, f"10.0.{self.ap(name).index}.1")

    def do_plug(self, name: str, step: dict) -> None:
        self.manager.plug(self.scenario.wires[name], step.get("verify"))

    def do_unplug(self, _name: str, _step: dict) -> None:
        self.manager.unplug()

    def do_rename(self, name: str, _step: dict) -> None:
        self.air.rename(self.station, name)

    def do_rfkill(self, state: str, step: dict) -> None:
        self.air.rfkill(self.station, state == "block")
        if "until" in step:
            self.watch.wait(step["until"], self.since)

    def do_flood(self, count: int, _step: dict) -> None:
        """More messages than a socket holds; the log says how many the program did not get."""
        wiphy = int((Path("/sys/class/ieee80211") / self.air.phys[self.station] / "index").read_text())
        GenericNetlink().flood(wiphy, count)
        for process in self.program.processes if self.program else []:
            self.log.add("flood", f"{process.source} lost {drops(process.pid)} messages")

    def do_link(self, state: str, _step: dict) -> None:
        run("ip", "link", "set", self.interface, state)

    def do_supplicant(self, what: str, _step: dict) -> None:
        if what in ("stop", "restart"):
            self.manager.stop()
        if what in ("start", "restart"):
            self.manager.start()

    # Access points

    def do_ap_on(self, name: str, _step: dict) -> None:
        self.air.on(name)

    def do_ap_off(self, name: str, _step: dict) -> None:
        self.air.off(name)

    def do_ap_vanish(self, name: str, step: dict) -> None:
        self.air.vanish(name)
        if "until" in step:
            self.watch.wait(step["until"], self.since, 40)

    def do_deauth(self, name: str, step: dict) -> None:
        for _ in range(step.get("times", 1)):
            self.since = self.log.mark()
            self.air.deauthenticate(name, self.station)
            self.watch.wait_joined(self.interface, self.air.indexes[self.station], self.ap(name), self.since)
        self.wait_joined(self.ap(name), step)

    def do_server(self, key: str, step: dict) -> None:
        """Inside every network, or behind one access point `only`; `"off"` ends it."""
        if key == "off":
            self.air.stop_serving()
        else:
            self.air.serve(key, self.ap(step["only"]).index if "only" in step else None)

    def do_page(self, who: str, _step: dict) -> None:
        """Who answers for the page that the agent asks for: the `internet`, or a captive `portal`."""
        self.air.show({"internet": "HTTP/1.1 200 OK\r\n\r\nNetworkManager is online\n",
                       "portal": "HTTP/1.1 302 Found\r\nLocation: http://login.example/\r\n\r\n"}[who])

    def do_resolver(self, domain: str, _step: dict) -> None:
        """Somebody writes resolv.conf, as a DHCP client does."""
        RESOLVER.with_suffix(".new").write_text(f"search {domain}\n")
        RESOLVER.with_suffix(".new").rename(RESOLVER)

    # What is seen

    def do_air(self, pattern: str, _step: dict) -> None:
        self.watch.wait(pattern, self.since)

    def do_feed(self, fields: dict, _step: dict) -> None:
        """Wait until every reader of the program has had such a line; nothing without a program."""
        if not self.program:
            return
        self.wait_for_feeds(str(fields), lambda lines: any(expect.agrees(line, fields) for line in lines))

    def decisions(self) -> list[dict]:
        return expect.decisions_of(self.program.lines("agent"))

    def do_decided(self, fields: dict, _step: dict) -> None:
        """Wait for the agent's next decision of this kind after the one that was waited for last."""
        if not self.program:
            return

        def place() -> int | None:
            lines = self.decisions()
            return next((number for number in range(self.decided, len(lines))
                         if expect.agrees(lines[number], fields)), None)
        self.log.wait(f"the agent to decide {fields}", lambda: place() is not None, 40)
        self.decided = place() + 1

    def do_ran(self, counts: dict, step: dict) -> None:
        """Wait until the rules' commands ran so often since the beginning; not oftener by then, where `only` is true."""
        if not self.program:
            return

        def runs(name: str) -> int:
            return [text.split()[0] for text in self.log.texts("run")].count(name)
        for name, count in counts.items():
            self.log.wait(f"{name} to have run {count} times", lambda name=name, count=count: runs(name) >= count, 40)
            if step.get("only") and runs(name) > count:
                raise RuntimeError(f"{name} ran {runs(name)} times by then, not {count}")

    def do_quiet(self, seconds: float, _step: dict) -> None:
        """So long the agent decides nothing: what it waits for must not come."""
        if not self.program:
            return
        before = len(self.decisions())
        try:
            self.log.wait("a decision", lambda: len(self.decisions()) > before, seconds)
        except Timeout:
            return
        raise RuntimeError(f"decided within {seconds} s: {expect.summary(self.decisions()[before])}")

    def do_status(self, words: str, _step: dict) -> None:
        """`vicinity status` tells of a problem with these words. That there is one is in the journal first."""
        if not self.program:
            return
        self.log.wait(f"the journal to say {words}", lambda: any(
            words in text for text in self.log.texts("vicinityd")), 40)
        problems = json.loads(self.program.status())["problems"]
        self.log.add("status", str(problems))
        if not any(words in problem for problem in problems):
            raise RuntimeError(f"status does not say {words}: {problems}")

    # The program under test

    def do_write(self, name: str, step: dict) -> None:
        if self.program:
            self.program.write_rules(name, step["text"])

    def do_remove(self, name: str, _step: dict) -> None:
        if self.program:
            self.program.remove_rules(name)

    def do_agent(self, what: str, _step: dict) -> None:
        if not self.program:
            return
        if what == "start":
            self.program.start()
        elif what == "kill":
            self.program.restart_agent()
        else:
            self.program.signal({"stop": signal.SIGSTOP, "continue": signal.SIGCONT}[what])
