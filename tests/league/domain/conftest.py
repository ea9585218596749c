"""Time is given to the domain: a moment of the machine's own clock in a row is a `now` that was not handed on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import cache

import pytest
from django.apps import apps
from django.db import connection
from django.db.models import DateTimeField

from tests.support.live import LiveLeague

MOMENTS = {
    model: fields
    for model in apps.get_app_config("league").get_models()
    if (fields := [field for field in model._meta.concrete_fields if isinstance(field, DateTimeField)])
}


@cache
def moments() -> tuple[str, int]:
    """One statement for the first row of every table with a moment between two others, and how often it asks for the two.

    Django would build it for each table after each test, which is a tenth of the cost of these tests.
    """
    quote = connection.ops.quote_name
    selects = []
    for model, fields in MOMENTS.items():
        within = " OR ".join(f"{quote(field.column)} BETWEEN %s AND %s" for field in fields)
        key = quote(model._meta.pk.column)
        selects.append(
            f"SELECT '{model.__name__}', (SELECT CAST(max({key}) AS text) FROM {quote(model._meta.db_table)} WHERE {within})"
        )
    return " UNION ALL ".join(selects), sum(map(len, MOMENTS.values()))


def was_running(name: str, key: str, began: datetime, ended: datetime) -> bool:
    """Return True if a row has a time from a running clock. Times of tests are whole seconds, and the present may equal one of them."""
    model = apps.get_model("league", name)
    row = model._default_manager.filter(pk=key).values_list(*(field.attname for field in MOMENTS[model])).get()
    return any(moment and began <= moment <= ended and moment.microsecond for moment in row)


@pytest.fixture(autouse=True)
def no_clock_but_the_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """Check, after a test that wrote rows, that none of them holds the time at which the test ran."""
    # pages, and the workers of tests with transactions of their own, look at the machine's clock
    own = "client" in request.fixturenames or request.node.get_closest_marker("django_db")
    if own or "db" not in request.fixturenames or connection.vendor != "sqlite":  # once is enough
        yield
        return
    request.getfixturevalue("db")
    began = datetime.now(UTC) - timedelta(hours=1)
    yield
    ended = datetime.now(UTC) + timedelta(hours=1)
    statement, number = moments()
    bounds = [connection.ops.adapt_datetimefield_value(moment) for moment in (began, ended)]
    with connection.cursor() as cursor:
        cursor.execute(statement, bounds * number)
        rows = [(model, key) for model, key in cursor.fetchall() if key is not None]
    texts = [f"{model} {key}" for model, key in rows if was_running(model, key, began, ended)]
    assert not texts, f"somewhere `now` was not handed on: {', '.join(texts)}"


@pytest.fixture
def live() -> Iterator[LiveLeague]:
    league = LiveLeague()
    yield league
    league.close()
