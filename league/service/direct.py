"""Statements that PostgreSQL plans once on each connection, sent without a cursor.

They are for statements that are sent with every answer: planning takes PostgreSQL longer than finding the rows, and a cursor takes Python longer
than both. Everywhere else (SQLite, within a transaction, behind a PgBouncer that gives each transaction another session) a cursor sends the same.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from itertools import count
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

MAX_PLANS = 200  # planned statements of a connection; a cursor sends all others
_numbers = count(1)
_PREFIX = secrets.token_hex(4)  # a pooler may give a session to one process after another


class _Plans(threading.local):
    """The planned statements of this thread's connection, by their SQL; None if the connection does not keep them."""

    link: Any = None
    names: dict[str, bytes] | None = None


_plans = _Plans()


def ask(sql: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the rows of one statement with %s for each value; numbers may come as text. One query. Raises what a cursor raises."""
    link = _idle_link()
    name = None if link is None else _plan(link, sql)
    if link is not None and name is not None:
        from psycopg import pq  # a league on SQLite has no such driver

        result = link.exec_prepared(name, [value.encode() for value in values])
        if result.status == pq.ExecStatus.TUPLES_OK:
            return _rows(result)
        _plans.names = None  # the session is another or gone, or a table has changed: a cursor asks, or says why not
    with connection.cursor() as cursor:
        cursor.execute(sql, list(values))
        return list(cursor.fetchall())


def _rows(result: Any) -> list[tuple[Any, ...]]:
    get, width = result.get_value, range(result.nfields)
    rows = [[get(row, column) for column in width] for row in range(result.ntuples)]
    return [tuple([None if cell is None else cell.decode() for cell in row]) for row in rows]


def _idle_link() -> Any:
    """Return libpq's connection of this thread if it may be used directly, otherwise None."""
    django: Any = connections[DEFAULT_DB_ALIAS]  # looked up once: `connection` does it for each of its attributes
    if django.vendor != "postgresql" or django.in_atomic_block or django.execute_wrappers:
        return None
    if django.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] or django.queries_logged:
        return None
    django.ensure_connection()
    from psycopg import pq

    link = django.connection.pgconn if django.get_autocommit() else None
    return link if link and link.transaction_status == pq.TransactionStatus.IDLE else None


def _plan(link: Any, sql: str) -> bytes | None:
    """Return the name of the statement on this connection; None if there are too many, or it keeps none."""
    if _plans.link is not link:
        _plans.link, _plans.names = link, {}
    names = _plans.names
    if names is None or sql in names or len(names) >= MAX_PLANS:
        return names.get(sql) if names else None
    name = f"tute_{_PREFIX}_{next(_numbers)}".encode()
    parts = [part.replace("%%", "%") for part in sql.split("%s")]
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    from psycopg import pq

    if link.prepare(name, numbered.encode()).status != pq.ExecStatus.COMMAND_OK:
        _plans.names = None
        return None
    names[sql] = name
    return name
