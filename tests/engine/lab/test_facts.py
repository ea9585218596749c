"""The facts of a sitting, against matches that are written down, and against a second count of the same events."""

import random
from typing import Any

import pytest

import engine
from engine.lab.facts import facts
from engine.replay import ReplayError, make, verify


def random_replay(key: str, seed: int, **options: Any) -> dict[str, Any]:
    """Return a match of random play; nobody claims or accuses."""
    game, rng = engine.load(key, **options), random.Random(seed)
    state = game.new_match(seed=seed, deals=game.board_deals)
    while not state.is_over:
        texts = [game.action_text(action) for action in state.legal_actions()]
        choices = [text for text in texts if text.split()[0] not in ("claim", "accuse")] or texts
        state.apply(game.parse_action(rng.choice(choices)))
    return make(state)


@pytest.mark.parametrize("key", engine.games())
def test_facts_agree_with_the_record_in_every_game(key: str) -> None:
    for seed in range(3):
        replay = random_replay(key, seed)
        counted = facts(replay)
        kinds = [event["e"] for event in replay["events"]]
        verdicts = [event["why"] for event in replay["events"] if event["e"] == "score"]

        assert counted["tricks"] == kinds.count("trick")
        assert counted["deals"] == len(verdicts) == kinds.count("score")
        assert (counted["tute_decides"], counted["capote_decides"]) == (
            verdicts.count("tute"),
            verdicts.count("capote"),
        )
        assert counted["lead"] == next(event["mano"] for event in replay["events"] if event["e"] == "deal")
        assert counted["decisions"] <= len(replay["actions"])
        assert counted["choices"] >= 2 * counted["decisions"]
        assert counted["runaway"] <= counted["half"] <= counted["deals"]
        assert counted["forty"] <= counted["song"] <= kinds.count("song")
        assert counted["forty_decides"] <= counted["deals"]
        assert counted["songs_decides"] <= counted["deals"]
    verify(replay)


@pytest.mark.parametrize("key", ["partnership", "individual", "two_player", "variable_trump"])
def test_songs_and_the_last_trick_decide_as_the_points_of_the_score_say(key: str) -> None:
    """The result without some points follows from the score itself, because most points win."""
    compared = 0
    for seed in range(60):
        replay = random_replay(key, seed)
        score = next(event for event in replay["events"] if event["e"] == "score")
        if score["why"] != "points":
            continue
        game = engine.load(key)

        def winner(without: list[int], score: dict[str, Any] = score, game: engine.Game = game) -> int | None:
            by_side = [sum(score["points"][seat] - without[seat] for seat in side) for side in game.sides]
            return None if by_side[0] == by_side[1] else by_side.index(max(by_side))

        counted = facts(replay)
        for name, without in (("songs", score["songs"]), ("last", score["bonus"])):
            expected = winner(without)
            if expected is not None:
                compared += 1
                assert counted[f"{name}_decides"] == (expected != score["winner"]), (seed, name)
    assert compared > 60


def test_songs_of_earlier_deals_of_a_game_count() -> None:
    """A game of corriente may take two deals: here 93:77 with a song of 40, then 42:88 without songs, so 135:165 and 135:125."""
    replay = random_replay("corriente", 5)
    songs = [event["songs"] for event in replay["events"] if event["e"] == "score"]

    assert songs == [[0, 40], [0, 0]]
    assert facts(replay)["forty_decides"] == facts(replay)["songs_decides"] == 1


def test_a_damaged_replay_is_refused() -> None:
    replay = random_replay("a_dos", 1)
    replay["actions"][3] = "play 99"

    with pytest.raises(ReplayError, match="step 4: action 'play 99' cannot be taken"):
        facts(replay)
