"""The probe: the best player found against a bot, its report, and the player that learns the bot's habits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import engine
from engine.cards.chance import Dice
from engine.cli import main
from engine.responding import ChoiceModel, ObservedChoice, Responder, features, lead, practise
from engine.runner.feed import Feed
from engine.runner.sitting import BoardRun, Texts

ALL_TWO_SIDED = [
    (key, players)
    for key in engine.games()
    for players in engine.game.declared(key).players
    if len(engine.load(key, players=players).sides) == 2
]


def lowest(state: engine.State, legal: Sequence[int]) -> int:
    """Follow a habit: play the card of least worth, the lowest of them."""
    return min(legal, key=lambda action: (state.facts[action][2], action) if action < 52 else (99, action))


def sample_choices(seeds: range) -> list[ObservedChoice]:
    choices = []
    for seed in seeds:
        state = engine.load("partnership").new_match(seed=seed, record=False)
        while not state.is_over:
            legal = state.legal_actions()
            if len(legal) > 1:
                choices.append(ObservedChoice(features(state, legal), legal.index(lowest(state, legal))))
            state.apply(lowest(state, legal))
    return choices


def test_habits_are_learned_from_what_was_seen_and_foresee_what_was_not() -> None:
    habits, fresh = ChoiceModel(), sample_choices(range(100, 110))
    assert habits.foreseen([]) == 0

    habits.learn(sample_choices(range(20)), Dice(1), times=3)

    assert habits.foreseen(fresh) > 0.9
    assert all(abs(sum(habits.chances(choice.actions)) - 1) < 1e-9 for choice in fresh)


def test_features_are_of_the_own_hand_and_of_open_cards_alone() -> None:
    for seed in range(5):
        state = engine.load("partnership").new_match(seed=seed, record=False)
        for _ in range(9):
            state.apply(state.legal_actions()[0])
        other = state.clone()
        first, second = (seat for seat in range(4) if seat not in (state.turn, (state.turn + 1) % 4))
        other.hands[first], other.hands[second] = other.hands[second], other.hands[first]
        assert features(state, state.legal_actions()) == features(other, other.legal_actions())


@pytest.mark.slow
@pytest.mark.parametrize(("key", "players"), ALL_TWO_SIDED)
def test_it_plays_every_game_of_two_sides_by_what_a_seat_is_told(key: str, players: int) -> None:
    """The referee takes each of its answers, and it chooses the same again."""
    game = engine.load(key, players=players)

    def sitting() -> list[int]:
        state = game.new_match(seed=5, deals=1)
        table = [Responder(game, seat, ChoiceModel(), ChoiceModel(), seed=seat, deals=2) for seat in range(players)]
        sitting_by_chance = BoardRun(state, table, Feed(players), Texts(game), 1, 0)
        assert sitting_by_chance.play(lambda: len(state.actions) > 60) or len(state.actions) > 60
        assert not sitting_by_chance.faults
        if state.is_over:
            assert lead(state, 0) == -lead(state, 1)
        return list(state.actions)

    assert sitting() == sitting()


def test_it_takes_the_trick_that_decides() -> None:
    """Three tricks before the end all is known to both: mostly it finds what the exact solution says."""
    from engine.search.solving import judge

    game = engine.load("two_player")
    right = total = 0
    for seed in range(30):
        state = game.new_match(seed=seed)
        feed, texts = Feed(2), Texts(game)
        table = [Responder(game, seat, ChoiceModel(), ChoiceModel(), seed=seat, deals=24) for seat in (0, 1)]
        sitting = BoardRun(state, table, feed, texts, 1, 0)
        sitting._open()
        while len(state.hand_of(state.turn)) > 3 or state.stock:
            state.apply(lowest(state, state.legal_actions()))
        legal = state.legal_actions()
        if len(legal) == 1:
            continue
        worth = {action: (1 if state.turn == 0 else -1) * solution.low for action, solution in judge(state).items()}
        if max(worth.values()) == min(worth.values()):
            continue
        seat = state.turn
        answer = json.loads(table[seat].ask(feed.take(seat), texts.legal(legal)))["do"]
        total += 1
        right += worth[game.parse_action(answer)] == max(worth.values())
    assert total >= 8
    assert right / total >= 0.75


def test_practice_finds_the_answer_to_a_habit() -> None:
    """Against a side that plays its lowest cards the habits of practice win more than those they began with; the same seed gives the same."""
    game = engine.load("brisca", players=2)
    lowly = ChoiceModel()
    lowly.learn(sample_choices(range(10)), Dice(1), times=2)

    def won(model: ChoiceModel) -> float:
        dice, total = Dice(9), 0.0
        for seed in range(60):
            for side in (0, 1):
                state = game.new_match(seed=f"other {seed}", deals=1, record=False)
                while not state.is_over:
                    player = model if state.turn == side else lowly
                    state.apply(player.choose(state, state.legal_actions(), dice))
                total += lead(state, side)
        return total / 60

    ours, again = ChoiceModel(), ChoiceModel()
    practise(game, ours, lowly, 3, steps=12)
    practise(game, again, lowly, 3, steps=12)

    assert won(ours) > won(ChoiceModel()) + 20
    assert again.weights == ours.weights


# ---- the command


def probe(capsys: pytest.CaptureFixture[str], *words: str, code: int = 0) -> dict[str, Any]:
    assert main(["probe", *words, "--no-sandbox", "--json"]) == code
    result: dict[str, Any] = json.loads(capsys.readouterr().out)
    return result


@pytest.mark.slow
def test_random_is_exploited_and_the_same_seed_says_the_same(capsys: pytest.CaptureFixture[str]) -> None:
    words = (
        *("random", "-g", "brisca", "--players", "2", "--tries", "10", "--boards", "4", "--seed", "7"),
        *("--learned", "--episodes", "512"),
    )
    result = probe(capsys, *words, "--jobs", "1")

    assert result["clear"]
    assert result["ahead"] > result["margin"] > 0
    assert result["response"] != "random"
    assert (result["unit"], result["boards"], result["trained"], result["practised"]) == ("points", 4, 12, 512)
    assert [response["response"] for response in result["tested"]][1:] == ["learned"]
    assert result["ahead"] == max(response["ahead"] for response in result["tested"])
    low, high = result["elo"][1:]
    assert low < result["elo"][0] <= high
    names = {candidate["name"]: candidate["boards"] for candidate in result["candidates"]}
    assert set(names) == {"champion", "counting", "deep", "greedy", "search", "learned"}
    assert min(names.values()) == 2
    assert sum(names.values()) == 12
    again = probe(capsys, *words, "--jobs", "2")
    assert {**again, "seconds": 0} == {**result, "seconds": 0}


BROKEN = """
from tute_bot import Bot, run

class Broken(Bot):
    def act(self, view, legal):
        raise SystemExit(3)

run(Broken())
"""


def test_a_bot_that_fails_is_told_so_and_no_result(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    bot = tmp_path / "broken.py"
    bot.write_text(BROKEN, encoding="utf-8")
    words = [str(bot), "-g", "a_dos", "--tries", "8", "--boards", "2", "--seed", "1"]

    assert main(["probe", *words, "--jobs", "1", "--no-sandbox"]) == 1
    assert "lower bound" not in (out := capsys.readouterr().out)
    assert "broken failed" in out
    # As a candidate it costs nobody but itself.
    against = probe(capsys, "random", *words[1:], "--with", str(bot), "--jobs", "1")
    assert (
        next(candidate for candidate in against["candidates"] if candidate["name"] == "broken")["fault"]["kind"]
        == "crash"
    )
    assert against["response"] != "broken"


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["random", "-g", "subastado"], "3 sides"),
        (["random", "-g", "codillo"], "cannot be probed"),
        (["random", "-g", "brisca", "--players", "3"], "3 sides"),
        (["champion", "-g", "a_dos"], "champion plays"),
        (["random", "-g", "brisca", "--boards", "1"], "--boards 1 is too small; give at least 2"),
        (["random", "-g", "brisca", "--seconds", "nan"], "--seconds nan"),
        (["random", "-g", "brisca", "--jobs", "0"], "--jobs 0"),
        (["random", "-g", "brisca", "--tries", "5"], "at least 10"),
        (["random", "-g", "brisca", "--learned", "--episodes", "0"], "--episodes 0 is too small"),
        (["random", "-g", "brisca", "--episodes", "9"], "add --learned"),
        (["nobody", "-g", "brisca"], "no bot"),
        (["random", "-g", "whist"], "unknown game"),
    ],
)
def test_what_cannot_be_probed_is_refused_with_the_reason(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["probe", *words, "--no-sandbox"]) == 2
    assert message in capsys.readouterr().err
