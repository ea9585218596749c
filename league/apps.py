"""The one Django app of the league."""

import gc
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate

from league.service import changes


def keep_dictionaries(**told: Any) -> None:
    """What the stored logs are compressed with comes into the database."""
    from league.domain.matches import logs  # not before: most commands need none of it

    logs.keep_dictionaries(**told)


def install_marks(*, using: str, **_: Any) -> None:
    """The database counts changes of what is shown."""
    changes.install(connections[using])


class LeagueConfig(AppConfig):
    """Registers the Celery app, the system checks, the models and what follows a migration."""

    name = "league"
    verbose_name = "Tute League"

    def ready(self) -> None:
        """Make `shared_task` bind to our Celery app in every process, and the checks known to `manage.py check`."""
        from league.service import checks  # noqa: F401 - imported for their registrations

        post_migrate.connect(keep_dictionaries, sender=self)
        post_migrate.connect(install_marks, sender=self)
        # All is loaded, and stays; manage.py has put this off
        gc.freeze()
        gc.enable()
