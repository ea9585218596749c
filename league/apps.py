"""The one Django app of the league."""

from django.apps import AppConfig


class LeagueConfig(AppConfig):
    """Registers the Celery app, the system checks and the models."""

    name = "league"
    verbose_name = "Tute League"

    def ready(self) -> None:
        """Make `shared_task` bind to our Celery app in every process, and the checks known to `manage.py check`."""
        from league.service import checks  # noqa: F401 - imported for their registrations
