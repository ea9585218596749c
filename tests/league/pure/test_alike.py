"""Similar code: a renamed and reordered copy is found, independent bots are left alone."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from league.pure import alike

BOTS = Path(__file__).resolve().parents[3] / "bots"
HOUSE = {
    folder.name: (folder / "bot.py").read_text(encoding="utf-8")
    for folder in (BOTS / "house").iterdir()
    if folder.is_dir()
}
TEMPLATES = [path.read_text(encoding="utf-8") for path in (BOTS / "sdk").glob("template*/*.py")]
MODEL = HOUSE["counting"]


def renamed(text: str) -> str:
    """Return the program with other names, numbers and comments, and its functions in another order."""
    parts = re.split(r"(?m)^(?=def |class )", text)
    text = parts[0] + "\n# my own work\n\n".join(reversed(parts[1:]))
    return re.sub(r"\b([a-z_]{4,})\b", lambda word: word[1] if word[1] in alike.WORDS else f"{word[1][::-1]}x", text)


def test_a_renamed_and_reordered_copy_is_found() -> None:
    pairs = alike.compare({"ana": MODEL, "hugo": renamed(MODEL), "noa": HOUSE["champion"]}, TEMPLATES)
    assert [(pair.first, pair.other) for pair in pairs] == [("ana", "hugo")]
    assert pairs[0].share > 0.8
    (first, last), (other_first, other_last) = pairs[0].passages[0]
    assert last - first > 10
    assert abs((last - first) - (other_last - other_first)) < 10


def test_independent_bots_are_left_alone() -> None:
    assert alike.compare(HOUSE, TEMPLATES) == []


def test_what_stands_in_the_template_or_in_most_texts_does_not_count() -> None:
    template = TEMPLATES[0]
    assert alike.compare({"ana": template, "hugo": template}, TEMPLATES) == []
    taught = {f"student {number}": MODEL for number in range(alike.FEW_TEXTS)}
    assert alike.compare(taught, TEMPLATES) == [], "the teacher's example"


@pytest.mark.parametrize("text", ["", "x", "'" * 50, '"""', "/*", "\0", "é" * 999, "(" * 3000])
def test_any_text_has_fingerprints(text: str) -> None:
    assert isinstance(alike.fingerprints(text), dict)


def test_what_two_texts_have_from_the_same_origin_does_not_count_between_them() -> None:
    texts = {"ana": f"{MODEL}\n", "hugo": renamed(MODEL), "noa": MODEL + HOUSE["champion"]}
    origins = {"ana": MODEL, "noa": MODEL}
    pairs = alike.compare(texts, TEMPLATES, origins)
    assert {(pair.first, pair.other) for pair in pairs} == {("ana", "hugo"), ("hugo", "noa")}, "hugo names none"
    assert alike.compare(texts, TEMPLATES, {**origins, "hugo": MODEL}) == []
