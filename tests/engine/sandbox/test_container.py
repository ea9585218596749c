"""The sandbox inside a container, by runc: which tiers hold, that the others are refused with a reason, and a match."""

from __future__ import annotations

import json
import re
import shlex
import sys
from dataclasses import dataclass
from typing import Any

import pytest

from engine.runner.runtimes import modules
from tests.engine.sandbox.support import held_tiers
from tests.hostile.acts import ACTS, Cell
from tests.hostile.attacks import ATTACKS
from tests.hostile.test_acts import quick_moments
from tests.support import bubblewrap, container
from tests.support.parts import mostly_slow
from tests.support.runtimes import lending

PYTHON = shlex.quote(sys.executable)
NO_NAMESPACE = re.compile("No permissions to create (a )?new namespace")  # bubblewrap 0.8 and 0.12


@dataclass(frozen=True)
class Place:
    """A way to run a container, and which tiers hold in it."""

    name: str
    user: int
    profile: str
    hardened: bool
    holds: tuple[str, ...]


PLACES = (
    Place("root in a default container", 0, "default", False, ("landlock",)),
    Place("a user in a default container without capabilities", 1000, "default", True, ("landlock",)),
    Place("a user in a container with the runner's profile", 1000, "runner", True, ("namespaces", "landlock")),
)


@pytest.fixture(scope="module", params=mostly_slow(PLACES, PLACES[-1:].__contains__), ids=lambda place: place.name)
def place(request: pytest.FixtureRequest) -> Place:
    bubblewrap.find()
    return request.param


def inside(place: Place, script: str, timeout_s: float = 240) -> list[Any]:
    """Run a script in such a container and return its output, one JSON value a line."""
    printed = container.run(
        script, user=place.user, profile=place.profile, hardened=place.hardened, timeout_s=timeout_s
    )
    return [json.loads(line) for line in printed.splitlines() if line.startswith(("{", "["))]


@pytest.mark.timeout(900)
def test_tiers_hold_or_are_refused_with_the_reason(place: Place) -> None:
    script = f"{PYTHON} -m tests.engine.sandbox.say_groups\n{PYTHON} -m tests.engine.sandbox.say_tiers /state"

    groups, *reports = inside(place, script)

    assert groups["name"] == "none"
    assert groups["note"]
    for report in reports[:2]:
        held_tiers.tell(place.name, report["name"], report["holds"], report["reasons"])
        assert report["holds"] == (report["name"] in place.holds), report
        if report["holds"]:
            assert len(report["canaries"]) >= 40
            assert all(report["canaries"].values())
        else:
            assert NO_NAMESPACE.search(report["reasons"][0])
            assert any("seccomp profile of this project" in remedy for remedy in report["remedies"])


@pytest.mark.timeout(900)
def test_a_match_is_played_and_a_tier_that_does_not_hold_plays_none(place: Place) -> None:
    tute = f"STATE_DIR=/state {PYTHON} -m engine.cli play bots/house/random bots/house/greedy -g a_dos -n 4 --json"

    (match,) = inside(place, f"{lending('/state', modules())}{tute} | tr -d '\\n'\necho")

    assert [party["faults"] for party in match["parties"]] == [[], []]
    assert all(board["complete"] for board in match["boards"])
    assert len(match["boards"]) == 4
    assert match["host"]["tier"] == place.holds[0]
    assert match["host"]["control_groups"] == "none"
    if "namespaces" not in place.holds:
        refused = container.run(
            f"{lending('/state', modules())}"
            f"STATE_DIR=/state {PYTHON} -m engine.cli play bots/house/random bots/house/greedy -g a_dos -n 1 "
            "--sandbox namespaces >/dev/null 2>/tmp/said && exit 1\ncat /tmp/said",
            user=place.user,
            profile=place.profile,
            hardened=place.hardened,
        )
        assert NO_NAMESPACE.search(" ".join(refused.split()))


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_every_attack_is_contained_there_too(place: Place) -> None:
    names = "".join(f"{name}\\n" for name in ATTACKS)
    play = f"printf {shlex.quote(names)} | {PYTHON} -m tests.hostile.arena /state {place.holds[0]}"
    script = lending("/state", {}) + play

    played = inside(place, script, 580)

    assert [outcome["name"] for outcome in played] == list(ATTACKS)
    wrong = {
        outcome["name"]: outcome
        for outcome in played
        if outcome["fault"] not in ATTACKS[outcome["name"]].ends
        or (outcome["fault"] is None and outcome["got"])
        or outcome["remains"]
    }
    assert wrong == {}


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_no_act_ends_better_than_playing_on_there_either(place: Place) -> None:
    """The table of tests/hostile/test_acts.py as `make test` plays it, in the tiers that hold here in turn."""
    pairs = [(act, moment) for number, act in enumerate(ACTS) for moment in quick_moments(act, number)]
    cells = [Cell(act, moment, place.holds[turn % len(place.holds)]) for turn, (act, moment) in enumerate(pairs)]
    lines = "".join(f"{cell.act}\t{cell.moment}\t{cell.tier}\n" for cell in cells)
    build = "from pathlib import Path; from tests.support import acts; acts.build(Path('/state/bot'))"
    script = f'{PYTHON} -c "{build}"\nprintf %s {shlex.quote(lines)} | {PYTHON} -m tests.hostile.acts /state'

    wrong = inside(place, script, 1800)

    assert len(wrong) == len(cells)
    errors = [f"{cell}: {what}" for cell, what in zip(cells, wrong, strict=True) if what]
    assert not errors, "\n".join(errors)
