"""The host's side of the workstation: which package, one boot a scenario, and what comes back."""

import json
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager
from pathlib import Path

from . import scenario as scenarios
from .boot import REPOSITORY, BootError, WorkstationGuest
from .verdict import Verdict, messages, validator


@contextmanager
def package(arguments):
    """The package that is asked for; made first where only programs are there."""
    with tempfile.TemporaryDirectory(prefix="vicinity-lab-") as directory:
        if arguments.binary:
            subprocess.run([str(REPOSITORY / "packaging/build-deb"), str(arguments.binary.resolve()), directory], check=True,
                           stdout=subprocess.DEVNULL)
        where = [arguments.deb] if arguments.deb else sorted(
            (Path(directory) if arguments.binary else REPOSITORY / ".build/deb").glob("vicinity_*.deb"))
        if not where or not where[-1].exists():
            raise scenarios.ScenarioError("no package: `make deb` first, or name one by --deb")
        yield where[-1]


def install() -> None:
    """Does nothing where it is done. Whoever reads the results must not read its."""
    subprocess.run([str(REPOSITORY / "Tests/Lab/install-workstation")], check=True, stdout=sys.stderr)


def job(what: str, scenario, path: str, captures: bool = False) -> dict:
    return {"do": what, "scenario": path, "rules": scenario.rules, "wired": bool(scenario.wires), "captures": captures}


def workstation(arguments) -> int:
    chosen = scenarios.load_all(arguments.scenario, scenarios.WORKSTATION)
    install()
    with package(arguments) as file:
        if arguments.shell:
            scenario = chosen[0]
            with WorkstationGuest(job("shell", scenario, f"workstation/{scenario.name}.toml"), 0, file, scenario) as guest:
                return guest.shell()
        passed = sum(run(scenario, file, arguments) for scenario in chosen)
    print(f"{passed} passed, {len(chosen) - passed} failed")
    return 0 if passed == len(chosen) else 1


def run(scenario, file: Path, arguments) -> bool:
    """Again where the air, not the program, did something else."""
    schema = validator()
    what = job("run", scenario, f"workstation/{scenario.name}.toml", bool(arguments.keep_captures))
    for _ in range(scenarios.TRIES):
        verdict = Verdict(scenario, "systemd")
        with WorkstationGuest(what, scenario.limit, file, scenario) as guest:
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
    return not problems


def peers(arguments) -> int:
    scenario = scenarios.load(scenarios.LAB / "peers.toml")
    install()
    results, said = None, []
    with package(arguments) as file, WorkstationGuest(
            job("peers", scenario, "peers.toml"), scenario.limit, file, scenario) as guest:
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
