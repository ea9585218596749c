"""Readiness: can this process serve requests? It can if the database answers and has the tables of this code."""

from __future__ import annotations

from functools import lru_cache

from django.db import DatabaseError, connection
from django.db.migrations.loader import MigrationLoader


@lru_cache(maxsize=1)
def _written() -> frozenset[tuple[str, str]]:
    """Return app and name of every migration of this code."""
    return frozenset(MigrationLoader(None, ignore_no_migrations=True).disk_migrations)


def why_not_ready() -> str:
    """Return why the process is not ready, as a sentence for operators; "" if it is. One query."""
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT app, name FROM django_migrations")
            applied = set(cursor.fetchall())
    except DatabaseError as error:
        return f"the database does not answer, or has never been migrated: {type(error).__name__}"
    missing = sorted(f"{app}.{name}" for app, name in _written() - applied)
    if missing:
        return f"{len(missing)} migrations are missing, the first is {missing[0]}: run manage.py migrate"
    return ""
