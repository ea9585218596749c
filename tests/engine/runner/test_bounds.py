"""A match has a most of wall time, told beforehand; who sleeps it out fails, and the rival gets what a forfeit gives."""

import itertools
import json
from dataclasses import replace

import pytest

import engine
from engine.game import declared, games
from engine.runner import BotSpec, Limits, bounds, rebuild
from engine.runner.match import forfeited, play_match
from engine.sandbox import Sandbox
from tests.engine.runner.conftest import Maker
from tests.support.bots import match

TIGHT = Limits(start_s=1.0, move_s=0.05, bank_s=0.2, wall_factor=1.0, wall_extra_s=0.6)
SLEEPS = "def act(m): time.sleep(0.5); return good(m)"
MATCH_S = 600  # the most of the default match


@pytest.mark.parametrize("key", games())
def test_the_default_match_of_sixteen_boards_of_a_deal_each_ends_within_ten_minutes(key: str) -> None:
    game = engine.load(key)
    if len(game.sides) == 2 and game.board_deals == 1:
        assert bounds.match_s(Limits(), game, 2, 16) <= MATCH_S
    for players in declared(key).players:
        table = engine.load(key, players=players)
        most = bounds.match_s(Limits(), table, len(table.sides), 16)
        processes = len(table.sittings(len(table.sides))) * players
        assert most == processes * bounds.pass_s(Limits(), table, 16)
        assert bounds.pass_s(Limits(), table, 16) >= 16 * bounds.decisions(table) * 0.5


def test_a_bot_that_sleeps_out_its_bank_fails_and_its_rival_gets_the_forfeit(
    box: Sandbox, honest: BotSpec, make: Maker
) -> None:
    sleeper = make(SLEEPS, name="sleeper")
    game = engine.load("partnership")
    most = bounds.pass_s(TIGHT, game, 2)
    assert most == pytest.approx(2.0)

    result = play_match(match(sleeper, honest, limits=TIGHT), box)

    first = result.parties[0].faults
    assert [fault.kind for fault in first] == ["timeout", "timeout"]  # once in each pass, each with its own bank
    assert all("all answers of this pass may take 2.0 s together" in fault.detail for fault in first)
    assert result.parties[1].faults == []
    for board in result.boards:
        for sitting in board.sittings:
            if sitting.faults:
                assert sitting.scores == forfeited(game, {sitting.faults[0].seat})


def test_a_bot_that_starts_slowly_has_less_for_its_answers(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    """A decision may last 2.25 s by itself; what a start of 2.3 s leaves of the pass (4.0 s) is less, and ends the late bot's first one."""
    roomy = replace(TIGHT, start_s=3.0, wall_extra_s=2.0)
    assert bounds.pass_s(roomy, engine.load("partnership"), 2) == pytest.approx(4.0)
    assert roomy.wall_s(roomy.move_s + roomy.bank_s) == pytest.approx(2.25)
    start = 'def hello(m): time.sleep({}); return \'{{"type":"ready"}}\\n\'\ndef act(m): time.sleep(600)'

    def ended_by_the_pass(seconds: float) -> set[bool]:
        faults = play_match(match(make(start.format(seconds)), honest, limits=roomy), box).parties[0].faults
        assert {fault.kind for fault in faults} == {"timeout"}, faults
        return {"all answers of this pass may take 4.0 s together" in fault.detail for fault in faults}

    assert ended_by_the_pass(0) == {False}
    # A time in which the referee could not run does not count, and the start may then have been a quick one.
    assert any(ended_by_the_pass(2.3) == {True} for _ in range(10))


def test_a_start_may_take_its_own_time_though_the_pass_has_more(box: Sandbox, honest: BotSpec, make: Maker) -> None:
    """1.6 s here, where all answers of a pass may take 2.0 s."""
    late = make("def hello(m): time.sleep(600)", name="late")

    faults = play_match(match(late, honest, limits=TIGHT), box).parties[0].faults

    assert {fault.kind for fault in faults} == {"start_timeout"}  # Faults of its two seats, in each pass
    assert all("no answer within 1.6 s of wall time" in fault.detail for fault in faults), faults


def test_hello_tells_the_most_and_a_log_from_before_is_rebuilt_without_it(box: Sandbox, honest: BotSpec) -> None:
    lines: list[bytes] = []
    game = engine.load("partnership")

    result = play_match(match(honest, honest), box, tap=lambda number, seat, request, answer: lines.append(request))

    replay = result.boards[0].sittings[0].replay["pass"]
    (limits,) = {json.dumps(json.loads(line)["limits"]) for line in lines if b'"hello"' in line}
    assert json.loads(limits)["pass_s"] == replay["pass_s"] == bounds.pass_s(Limits(**replay["limits"]), game, 2)
    assert rebuild.hello(replay, game, 0) in lines
    before = {key: value for key, value in replay.items() if key not in ("pass_s", "sealed")}
    assert b"pass_s" not in rebuild.hello(before, game, 0)
    assert b"sealed" not in rebuild.hello(before, game, 0)


def test_a_match_is_stopped_in_the_middle_of_a_decision_and_blames_nobody(
    box: Sandbox, honest: BotSpec, make: Maker
) -> None:
    sleeper = make("def act(m): time.sleep(600)", name="asleep")
    for late in (sleeper, make("def hello(m): time.sleep(600)", name="never")):
        calls = itertools.count()

        result = play_match(match(late, honest, limits=Limits()), box, stop=lambda counter=calls: next(counter) >= 5)

        assert not any(board.complete for board in result.boards)
        assert [report.faults for report in result.parties] == [[], []]


@pytest.mark.parametrize(
    ("key", "players", "deals", "most"),
    [
        ("partnership", 4, None, 8),  # one deal
        ("two_player", 2, None, 16),
        ("partnership", 4, 3, 24),
        ("corriente", 2, None, 64),  # until one of two sides has won: four deals
        ("corriente", 2, 1, 16),
        ("cabrero", 4, None, 64),  # until all but one are out: eight deals
        ("cabrero", 3, None, 86),  # 85 1/3
        ("cabrero", 6, None, 43),
        ("cabrero", 3, 2, 22),
    ],
)
def test_a_board_has_time_for_so_many_decisions_of_a_seat(key: str, players: int, deals: int | None, most: int) -> None:
    game = engine.load(key, players=players)
    limits = Limits(start_s=1.0, move_s=0.25, bank_s=2.0)

    assert bounds.decisions(game, deals) == most
    assert bounds.pass_s(limits, game, 5, deals) == 3.0 + 5 * most * 0.25
    sides = len(game.sides)
    assert bounds.match_s(limits, game, sides, 5, deals) == len(game.sittings(sides)) * players * (
        3.0 + 5 * most * 0.25
    )
