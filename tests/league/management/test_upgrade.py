"""A league of an earlier release, migrated by this one, tells the same of itself as before: tables, ratings, matches, replays, journal."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support import upgrades
from tests.support.compose import TOP

NEXT = """
import os; os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"; import django; django.setup()
from league.domain.matches import leases
from league.domain.upkeep import invariants, reconcile
print(*invariants.check_all(), reconcile.reconcile().inserted, *invariants.check_all(), leases.claim("w").tournament.slug)
"""


ASKING = {"last_used"}  # of a key: changed by the question itself


def changed(before: Any, after: Any, at: str = "") -> Iterator[str]:
    """Where what was told is told no more, or otherwise. More may be told than before."""
    if isinstance(before, dict) and isinstance(after, dict):
        for name in sorted(before.keys() - ASKING):
            if name in after:
                yield from changed(before[name], after[name], f"{at}/{name}")
            else:
                yield f"{at}/{name} is missing"
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for number, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from changed(one, other, f"{at}/{number}")
    elif before != after:
        yield f"{at} was {before!r:.200} and is {after!r:.200}"


def test_a_difference_would_be_seen() -> None:
    before = {"a": [1, {"b": 2.5}], "c": "x"}

    assert list(changed(before, {"a": [1, {"b": 2.5, "new": 0}], "c": "x", "d": 1})) == []
    assert list(changed(before, {"a": [1, {"b": 2.6}]})) == ["/a/1/b was 2.5 and is 2.6", "/c is missing"]
    assert list(changed(before, {"a": [1], "c": "x"})) == ["/a was [1, {'b': 2.5}] and is [1]"]


@pytest.mark.slow
@pytest.mark.parametrize("commit", sorted({path.name.split(".")[0] for path in upgrades.KEPT.iterdir()}))
def test_a_league_of_an_earlier_release_upgrades_with_all_that_it_told(
    commit: str, postgres_url: str, tmp_path: Path
) -> None:
    statements, told = upgrades.read(commit)
    with psycopg.connect(postgres_url) as connection:
        connection.execute(statements.encode())
    release = upgrades.Release(TOP, postgres_url, tmp_path)

    release.manage("migrate", "--verbosity=0")

    now = release.asked(told["token"])
    assert len(told["answers"]) > 60
    assert len(told["journal"]) > 40
    # A provisional bot had no place then
    placed = "/place was None and is "
    assert [one for one in changed(told["answers"], now["answers"]) if placed not in one] == []
    assert now["journal"] == told["journal"]
    # Nothing is missing, not even when the scheduler has fitted the tables by this release's ratings; what waited is played next
    assert release.python("-c", NEXT) == "0 later\n"
