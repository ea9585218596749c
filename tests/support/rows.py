"""A league that many tests begin with: the league's own functions create its rows once in each process; for other tests the rows are inserted again.

Creating a league takes about a second of CPU, inserting its rows some hundredths. A test may change everything: the next one gets the original rows
and objects.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from django.apps import apps
from django.db import connection, models, transaction

Made = TypeVar("Made")
# SQLite restarts its ids after each test, so every stored league gets a range of ids of its own, far from those of
# other rows.
APART = 10_000


@dataclass(frozen=True)
class StoredTable:
    """The rows of one table as the database stores them."""

    name: str
    columns: list[str]
    rows: list[tuple[Any, ...]]


# Keys: the creating function, the words, and the dictionaries to which logs refer, because a test that empties the
# database gives dictionaries other ids.
_created: dict[tuple[Callable[..., Any], tuple[Hashable, ...], tuple[int, ...]], tuple[list[StoredTable], Any]] = {}


def once(make: Callable[..., Made], *arguments: Any, words: tuple[Hashable, ...] = ()) -> Made:
    """Return the rows that `make` creates in the database, or a dataclass of them; create them only once per process.

    `make` may use rows that this function created before, as `arguments`, but must not change them. `words` follow as further arguments; each set of
    words has its own rows.
    """
    dictionaries = apps.get_model("league", "LogDictionary").objects.order_by("pk")
    key = (make, words, tuple(dictionaries.values_list("pk", flat=True)))
    if key in _created:
        tables, created = _created[key]
        with transaction.atomic():
            for table in tables:
                _insert(table)
    else:
        before = {model: _read(model).rows for model in _filled()}
        _set_apart((len(_created) + 1) * APART)
        created = make(*arguments, *words)
        tables = [table for model in _filled() if (table := _new_rows(model, before.get(model, []))).rows]
        _created[key] = tables, created
    # A test may change the objects, and what they load, without affecting others.
    return copy.deepcopy(created)


def forget() -> None:
    """Drop all stored rows, in a process in which the code has changed."""
    _created.clear()


@cache
def _models() -> list[type[models.Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


def _filled() -> list[type[models.Model]]:
    """Return the models that have rows: most have none."""
    names = [connection.ops.quote_name(model._meta.db_table) for model in _models()]
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT {', '.join(f'EXISTS (SELECT 1 FROM {name})' for name in names)}")
        return list(itertools.compress(_models(), cursor.fetchone()))


def _read(model: type[models.Model]) -> StoredTable:
    name = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {name}")
        columns = [connection.ops.quote_name(column[0]) for column in cursor.description]
        return StoredTable(name, columns, cursor.fetchall())


def _new_rows(model: type[models.Model], before: list[tuple[Any, ...]]) -> StoredTable:
    after = _read(model)
    key = after.columns.index(connection.ops.quote_name(model._meta.pk.column))
    by_key = {row[key]: row for row in before}
    changed = [row for row in after.rows if row[key] in by_key and row != by_key[row[key]]]
    assert not changed, f"what is made once changes rows of {after.name} that were there: {changed}"
    return StoredTable(after.name, after.columns, [row for row in after.rows if row[key] not in by_key])


def _insert(table: StoredTable) -> None:
    marks = f"({', '.join(['%s'] * len(table.columns))})"
    values = ", ".join([marks] * len(table.rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES {values}",
            [value for row in table.rows for value in row],
        )


def _set_apart(first: int) -> None:
    if connection.vendor != "sqlite":
        return  # A sequence of PostgreSQL goes on, even when a test is rolled back.
    with connection.cursor() as cursor:
        for model in _models():
            name = model._meta.db_table
            cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [first, name])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [name, first])
