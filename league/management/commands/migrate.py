"""manage.py migrate: Django's, but it refuses a database that is older than this release can upgrade."""

from __future__ import annotations

from typing import Any

from django.apps import apps
from django.core.management.base import CommandError
from django.core.management.commands import migrate
from django.db import connections
from django.db.models.signals import pre_migrate

from league.service.migrating import take_along, why_too_old


class Command(migrate.Command):
    """Migrate, unless the database is too old; an empty one in a single step."""

    def handle(self, *args: Any, **options: Any) -> None:
        """Refuse before anything is changed."""
        if why := why_too_old(connections[options["database"]]):
            raise CommandError(why)
        sender = apps.get_app_config("league")
        if not (options["fake"] or options["fake_initial"]):
            pre_migrate.connect(take_along, sender=sender)
        try:
            super().handle(*args, **options)
        finally:
            pre_migrate.disconnect(take_along, sender=sender)
