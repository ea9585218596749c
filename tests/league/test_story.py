"""A story of two days leaves in every column of the database what it always left."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.db import connection

from tests.support import story

KEPT = Path(__file__).parent / "story.jsonl"
MOST = 40  # differences that are shown


def test_a_story_leaves_what_it_left(db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes what is written on purpose copies the file that a failure names over the kept one."""
    # keys of matches are made of the numbers of rows, and a test before may have left gaps
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name LIKE 'league!_%' ESCAPE '!'")
    with story.one_chance(monkeypatch):
        story.tell()
    found = story.columns()
    now = tmp_path / KEPT.name
    now.write_text(story.dump(found), encoding="utf-8")
    differ = story.differences(story.load(KEPT.read_text(encoding="utf-8")), found)
    assert not differ, "\n".join([f"{len(differ)} values differ", *differ[:MOST], f"if this is meant: cp {now} {KEPT}"])
