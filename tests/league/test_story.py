"""A story of two days leaves in every column of the database what it always left."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from tests.support import story
from tests.support.machines import other_machine

KEPT = Path(__file__).parent / "story.jsonl"
MOST = 40  # differences that are shown


def test_a_story_leaves_what_it_left(db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes what is written on purpose copies the file that a failure names over the kept one."""
    compare(tmp_path, monkeypatch)


@pytest.mark.slow
def test_a_story_leaves_the_same_on_another_machine(db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with other_machine(1):
        compare(tmp_path, monkeypatch)


def compare(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # keys of matches are made of the numbers of rows, and a test before may have left gaps
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name LIKE 'league!_%' ESCAPE '!'")
    with story.one_chance(monkeypatch):
        story.tell()
    columns = story.columns()
    now = tmp_path / KEPT.name
    now.write_text(story.dump(columns), encoding="utf-8")
    differ = story.differences(story.load(KEPT.read_text(encoding="utf-8")), columns)
    assert not differ, "\n".join([f"{len(differ)} values differ", *differ[:MOST], f"if this is meant: cp {now} {KEPT}"])


def test_a_difference_names_row_and_column_and_both_values() -> None:
    old = {"Bot.slug": ["rufo", "sol"], "Rating.elo": [1000.0], "Bot.state": []}
    new = {"Bot.slug": ["rufo", "zoe", "sol"], "Rating.elo": [1000.5], "Bot.sends": [None]}

    assert story.load(story.dump(old)) == old
    assert story.differences(old, old) == []
    assert story.differences(old, new) == [
        "Bot.state: this column is gone",
        "Bot.sends: this column is new",
        'Bot.slug of row 1: was "sol", is "zoe"',
        'Bot.slug of row 2: was no such row, is "sol"',
        "Rating.elo of row 0: was 1000.0, is 1000.5",
    ]
