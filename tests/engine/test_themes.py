"""The themes of puzzles: a position for each rule."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from engine.puzzles import Puzzle, read
from engine.themes import THEMES, themes

FILE = Path(__file__).resolve().parents[2] / "bots" / "puzzles.jsonl"


def position(
    legal: str, best: str, *table: str, phase: str = "follow", game: str = "partnership", takers: tuple[int, ...] = ()
) -> Puzzle:
    """Return a puzzle of the last seat with coins as trumps. table: seat and card in the order of play."""
    players = 4 if game == "partnership" else 2
    tricks: list[dict[str, Any]] = [{"e": "trick", "seat": seat, "points": 0, "cards": []} for seat in takers]
    laid = [{"e": "play", "seat": int(text[0]), "card": text[1:]} for text in table]
    texts = [text if " " in text or len(text) > 2 else f"play {text}" for text in legal.split(", ")]
    right = [text if " " in text or len(text) > 2 else f"play {text}" for text in best.split(", ")]
    return Puzzle(
        id="", game=game, revision=1, players=players, options={}, seat=players - 1, phase=phase, unit="points",
        events=[{"e": "deal", "trump": "o"}, *tricks, *laid], hand=[], legal=texts, best=right,
        lost=dict.fromkeys(texts, 0.0), margin=0, error=0, deals=1, judge="", source={},
    )  # fmt: skip


@pytest.mark.parametrize(
    ("puzzle", "names"),
    [
        (position("sing c, 1b, 2b", "1b", phase="lead"), {"sing", "lead"}),
        (position("exchange 7o, 1b, 2b", "exchange 7o", phase="lead"), {"exchange"}),
        (position("bid 70, pass", "pass", phase="auction"), {"auction"}),
        (position("1b, 2o, 3c", "3c", phase="end"), {"last", "lead"}),
        (position("1b, 2o, 3c", "2o", phase="lead"), {"trumps"}),
        (position("1o, 2o", "2o", phase="lead"), set()),  # Nothing else can be led
        (position("2o, 3c", "2o", "0Rb", "1Cb", "27b"), {"ruff", "take"}),
        (position("2o, 3c", "3c", "0Rb", "1Cb", "27b"), {"duck"}),
        (position("1b, 2b", "1b", "0Rb"), {"take"}),
        (position("1b, 2b", "2b", "0Rb"), {"duck"}),
        (position("3c, 2c, Se", "3c", "0Rb", "11b", "27b"), {"feed"}),  # Seat 1 is the partner of seat 3
        (position("3c, 2c, Se", "3c", "01b", "1Rb", "27b"), set()),
        (position("1b, 2b, 2c", "2c", phase="lead", game="habanero", takers=(1, 1, 1, 1, 1)), {"capote", "lead"}),
        (position("1b, 2b, 2c", "2c", phase="lead", game="habanero", takers=(1, 1, 0, 1, 1)), {"lead"}),
        (position("1b, 2b", "1b, 2b", "0Rb"), set()),  # Nothing to choose
    ],
)  # fmt: skip
def test_a_rule_holds_where_its_position_is(puzzle: Puzzle, names: set[str]) -> None:
    assert set(themes(puzzle)) == names


def test_most_puzzles_of_the_league_have_a_theme() -> None:
    puzzles = [read(line) for line in FILE.read_text(encoding="utf-8").splitlines()]
    count = Counter(name for puzzle in puzzles for name in themes(puzzle))
    assert set(count) <= set(THEMES)
    assert sum(bool(themes(puzzle)) for puzzle in puzzles) > 0.7 * len(puzzles)
    assert {"last", "take", "duck", "trumps"} <= set(count)
