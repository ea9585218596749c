"""A league that many tests begin with: its rows are made by the league's own functions once in each process, and put back for every other test.

Making one takes about a second of a core, putting its rows back some hundredths. A test may change what it likes: the next one gets the rows, and the
objects, as they were made.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.apps import apps
from django.db import connection, models, transaction

Made = TypeVar("Made")
APART = 10_000  # SQLite restarts its numbers after each test; so every kept league has numbers of its own, far from those of other rows


@dataclass(frozen=True)
class Table:
    """Rows of one table as the database keeps them."""

    name: str
    columns: list[str]
    rows: list[tuple[Any, ...]]


# By creating function, words, and the dictionaries to which logs point: a test that empties the database gives dictionaries other numbers.
_created: dict[tuple[Callable[..., Any], tuple[Hashable, ...], tuple[int, ...]], tuple[list[Table], Any]] = {}


def once(make: Callable[..., Made], *arguments: Any, words: tuple[Hashable, ...] = ()) -> Made:
    """Return the rows that `make` creates in the database, or a dataclass of them; create them only once a process.

    `make` may use rows that this function created before, as `arguments`, but must not change them. `words` follow as further arguments;
    other words create other rows.
    """
    dictionaries = apps.get_model("league", "LogDictionary").objects.order_by("pk")
    key = (make, words, tuple(dictionaries.values_list("pk", flat=True)))
    if key in _created:
        tables, created = _created[key]
        with transaction.atomic():
            for table in tables:
                _insert(table)
    else:
        before = {model: _read(model) for model in _models()}
        _set_apart((len(_created) + 1) * APART)
        created = make(*arguments, *words)
        tables = [table for model, rows_before in before.items() if (table := _new_rows(model, rows_before)).rows]
        _created[key] = tables, created
    # What the test does to the objects, or they fetch for it, is its own
    return copy.deepcopy(created)


def forget() -> None:
    """Drop all kept rows: for a process in which the code has changed."""
    _created.clear()


def _models() -> list[type[models.Model]]:
    return [model for model in apps.get_models(include_auto_created=True) if model._meta.managed]


def _read(model: type[models.Model]) -> Table:
    name = connection.ops.quote_name(model._meta.db_table)
    with connection.cursor() as cursor:
        cursor.execute(f"SELECT * FROM {name}")
        columns = [connection.ops.quote_name(column[0]) for column in cursor.description]
        return Table(name, columns, cursor.fetchall())


def _new_rows(model: type[models.Model], before: Table) -> Table:
    after, key = _read(model), before.columns.index(connection.ops.quote_name(model._meta.pk.column))
    by_key = {row[key]: row for row in before.rows}
    changed = [row for row in after.rows if row[key] in by_key and row != by_key[row[key]]]
    assert not changed, f"what is made once changes rows of {before.name} that were there: {changed}"
    return Table(after.name, after.columns, [row for row in after.rows if row[key] not in by_key])


def _insert(table: Table) -> None:
    marks = f"({', '.join(['%s'] * len(table.columns))})"
    values = ", ".join([marks] * len(table.rows))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {table.name} ({', '.join(table.columns)}) VALUES {values}",
            [value for row in table.rows for value in row],
        )


def _set_apart(first: int) -> None:
    if connection.vendor != "sqlite":
        return  # a sequence of PostgreSQL goes on whatever a test takes back
    with connection.cursor() as cursor:
        for model in _models():
            name = model._meta.db_table
            cursor.execute("UPDATE sqlite_sequence SET seq = max(seq, %s) WHERE name = %s", [first, name])
            if not cursor.rowcount:
                cursor.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", [name, first])
