"""Rules pages: every word of them has its source."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path
from xml.etree import ElementTree

import pytest
import yaml

from engine import rulebook
from engine.cli import main
from engine.game import ORDINARY, declared, games, load
from engine.rulebook.table import COMMON, RANKED
from engine.rulebook.values import meant
from engine.rulebook.words import MEANINGS
from engine.rules.options import Range, by_players, word
from engine.rules.resolving import choices

LIST = Path(__file__).parents[3] / "docs" / "games.md"
PROSE = Path(rulebook.__file__).with_name("prose")
BOOK = Path(__file__).parents[3] / "docs" / "rules"


def test_the_prose_of_a_page_is_short_and_in_both_languages() -> None:
    files = sorted(PROSE.glob("*.md"))
    assert {file.name for file in files} <= {f"{key}.{lang}.md" for key in games() for lang in rulebook.LANGUAGES}
    for key in {file.name.partition(".")[0] for file in files}:
        for lang in rulebook.LANGUAGES:
            assert 60 < len(rulebook.prose(key, lang).split()) < 140, (key, lang)


@pytest.mark.parametrize("key", games())
def test_the_picture_draws_every_card_and_frames_what_is_legal(key: str) -> None:
    trick = rulebook.worked_trick(key)
    root = ElementTree.fromstring(rulebook.picture(trick))
    drawn = [group.findtext("{*}text") for group in root.iterfind("{*}g")]
    assert drawn == [card[:-1] for card in (*(card for _, card in trick.plays), *trick.example.hand)]
    framed = sum(
        element.get("stroke-width") == "4" and element.get("rx") == "6" for element in root.iterfind("{*}g/{*}rect")
    )
    assert framed == 1 + len(trick.example.legal)


@pytest.mark.parametrize("lang", ["es", "en"])
@pytest.mark.parametrize("key", games())
def test_the_steps_tell_the_numbers_of_the_record(key: str, lang: str) -> None:
    steps = {step.name: step.text for step in rulebook.deal_steps(key, lang)}
    deal = steps["Deal" if lang == "en" else "Reparto"]
    for players in declared(key).players:
        rules = load(key, players=players).rules
        assert rules.hand_size == "deal_no" or str(rules.hand_size) in deal
        assert not rules.stock or str(rules.stock) in deal
        songs = steps.get("Songs" if lang == "en" else "Cantes", "")
        assert bool(songs) == (rules.hand_songs != "none")
        assert not songs or all(str(worth) in songs for worth in rules.song_values.values())
        match = steps["Match" if lang == "en" else "Partida"]
        ends = {"series": rules.match_games, "deals": rules.match_deals, "losses": rules.max_losses}
        assert str(ends.get(rules.match_end, "")) in match
        assert ("Tute" in steps) == (rules.tute == "wins")


def test_the_words_of_every_option_have_a_meaning() -> None:
    """Every choice of an organiser has words in both languages, not the code's; numbers and yes or no need none."""
    unsaid = set()
    for key in games():
        for players in declared(key).players:
            for name, choice in choices(declared(key), players).items():
                for value in () if isinstance(choice, Range) else map(word, choice):
                    codes = isinstance(value, str) and value and name not in RANKED
                    if codes and (meant(name, value, "es") is None or meant(name, value, "en") is None):
                        unsaid.add(f"{name}.{value}")
    assert not unsaid


def test_ordinary_tute_is_what_the_rules_book_says() -> None:
    """The defaults of `Rules` against the `params` blocks of the book: in each parameter of ordinary Tute no value is commoner."""
    absent = {}
    parameters = (BOOK / "README.md").read_text(encoding="utf-8").split("\n## ")[5]
    for line in parameters.splitlines():
        if match := re.match(r"\| `(\w+)` \|[^|]*\| ([^|]*) \|", line):
            absent[match[1]] = yaml.safe_load(match[2].replace("null", "~")) if match[2].strip() != "-" else None
    blocks = []
    for page in sorted(BOOK.glob("[!R]*.md")):  # README.md is no game
        key, text = page.stem, page.read_text(encoding="utf-8")
        block = re.search(r"```yaml\n(.*?)```", text, re.DOTALL)
        assert block, key
        blocks.append((declared(key).players[0], yaml.safe_load(block[1])["params"]))
    for name in COMMON:
        votes: Counter[str] = Counter()
        for players, params in blocks:
            value = by_players(params.get(name, absent.get(name)), players)
            if name == "obligation_stock_open" and value is None:
                continue
            votes[repr(value)] += 1
        usual = repr(word(getattr(ORDINARY, name)))
        assert votes[usual] == max(votes.values()), f"{name}: ordinary is {usual}, the book has {votes}"


def test_the_index_is_fresh() -> None:
    assert LIST.read_text(encoding="utf-8") == rulebook.index(), "run: make texts"


def test_every_parameter_has_a_meaning() -> None:
    assert set(MEANINGS) == set(COMMON) | {name for key in games() for name in declared(key).options}


@pytest.mark.parametrize("key", games())
def test_every_option_stands_in_the_table(key: str) -> None:
    assert {line.name for line in rulebook.option_lines(key, "en")} == set(declared(key).options)


@pytest.mark.parametrize("key", games())
def test_the_worked_trick_holds_together(key: str) -> None:
    trick = rulebook.worked_trick(key)
    assert trick == rulebook.worked_trick.__wrapped__(key)
    cards = [card for _, card in trick.plays]
    assert len(set(cards)) == len(cards) == len(trick.followers) + 1
    for number, follower in enumerate(trick.followers, 1):
        assert follower.table == tuple(cards[:number])
        assert follower.card in follower.legal
        assert set(follower.legal) <= set(follower.hand)


def test_variable_trump_credits_its_designer() -> None:
    for lang in ("es", "en"):
        assert "Mark Steere" in rulebook.prose("variable_trump", lang).splitlines()[0]


def test_the_command_prints_and_writes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["rules", "cabrero", "--lang", "en"]) == 0
    assert capsys.readouterr().out == rulebook.page("cabrero", "en")
    assert main(["rules", "bato", "--write", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.rglob("*.*")} == {"bato.md", "bato.svg"}
    assert main(["rules", "poker"]) == 2
    assert "unknown game" in capsys.readouterr().err
