"""Every attack ends as stated, in every tier that holds here, leaves nothing behind and wrongs nobody.

The bots run as real processes. A tier that does not hold on this host is named in the report's end, not passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable

import pytest
from _pytest.mark import ParameterSet

from engine.sandbox import TierReport
from engine.sandbox.process.bot import PONDERING_S
from tests.engine.sandbox.support import REPOSITORY, StateDirectory, held_tiers
from tests.hostile import arena
from tests.hostile.attacks import ATTACKS, Attack

# One attack of each kind for `make test`, each in one place; `make slow` plays all attacks everywhere.
QUICK = (
    "nothing",
    "read files of the host",
    "write anywhere",
    "open a socket of any family",
    "fork bomb",
    "trace and read the worker",
    "exit quietly",
    "memory bomb",
    "compute in four threads",
    "reach the opponent",
    "flood stdout",
    "close stdout",
    "every forbidden system call",
    "namespaces",
)
THREADS = ("compute in four threads",)
# An ordinary user's bots are all played when the first result is asked for, a hundred and fifty of them.
pytestmark = pytest.mark.timeout(900)
Play = Callable[[str], arena.Outcome]
Place = tuple[str, str]  # tier, user
PLAYED_AT = ("namespaces", "landlock")
ORDINARY = "an ordinary user"


def cases(*quick: str, slow: Iterable[str]) -> list[ParameterSet]:
    """Return the quick cases, and the slow ones under other names: an attack can be both."""
    everywhere = [pytest.param(name, marks=pytest.mark.slow, id=f"{name} everywhere") for name in slow]
    return [*map(pytest.param, quick), *everywhere]


def places_of(item: pytest.Item, places: list[Place]) -> list[Place]:
    """Return where a test plays its attack: a slow one everywhere, a quick one in one place, in turn."""
    attack = item.callspec.params.get("attack") if hasattr(item, "callspec") else None
    if attack not in ATTACKS:
        return []
    return places if item.get_closest_marker("slow") else [places[list(ATTACKS).index(attack) % len(places)]]


@pytest.fixture(scope="session")
def places(state: StateDirectory) -> list[Place]:
    """Return every tier that holds here, with its user."""
    reports = [(ORDINARY, TierReport(**answer)) for answer in state.as_ordinary_user("tests.engine.sandbox.say_tiers")]
    if os.getuid() == 0:
        reports += [("root", state.reports[tier]) for tier in PLAYED_AT]
    reports = [(user, report) for user, report in reports if report.name in PLAYED_AT]
    for user, report in reports:
        held_tiers.tell(user, report.name, report.holds, report.reasons)
    places_here = [(report.name, user) for user, report in reports if report.holds]
    assert places_here, "no tier holds on this host: nothing could be tested"
    held_tiers.add(
        f"hostile bots are let loose in each of: {', '.join(f'{tier} as {user}' for tier, user in places_here)}"
    )
    return places_here


@pytest.fixture(scope="session")
def ordinary(
    state: StateDirectory, places: list[Place], request: pytest.FixtureRequest
) -> dict[str, dict[str, arena.Outcome]]:
    """Tier -> attack -> outcome, as an ordinary user. One process plays all attacks of this run, since it cannot change back."""
    played = {}
    for place in [place for place in places if place[1] == ORDINARY]:
        items = [item for item in request.session.items if place in places_of(item, places)]
        attacks = sorted({item.callspec.params["attack"] for item in items})  # type: ignore[attr-defined]
        answers = state.as_ordinary_user("tests.hostile.arena", place[0], lines=attacks)
        played[place[0]] = {answer.pop("name"): arena.Outcome(**answer) for answer in answers}
    return played


@pytest.fixture
def fields(
    state: StateDirectory,
    places: list[Place],
    ordinary: dict[str, dict[str, arena.Outcome]],
    request: pytest.FixtureRequest,
) -> dict[str, Play]:
    """Return the places of this test: "tier as user" -> a function that plays an attack there."""

    def player(tier: str, user: str) -> Play:
        return ordinary[tier].__getitem__ if user == ORDINARY else lambda name: arena.play(name, tier, state.path)

    return {f"{tier} as {user}": player(tier, user) for tier, user in places_of(request.node, places)}


def verdict(attack: Attack, outcome: arena.Outcome) -> list[str]:
    """Return what is wrong with an outcome; empty if it is as the attack states."""
    wrong = []
    if outcome.fault not in attack.ends:
        wrong.append(f"ended in {outcome.fault} ({outcome.detail}), expected {attack.ends}")
    if outcome.fault is not None and attack.detail not in outcome.detail:
        wrong.append(f"the fault says {outcome.detail!r}, expected {attack.detail!r} in it")
    if outcome.fault is None and outcome.got:
        wrong.append(f"obtained {outcome.got}")
    if outcome.remains:
        wrong.append(f"left {outcome.remains}")
    if outcome.frozen_cpu_s > PONDERING_S:
        wrong.append(f"used {outcome.frozen_cpu_s * 1e3:.1f} ms of CPU while frozen")
    if outcome.stderr_bytes > 16 * 1024:
        wrong.append(f"{outcome.stderr_bytes} bytes of stderr were kept")
    return wrong


@pytest.mark.parametrize("attack", cases(*QUICK, slow=ATTACKS))
def test_attack_is_contained_in_every_tier(attack: str, fields: dict[str, Play]) -> None:
    wrong = {place: verdict(ATTACKS[attack], play(attack)) for place, play in fields.items()}

    assert {place: what for place, what in wrong.items() if what} == {}


def test_the_document_lists_every_attack() -> None:
    page = (REPOSITORY / "docs/sandbox-evidence.md").read_text().partition("## What was tried")[2].partition("\n## ")[0]
    rows = [line.split("|") for line in page.splitlines() if line.startswith("| ")][1:]
    listed = [name for row in rows for name in re.findall("`([^`]+)`", row[2])]

    assert sorted(listed) == sorted(set(ATTACKS) - {"nothing"})
    for row in rows:
        ends = {end for name in re.findall("`([^`]+)`", row[2]) for end in ATTACKS[name].ends}
        stated = set(re.findall("`([^`]+)`", row[3])) | ({None} if "contained" in row[3] else set())
        assert stated <= ends, row


@pytest.mark.parametrize("attack", cases(*THREADS, slow=("compute for ever", *THREADS)))
def test_cpu_time_is_cut_at_the_budget(attack: str, fields: dict[str, Play]) -> None:
    for place, play in fields.items():
        outcome = play(attack)
        # Two cores may run four threads at once for one look of the clock, and on a busy machine that look comes late.
        assert 0.3 <= outcome.cpu_s < 0.6, f"{place}: {attack} was charged {outcome.cpu_s:.3f} s of 0.3 s"


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["flood stderr"])
def test_the_end_of_a_flooded_stderr_is_kept(attack: str, fields: dict[str, Play]) -> None:
    for play in fields.values():
        assert play(attack).stderr.endswith("last words")
