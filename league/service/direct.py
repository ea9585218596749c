"""Statements that PostgreSQL has planned once on each connection, said without what a cursor does around them.

For the few that are said with every answer: planning takes PostgreSQL longer than finding what it is asked for, and a cursor takes Python longer than
both. Everywhere else (SQLite; within a transaction; behind a PgBouncer that gives each transaction another server) an ordinary cursor says the same.
"""

from __future__ import annotations

import secrets
import threading
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

from django.db import DEFAULT_DB_ALIAS, connection, connections

MOST = 200  # planned statements of a connection; what comes then is said by a cursor
_numbers = count(1)
_PREFIX = secrets.token_hex(4)  # a pooler may give a session to one process after another


class _Here(threading.local):
    """Of the connection of this thread: which one it is, and the names of what it has planned; None where it does not keep them."""

    held: Any = None
    names: dict[str, bytes] | None = None


_here = _Here()


def ask(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of one statement with %s for each value (numbers, texts, moments): numbers may come as texts. One query.

    Raises what a cursor raises.
    """
    held = _connection()
    name = None if held is None else _plan(held, sql)
    if held is not None and name is not None:
        from psycopg import pq  # a league on SQLite has no such driver

        found = held.exec_prepared(name, [_told(value) for value in values])
        if found.status == pq.ExecStatus.TUPLES_OK:
            return _rows(found)
        _here.names = None  # the session is another one, or gone, or a table has changed: a cursor says it, and why not
    with connection.cursor() as cursor:
        cursor.execute(sql, list(values))
        return list(cursor.fetchall())


def _rows(found: Any) -> list[tuple[Any, ...]]:
    get, width = found.get_value, range(found.nfields)
    cells = [[get(row, column) for column in width] for row in range(found.ntuples)]
    return [tuple([None if one is None else one.decode() for one in row]) for row in cells]


def _connection() -> Any:
    """What speaks to PostgreSQL, where it may be spoken to so."""
    here: Any = connections[DEFAULT_DB_ALIAS]  # looked up once: `connection` does it anew for each of its attributes
    if here.vendor != "postgresql" or here.in_atomic_block or here.execute_wrappers:
        return None
    if here.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] or here.queries_logged:
        return None
    here.ensure_connection()
    from psycopg import pq

    held = here.connection.pgconn if here.get_autocommit() else None
    return held if held and held.transaction_status == pq.TransactionStatus.IDLE else None


def _plan(held: Any, sql: str) -> bytes | None:
    """The name of the statement on this connection; None where there are too many, or it keeps none."""
    if _here.held is not held:
        _here.held, _here.names = held, {}
    names = _here.names
    if names is None or sql in names or len(names) >= MOST:
        return names.get(sql) if names else None
    name = f"tute_{_PREFIX}_{next(_numbers)}".encode()
    parts = [part.replace("%%", "%") for part in sql.split("%s")]
    numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
    from psycopg import pq

    if held.prepare(name, numbered.encode()).status != pq.ExecStatus.COMMAND_OK:
        _here.names = None
        return None
    names[sql] = name
    return name


def _told(value: Any) -> bytes:
    return (value.isoformat() if isinstance(value, datetime) else str(value)).encode()
