"""Statements that PostgreSQL plans once on each connection, sent without a cursor.

They serve statements that every response needs: PostgreSQL would take longer to plan them than to find the rows, and Python's cursor takes longer
than both. Where this is impossible (on SQLite, within a transaction, behind a PgBouncer that changes the session with each transaction), a cursor
sends the same statement.
"""

from __future__ import annotations

import os
import secrets
import threading
from collections.abc import Sequence
from itertools import count
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

MAX_PLANS = 200  # The most planned statements of a connection; a cursor sends all others.
_numbers = count(1)


class _StatementNames:
    # Unique for this process, because a pooler may give its session to another process later.
    prefix = secrets.token_hex(4)

    @classmethod
    def renew(cls) -> None:
        cls.prefix = secrets.token_hex(4)


os.register_at_fork(after_in_child=_StatementNames.renew)


class _Plans(threading.local):
    """The names of the planned statements of this thread's connection, by their SQL; None if the connection does not keep any."""

    link: Any = None
    names: dict[str, bytes] | None = None


_plans = _Plans()


def ask(sql: str, values: Sequence[str]) -> list[tuple[Any, ...]]:
    """Return the rows of a statement that has a %s for each value; numbers may come as text. One query. Raise the errors of a cursor."""
    link = _idle_link()
    name = None if link is None else _plan(link, sql)
    if link is not None and name is not None:
        from psycopg import pq  # A league on SQLite does not have this driver.

        result = link.exec_prepared(name, [value.encode() for value in values])
        if result.status == pq.ExecStatus.TUPLES_OK:
            return _rows(result)
        # The session has changed or ended, or a table has changed: a cursor tries again, or raises the reason.
        _plans.names = None
    with connection.cursor() as cursor:
        cursor.execute(sql, list(values))
        return list(cursor.fetchall())


def _rows(result: Any) -> list[tuple[Any, ...]]:
    get, width = result.get_value, range(result.nfields)
    rows = [[get(row, column) for column in width] for row in range(result.ntuples)]
    return [tuple([None if cell is None else cell.decode() for cell in row]) for row in rows]


def _idle_link() -> Any:
    """Return libpq's connection of this thread if it may be used directly, otherwise None."""
    # Looked up once, because `connection` would look it up for each attribute.
    django: Any = connections[DEFAULT_DB_ALIAS]
    if django.vendor != "postgresql" or django.in_atomic_block or django.execute_wrappers:
        return None
    if django.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] or django.queries_logged:
        return None
    django.ensure_connection()
    from psycopg import pq

    link = django.connection.pgconn if django.get_autocommit() else None
    return link if link and link.transaction_status == pq.TransactionStatus.IDLE else None


def _plan(link: Any, sql: str) -> bytes | None:
    """Return the name of the statement on this connection; None if the connection has too many statements, or does not keep any."""
    if _plans.link is not link:
        _plans.link, _plans.names = link, {}
    names = _plans.names
    if names is None or sql in names or len(names) >= MAX_PLANS:
        return names.get(sql) if names else None
    name = f"tute_{_StatementNames.prefix}_{next(_numbers)}".encode()
    parts = [part.replace("%%", "%") for part in sql.split("%s")]
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    from psycopg import pq

    if link.prepare(name, numbered.encode()).status != pq.ExecStatus.COMMAND_OK:
        _plans.names = None
        return None
    names[sql] = name
    return name
