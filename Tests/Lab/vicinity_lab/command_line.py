"""The host's side: chooses scenarios, boots the guest, judges what comes back, and says so."""

import argparse
import json
import shutil
import signal
import sys
import time
from pathlib import Path

from . import scenario as scenarios
from .boot import BootError, Guest
from .verdict import Verdict, messages, validator
from .workstation_line import peers, workstation


def main() -> int:
    parser = argparse.ArgumentParser(prog="lab", description="A real 802.11 stack without a radio.")
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("list", help="the scenarios")
    commands.add_parser("boot", help="boot and say how long it took")
    commands.add_parser("shell", help="a root shell in the guest")
    run = commands.add_parser("run", help="run scenarios")
    run.add_argument("scenario", nargs="*", help="all when none is named")
    run.add_argument("--manager", default="wpa_supplicant", choices=[*scenarios.MANAGERS, "all"])
    run.add_argument("--core", action="store_true", help="only the core scenarios")
    run.add_argument("--binary", type=Path, help="where vicinity and vicinityd are; without it only the air is judged")
    run.add_argument("--keep-captures", type=Path, metavar="DIR", help="one nlmon capture per scenario")
    run.add_argument("-v", "--verbose", action="store_true", help="show everything as it happens")
    for name, description in (("bench", "print what the program costs, as JSON"), ("demo", "a day in the lab, live")):
        command = commands.add_parser(name, help=description)
        command.add_argument("--binary", type=Path, required=True, help="where vicinity and vicinityd are")
        command.add_argument("-v", "--verbose", action="store_true", help="show everything as it happens")
    for name, description in (("workstation", "run scenarios in a workstation that systemd starts"),
                              ("peers", "how soon the dispatchers and we act on the same transitions, as JSON")):
        command = commands.add_parser(name, help=description)
        if name == "workstation":
            command.add_argument("scenario", nargs="*", help="all when none is named")
            command.add_argument("--keep-captures", type=Path, metavar="DIR", help="one nlmon capture per scenario")
            command.add_argument("--seed", type=int, help="of what happens at random; unless said another one each time")
            command.add_argument("--shell", action="store_true", help="boot the first one's air, and a root shell there")
        command.add_argument("--deb", type=Path, help="the package to install; unless said the newest of .build/deb")
        command.add_argument("--binary", type=Path, help="make a package of the programs there, statically linked to Swift")
        command.add_argument("-v", "--verbose", action="store_true", help="show everything as it happens")
    arguments = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        if getattr(arguments, "binary", None):
            look_for_programs(arguments.binary)
        return {"list": list_scenarios, "boot": boot, "shell": shell, "run": run_scenarios, "bench": bench,
                "demo": demo, "workstation": workstation, "peers": peers}[arguments.command](arguments)
    except (BootError, scenarios.ScenarioError) as error:
        print(f"lab: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def list_scenarios(_arguments) -> int:
    for scenario in scenarios.load_all():
        managers = "" if scenario.managers == ["wpa_supplicant"] else f" [{', '.join(scenario.managers)}]"
        print(f"{scenario.name:22} {scenario.title}{managers}")
    return 0


def look_for_programs(directory: Path) -> None:
    for name in ("vicinity", "vicinityd"):
        if not (directory / name).exists():
            raise scenarios.ScenarioError(f"no {name} in {directory}")


def boot(_arguments) -> int:
    started = time.monotonic()
    with Guest({"do": "nothing"}, 30) as guest:
        for _ in messages(guest, False):
            pass
    print(f"lab: booted and ended in {time.monotonic() - started:.1f} s")
    return 0


def shell(_arguments) -> int:
    with Guest({"do": "shell"}, 0) as guest:
        return guest.shell()


def bench(arguments) -> int:
    results = None
    said: list[str] = []
    with Guest({"do": "bench"}, 600, arguments.binary) as guest:
        try:
            for message in messages(guest, arguments.verbose):
                if message["kind"] == "bench":
                    results = message["results"]
                elif message["kind"] == "line":
                    said.append(f"{message['at']:.3f} {message['source']}: {message['text']}")
        except BootError:
            print("\n".join(said[-60:]), file=sys.stderr)
            raise
    print(json.dumps(results, indent=2))
    return 0


def demo(arguments) -> int:
    bold, plain = ("\033[1m", "\033[0m") if sys.stdout.isatty() else ("", "")
    print(f"{bold}A day in the lab: a real 802.11 stack without a radio, booting…{plain}", flush=True)
    problems = ["the day did not end"]
    with Guest({"do": "demo"}, 300, arguments.binary) as guest:
        for message in messages(guest, arguments.verbose):
            if message["kind"] == "line" and message["source"] == "say":
                print(f"\n{bold}» {message['text']}{plain}", flush=True)
            elif message["kind"] == "line" and message["source"] == "shown":
                print(message["text"], flush=True)
            elif message["kind"] == "line" and message["source"] == "run":
                print(f"{bold}  the command ran: {message['text']}{plain}", flush=True)
            elif message["kind"] == "done":
                problems = message["problems"]
    if problems:
        raise BootError("\n".join(problems))
    return 0


def run_scenarios(arguments) -> int:
    chosen = [scenario for scenario in scenarios.load_all(arguments.scenario) if scenario.core or not arguments.core]
    managers = scenarios.MANAGERS if arguments.manager == "all" else [arguments.manager]
    plan = [(scenario, manager) for manager in managers for scenario in chosen if manager in scenario.managers]
    if not plan:
        raise scenarios.ScenarioError("no scenario fits")
    job = {"do": "run", "scenarios": [(scenario.name, manager) for scenario, manager in plan],
           "rules": {scenario.name: scenario.rules for scenario, _ in plan},
           "wired": any(scenario.wires for scenario, _ in plan), "captures": bool(arguments.keep_captures)}
    schema = validator()
    passed = failed = tries = 0
    started = time.monotonic()
    by_name = {scenario.name: scenario for scenario, _ in plan}
    with Guest(job, sum(scenario.limit for scenario, _ in plan), arguments.binary) as guest:
        verdict = None
        try:
            for message in messages(guest, arguments.verbose):
                kind = message["kind"]
                if kind == "begin":
                    verdict = Verdict(by_name[message["scenario"]], message["manager"])
                elif kind == "line":
                    verdict.lines.append((message["at"], message["source"], message["text"]))
                elif kind == "done":
                    tries += 1
                    if message["trouble"] and tries < scenarios.TRIES:
                        print(f"again  {verdict.scenario.name} ({verdict.manager}): {message['trouble']}", flush=True)
                        continue
                    tries = 0
                    problems = verdict.judge(message, schema)
                    verdict.tell(problems)
                    passed, failed = passed + (not problems), failed + bool(problems)
                    verdict = None
            if arguments.keep_captures:
                arguments.keep_captures.mkdir(parents=True, exist_ok=True)
                for capture in guest.out.glob("*.pcap"):
                    shutil.copy(capture, arguments.keep_captures)
        except BootError:
            if verdict:
                print(f"FAILED {verdict.scenario.name} ({verdict.manager}), unfinished:\n{verdict.story()}")
            print(f"{passed} passed, {len(plan) - passed} failed or not run", flush=True)
            raise
    if not arguments.binary:
        print("without --binary only the air was judged, no program")
    print(f"in {time.monotonic() - started:.0f} s")
    print(f"{passed} passed, {failed} failed")
    return 0 if failed == 0 else 1
