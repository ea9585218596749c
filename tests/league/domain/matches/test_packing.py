"""The log of a match as bytes: nothing is lost but single times, events are left out only where the rules derive them."""

from __future__ import annotations

import copy
import hashlib
import json
import random

import pytest
import zstandard
from hypothesis import given, settings
from hypothesis import strategies as st

import engine
from engine.runner.evidence.replays import check
from engine.runner.timings import summed, used_us
from league.domain.matches import logs, packing
from tests.support.parts import mostly_slow
from tests.support.playing import choose

LIMITS = {"move_s": 0.5, "bank_s": 3.0}


def log(key: str, boards: int = 2) -> dict[packing.Place, dict]:
    """A match of a game as the runner records it."""
    game, dice, records = engine.load(key), random.Random(key), {}
    for board in range(1, boards + 1):
        for sitting, seating in enumerate(game.sittings(len(game.sides))):
            state = game.new_match(seed=f"{key}/{board}")
            while not state.is_over:
                state.apply(choose(state, dice))
            meta = {"match": "m", "table": "t", "boards": [1, boards], "board": board, "sitting": sitting}
            record = engine.replay.make(state, meta | {"seating": list(seating)})
            steps = range(0, len(state.taken_actions), 3)
            columns = {kind: [dice.randrange(900_000) for _ in steps] for kind in ("cpu", "wall", "latency")}
            record |= {"faults": [], "notes": [], "pass": {"limits": LIMITS, "seeds": [sitting] * game.players}}
            record["timings"] = {"unit": "us", "steps": list(steps), "seats": [step % game.players for step in steps]}
            record["timings"] |= columns
            records[board, sitting] = json.loads(json.dumps(record))
    return records


def file() -> bytes:
    return (logs.DICTIONARIES / logs.USED[-1]).read_bytes()


@pytest.mark.parametrize("key", mostly_slow(engine.games(), ("partnership", "corriente", "podrida").__contains__))
def test_every_game_comes_back_whole_but_for_single_times(key: str) -> None:
    played = log(key, boards=1)
    data = packing.pack(played, file())
    opened = packing.Opened(data, file())

    assert opened.whole
    assert opened.places() == sorted(played)
    assert all(not {"events", "scores"} & row.keys() for row in opened.records.values())
    for place, record in played.items():
        unpacked = opened.record(place)
        assert unpacked["timings"] == summed(record["timings"], players=record["players"], move_s=0.5)
        assert unpacked | {"timings": None} == record | {"timings": None}
        check(unpacked)


@pytest.mark.slow
def test_bytes_name_their_dictionary_and_are_the_same_each_time() -> None:
    played = log("partnership")

    assert packing.dictionary_of(packing.pack(played, file())) == logs.USED[-1]
    assert packing.dictionary_of(packing.pack(played)) == ""
    assert packing.pack(played, file()) == packing.pack(played, file())
    assert len(packing.pack(played, file())) < len(packing.pack(played))
    with pytest.raises(packing.BrokenLog):
        packing.Opened(packing.pack(played, file()))


def test_every_dictionary_that_was_ever_used_is_among_the_files() -> None:
    files = {path.name for path in logs.DICTIONARIES.iterdir()}

    assert files == set(logs.USED)
    for name in files:
        assert hashlib.sha256((logs.DICTIONARIES / name).read_bytes()).hexdigest() == name


def test_events_that_the_rules_do_not_derive_are_kept() -> None:
    played = log("partnership", boards=1)
    for record in played.values():
        record["events"][3]["card"] = "no card"

    opened = packing.Opened(packing.pack(played))

    assert [opened.record(place)["events"] for place in opened.places()] == [
        original["events"] for original in played.values()
    ]


def test_another_revision_that_makes_the_same_is_shown_and_any_other_is_not() -> None:
    played = log("partnership", boards=1)
    earlier = copy.deepcopy(played)
    for record in earlier.values():
        record["revision"] = record["events"][0]["revision"] = 0
    opened = packing.Opened(packing.pack(earlier))
    assert "events" not in opened.records[1, 0]
    assert opened.record((1, 0))["events"] == earlier[1, 0]["events"]

    # What the rules of that day made, and those of this release do not
    opened.records[1, 0]["derived_sha256"] = "0" * 16
    with pytest.raises(packing.OtherRules) as caught:
        opened.record((1, 0))
    assert caught.value.revision == 0
    opened.records[1, 1]["actions"] = opened.records[1, 1]["actions"][1:]
    with pytest.raises(packing.OtherRules):
        opened.record((1, 1))


rows = st.dictionaries(
    st.sampled_from(["a", "actions", "seed", "faults"]),
    st.recursive(st.none() | st.booleans() | st.integers(-2, 2) | st.floats(0, 1) | st.text(max_size=2), st.lists),
)


@pytest.mark.slow
@settings(max_examples=30)
@given(st.dictionaries(st.tuples(st.integers(1, 3), st.integers(0, 2)), rows, min_size=1))
def test_any_records_come_back_as_they_were(records: dict) -> None:
    """One value that equals another, as 1 equals True, is still not it."""
    opened = packing.Opened(packing.pack(records))

    for place, record in records.items():
        assert json.dumps(opened.record(place), sort_keys=True) == json.dumps(record | {"meta": {}}, sort_keys=True)


def test_a_changed_byte_is_noticed() -> None:
    sound = packing.pack(log("brisca", boards=1))
    expected = packing.Opened(sound).records
    noticed = 0
    for at in range(len(sound)):
        data = bytearray(sound)
        data[at] ^= 16
        try:
            opened = packing.Opened(bytes(data))
        except packing.BrokenLog:
            noticed += 1
            continue
        # The name of the dictionary, and bits that change nothing, are held by the digest over all
        assert not opened.whole or opened.records == expected
        noticed += not opened.whole
    assert noticed > 0.9 * len(sound)


def test_a_frame_that_would_fill_the_memory_is_refused() -> None:
    bomb = zstandard.ZstdCompressor().compress(bytes(packing.MOST + 1))
    with pytest.raises(packing.BrokenLog, match="too large"):
        packing.Opened(packing.START.pack(packing.MAGIC, bytes(32), len(bomb)) + bomb + bomb)


def test_times_that_changed_a_bank_are_kept_one_by_one() -> None:
    timings = {"unit": "us", "steps": [0, 2, 5], "seats": [1, 0, 1]}
    timings |= {"cpu": [7, 600_000, 9], "wall": [8, 700_000, 9], "latency": [9, 1, 2]}

    summary = summed(timings, players=2, move_s=0.5)

    assert (summary["asked"], summary["cpu"], summary["slowest"]) == ([1, 2], [600_000, 16], [[2, 600_000, 700_000, 1], [5, 9, 9, 2]])  # fmt: skip
    assert used_us(summary) == {2: 600_000}
    assert used_us(timings) == {0: 7, 2: 600_000, 5: 9}
    assert summed(summary, players=2, move_s=0.0) == summary
