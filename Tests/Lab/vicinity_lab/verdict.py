"""The host's side: what the guest sends, and what is wrong with it."""

import json
import sys
import time

from . import expect
from .boot import REPOSITORY, BootError, Guest

SCHEMA = REPOSITORY / "Config/schema/event.schema.json"


def messages(guest: Guest, verbose: bool):
    for message in guest.messages():
        if message["kind"] == "failed":
            raise BootError(f"the guest's runner failed:\n{message['text']}")
        if verbose and message["kind"] == "line":
            print(f"{message['at']:.3f} {message['source']}: {message['text']}", file=sys.stderr, flush=True)
        yield message


def validator():
    """Of the feed's lines, where the repository has the schema."""
    if not SCHEMA.exists():
        return None
    import jsonschema
    return jsonschema.Draft202012Validator(json.loads(SCHEMA.read_text()))


class Verdict:
    """What one scenario sent, and what is wrong with it."""

    def __init__(self, scenario, manager: str):
        self.scenario, self.manager = scenario, manager
        self.lines: list[tuple[float, str, str]] = []
        self.started = time.monotonic()

    def texts(self, source: str) -> list[str]:
        return [text for _, origin, text in self.lines if origin == source]

    def judge(self, done: dict, schema) -> list[str]:
        problems = list(done["problems"]) + ([done["trouble"]] if done["trouble"] else [])
        if not problems:
            problems += expect.judge_air(self.scenario.air, self.texts("iw"))
        for feed in done["feeds"]:
            problems += [f"feed {feed}: {problem}" for problem in expect.judge_feed(
                self.scenario, done["indexes"], self.texts(f"feed {feed}"), schema)]
        if done["feeds"] and self.scenario.decisions is not None:
            problems += expect.judge_decisions(self.scenario.decisions, self.texts("feed agent"))
        if done["feeds"] and self.scenario.rules:
            got = [text.split()[0] for text in self.texts("run")]
            for name in sorted(self.scenario.runs.keys() | set(got)):
                wanted = self.scenario.runs.get(name, 0)
                if got.count(name) != wanted:
                    problems.append(f"{name} ran {got.count(name)} times, not {wanted}")
            # With the package its log has been purged.
            problems += [] if self.scenario.package else expect.judge_analytics(
                self.scenario, self.texts("feed agent"), self.texts("analytics"))
        return problems

    def story(self) -> str:
        start = self.lines[0][0] if self.lines else 0
        return "\n".join(f"    {at - start:8.3f} {source}: {text}" for at, source, text in self.lines)

    def tell(self, problems: list[str]) -> None:
        """One line, or everything that helps to understand a failure."""
        what = f"{self.scenario.name} ({self.manager}, {time.monotonic() - self.started:.1f} s)"
        if problems:
            print(f"FAILED {what}")
            print("\n".join("  " + problem for problem in problems))
            print("  everything that was said:\n" + self.story(), flush=True)
        else:
            print(f"passed {what}", flush=True)
