"""Subqueries for numbers that a list shows beside its rows. The database computes them for the rows of one page only."""

from __future__ import annotations

from typing import Any

from django.db.models import Aggregate, Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def count_of(rows: QuerySet[Any], owner: str) -> Coalesce:
    """Return the number of `rows` whose column `owner` is the row of the list.

    It is a subquery, because with two joins the counts would multiply.
    """
    return Coalesce(value_of(rows, owner, Count("pk"), IntegerField()), 0)


def value_of(rows: QuerySet[Any], owner: str, value: Aggregate, kind: Any = None) -> Subquery:
    """Return another aggregate of such rows; null without rows."""
    owned = rows.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
    return Subquery(owned.annotate(aggregate=value).values("aggregate"), output_field=kind)
