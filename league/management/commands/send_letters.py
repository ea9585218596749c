"""manage.py send_letters."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from league import tasks
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Send due letters now."""

    help = "Send a batch of due notices and digests by email, as the scheduler does every half minute."
    example = "manage.py send_letters"

    def run(self, **options: Any) -> None:
        """Send a batch and print its size."""
        if not settings.MAIL:
            raise CommandError("no mail server is configured; set MAIL_URL")
        self.say(f"{tasks.send_letters()} letters were sent")
