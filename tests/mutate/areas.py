"""The areas to mutate, their tests, and the mutants that change nothing observable."""

from __future__ import annotations

import tomllib
from fnmatch import fnmatch, fnmatchcase
from pathlib import Path

from tests.mutate.mutants import Mutant

# A name that ends in "/" is a folder with all below it; a "!" takes files out again.
AREAS = {
    "rules": (
        "engine/cards/",
        "engine/rules/",
        "engine/games/",
        "engine/match/",
        "engine/game/",
        "engine/game.py",
        "engine/replay/",
        "engine/replay.py",
        "engine/search/",
    ),
    "runner": ("engine/runner/", "engine/packages/"),
    "pure": ("league/pure/",),
    "domain": ("league/domain/",),
}

# Attacks, servers and browsers take long and say nothing of these areas that the other tests do not say.
LEFT_OUT = (
    "tests/chaos",
    "tests/hostile",
    "tests/ops",
    "tests/engine/sandbox",
    "tests/engine/test_compiled.py",
    "tests/mutate",
)
LEFT_OUT_WITH = {"chromium", "league_stack", "postgres_server", "redis_server"}  # fixtures


def area_of(path: str, areas: dict[str, tuple[str, ...]]) -> str:
    """Return the area of a file; "" if it belongs to none."""
    if not path.endswith(".py"):
        return ""
    for name, globs in areas.items():
        if any(_matches(path, glob) for glob in globs) and not any(
            _matches(path, glob[1:]) for glob in globs if glob[0] == "!"
        ):
            return name
    return ""


def _matches(path: str, glob: str) -> bool:
    return path.startswith(glob) if glob.endswith("/") else fnmatch(path, glob) and path.count("/") == glob.count("/")


class Equivalents:
    """The reviewed list. An entry names its mutant by function and by the line before and after, so it outlives moves.

    One that names no function holds in all; one with `lines`, a pattern, holds for every change of such lines of its function.
    """

    def __init__(self, path: Path | None = None) -> None:
        entries = tomllib.loads((path or Path(__file__).with_name("equivalent.toml")).read_text()).get("equivalent", ())
        self.patterns = [(entry["where"], entry["lines"], entry["reason"]) for entry in entries if "lines" in entry]
        self.reasons = {
            (entry.get("where", ""), entry["before"], entry["after"]): entry["reason"]
            for entry in entries
            if "lines" not in entry
        }

    def reason(self, mutant: Mutant) -> str:
        """Return why nobody could notice this mutant; "" if it is not on the list."""
        change = (mutant.before, mutant.after)
        reason = self.reasons.get((mutant.where, *change)) or self.reasons.get(("", *change))
        like = (
            why for where, lines, why in self.patterns if where == mutant.where and fnmatchcase(mutant.before, lines)
        )
        return reason or next(like, "")
