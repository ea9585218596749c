"""Lists in the order of an index, of which no rows are read but what is shown of them, as one text a row.

Whoever has made a line of such a row before needs nothing else to know that it still holds (league.api.http.lines).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import Any

from django.db.models import QuerySet

from league.domain.core import keyset
from league.domain.core.prepared import ALL, Cells, Prepared, Some


class Listed:
    """A list in `order`.

    `make` gets who asks, on which the query depends, and stand-ins for the values that it compares with; it gives the rows.
    """

    def __init__(
        self, make: Callable[[Any, Sequence[Any]], QuerySet[Any, Any]], order: keyset.Order = keyset.NEWEST
    ) -> None:
        self.order = order
        self._make = make
        self._cells = Prepared(self._asked)

    def read(
        self,
        columns: tuple[str, ...],
        cursor: keyset.Cursor | None,
        size: int,
        *,
        who: Hashable = None,
        told: tuple[Any, ...] = (),
        some: Some[Any] = ALL,
    ) -> keyset.Page[tuple[int, str]]:
        """A page: ids, and these columns as one text (prepared.Cells). told: the values that the query compares with. One query."""
        values = (*told, *(cursor.edge if cursor else ()), *some.values)
        shape = (columns, cursor and cursor.back, size, who, len(told), some.narrow)
        page = keyset.fold(self._cells.rows(shape, values), self._edge, cursor, size)
        return keyset.Page([(int(row[0]), row[1]) for row in page], page.before, page.after)

    def _edge(self, row: tuple[Any, ...]) -> list[keyset.Value]:
        return [kind(value) for kind, value in zip(self.order.kinds, row[2:] or row[:1], strict=True)]

    def _asked(self, shape: Any, values: Sequence[Any]) -> QuerySet[Any, Any]:
        columns, back, size, who, told, narrow = shape
        to = told if back is None else told + len(self.order.names)
        cursor = None if back is None else keyset.Cursor(back, tuple(values[told:to]))
        rows = Some.of(self._make(who, values[:told]), narrow, values[to:])
        names = () if self.order == keyset.NEWEST else tuple(name.lstrip("-") for name in self.order.names)
        return keyset.asked(rows, self.order, cursor, size).values_list("id", Cells(columns), *names)
