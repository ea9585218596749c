"""Rules pages: the committed files are what the engine says now, and every word of them has its source."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

import pytest

from engine import rulebook
from engine.cli import main
from engine.game import declared, games
from engine.rulebook.table import NOT_SHOWN
from engine.rulebook.words import MEANINGS
from engine.rules import Rules

DOCS = Path(__file__).parents[2] / "docs" / "games"


@pytest.mark.parametrize("key", games())
def test_the_committed_page_is_fresh(key: str) -> None:
    fresh = rulebook.page(key)
    assert (DOCS / f"{key}.md").read_text(encoding="utf-8") == fresh, "run: tute rules --write docs/games"
    for lang in ("es", "en"):
        assert len(rulebook.prose(key, lang).split()) > 60


def test_the_index_is_fresh() -> None:
    assert (DOCS / "README.md").read_text(encoding="utf-8") == rulebook.index()


def test_every_parameter_has_a_meaning() -> None:
    assert set(MEANINGS) == {field.name for field in fields(Rules)} - NOT_SHOWN


@pytest.mark.parametrize("key", games())
def test_every_option_stands_in_the_table(key: str) -> None:
    assert {line.name for line in rulebook.option_lines(key, "en")} == set(declared(key).options)


@pytest.mark.parametrize("key", games())
def test_the_worked_trick_holds_together(key: str) -> None:
    trick = rulebook.worked_trick(key)
    assert trick == rulebook.worked_trick(key)
    cards = [card for _, card in trick.plays]
    assert len(set(cards)) == len(cards) == len(trick.followers) + 1
    for number, one in enumerate(trick.followers, 1):
        assert one.table == tuple(cards[:number])
        assert one.card in one.legal
        assert set(one.legal) <= set(one.hand)


def test_variable_trump_credits_its_designer() -> None:
    for lang in ("es", "en"):
        assert "Mark Steere" in rulebook.prose("variable_trump", lang).splitlines()[0]


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "cabrero", "--lang", "en"]) == 0
    assert capsys.readouterr().out == rulebook.page("cabrero", "en")
    assert main(["rules", "bato", "--write", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["bato.md"]
    assert main(["rules", "poker"]) == 2
    assert "unknown game" in capsys.readouterr().err
