"""Rows for every table of a league: `python -P tests/support/full.py`, with a release first on PYTHONPATH and its database, migrated and empty.

It runs that release's own story (tests/support/story.py), then adds a row to each table that is still empty.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import UTC, date, datetime
from itertools import combinations
from typing import Any

import django
import pytest

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
django.setup()

from django.apps import apps  # noqa: E402 - Django first
from django.db import IntegrityError, models, transaction  # noqa: E402

from tests.support import story  # noqa: E402

VALUES: dict[type[models.Field], Any] = {
    models.BooleanField: True,
    models.FloatField: 0.1,  # This is no sum of powers of two.
    models.DecimalField: 1,
    models.IntegerField: 1,
    models.DateTimeField: datetime(2026, 11, 1, 12, 30, 15, 123456, UTC),
    models.DateField: date(2026, 11, 1),
    models.BinaryField: b"\x00\xff",
    models.JSONField: {"ñ": [1, 0.1, None]},
    models.CharField: "ñ",
    models.TextField: "ñ\n'",
}


def value_of(field: models.Field) -> Any:
    """Return a valid value for a column; for a key, the first row that it may refer to."""
    if isinstance(field.related_model, type) and issubclass(field.related_model, models.Model):
        return field.related_model._base_manager.order_by("pk").first()
    if field.choices:
        return next(iter(dict(field.flatchoices)))
    return next(VALUES[kind] for kind in type(field).__mro__ if kind in VALUES)


def fill(model: type[models.Model]) -> None:
    """Add a row with a value in each column if the table is empty; fill the tables that its keys refer to first."""
    if model._base_manager.exists():
        return
    fields = [field for field in model._meta.concrete_fields if not isinstance(field, models.AutoField)]
    for field in fields:
        related = field.related_model
        if isinstance(related, type) and issubclass(related, models.Model) and related is not model:
            fill(related)
    add(model, {field.name: value_of(field) for field in fields})


def add(model: type[models.Model], values: dict[str, Any]) -> None:
    """Add a row that leaves no more columns empty than the checks of the table require."""
    checks = [check for check in model._meta.constraints if isinstance(check, models.CheckConstraint)]
    checked = {model._meta.get_field(name) for check in checks for name in names_in(check.condition)}
    empty = {field.name: None if field.null else "" for field in checked if field.null or field.blank}
    for count in range(len(empty) + 1):
        for names in combinations(sorted(empty), count):
            try:
                with transaction.atomic():
                    model._base_manager.create(**values | {name: empty[name] for name in names})
                return
            except IntegrityError as error:
                refusal = error
    raise refusal


def names_in(condition: Any) -> Iterator[str]:
    """Yield the names of the columns in a condition."""
    for child in condition.children:
        yield from names_in(child) if isinstance(child, models.Q) else [child[0].split("__")[0]]


if __name__ == "__main__":
    with story.one_chance(pytest.MonkeyPatch()):
        story.tell()
    for model in apps.get_models(include_auto_created=True):
        fill(model)
