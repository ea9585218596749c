"""Passes on a grid: when a pass begins tells its bots nothing about the one before, which has played the same cards."""

from __future__ import annotations

import contextlib
import dataclasses
import random
import time

import pytest

from engine.runner import Limits, bounds
from engine.runner.match import load, play_match
from engine.runner.spec import POSSIBLE
from engine.sandbox import Sandbox
from engine.sandbox.channels.bits import BitEstimate, estimate
from tests.engine.runner.conftest import Maker
from tests.support.bots import HONEST, match

BRIEF = Limits(start_s=0.2, move_s=0.01, bank_s=0.05)  # A step of the grid takes 0.8 s.
ROOMY = Limits(bank_s=5.0)
# It sits at seat 0 in the first pass and waits by its symbol; at seat 1 in the second pass, a fresh process reads how late it is.
TELLING = """
seat = None
def hello(m):
    global seat
    seat = m["seat"]
    print(seat, time.monotonic(), file=sys.stderr, flush=True)
    return '{{"type":"ready"}}\\n'
def act(m):
    if seat == 0 and m["id"] == 1: time.sleep({wait_s})
    return good(m)
"""


def told(make: Maker, box: Sandbox, wait_s: float, limits: Limits, *, apart: bool) -> float:
    """Play a match with a bot that passes on a symbol. Return the seconds between its two starts, as the bot itself reads them."""
    bot = dataclasses.replace(make(TELLING.format(wait_s=wait_s), name="telling"), sealable=False)
    honest = make(name="honest", source=HONEST)
    spec = match(bot, honest, game="two_player", boards=1, limits=limits, sealing=POSSIBLE, apart=apart)
    result = play_match(spec, box)
    starts = dict(map(float, line.split()) for line in result.parties[0].stderr.splitlines() if line[0].isdigit())
    return starts[1.0] - starts[0.0]


def measured(make: Maker, box: Sandbox, trials: int, wait_s: float, limits: Limits, *, apart: bool) -> BitEstimate:
    """Measure a channel of two symbols, to wait or not to wait. A bot that fails for a busy host tells nothing."""
    dice = random.Random(5)
    results = []
    while len(results) < trials:
        symbol = dice.randrange(2)
        with contextlib.suppress(KeyError):
            results.append((symbol, told(make, box, symbol * wait_s, limits, apart=apart)))
    return estimate(results, 2)


def test_with_an_unsealed_bot_no_pass_begins_before_its_place_on_the_grid(box: Sandbox, make: Maker) -> None:
    bots = [make(name=name, source=HONEST) for name in "ab"]
    bots[1] = dataclasses.replace(bots[1], sealable=False)
    spec = match(*bots, game="two_player", boards=1, limits=BRIEF, sealing=POSSIBLE, apart=True)
    starts: dict[int, float] = {}

    began = time.monotonic()
    result = play_match(spec, box, tap=lambda number, *_: starts.setdefault(number, time.monotonic() - began))

    assert result.host["sealed"] == "party 0"
    assert all(board.complete for board in result.boards)
    assert starts[1] >= bounds.grid_s(BRIEF, load(spec), 1)


def test_a_match_that_waits_for_its_next_pass_can_be_stopped(box: Sandbox, make: Maker) -> None:
    bots = [dataclasses.replace(make(name=name, source=HONEST), sealable=False) for name in "ab"]
    endless = dataclasses.replace(BRIEF, bank_s=3600.0)
    sittings = []
    spec = match(*bots, game="two_player", boards=1, limits=endless, sealing=POSSIBLE, apart=True)

    result = play_match(spec, box, progress=lambda number, _: sittings.append(number), stop=lambda: bool(sittings))

    assert sittings == [1]
    assert not result.boards[0].complete


@pytest.mark.parametrize(("sealable", "apart"), [(True, True), (False, False)])
def test_sealed_bots_and_matches_that_count_for_nothing_wait_for_no_grid(
    sealable: bool, apart: bool, box: Sandbox, make: Maker
) -> None:
    bots = [dataclasses.replace(make(name=name, source=HONEST), sealable=sealable) for name in "ab"]
    endless = dataclasses.replace(BRIEF, bank_s=3600.0)  # A step of two hours.
    spec = match(*bots, game="two_player", boards=1, limits=endless, sealing=POSSIBLE, apart=apart)

    assert play_match(spec, box).boards[0].complete


@pytest.mark.slow
def test_the_start_of_a_pass_tells_nothing_of_the_one_before(box: Sandbox, make: Maker) -> None:
    """The first measurement shows that the meter hears this channel where it is open."""
    assert measured(make, box, 60, 0.5, ROOMY, apart=False).low > 0.05
    closed = measured(make, box, 120, 0.1, BRIEF, apart=True)
    print(closed)
    assert closed.low <= 0.05
