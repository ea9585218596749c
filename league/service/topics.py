"""Topics that a page can follow, and their versions.

A topic is a key of `league.service.changes` ("tournament:12", "arena:4", "matches"), or one match, bot or table ("match:8f3k2", "bot:7",
"table:x92kd"), whose version is derived from its row. Two different versions show that something has changed; the version of a match or bot need
not grow.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any
from zlib import crc32

from django.conf import settings
from django.db import connection
from django.http import HttpRequest

from league.service import changes

MOST = 8  # The most topics of one listener.
FORM = re.compile(
    r"(?:pools|bots|audits|judgements|matches|tournaments|events|tunings|studies|lobby|(?:ratings|pool|tournament|bot|arena|remote):[0-9]{1,18}|(?:match|table):[0-9A-Za-z]{1,12})"
)
TABLE, REMOTE = AT_ONCE_KINDS = (
    "table:",
    "remote:",
)  # Of these the database notifies, so that nobody waits half a second.
LOBBY = "lobby"  # The tables open to all at which people wait; its version is a digest of their rows.
LIVE = ("waiting", "held", "resting")  # Statuses of tables in play.
# The version of a table: the number of the decision of its people, from 1 on, plus NEWS for each other change; OVER instead at the end.
NEWS, OVER = 10**5, 10**12
AT_ONCE = 500  # The most topics of one statement.
FOLLOWED = (
    # Key in the environment of a request: the topics of its page and their versions when it was rendered.
    "league.followed"
)


def of_match(public_id: str) -> str:
    """Return the topic of one match: its course, its rating, its embargo."""
    return f"match:{public_id}"


def of_bot(bot: int) -> str:
    """Return the topic of one bot: its versions and their validation."""
    return f"bot:{bot}"


def of_table(public_id: str) -> str:
    """Return the topic of one table at which people sit. Every change of the table notifies (`league.service.listening`)."""
    return f"{TABLE}{public_id}"


def of_remote(bot: int) -> str:
    """Return the topic of the open requests to one remote bot."""
    return f"{REMOTE}{bot}"


def table_version(status: str, turn: int | None, question: int, news: int) -> int:
    """Return the version of a table; a multiple of NEWS while the bots think, for which no page need be loaded again."""
    return (OVER if status not in LIVE else 0 if turn is None else question + 1) + NEWS * news


def follow(request: HttpRequest, *names: str) -> None:
    """Let an open page follow topics. Call it before reading any data for the page. At most one query for each kind of topic."""
    if not settings.LIVE_LISTENERS:
        return
    ticket: changes.Ticket | None = request.META.get(changes.TICKET)
    counts = ticket.counts if ticket is not None else {}
    missing = [name for name in names if name not in counts]
    versions = counts | (read(missing) if missing else {})
    request.META[FOLLOWED] = request.META.get(FOLLOWED, {}) | {name: versions[name] for name in names}


def leave(request: HttpRequest) -> None:
    """Stop following topics, because the page will not change any more."""
    request.META.pop(FOLLOWED, None)


def read(topics: Collection[str]) -> changes.Counts:
    """Return the current versions of these topics; 0 for a topic that does not exist. One query for each kind of topic and each 500 topics."""
    versions = dict.fromkeys(topics, 0)
    matches = [topic.partition(":")[2] for topic in topics if topic.startswith("match:")]
    bots = [int(topic.partition(":")[2]) for topic in topics if topic.startswith("bot:")]
    tables = [topic.removeprefix(TABLE) for topic in topics if topic.startswith(TABLE)]
    remote = [int(topic.removeprefix(REMOTE)) for topic in topics if topic.startswith(REMOTE)]
    if LOBBY in topics:
        versions[LOBBY] = _lobby()
    for part in _parts(
        [topic for topic in topics if topic != LOBBY and not topic.startswith(("match:", "bot:", *AT_ONCE_KINDS))]
    ):
        versions |= changes.read(part)
    for part in _parts(matches):
        versions |= _matches(part)
    for part in _parts(bots):
        versions |= _bots(part)
    for part in _parts(remote):
        versions |= _remote(part)
    for part in _parts(tables):
        rows = _rows("SELECT public_id, status, turn, question, news FROM league_table WHERE public_id IN ({})", part)
        versions |= {of_table(name): table_version(*values) for name, *values in rows}
    return versions


def table_rows(link: Any, names: Sequence[str]) -> dict[str, tuple[Any, ...]]:
    """Return what every change of a table changes, by topic, over a plain connection to SQLite. One query for each 500 topics."""
    rows: dict[str, tuple[Any, ...]] = {}
    for part in _parts([name.removeprefix(TABLE) for name in names if name.startswith(TABLE)]):
        marks = ", ".join("?" * len(part))
        columns = "public_id, status, turn, question, news, since, reason"
        statement = f"SELECT {columns} FROM league_table WHERE public_id IN ({marks})"  # noqa: S608 - no text of others
        rows |= {of_table(row[0]): row for row in link.execute(statement, part)}
    return rows


def _parts(rows: Sequence[str] | Sequence[int]) -> Iterator[list[str]]:
    for at in range(0, len(rows), AT_ONCE):
        yield list(rows[at : at + AT_ONCE])  # type: ignore[arg-type]  # of one kind


def _matches(ids: list[str]) -> changes.Counts:
    rows = _rows(
        "SELECT public_id, status, progress, attempts, rated, embargo, reason, counted IS NULL FROM league_match WHERE public_id IN ({})",
        ids,
    )
    return {of_match(row[0]): _version([row]) for row in rows}


def _lobby() -> int:
    """Return a digest of the lobby. Uses the index of the live tables."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT id, news FROM league_table WHERE status IN ('waiting', 'held', 'resting') AND listed AND gathering ORDER BY id"
        )
        return _version(list(cursor.fetchall()))


def _bots(ids: Sequence[Any]) -> changes.Counts:
    rows = _rows(
        "SELECT b.id, b.state, v.status, count(v.id), max(v.id) FROM league_bot b LEFT JOIN league_botversion v ON v.bot_id = b.id"
        " WHERE b.id IN ({}) GROUP BY b.id, b.state, v.status ORDER BY b.id, v.status",
        ids,
    )
    by_bot: dict[int, list[tuple[Any, ...]]] = {}
    for row in rows:
        by_bot.setdefault(int(row[0]), []).append(row)
    return {of_bot(bot): _version(lines) for bot, lines in by_bot.items()}


def _remote(ids: Sequence[Any]) -> changes.Counts:
    rows = _rows(
        "SELECT v.bot_id, count(l.id), max(l.id) FROM league_remoteline l JOIN league_party p ON p.id = l.party_id"
        " JOIN league_botversion v ON v.id = p.version_id WHERE l.answer IS NULL AND v.bot_id IN ({}) GROUP BY v.bot_id",
        ids,
    )
    return {of_remote(int(row[0])): _version([row]) for row in rows}


def _rows(statement: str, ids: Sequence[Any]) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(statement.format(", ".join(["%s"] * len(ids))), list(ids))
        return list(cursor.fetchall())


def _version(rows: Iterable[tuple[Any, ...]]) -> int:
    """Return a digest of these rows, never 0."""
    return crc32(repr(list(rows)).encode()) + 1
