"""The host's side: what a scenario's cases came to, as a table of Markdown."""

import json
from itertools import groupby

HEAD = ["case", "asked of the person", "answer to PAM stacks"]
BEGUN, ENDED = ("action.started", "second_factor.requested"), ("action.succeeded", "action.failed", "action.cancelled")


def table(lines: list[tuple[float, str, str]]) -> list[str]:
    """Of what was said, from each `case` on to the next; nothing where there is none."""
    cases: list[tuple[str, list, list]] = []
    for _, source, text in lines:
        if source == "case":
            cases.append((text, [], []))
        elif cases and source == "feed agent":
            cases[-1][1].append(json.loads(text))
        elif cases and source == "pull":
            cases[-1][2].append(text.split()[:2])
    rows = [[name, "; ".join(pushed(feed)) or "–", ", then ".join(pulled(answers)) or "–"] for name, feed, answers in cases]
    return [f"| {' | '.join(row)} |" for row in [HEAD, ["---"] * len(HEAD), *rows]] if rows else []


def pushed(feed: list[dict]) -> list[str]:
    """Each end of a second factor, why, and how long after the person was asked, or else it was demanded."""
    told, since, reasons = [], {}, {}
    for line in feed:
        kind = line["type"]
        factor, action = line.get("second_factor"), line.get("action", {})
        rule = factor["rule"] if factor else action.get("rule")
        if not factor and action.get("kind") != "second-factor":
            continue
        if kind in BEGUN:
            since[rule] = line["boottime_us"]
        elif factor:
            reasons[rule] = kind.removeprefix("second_factor."), factor.get("because"), line["boottime_us"]
        elif kind in ENDED:
            outcome, because, at = reasons.pop(rule, ("cancelled", action.get("because"), line["boottime_us"]))
            seconds = f" after {(at - since.pop(rule)) / 1e6:.1f} s" if rule in since else ""
            told.append(f"{outcome}{seconds}" + (f": {because}" if because else ""))
    return told + [f"waits ({rule})" for rule in since]


def pulled(answers: list[list[str]]) -> list[str]:
    """Runs of the same answer, with the longest that one of them took."""
    return [f"{answer} in {max(float(seconds) for _, seconds in run):.2f} s"
            for answer, run in ((answer, list(run)) for answer, run in groupby(answers, key=lambda one: one[0]))]
