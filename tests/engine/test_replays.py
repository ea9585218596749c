"""Replays: round trip through JSON, and every single change is found at its step."""

from __future__ import annotations

import json
import random
from functools import cache
from typing import Any

import pytest

import engine
from engine.replay import ReplayError
from tests.support import playing, tables
from tests.support.knowing import CARD
from tests.support.parts import mostly_slow

Replay = dict[str, Any]
ON_GAMES = tables.on_games(tables.plain())


@cache
def _recorded(table: tables.Table) -> tuple[str, tuple[int, ...]]:
    """Return the JSON of a replay, and for each event the step that made it."""
    state = table.load().new_match(seed=f"replay {table}", deals=2)
    steps = [0] * len(state.events)
    for step, _ in enumerate(playing.play(state, f"replay {table}"), 1):
        steps += [step] * (len(state.events) - len(steps))
    return json.dumps(engine.replay.make(state, {"note": "kept as given"})), tuple(steps)


def recorded(table: tables.Table) -> tuple[Replay, tuple[int, ...]]:
    """Return a replay as a file gives it, and the step that made each event."""
    text, steps = _recorded(table)
    return json.loads(text), steps


def refused(replay: Replay) -> ReplayError:
    """Return the error with which a replay is refused; a replay that is accepted fails the test."""
    with pytest.raises(ReplayError) as caught:
        engine.replay.verify(replay)
    return caught.value


@ON_GAMES
def test_a_replay_survives_json_and_holds(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            replay, _ = recorded(table)
            engine.replay.verify(replay)
            state = engine.replay.restore(replay)
            assert state.scores() == replay["scores"]
            assert json.loads(json.dumps(state.events)) == replay["events"]
            assert json.loads(json.dumps(engine.replay.make(state, replay["meta"]))) == replay


@pytest.mark.parametrize("step", mostly_slow([1, 6], (6).__eq__), ids=["all", "some"])
def test_options_are_kept_in_the_header(step: int) -> None:
    for table in tables.once()[::step]:
        with tables.note_table(table):
            state = playing.finished(table.load(), table, deals=1, limit=40)
            engine.replay.verify(json.loads(json.dumps(engine.replay.make(state))))


@ON_GAMES
def test_a_changed_action_is_found_at_its_step(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            replay, _ = recorded(table)
            rng = random.Random(str(table))
            plays = [step for step, text in enumerate(replay["actions"], 1) if text.startswith("play ")]
            for step in rng.sample(plays, min(4, len(plays))):
                changed = recorded(table)[0]
                changed["actions"][step - 1] = "play " + other_card(table, changed["actions"][step - 1][5:], rng)
                assert refused(changed).step == step
            for step in rng.sample(range(1, len(replay["actions"]) + 1), 2):
                changed = recorded(table)[0]
                del changed["actions"][step - 1]
                assert refused(changed).step >= min(step, len(changed["actions"]))
                changed["actions"].insert(step - 1, "fold")
                error = refused(changed)
                assert error.step == step
                assert "fold" in str(error)


def other_card(table: tables.Table, card: str, rng: random.Random) -> str:
    """Another card of the pack."""
    pack = table.load().pack
    return rng.choice([pack.text(other) for other in pack.cards if pack.text(other) != card])


@ON_GAMES
def test_a_changed_card_of_an_event_is_found_at_its_step(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            replay, steps = recorded(table)
            rng = random.Random(str(table))
            with_cards = [place for place, event in enumerate(replay["events"]) if CARD.search(json.dumps(event))]
            for place in rng.sample(with_cards, min(6, len(with_cards))):
                text = json.dumps(replay["events"][place])
                match = rng.choice(list(CARD.finditer(text)))
                card = other_card(table, match.group(), rng)
                changed = recorded(table)[0]
                changed["events"][place] = json.loads(text[: match.start()] + card + text[match.end() :])
                assert refused(changed).step == steps[place]


@ON_GAMES
def test_a_changed_number_of_an_event_is_found_at_its_step(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            replay, steps = recorded(table)
            rng = random.Random(str(table))
            fields = [
                (place, name)
                for place, event in enumerate(replay["events"])
                for name, value in event.items()
                if type(value) is int or (isinstance(value, list) and value and type(value[0]) is int)
            ]
            for place, name in rng.sample(fields, min(8, len(fields))):
                changed = recorded(table)[0]
                value = changed["events"][place][name]
                changed["events"][place][name] = value + 1 if type(value) is int else [value[0] + 1, *value[1:]]
                assert refused(changed).step == steps[place]


@ON_GAMES
def test_events_that_are_missing_or_too_many_are_found(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            replay, steps = recorded(table)
            for place in (0, len(steps) // 2, len(steps) - 1):
                changed = recorded(table)[0]
                del changed["events"][place]
                assert refused(changed).step == steps[place]
            replay["events"].append({"e": "over"})
            assert refused(replay).step == len(replay["actions"])


@ON_GAMES
def test_changed_results_are_found(key: str, group: list[tables.Table]) -> None:
    for table in group:
        with tables.note_table(table):
            for seat in range(table.players):
                replay, _ = recorded(table)
                replay["scores"][seat] += 1
                assert refused(replay).step == len(replay["actions"])
            replay, _ = recorded(table)
            replay["over"] = not replay["over"]
            assert "over" in str(refused(replay))


def test_a_replay_cut_short_holds_as_what_it_is() -> None:
    state = engine.load("partnership").new_match(seed=1)
    for _ in playing.play(state, 1, limit=17):
        pass
    replay = json.loads(json.dumps(engine.replay.make(state)))
    assert not replay["over"]
    engine.replay.verify(replay)


@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("format", "tute-replay/9", "tute-replay/1"),
        ("game", "whist", "unknown game 'whist'"),
        ("options", {"no_such": 1}, "no option 'no_such'"),
        ("players", 3, "played by 4 players, not 3"),
        ("revision", 99, "revision 99"),
        ("seed", "zz", "header"),
        ("suits", "oooo", "suits must hold"),
        ("suits", None, ""),
        ("deals", 0, "deals must be"),
        ("actions", "play 1o", "list of texts"),
        ("actions", [1], "list of texts"),
        ("events", None, "events a list"),
    ],
)
def test_a_bad_header_is_step_0(field: str, value: object, message: str) -> None:
    replay, _ = recorded(tables.Table("partnership", 4))
    if field == "suits" and value is None:
        del replay["suits"]
    else:
        replay[field] = value
    error = refused(replay)
    assert error.step == 0
    assert message in str(error)


@pytest.mark.parametrize("field", ["seed", "suits"])
def test_other_cards_are_found_at_the_deal(field: str) -> None:
    replay, _ = recorded(tables.Table("partnership", 4))
    replay[field] = {"seed": "00" * 32, "suits": "ocbe"}[field]
    assert refused(replay).step == 0


@pytest.mark.parametrize("replay", [None, [], "tute-replay/1", {}, {"format": "tute-replay/1"}])
def test_what_is_no_replay_is_refused(replay: object) -> None:
    with pytest.raises(ReplayError) as caught:
        engine.replay.verify(replay)  # type: ignore[arg-type]
    assert caught.value.step == 0


def test_meta_is_kept_and_not_verified() -> None:
    replay, _ = recorded(tables.Table("corriente", 2))
    assert replay["meta"] == {"note": "kept as given"}
    replay["meta"] = {"players": ["one", "two"]}
    engine.replay.verify(replay)


def test_an_unrecorded_match_has_no_replay() -> None:
    state = engine.load("partnership").new_match(seed=1, record=False)
    with pytest.raises(ValueError, match="record=True"):
        engine.replay.make(state)
