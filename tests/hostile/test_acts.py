"""No act of a bot ends better for it than playing on: a table of acts, moments, tiers and users, each cell a match against an honest bot.

In each cell the bot's sittings have what the rules give for a forfeit or what they have when nothing is done, and the honest one's likewise; the
honest bot is never blamed and the match never broken off. `make test` plays one act of each kind, `make slow` every act at every moment,
for a series of numbers at two of them; `make soak` plays the whole product.
"""

from __future__ import annotations

import os
import shutil
from collections import defaultdict
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest

from engine.sandbox import TierReport
from tests.engine.sandbox.support import StateDirectory, held_tiers
from tests.hostile.acts import ACTS, FAULT, HARMLESS, LIMITED, MOMENTS, PLAYS_ON, SIGNALS, STATUSES, Cell, Table
from tests.support import acts
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.timeout(900)
TIERS = ("namespaces", "landlock")
ORDINARY = "an ordinary user"
SERIES = {"exit": STATUSES, "signal": (*SIGNALS, *HARMLESS), "limit": LIMITED}
# One act of each kind for `make test`; `make slow` has all others.
QUICK = ("exit|137", "signal|9", "limit|0", "close|1", "nap|5", "vfork|137", "memory|137")
Place = tuple[str, str]  # tier, user
Play = Callable[[Cell, str], list[str]]


def quick_moments(act: str, turn: int) -> tuple[str, ...]:
    """Return all moments; for one of a series of acts that differ by a number only, a decision and one of the others."""
    name, _, number = act.partition("|")
    others = ("start", "frozen", "end")
    return ("decision", others[turn % 3]) if int(number) in SERIES.get(name, ()) else MOMENTS


def quick_cells(places: list[Place]) -> dict[str, list[tuple[Cell, str]]]:
    """Act -> its cells and users, the places in turn."""
    turn = count()
    cells = defaultdict(list)
    for number, act in enumerate(ACTS):
        for moment in quick_moments(act, number):
            tier, user = places[next(turn) % len(places)]
            cells[act].append((Cell(act, moment, tier), user))
    return cells


@pytest.fixture(scope="session")
def table(state: StateDirectory) -> Table:
    """Return the cells of the tests' own user."""
    acts.build(state.path / "bot")
    return Table(state.path)


@pytest.fixture(scope="session")
def places(state: StateDirectory, request: pytest.FixtureRequest) -> list[Place]:
    """Return the places where a tier holds: as the user of the tests, and as an ordinary user unless this run is quick."""
    reports = [("root" if os.getuid() == 0 else "the tests' user", state.reports[tier]) for tier in TIERS]
    if any(mark.name in ("slow", "soak") for item in request.session.items for mark in item.iter_markers()):
        answers = state.as_ordinary_user("tests.engine.sandbox.say_tiers")
        reports += [(ORDINARY, TierReport(**answer)) for answer in answers if answer["name"] in TIERS]
    for user, report in reports:
        held_tiers.tell(user, report.name, report.holds, report.reasons)
    places_here = [(report.name, user) for user, report in reports if report.holds]
    assert places_here, "no tier holds on this host: nothing could be tested"
    return places_here


def played_by_ordinary(state: StateDirectory, cells: list[Cell]) -> dict[Cell, list[str]]:
    """Return what is wrong with these cells, each match played by a process of an ordinary user."""
    home = Path(state.for_others(runner=True)[2])
    shutil.copy(state.path / "bot", home / "bot")
    os.chown(home / "bot", home.stat().st_uid, home.stat().st_gid)
    lines = ["\t".join((cell.act, cell.moment, cell.tier)) for cell in cells]
    return dict(zip(cells, state.as_ordinary_user("tests.hostile.acts", lines=lines, runner=True), strict=True))


@pytest.fixture(scope="session")
def cells(places: list[Place], request: pytest.FixtureRequest) -> dict[str, list[tuple[Cell, str]]]:
    """Act -> its cells and users, of the acts that this run plays."""
    of_this_run = {item.callspec.params.get("act") for item in request.session.items if hasattr(item, "callspec")}
    chosen = {act: row for act, row in quick_cells(places).items() if act in of_this_run}
    number = sum(map(len, chosen.values()))
    held_tiers.add(f"{len(chosen)} acts in {number} matches, in each of: {', '.join(f'{t} as {u}' for t, u in places)}")
    return chosen


@pytest.fixture(scope="session")
def play(state: StateDirectory, table: Table, cells: dict[str, list[tuple[Cell, str]]]) -> Play:
    """Return a function that plays a cell as a user; those of the ordinary user are all played at the first call."""
    of_ordinary = [cell for row in cells.values() for cell, user in row if user == ORDINARY]
    theirs = played_by_ordinary(state, of_ordinary) if of_ordinary else {}
    return lambda cell, user: theirs[cell] if user == ORDINARY else table.wrong(cell)


@pytest.mark.parametrize("act", mostly_slow(ACTS, QUICK.__contains__))
def test_no_act_ends_better_than_playing_on(act: str, play: Play, cells: dict[str, list[tuple[Cell, str]]]) -> None:
    wrong = {f"{cell.moment} in {cell.tier} as {user}": play(cell, user) for cell, user in cells[act]}

    assert {where: what for where, what in wrong.items() if what} == {}


@pytest.mark.parametrize("name", ["bwrap", "tute-spare", ") Z 0 (", "a b"])
def test_no_name_of_a_program_confuses_the_supervisor(name: str, table: Table, places: list[Place]) -> None:
    tiers = sorted({tier for tier, _ in places})

    assert {tier: table.judge(table.bot("never|nothing|0", entry=name), tier, PLAYS_ON) for tier in tiers} == {
        tier: [] for tier in tiers
    }
    assert table.judge(table.bot("decision|exit|137", entry=name), tiers[-1], FAULT) == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_the_whole_product(state: StateDirectory, table: Table, places: list[Place]) -> None:
    all_cells = {(Cell(act, moment, tier), user) for act in ACTS for moment in MOMENTS for tier, user in places}
    wrong = {f"{cell} as {user}": table.wrong(cell) for cell, user in sorted(all_cells, key=str) if user != ORDINARY}
    theirs = [cell for cell, user in sorted(all_cells, key=str) if user == ORDINARY]
    for first in range(0, len(theirs), 200):
        findings = played_by_ordinary(state, theirs[first : first + 200])
        wrong |= {f"{cell} as {ORDINARY}": what for cell, what in findings.items()}

    assert len(wrong) == len(all_cells) >= len(ACTS) * len(MOMENTS)
    findings = [f"{where}: {what}" for where, what in wrong.items() if what]
    assert not findings, "\n".join(findings)
