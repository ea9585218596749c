"""Topics: what somebody can follow, and at which version each is.

A topic is a key of `league.service.marks` ("tournament:12", "ratings:3", "matches"), or one match or bot ("match:8f3k2", "bot:7"), whose
version follows from its row. A version tells only whether something has changed since another one; of a match or a bot it need not grow.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

from django.db import connection

from league.service import marks

MOST = 8  # of one listener
FORM = re.compile(
    r"(?:pools|bots|audits|matches|tournaments|events|(?:ratings|pool|tournament|bot):[0-9]{1,18}|match:[0-9A-Za-z]{1,12})"
)
AT_ONCE = 500  # rows of one statement


def of_match(public_id: str) -> str:
    """The topic of one match: its course, its rating, its embargo."""
    return f"match:{public_id}"


def of_bot(bot: int) -> str:
    """The topic of one bot: its versions and their validation."""
    return f"bot:{bot}"


def read(topics: Collection[str]) -> marks.Versions:
    """The versions of these topics now; 0 where there is no such thing. A query for each kind of topic, 500 of them at a time."""
    found = dict.fromkeys(topics, 0)
    matches = [one.partition(":")[2] for one in topics if one.startswith("match:")]
    bots = [int(one.partition(":")[2]) for one in topics if one.startswith("bot:")]
    for part in _parts([one for one in topics if not one.startswith(("match:", "bot:"))]):
        found |= marks.read(part)
    for part in _parts(matches):
        found |= _matches(part)
    for part in _parts(bots):
        found |= _bots(part)
    return found


def _parts(rows: Sequence[str] | Sequence[int]) -> Iterator[list[str]]:
    for at in range(0, len(rows), AT_ONCE):
        yield list(rows[at : at + AT_ONCE])  # type: ignore[arg-type]  # of one kind


def _matches(ids: list[str]) -> marks.Versions:
    rows = _rows(
        "SELECT public_id, status, progress, attempts, rated, embargo, reason FROM league_match WHERE public_id IN ({})",
        ids,
    )
    return {of_match(row[0]): _version([row]) for row in rows}


def _bots(ids: Sequence[Any]) -> marks.Versions:
    rows = _rows(
        "SELECT b.id, b.state, v.status, count(v.id), max(v.id) FROM league_bot b LEFT JOIN league_botversion v ON v.bot_id = b.id"
        " WHERE b.id IN ({}) GROUP BY b.id, b.state, v.status ORDER BY b.id, v.status",
        ids,
    )
    of: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        of.setdefault(int(row[0]), []).append(row)
    return {of_bot(bot): _version(lines) for bot, lines in of.items()}


def _rows(statement: str, ids: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement.format(", ".join(["%s"] * len(ids))), list(ids))
        return list(cursor.fetchall())


def _version(rows: Iterable[tuple[Any, ...]]) -> int:
    """A number of what these rows say; never that of nothing."""
    return crc32(repr(list(rows)).encode()) + 1
