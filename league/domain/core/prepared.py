"""Queries that are put into SQL once and asked again with other values.

Django makes the SQL of a query anew each time, which for a page of a list takes longer than the database does. What is asked stays an ordinary query
of the domain: nobody writes it down twice.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Generic, TypeVar

from django.db import connection
from django.db.models import F, Func, QuerySet, TextField

from league.service import direct


class Prepared:
    """Queries of rows by a shape, which changes the SQL, and values, which do not.

    `make` gets the shape and stand-ins for the values, and gives a query of columns (`values_list`).
    """

    def __init__(self, make: Callable[[Any, Sequence[Any]], QuerySet[Any, Any]]) -> None:
        self._make = make
        self._known = lru_cache(maxsize=500)(self._prepare)

    def rows(self, shape: Hashable, values: Sequence[Any]) -> list[tuple[Any, ...]]:
        """The rows, as the database gives them: numbers, too, may be texts. One query."""
        sql, holes = self._known(connection.vendor, shape, tuple(map(type, values)))
        return direct.ask(sql, [_adapted(values[hole] if isinstance(hole, int) else hole[0]) for hole in holes])

    def _prepare(self, vendor: str, shape: Any, kinds: Sequence[type]) -> tuple[str, list[Any]]:
        """The SQL, and for each of its parameters which value it is, or in brackets what it always is."""
        standing = [_stand_in(kind, place) for place, kind in enumerate(kinds)]
        sql, params = self._make(shape, standing).query.sql_with_params()
        by_text = {_text(_adapted(one)): place for place, one in enumerate(standing)}
        holes = [by_text.get(_text(one), (one,)) for one in params]
        missing = set(range(len(kinds))) - {one for one in holes if isinstance(one, int)}
        if missing:
            raise ValueError(f"the query of {shape} does not ask for its values {sorted(missing)}")
        return _written_out(sql, holes) if vendor == "postgresql" else (sql, holes)


Narrow = TypeVar("Narrow", bound=Callable[[QuerySet[Any], Sequence[Any]], QuerySet[Any]])


@dataclass(frozen=True)
class Some(Generic[Narrow]):
    """Some of the rows of a list: how its query is narrowed to them, which is a part of its shape, and by which values, which are not.

    `narrow` gets the query and stand-ins for the values.
    """

    narrow: Narrow | None = None
    values: tuple[Any, ...] = ()

    @staticmethod
    def of(
        rows: QuerySet[Any],
        narrow: Callable[[QuerySet[Any], Sequence[Any]], QuerySet[Any]] | None,
        values: Sequence[Any],
    ) -> QuerySet[Any]:
        """The rows, narrowed."""
        return rows if narrow is None else narrow(rows, values)


ALL: Some[Any] = Some()


def _written_out(sql: str, holes: Sequence[Any]) -> tuple[str, list[Any]]:
    """The same with what never changes written into it: PostgreSQL plans it once, and has to know how many rows that leaves."""
    from psycopg.sql import Literal  # a league on SQLite has no such driver

    parts = sql.split("%s")
    found = parts[0]
    for hole, part in zip(holes, parts[1:], strict=True):
        found += "%s" if isinstance(hole, int) else Literal(hole[0]).as_string(None).replace("%", "%%")
        found += part
    return found, [hole for hole in holes if isinstance(hole, int)]


class Cells(Func):
    """Columns of a row as one text, in which no two rows with different values are alike: quicker read and compared than one by one."""

    output_field = TextField()
    template = "ROW(%(expressions)s)::text"

    def __init__(self, columns: Sequence[str]) -> None:
        super().__init__(*(F(column) for column in columns))

    def as_sqlite(self, compiler: Any, connection: Any, **extra: Any) -> Any:
        """Quoted as SQLite quotes them, numbers to the last digit."""
        there = self.copy()
        there.set_source_expressions([Func(one, function="quote") for one in self.get_source_expressions()])
        return there.as_sql(compiler, connection, template="(%(expressions)s)", arg_joiner=" || ',' || ", **extra)


def _stand_in(kind: type, place: int) -> Any:
    """A value that no query has by itself."""
    if kind is datetime:
        return datetime(1970, 1, 1, 0, 0, place, 4321, tzinfo=UTC)
    if kind is str:
        return f"stand-in {place}"
    # within what a small column holds: Django asks PostgreSQL nothing where a number is beyond it
    return kind(31_741 + place)


def _text(param: Any) -> str:
    # PostgreSQL's driver has kinds of int of its own for small columns
    return repr(int(param) if isinstance(param, int) and not isinstance(param, bool) else param)


def _adapted(value: Any) -> Any:
    return connection.ops.adapt_datetimefield_value(value) if isinstance(value, datetime) else value
