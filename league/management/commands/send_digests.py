"""manage.py send_digests."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from league import tasks
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """Send due digests now."""

    help = (
        "Send a batch of due digests by email, as the scheduler does every half minute. Each period is sent only once."
    )
    example = "manage.py send_digests"

    def run(self, **options: Any) -> None:
        """Send a batch and print its size."""
        if not settings.MAIL:
            raise CommandError("no mail server is configured; set MAIL_URL")
        self.say(f"{tasks.send_letters()} digests were sent")
