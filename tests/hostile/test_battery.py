"""Every attack ends as stated, in every tier that holds here, leaves nothing behind and wrongs nobody.

The bots run as real processes. A tier that does not hold on this host is named in the report's end, not passed over.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

import pytest

from engine.sandbox import TierReport
from engine.sandbox.process.bot import PONDERING_S
from tests.engine.sandbox.support import REPOSITORY, StateDirectory, held_tiers
from tests.hostile import arena
from tests.hostile.attacks import ATTACKS
from tests.support.parts import mostly_slow

# One attack of each kind for `make test`; `make slow` has all others.
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
# An ordinary user's bots are all played when the first result is asked for, a hundred and fifty of them.
pytestmark = pytest.mark.timeout(900)
Field = Callable[[str], arena.Outcome]
_PLAYED_AT = ("namespaces", "landlock")


@pytest.fixture(scope="session")
def ordinary(state: StateDirectory, request: pytest.FixtureRequest) -> dict[str, dict[str, arena.Outcome]]:
    """Tier -> attack -> outcome, as an ordinary user. One process plays all attacks of this run, since it cannot change back."""
    of_this_run = {item.callspec.params.get("attack") for item in request.session.items if hasattr(item, "callspec")}
    attacks = [name for name in ATTACKS if name in of_this_run]
    played = {}
    for answer in state.as_ordinary_user("tests.engine.sandbox.say_tiers"):
        report = TierReport(**answer)
        if report.name in _PLAYED_AT:
            held_tiers.tell("an ordinary user", report.name, report.holds, report.reasons)
            if report.holds:
                answers = state.as_ordinary_user("tests.hostile.arena", report.name, lines=attacks)
                played[report.name] = {answer.pop("name"): arena.Outcome(**answer) for answer in answers}
    return played


@pytest.fixture(scope="session")
def fields(state: StateDirectory, ordinary: dict[str, dict[str, arena.Outcome]]) -> dict[str, Field]:
    """Return the places to play: "tier as user" -> a function that plays an attack there."""
    places: dict[str, Field] = {
        f"{tier} as an ordinary user": outcomes.__getitem__ for tier, outcomes in ordinary.items()
    }
    if os.getuid() == 0:
        for tier in _PLAYED_AT:
            report = state.reports[tier]
            held_tiers.tell("root", tier, report.holds, report.reasons)
            if report.holds:
                places[f"{tier} as root"] = lambda name, tier=tier: arena.play(name, tier, state.path)
    assert places, "no tier holds on this host: nothing could be tested"
    held_tiers.add(f"hostile bots are let loose in each of: {', '.join(places)}")
    return places


def verdict(attack_name: str, outcome: arena.Outcome) -> list[str]:
    """Return what is wrong with an outcome; empty if it is as the attack states."""
    attack = ATTACKS[attack_name]
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


@pytest.mark.parametrize("attack", mostly_slow(ATTACKS, QUICK.__contains__))
def test_attack_is_contained_in_every_tier(attack: str, fields: dict[str, Field]) -> None:
    wrong = {place: verdict(attack, play(attack)) for place, play in fields.items()}

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


@pytest.mark.parametrize("attack", mostly_slow(["compute for ever", "compute in four threads"], QUICK.__contains__))
def test_cpu_time_is_cut_at_the_budget(attack: str, fields: dict[str, Field]) -> None:
    for place, play in fields.items():
        outcome = play(attack)
        # Two cores may run four threads at once for one look of the clock, and on a busy machine that look comes late.
        assert 0.3 <= outcome.cpu_s < 0.6, f"{place}: {attack} was charged {outcome.cpu_s:.3f} s of 0.3 s"


@pytest.mark.slow
@pytest.mark.parametrize("attack", ["flood stderr"])
def test_the_end_of_a_flooded_stderr_is_kept(attack: str, fields: dict[str, Field]) -> None:
    for play in fields.values():
        assert play(attack).stderr.endswith("last words")
