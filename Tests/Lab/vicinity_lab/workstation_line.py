"""The host's side of the workstation: which package, one boot a scenario, and what comes back."""

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from . import scenario as scenarios
from .boot import CACHE, REPOSITORY, BootError, WorkstationGuest
from .layer import installed, write_next
from .matrix import table
from .verdict import Verdict, messages, validator


def image(arguments, next_to: Path | None = None) -> Path:
    """The workstation with the package that is asked for; that is made first where only programs are there.

    `next_to`: where its next version is written to."""
    if os.geteuid() != 0:
        raise BootError("a workstation's files are root's: run as root")
    # Does nothing where it is done. Whoever reads the results must not read what it says.
    subprocess.run([str(REPOSITORY / "Tests/Lab/install-workstation")], check=True, stdout=sys.stderr)
    with tempfile.TemporaryDirectory(prefix="vicinity-lab-") as directory:
        if arguments.binary:
            subprocess.run([str(REPOSITORY / "packaging/build-deb"), str(arguments.binary.resolve()), directory], check=True,
                           stdout=subprocess.DEVNULL)
        where = [arguments.deb] if arguments.deb else sorted(
            (Path(directory) if arguments.binary else REPOSITORY / ".build/deb").glob("vicinity_*.deb"))
        if not where or not where[-1].exists():
            raise scenarios.ScenarioError("no package: `make deb` first, or name one by --deb")
        try:
            root = installed(CACHE / "workstation", where[-1])
        except RuntimeError as error:
            raise scenarios.ScenarioError(str(error)) from error
        if next_to:
            write_next(CACHE / "workstation", where[-1], next_to)
    return root


def job(what: str, scenario, path: str, captures: bool = False, seed: int = 0) -> dict:
    return {"do": what, "scenario": path, "rules": scenario.rules, "wired": bool(scenario.wires), "captures": captures,
            "seed": seed}


def workstation(arguments) -> int:
    chosen = scenarios.load_all(arguments.scenario, scenarios.WORKSTATION)
    with tempfile.TemporaryDirectory(prefix="vicinity-lab-") as name:
        more = Path(name) if any(scenario.package for scenario in chosen) else None
        root = image(arguments, more)
        if arguments.shell:
            scenario = chosen[0]
            with WorkstationGuest(
                    job("shell", scenario, f"workstation/{scenario.name}.toml"), 0, root, scenario, more) as guest:
                return guest.shell()
        passed = sum(run(scenario, root, arguments, more) for scenario in chosen)
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) else 1


def run(scenario, root: Path, arguments, more: Path | None) -> bool:
    """Again where the air, not the program, did something else."""
    schema = validator()
    seed = random.randrange(1 << 32) if arguments.seed is None else arguments.seed
    what = job("run", scenario, f"workstation/{scenario.name}.toml", bool(arguments.keep_captures), seed)
    if scenario.is_random:
        print(f"seed   {scenario.name}: {seed} (again by --seed {seed})", flush=True)
    for _ in range(scenarios.TRIES):
        verdict = Verdict(scenario, "systemd")
        with WorkstationGuest(what, scenario.limit, root, scenario, more) as guest:
            try:
                for message in messages(guest, arguments.verbose):
                    if message["kind"] == "line":
                        verdict.lines.append((message["at"], message["source"], message["text"]))
                    elif message["kind"] == "done":
                        done = message
            except BootError as error:
                verdict.tell([str(error)])
                return False
            if arguments.keep_captures:
                arguments.keep_captures.mkdir(parents=True, exist_ok=True)
                for capture in guest.out.glob("*.pcap"):
                    shutil.copy(capture, arguments.keep_captures)
        if not done["trouble"]:
            break
        print(f"again  {scenario.name}: {done['trouble']}", flush=True)
    problems = verdict.judge(done, schema)
    verdict.tell(problems)
    for row in table(verdict.lines):
        print(row, flush=True)
    return not problems


def peers(arguments) -> int:
    scenario = scenarios.load(scenarios.LAB / "peers.toml")
    results, said = None, []
    with WorkstationGuest(
            job("peers", scenario, "peers.toml"), scenario.limit, image(arguments), scenario) as guest:
        try:
            for message in messages(guest, arguments.verbose):
                if message["kind"] == "bench":
                    results = message["results"]
                elif message["kind"] == "line":
                    said.append(f"{message['at']:.3f} {message['source']}: {message['text']}")
        except BootError:
            print("\n".join(said[-80:]), file=sys.stderr)
            raise
    print(json.dumps(results, indent=2))
    return 0
