"""The roles of docker/grant_roles.py, in the PostgreSQL database of a test."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection

NEEDS_ROLES = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" in settings.DATABASES["default"]["ENGINE"], reason="SQLite has no roles"),
]


@contextmanager
def granted() -> Iterator[None]:
    """Create the roles; at the end switch back to the owner of the tables."""
    spec = importlib.util.spec_from_file_location("grant_roles", settings.BASE_DIR / "docker" / "grant_roles.py")
    assert spec is not None
    assert spec.loader is not None
    roles = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = roles
    spec.loader.exec_module(roles)
    has = {name: quote(str(value), safe="") for name, value in connection.settings_dict.items() if value}
    where = f"{has['NAME']}?host={has['HOST']}&port={has['PORT']}"
    roles.grant(f"postgresql://{has['USER']}:{has.get('PASSWORD', '')}@/{where}", web="web", runner="runner")
    try:
        yield
    finally:
        become("NONE")


def become(role: str) -> None:
    """Switch to this role; NONE switches back to the owner of the tables."""
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")
