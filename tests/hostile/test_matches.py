"""Every attack again, in a match against an honest bot: the fault is typed, or the match is as if nothing had been tried."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import engine
from engine.runner import BotSpec, MatchResult, load_package
from engine.runner.match import forfeited, play_match
from engine.sandbox import Sandbox
from tests.engine.sandbox.support import StateDirectory, held_tiers
from tests.hostile import players, traces
from tests.hostile.arena import Surroundings
from tests.hostile.attacks import ATTACKS, Attack
from tests.support.bots import HONEST, match

GAME = "a_dos"
HOSTILE, OPPONENT = 0, 1


@pytest.fixture(scope="session")
def boxes(state: StateDirectory) -> list[Sandbox]:
    """Return a sandbox of every tier that holds here."""
    tiers = [name for name, report in state.reports.items() if report.holds and name != "none"]
    assert tiers, state.reports
    held_tiers.add(f"{len(ATTACKS) - 1} hostile bots attack in matches in turn in: {', '.join(tiers)}")
    return [Sandbox(name, state.path) for name in tiers]


@pytest.fixture(scope="session")
def honest(state: StateDirectory) -> BotSpec:
    path = state.path / "honest.py"
    path.write_text(HONEST)
    return load_package(path, state.path / "packages")


@pytest.fixture(scope="session")
def undisturbed(boxes: list[Sandbox], honest: BotSpec) -> list[list[int]]:
    """Return the scores of the same boards without attacks: the hostile bots choose the same actions."""
    return scores(
        play_match(match(honest, honest, game=GAME, boards=1, limits=players.limits(ATTACKS["fork"])), boxes[0])
    )


@pytest.fixture
def around() -> Iterator[Surroundings]:
    with tempfile.TemporaryDirectory(prefix="hostile-") as folder:
        surroundings = Surroundings(Path(folder))
        yield surroundings
        surroundings.close()


def scores(result: MatchResult) -> list[list[int]]:
    return [sitting.scores for board in result.boards for sitting in board.sittings]


def verdict(attack: Attack, result: MatchResult, undisturbed: list[list[int]]) -> list[str]:
    """Return what is wrong with the match; empty if nothing is."""
    faults, wrong = result.parties[HOSTILE].faults, []
    kinds = {fault.kind for fault in faults} or {None}
    if not kinds <= attack.ends:
        wrong.append(f"ended in {[(fault.kind, fault.detail) for fault in faults]}, expected {attack.ends}")
    if result.parties[OPPONENT].faults:
        wrong.append(f"the honest bot was blamed: {result.parties[OPPONENT].faults}")
    if not all(board.complete for board in result.boards):
        wrong.append("not all boards were played")
    game = engine.load(GAME)
    for board in result.boards:
        for sitting, expected in zip(board.sittings, undisturbed, strict=True):
            seats = {fault.seat for fault in sitting.faults}
            due = forfeited(game, seats) if seats else expected
            if sitting.scores != due:
                wrong.append(f"the result is {sitting.scores}, not {due}")
            notes = [note["note"] for note in sitting.replay["notes"] if note["note"].startswith(players.OBTAINED)]
            if notes and not seats:
                wrong += notes
    return wrong


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in ATTACKS if name != "nothing"])
def test_attack_gains_nothing_in_a_match(
    name: str,
    boxes: list[Sandbox],
    honest: BotSpec,
    undisturbed: list[list[int]],
    around: Surroundings,
    tmp_path: Path,
    state: StateDirectory,
) -> None:
    """The tiers take turns: tests/hostile/test_battery.py tries each attack in all of them."""
    attack, box = ATTACKS[name], boxes[list(ATTACKS).index(name) % len(boxes)]
    bot = players.hostile(name, around, tmp_path)
    before = traces.collect(state.path)

    result = play_match(match(bot, honest, game=GAME, boards=1, limits=players.limits(attack)), box)

    wrong = verdict(attack, result, undisturbed) + around.touched()
    assert wrong + sorted(traces.collect(state.path) - before) == []
