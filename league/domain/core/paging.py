"""Keyset pagination: a page begins after the row whose key its cursor has. The API and the pages of the site share it.

New rows never make a page skip or repeat others, and a page far down costs no more than the first one. A cursor has the values of the row at the
edge of the page, in the columns of the order, and a direction.
"""

from __future__ import annotations

import base64
import binascii
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, Generic, TypeAlias, TypeVar

from django.db.models import Model, Q, QuerySet

Row = TypeVar("Row")
ModelRow = TypeVar("ModelRow", bound=Model)
Value: TypeAlias = int | float | str

DEFAULT_SIZE = 50  # Rows of a page.
MAX_INT = 10**15
MAX_TEXT = 200  # The most characters of a cursor.


class BadCursor(ValueError):
    """The error for a text that is not a cursor of this list."""


@dataclass(frozen=True)
class Order:
    """An order of rows for which there is an index: names of columns, with "-" for descending, the last one unique. `kinds` are their types."""

    names: tuple[str, ...]
    kinds: tuple[type[Value], ...]

    @classmethod
    def by(cls, *names: str) -> Order:
        """Return an order by columns of whole numbers."""
        return cls(names, (int,) * len(names))

    def beyond(self, edge: Sequence[Value], *, back: bool) -> Q:
        """Return the condition for the rows after the row with these values, or before it."""
        condition: Q | None = None
        for name, value in reversed(list(zip(self.names, edge, strict=True))):
            column = name.lstrip("-")
            side = "lt" if name.startswith("-") != back else "gt"
            if condition is None:
                condition = Q(**{f"{column}__{side}": value})
            else:  # Also a range of the first column, which an index has and the planner can estimate
                condition = Q(**{f"{column}__{side}e": value}) & ~(Q(**{column: value}) & ~condition)
        if condition is None:
            raise ValueError("an order needs a column")
        return condition

    def columns(self, *, back: bool = False) -> list[str]:
        """Return the columns as `order_by` takes them."""
        if not back:
            return list(self.names)
        return [name[1:] if name.startswith("-") else f"-{name}" for name in self.names]

    def values(self, row: Any) -> list[Value]:
        """Return the values of a row (which may be a dict) in these columns."""
        values: list[Value] = []
        for name, kind in zip(self.names, self.kinds, strict=True):
            value = row
            for part in name.lstrip("-").split("__"):
                value = value[part] if isinstance(value, dict) else getattr(value, part)
            values.append(kind(value))
        return values


NEWEST = Order.by("-id")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows, and the cursors of the previous and the next page; None at the ends of the list."""

    rows: list[Row] = field(default_factory=list)
    before: str | None = None
    after: str | None = None

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Cursor:
    """The start of a page: after the row with these values, or before it (`back`)."""

    back: bool
    edge: tuple[Value, ...]


def write_cursor(edge: Sequence[Value], *, back: bool) -> str:
    """Return a cursor as text for an address."""
    values = json.dumps(edge[0] if len(edge) == 1 else list(edge), separators=(",", ":"))
    return base64.urlsafe_b64encode(f"{'p' if back else 'n'}{values}".encode()).decode().rstrip("=")


def read_cursor(text: str, kinds: Sequence[type[Value]]) -> Cursor:
    """Read a cursor from text. Raise BadCursor if it is not one of a list with values of these types."""
    try:
        if len(text) > MAX_TEXT:
            raise ValueError("too long")
        plain = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
        values = json.loads(plain[1:])
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadCursor(str(error)) from None
    edge = values if isinstance(values, list) else [values]
    fits = len(edge) == len(kinds) and all(_is(value, kind) for value, kind in zip(edge, kinds, strict=True))
    if plain[0] not in "np" or not fits:
        raise BadCursor("values of another list")
    return Cursor(plain[0] == "p", tuple(kind(value) for value, kind in zip(edge, kinds, strict=True)))


def _is(value: Any, kind: type[Value]) -> bool:
    if kind is str:
        return isinstance(value, str) and "\0" not in value
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    if isinstance(value, int):
        return -MAX_INT < value < MAX_INT and (kind is float or value >= 0)
    return kind is float and isfinite(value)


def read_page(
    rows: QuerySet[ModelRow], order: Order, cursor: Cursor | None = None, size: int = DEFAULT_SIZE
) -> Page[ModelRow]:
    """Return a page of a query. One query, which reads one row too many to see if there is a next page."""
    back = cursor is not None and cursor.back
    if cursor is not None:
        rows = rows.filter(order.beyond(cursor.edge, back=back))
    more = list(rows.order_by(*order.columns(back=back))[: size + 1])
    on_page = more[:size]
    if back:
        on_page.reverse()
    if not on_page:
        return Page()
    has_more = len(more) > size
    has_before, has_after = (has_more, True) if back else (cursor is not None, has_more)
    return Page(
        on_page,
        write_cursor(order.values(on_page[0]), back=True) if has_before else None,
        write_cursor(order.values(on_page[-1]), back=False) if has_after else None,
    )


def shorten(page: Page[Row], most: int, values: Callable[[Row], Sequence[Value]], *, back: bool = False) -> Page[Row]:
    """Return the first `most` rows of a page, or the last ones of a page that was read `back`. The next page begins with the remaining rows."""
    if most >= len(page):
        return page
    if back:
        return Page(page.rows[-most:], write_cursor(values(page.rows[-most]), back=True), page.after)
    return Page(page.rows[:most], page.before, write_cursor(values(page.rows[most - 1]), back=False))


def cut_page(items: Sequence[Row], cursor: Cursor | None = None, size: int = DEFAULT_SIZE) -> Page[Row]:
    """Return a page of a sequence. The cursor is a position in the sequence."""
    if cursor is None:
        start, stop = 0, size
    else:
        edge = int(cursor.edge[0])
        start, stop = (max(0, edge - size), min(edge, len(items))) if cursor.back else (edge + 1, edge + 1 + size)
    on_page = list(items[start:stop])
    return Page(
        on_page,
        write_cursor([start], back=True) if start and on_page else None,
        write_cursor([stop - 1], back=False) if on_page and stop < len(items) else None,
    )
