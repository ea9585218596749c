"""Judgements of decisions: they hang together from card to card, and end at what was scored."""

from __future__ import annotations

import json
import random
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.analysis import END, PHASES, Judged, decisions, fairly, with_open_cards
from engine.cli import main
from engine.search.solving import camps
from tests.support import playing
from tests.support.parts import mostly_slow

NODES = 1500  # a limit that leaves the first tricks unjudged


def played(key: str, seed: int, **how: Any) -> dict[str, Any]:
    """Return the record of one random deal."""
    state = engine.load(key, **how).new_match(seed=seed, deals=1)
    rng = random.Random(seed)
    while not state.is_over:
        state.apply(playing.choose(state, rng))
    meta = {"board": seed, "sitting": 0, "seating": [0, 1] * (state.seats // 2), "parties": ["one", "other"]}
    return engine.replay.make(state, meta)


def judged(replay: dict[str, Any]) -> list[Judged]:
    return [decision for deal in with_open_cards(replay, NODES) for decision in deal]


@pytest.mark.parametrize("key", ["partnership", "two_player", "brisca", "corriente", "a_dos", "subastado"])
def test_the_worth_goes_from_decision_to_decision_and_ends_at_the_score(key: str) -> None:
    replay = played(key, 3)
    everything = judged(replay)
    judged_decisions = [decision for decision in everything if decision.lost is not None]

    assert len(judged_decisions) >= 3, "nothing was judged"
    joined = [pair for pair in pairwise(everything) if all(decision.lost is not None for decision in pair)]
    assert len(joined) >= 2
    for before, after in joined:
        assert before.worth == after.par, "what lies between is no choice, so it changes nothing"
    for judged_decision in judged_decisions:
        assert judged_decision.lost == abs((judged_decision.par or 0) - (judged_decision.worth or 0))
        assert (judged_decision.lost == 0) == (judged_decision.action in judged_decision.best)
        assert judged_decision.phase in PHASES
    assert judged_decisions[-1].phase == END
    final = engine.replay.restore(replay)
    if final.game.score_unit == "points":
        first, second = camps(final)
        assert judged_decisions[-1].worth == final.scores()[first[0]] - final.scores()[second[0]]


@pytest.mark.parametrize(
    "key", mostly_slow(["partnership", "two_player", "brisca", "corriente", "a_dos"], "partnership".__eq__)
)
def test_the_line_of_the_best_action_comes_to_what_the_deal_is_worth(key: str) -> None:
    """Played on, it leads to the par of the decision; and without lines everything else is the same."""
    whole = 0
    for seed in (3, 4):
        replay = played(key, seed)
        with_lines = [decision for deal in with_open_cards(replay, NODES, lines=True) for decision in deal]
        assert [replace(decision, line=()) for decision in with_lines] == judged(replay)
        states = {decision.step: decision.state.clone() for decision in decisions(replay)}
        for choice in with_lines:
            if not choice.line:
                continue
            assert choice.lost
            assert choice.line[0] == (choice.seat, choice.best[0])
            state = states[choice.step]
            state.deals = deal = state.deal_no
            first, second = camps(state)
            for move in choice.line:
                assert move.seat == state.turn
                state.apply(state.game.parse_action(move.action))
            if state.is_over and state.game.score_unit == "points":
                assert state.scores()[first[0]] - state.scores()[second[0]] == choice.par
                whole += 1
            elif not state.is_over and state.deal_no == deal:
                assert len(state.legal_actions()) > 1, "what is forced needs no proof"
    assert whole >= 2 or engine.load(key).score_unit != "points"


@pytest.mark.slow
def test_a_seat_is_judged_by_what_it_was_told() -> None:
    """At the end two players know each other's cards: then both judgements are the same. Before that they are not."""
    replay = played("two_player", 5)
    steps = {decision.step: decision for decision in judged(replay)}
    fair = [decision for deal in fairly(replay, 4, NODES) for decision in deal]

    assert fair == [decision for deal in fairly(replay, 4, NODES) for decision in deal], (
        "the dice follow from the replay"
    )
    last_decisions = [decision for decision in fair if decision.lost is not None and decision.phase == END]
    assert last_decisions
    for last_decision in last_decisions:
        alone = steps[last_decision.step]
        assert last_decision.samples == 4
        assert (last_decision.lost, last_decision.worth, last_decision.best, last_decision.error) == (
            alone.lost,
            alone.worth,
            alone.best,
            0,
        )
    partners = [
        decision
        for deal in fairly(played("partnership", 3), 4, NODES)
        for decision in deal
        if decision.lost is not None
    ]
    assert any(decision.error > 0 for decision in partners), "hidden cards were never dealt otherwise"
    assert all((decision.lost or 0) >= 0 for decision in partners)


def test_what_three_play_for_themselves_is_not_judged() -> None:
    replay = played("gana_pierde_3", 1)
    decisions_of_three = judged(replay)

    assert decisions_of_three
    assert all(decision.lost is None and decision.best == () for decision in decisions_of_three)


def test_the_command_tells_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "games.jsonl"
    replays = [played("partnership", seed) for seed in (3, 4)]
    log.write_text("".join(json.dumps(replay) + "\n" for replay in replays))

    assert main(["analyse", str(log), "--nodes", str(NODES), "--json"]) == 0
    result = json.loads(capsys.readouterr().out)
    assert main(["analyse", str(log), "--nodes", str(NODES)]) == 0
    text = capsys.readouterr().out

    expected = [decision for replay in replays for decision in judged(replay)]
    assert [row["lost"] for row in result["decisions"]] == [decision.lost for decision in expected]
    total = {row["bot"]: row["all"] for row in result["bots"]}
    assert sum(row["decisions"] for row in total.values()) == len(expected)
    lost = [decision.lost for decision in expected if decision.lost is not None and decision.seat % 2 == 0]
    assert total["one"]["lost"] == pytest.approx(sum(lost) / len(lost))
    assert total["one"]["margin"] > 0
    assert f"{total['one']['lost']:.2f} ± {total['one']['margin']:.2f}" in text
    worst = max((decision for decision in expected if decision.lost), key=lambda decision: decision.lost or 0)
    assert f"{worst.action}: {worst.lost:.4g} points" in text
    assert "could not be judged" in text


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--board", "9"], "has no board 9"),
        (["--fair", "1"], "--fair 1 is too small; give at least 2"),
        (["--nodes", "0"], "--nodes 0 is too small; give at least 1"),
        (["--lines", "--fair", "4"], "have no common line"),
    ],
)
def test_wrong_input_is_told(
    words: list[str], message: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "games.jsonl"
    log.write_text(json.dumps(played("partnership", 3)) + "\n")

    assert main(["analyse", str(log), *words]) == 2
    assert message in capsys.readouterr().err


def test_a_log_that_does_not_hold_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    replay = played("partnership", 3)
    replay["actions"][5] = replay["actions"][4]
    log = tmp_path / "bad.jsonl"
    log.write_text(json.dumps(replay) + "\n")

    assert main(["analyse", str(log)]) == 2
    assert "step 6" in capsys.readouterr().err
