"""manage.py send_digests."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.management.base import CommandError

from league import tasks
from league.management.base import LeagueCommand


class Command(LeagueCommand):
    """The digests by mail, now."""

    help = (
        "Send the digests that are due by mail, a batch of them, as the scheduler does by itself every half minute. Each period is "
        "sent once, whoever sends it."
    )
    example = "manage.py send_digests"

    def run(self, **options: Any) -> None:
        """One pass, told."""
        if not settings.MAIL:
            raise CommandError("no mail server is set up: set MAIL_URL")
        self.say(f"{tasks.send_letters()} digests were sent")
