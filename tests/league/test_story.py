"""A story of two days leaves in every column of the database what it always left."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.db import connection

from tests.support import story

KEPT = Path(__file__).parent / "story.json"


def test_a_story_leaves_what_it_left(db, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever changes what is written on purpose copies the file that a failure names over the kept one."""
    # keys of matches are made of the numbers of rows, and a test before may have left gaps
    with connection.cursor() as cursor:
        cursor.execute("UPDATE sqlite_sequence SET seq = 0 WHERE name LIKE 'league!_%' ESCAPE '!'")
    with story.one_chance(monkeypatch):
        story.tell()
    found = story.columns()
    now = tmp_path / "story.json"
    now.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    kept = json.loads(KEPT.read_text(encoding="utf-8"))
    assert found == kept, f"if this is meant: cp {now} {KEPT}"
