"""manage.py migrate: Django's, but it refuses a database that is older than this release can upgrade."""

from __future__ import annotations

from typing import Any

from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections

from league.service.migrating import why_too_old


class Command(migrate.Command):
    """Migrate, unless the database is too old."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse before anything is changed."""
        if why := why_too_old(connections[options["database"]]):
            raise CommandError(why)
        super().handle(*args, **options)
