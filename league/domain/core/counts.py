"""Numbers that a list shows beside its rows, counted for the rows of the page alone."""

from __future__ import annotations

from typing import Any

from django.db.models import Aggregate, Count, IntegerField, OuterRef, QuerySet, Subquery
from django.db.models.functions import Coalesce


def count_of(rows: QuerySet[Any], owner: str) -> Coalesce:
    """How many of `rows` belong to a row of the list by their column `owner`. A subquery: counts over two joins would multiply."""
    return Coalesce(value_of(rows, owner, Count("pk"), IntegerField()), 0)


def value_of(rows: QuerySet[Any], owner: str, value: Aggregate, kind: Any = None) -> Subquery:
    """The same of any aggregate; null where there is none."""
    mine = rows.filter(**{owner: OuterRef("pk")}).order_by().values(owner)
    return Subquery(mine.annotate(found=value).values("found"), output_field=kind)
