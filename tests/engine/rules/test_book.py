"""The declarations of the games against the rules book: each page ends with all parameters of its game, and they are those that are played."""

from __future__ import annotations

import re
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

import pytest
import yaml

import engine
from engine.game import declared
from engine.rules.options import Range
from engine.rules.parameters import Rules

BOOK = Path(__file__).resolve().parents[3] / "docs" / "rules"
# the games of the book, each at each of its tables; a game that came later has its rules in its own file
GAMES = sorted(page.stem for page in BOOK.glob("*.md") if page.stem != "README")
TABLES = [(key, players) for key in GAMES for players in declared(key).players]
# What the pages say in words, not as parameters: who the game is, and what the engine and the league make of it.
IN_WORDS = {
    *("key", "title", "line", "code", "source", "revision", "revised", "options"),
    *("implied", "board_deals", "score_unit", "forfeit", "suits_named", "duel_game", "on_trump"),
}


def page(key: str) -> dict[str, Any]:
    """Return the parameters at the end of a game's page."""
    (block,) = re.findall(r"```yaml\nparams:\n(.*?)```", (BOOK / f"{key}.md").read_text(encoding="utf-8"), re.DOTALL)
    parameters: dict[str, Any] = yaml.safe_load(block)
    return parameters


def at_table(value: Any, players: int) -> Any:
    """Return a page's value for this number of players; MISSING if it has none."""
    if isinstance(value, dict) and value and all(isinstance(count, int) for count in value):
        return value.get(players, MISSING)
    return value


def plain(value: Any) -> Any:
    """Return a parameter as a page writes it: a function by its name, a tuple as a list."""
    if callable(value):
        return value.__name__
    return list(value) if isinstance(value, tuple) else value


@pytest.mark.parametrize(("key", "players"), TABLES)
def test_a_game_is_played_as_its_page_says(key: str, players: int) -> None:
    rules = engine.load(key, players=players).rules
    parameters = {name: at_table(value, players) for name, value in page(key).items() if name != "players"}
    if parameters.get("stock") == 0:
        parameters.pop("draw", None)  # there is nothing to draw, whatever the other tables do

    played = {name: plain(getattr(rules, name)) for name, value in parameters.items() if value is not MISSING}

    assert played == {name: value for name, value in parameters.items() if value is not MISSING}


@pytest.mark.parametrize("key", GAMES)
def test_a_page_names_the_numbers_of_players(key: str) -> None:
    assert page(key)["players"] == list(declared(key).players)


def test_the_index_names_every_page_with_the_code_of_its_game() -> None:
    index = (BOOK / "README.md").read_text(encoding="utf-8")
    codes = re.findall(r"^\| `(\w+)` \| [^|]+ \| ([A-Z0-9]{3}) \| `", index, re.MULTILINE)
    assert codes
    assert dict(codes) == {key: declared(key).code for key in GAMES}


@pytest.mark.parametrize(("key", "players"), TABLES)
def test_what_a_page_does_not_name_is_as_in_ordinary_tute(key: str, players: int) -> None:
    rules, parameters = engine.load(key, players=players).rules, page(key)
    nothing = ("none", {}, None)

    other = [
        field.name
        for field in fields(Rules)
        if field.name not in {*parameters, *IN_WORDS}
        and getattr(rules, field.name) not in nothing
        and getattr(rules, field.name)
        != (field.default if field.default_factory is MISSING else field.default_factory())
    ]

    assert other == []


def rows(key: str) -> dict[str, str]:
    """Return the options of a page: name, and the values as it lists them."""
    options = {}
    for names, values in re.findall(
        r"^\| (`\w+`(?:, `\w+`)*) \| ([^|]*) \|", (BOOK / f"{key}.md").read_text("utf-8"), re.M
    ):
        options |= dict.fromkeys(re.findall(r"\w+", names), values.strip())
    return options


@pytest.mark.parametrize("key", GAMES)
def test_every_option_of_a_page_has_the_values_that_it_lists(key: str) -> None:
    options = declared(key).options
    listed = {name: values for name, values in rows(key).items() if name != "players"}
    assert listed.keys() <= options.keys()

    other = {}
    for name, values in listed.items():
        choices = options[name]
        words = [value for choice in choices.values() for value in choice] if isinstance(choices, dict) else choices
        if re.match(r"int|multiple of|\d+\.\.\d+", values):
            expected = isinstance(words, Range)
        elif values.startswith("bool"):
            expected = list(words) == [False, True]
        else:
            expected = not isinstance(words, Range) and all(
                str(plain(word)).lower() in values.lower() for word in words
            )
        if not expected:
            other[name] = (values, choices)
    assert other == {}
