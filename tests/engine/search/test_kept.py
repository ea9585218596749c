"""The search gives the stored answers at fixed positions: worths of cards, values of endings, and nodes searched."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from engine.search.masks import INTERPRETED
from tests.support import searched
from tests.support.parts import mostly_slow

KEPT = Path(__file__).parent / "kept.json"


@pytest.mark.parametrize("part", mostly_slow(["worths", "endings"], "worths".__eq__))
def test_the_search_says_what_it_said(part: str) -> None:
    """After an intended change rewrite the file: `python -m tests.support.searched > tests/engine/search/kept.json`, from Python source."""
    stored = json.loads(KEPT.read_text(encoding="utf-8"))
    parts = searched.PARTS[part]()
    if part == "endings" and not INTERPRETED:
        stored = {"endings": {name: {**counts, "nodes": 0} for name, counts in stored["endings"].items()}}
    assert parts == stored[part]
