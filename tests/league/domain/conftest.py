"""Time is given to the domain: a moment of the machine's own clock in a row is a `now` that was not handed on."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from functools import reduce
from operator import or_

import pytest
from django.apps import apps
from django.db.models import DateTimeField, Q

MOMENTS = {
    model: names
    for model in apps.get_app_config("league").get_models()
    if (names := [field.attname for field in model._meta.concrete_fields if isinstance(field, DateTimeField)])
}


@pytest.fixture(autouse=True)
def no_clock_but_the_tests(request: pytest.FixtureRequest) -> Iterator[None]:
    """After a test that wrote rows: none of them tells of the moment at which it ran."""
    # pages, and the workers of tests with transactions of their own, look at the machine's clock
    own = "client" in request.fixturenames or request.node.get_closest_marker("django_db")
    if own or "db" not in request.fixturenames:
        yield
        return
    request.getfixturevalue("db")
    began = datetime.now(UTC) - timedelta(hours=1)
    yield
    ended = datetime.now(UTC) + timedelta(hours=1)
    for model, names in MOMENTS.items():
        of_now = [Q(**{f"{name}__range": (began, ended)}) for name in names]
        told = model._base_manager.filter(reduce(or_, of_now)).first()
        assert told is None, f"somewhere `now` was not handed on: {model.__name__} {told}"
