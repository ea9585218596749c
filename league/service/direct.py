"""Statements that PostgreSQL has planned once on each connection, said without what a cursor does around them.

For the few that are said with every answer: planning takes PostgreSQL longer than finding what it is asked for, and a cursor takes Python longer than
both. Everywhere else (SQLite; within a transaction; behind a PgBouncer that gives each transaction another server) an ordinary cursor says the same.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from datetime import datetime
from itertools import count
from typing import Any

from django.db import InterfaceError, OperationalError, connection
from psycopg import pq

MOST = 200  # planned statements of a connection; what comes then is said by a cursor
_numbers = count(1)


class _Here(threading.local):
    """Of the connection of this thread: which one it is, and the names of what it has planned."""

    held: Any = None
    names: dict[str, bytes]


_here = _Here()


def ask(sql: str, values: Sequence[Any]) -> list[tuple[Any, ...]]:
    """The rows of one statement with %s for each value (numbers, texts, moments): numbers may come as texts. One query.

    Raises OperationalError or InterfaceError where the database does not answer.
    """
    held = _connection()
    name = None if held is None else _plan(held, sql)
    if held is None or name is None:
        with connection.cursor() as cursor:
            cursor.execute(sql, list(values))
            return list(cursor.fetchall())
    found = held.exec_prepared(name, [_told(value) for value in values])
    if found.status != pq.ExecStatus.TUPLES_OK:
        _give_up(held, found)
    decode = bytes.decode
    width = range(found.nfields)
    get = found.get_value
    return [
        tuple(None if (cell := get(row, column)) is None else decode(cell) for column in width)
        for row in range(found.ntuples)
    ]


def _connection() -> Any:
    """What speaks to PostgreSQL, where it may be spoken to so."""
    if connection.vendor != "postgresql" or connection.in_atomic_block or connection.execute_wrappers:
        return None
    if connection.settings_dict["DISABLE_SERVER_SIDE_CURSORS"] or connection.queries_logged:
        return None
    connection.ensure_connection()
    held = connection.connection.pgconn if connection.get_autocommit() else None
    return held if held and held.transaction_status == pq.TransactionStatus.IDLE else None


def _plan(held: Any, sql: str) -> bytes | None:
    """The name of the statement on this connection; None where there are too many."""
    if _here.held is not held:
        _here.held, _here.names = held, {}
    name = _here.names.get(sql)
    if name is None and len(_here.names) < MOST:
        name = b"tute_%d" % next(_numbers)
        parts = [part.replace("%%", "%") for part in sql.split("%s")]
        numbered = "".join(f"{part}${number}" for number, part in enumerate(parts[:-1], 1)) + parts[-1]
        found = held.prepare(name, numbered.encode())
        if found.status != pq.ExecStatus.COMMAND_OK:
            _give_up(held, found)
        _here.names[sql] = name
    return name


def _told(value: Any) -> bytes:
    return (value.isoformat() if isinstance(value, datetime) else str(value)).encode()


def _give_up(held: Any, found: Any) -> None:
    """Let the connection be looked at before anybody uses it again, and its statements be planned anew."""
    _here.held = None
    connection.errors_occurred = True
    why = found.error_message.decode(errors="replace")
    raise (OperationalError if held.status == pq.ConnStatus.OK else InterfaceError)(why)
