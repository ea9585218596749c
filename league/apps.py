"""The one Django app of the league."""

import gc
from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from league.service import changes


def keep_dictionaries(**kwargs: Any) -> None:
    """Store the compression dictionaries of the logs in the database."""
    from league.domain.matches import logs  # Imported late, because most commands do not need it.

    logs.keep_dictionaries(**kwargs)


def install_marks(*, using: str, **_: Any) -> None:
    """Install the change counters in the database."""
    changes.install(connections[using])


def remove_marks(*, using: str, plan: list[tuple[Any, bool]], **_: Any) -> None:
    """Remove the change counters before a migration is reversed: they may read columns that it removes."""
    if any(backwards for _migration, backwards in plan):
        changes.remove(connections[using])


class LeagueConfig(AppConfig):
    """The app: it registers the Celery app, the system checks, the models and the steps after a migration."""

    name = "league"
    verbose_name = "Tute League"

    def ready(self) -> None:
        """Bind `shared_task` to our Celery app in every process, and register the checks of `manage.py check`."""
        from league.service import checks  # noqa: F401 - imported to register them

        pre_migrate.connect(remove_marks, sender=self)
        post_migrate.connect(keep_dictionaries, sender=self)
        post_migrate.connect(install_marks, sender=self)
        # The loaded modules stay in memory; manage.py has disabled the collector until here.
        gc.freeze()
        gc.enable()
