"""Pages of a list by the key of the row at their edge.

No page skips or repeats rows because others were added meanwhile, and a deep one costs what the first one costs. A cursor names that row
by its values in the order of the list, and the direction in which to go on. Programs and pages share it.
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
Of = TypeVar("Of", bound=Model)
Value: TypeAlias = int | float | str

USUAL = 50  # rows of a page
MOST_INT = 10**15
MOST_TEXT = 200  # characters of a cursor


class BadCursor(ValueError):
    """A text that is no cursor of this list."""


@dataclass(frozen=True)
class Order:
    """An order of rows that an index has: names of columns, "-" before those from the largest, the last ones unique. `kinds` are their types."""

    names: tuple[str, ...]
    kinds: tuple[type[Value], ...]

    @classmethod
    def by(cls, *names: str) -> Order:
        """By whole numbers."""
        return cls(names, (int,) * len(names))

    def beyond(self, edge: Sequence[Value], *, back: bool) -> Q:
        """The rows after the one with these values, or before it."""
        found: Q | None = None
        for name, value in reversed(list(zip(self.names, edge, strict=True))):
            column = name.lstrip("-")
            side = "lt" if name.startswith("-") != back else "gt"
            if found is None:
                found = Q(**{f"{column}__{side}": value})
            else:  # a range of the first column, which an index understands and a planner can guess the size of
                found = Q(**{f"{column}__{side}e": value}) & ~(Q(**{column: value}) & ~found)
        if found is None:
            raise ValueError("an order needs a column")
        return found

    def columns(self, *, back: bool = False) -> list[str]:
        """As `order_by` takes it."""
        if not back:
            return list(self.names)
        return [name[1:] if name.startswith("-") else f"-{name}" for name in self.names]

    def values(self, row: Any) -> list[Value]:
        """The values of a row, which may be a dict."""
        found: list[Value] = []
        for name, kind in zip(self.names, self.kinds, strict=True):
            value = row
            for part in name.lstrip("-").split("__"):
                value = value[part] if isinstance(value, dict) else getattr(value, part)
            found.append(kind(value))
        return found


NEWEST = Order.by("-id")


@dataclass(frozen=True)
class Page(Generic[Row]):
    """Rows, and the cursors of the pages before and after them; None where there is none."""

    rows: list[Row] = field(default_factory=list)
    before: str | None = None
    after: str | None = None

    def __iter__(self) -> Iterator[Row]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True)
class Cursor:
    """Where a page begins: after a row, or before it (`back`)."""

    back: bool
    edge: tuple[Value, ...]


def write(edge: Sequence[Value], *, back: bool) -> str:
    """A cursor as text for an address."""
    told = json.dumps(edge[0] if len(edge) == 1 else list(edge), separators=(",", ":"))
    return base64.urlsafe_b64encode(f"{'p' if back else 'n'}{told}".encode()).decode().rstrip("=")


def read(text: str, kinds: Sequence[type[Value]]) -> Cursor:
    """The cursor that a text names. BadCursor where it names none of a list with such values."""
    try:
        if len(text) > MOST_TEXT:
            raise ValueError("too long")
        plain = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True).decode("ascii")
        told = json.loads(plain[1:])
    except (binascii.Error, ValueError, RecursionError) as error:
        raise BadCursor(str(error)) from None
    edge = told if isinstance(told, list) else [told]
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
        return -MOST_INT < value < MOST_INT and (kind is float or value >= 0)
    return kind is float and isfinite(value)


def read_page(rows: QuerySet[Of], order: Order, cursor: Cursor | None = None, size: int = USUAL) -> Page[Of]:
    """A page of a query. One query: a row more than the page tells whether there is a further one."""
    return fold(list(asked(rows, order, cursor, size)), order.values, cursor, size)


def asked(rows: QuerySet[Of], order: Order, cursor: Cursor | None, size: int) -> QuerySet[Of]:
    """The rows of a page and one more, in the direction of the cursor."""
    back = cursor is not None and cursor.back
    if cursor is not None:
        rows = rows.filter(order.beyond(cursor.edge, back=back))
    return rows.order_by(*order.columns(back=back))[: size + 1]


def fold(found: list[Row], values: Callable[[Row], Sequence[Value]], cursor: Cursor | None, size: int) -> Page[Row]:
    """The page of what `asked` has found. values: those of a row in the order of the list."""
    back = cursor is not None and cursor.back
    more, shown = len(found) > size, found[:size]
    if back:
        shown.reverse()
    if not shown:
        return Page()
    has_before, has_after = (more, True) if back else (cursor is not None, more)
    return Page(
        shown,
        write(values(shown[0]), back=True) if has_before else None,
        write(values(shown[-1]), back=False) if has_after else None,
    )


def shorten(page: Page[Row], most: int, values: Callable[[Row], Sequence[Value]], *, back: bool = False) -> Page[Row]:
    """The first rows of a page, of one that was asked for `back` the last ones: the others are on the page beyond."""
    if most >= len(page):
        return page
    if back:
        return Page(page.rows[-most:], write(values(page.rows[-most]), back=True), page.after)
    return Page(page.rows[:most], page.before, write(values(page.rows[most - 1]), back=False))


def cut_page(items: Sequence[Row], cursor: Cursor | None = None, size: int = USUAL) -> Page[Row]:
    """A page of what is at hand, by place. The cursor has one whole number."""
    if cursor is None:
        start, stop = 0, size
    else:
        edge = int(cursor.edge[0])
        start, stop = (max(0, edge - size), min(edge, len(items))) if cursor.back else (edge + 1, edge + 1 + size)
    shown = list(items[start:stop])
    return Page(
        shown,
        write([start], back=True) if start and shown else None,
        write([stop - 1], back=False) if shown and stop < len(items) else None,
    )
