"""Print a league's API answers and its journal as JSON: `python -P tests/support/answers.py TOKEN`.

Run with the code of any release first on PYTHONPATH and a database in the environment. It imports nothing else of ours, so that earlier releases can
be queried in the same way as this one.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from django.db import connection  # noqa: E402 - Django first
from django.test import Client  # noqa: E402

# Each list, the field of a row that names it, and the addresses below it.
LISTS = (
    ("players", "name", ("",)),
    ("bots", "slug", ("", "/versions")),
    ("versions", "id", ("", "/ratings")),
    ("tournaments", "slug", ("", "/entries", "/standings", "/rounds")),
    ("matches", "id", ("", "/boards", "/boards/1/sittings/0/replay")),
    ("pools", "id", ("", "/leaderboard", "/history")),
)


def answers(token: str) -> Iterator[tuple[str, Any]]:
    """Yield each address with its answer to the holder of the token. For an unplayed match, its status stands in place of a replay."""
    client = Client(HTTP_HOST="localhost", HTTP_AUTHORIZATION=f"Bearer {token}", HTTP_ACCEPT_LANGUAGE="en")

    def get(path: str) -> Any:
        answer = client.get(f"/api/v1/{path}")
        return answer.json() if answer.status_code == 200 else answer.status_code

    for path in ("me", "overall", "tokens"):
        yield path, get(path)
    for path, name, below in LISTS:
        rows = get(path)
        yield path, rows
        for row in rows["results"]:
            for rest in below:
                here = f"{path}/{row[name]}{rest}"
                yield here, get(here)


def journal() -> list[list[Any]]:
    """Return every line of the journal, in order."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT at, kind, subject, actor, data FROM league_leagueevent ORDER BY id")
        return [[str(at), kind, subject, actor, data] for at, kind, subject, actor, data in cursor.fetchall()]


if __name__ == "__main__":
    json.dump({"answers": dict(answers(sys.argv[1])), "journal": journal()}, sys.stdout, default=str, sort_keys=True)
