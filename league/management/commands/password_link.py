"""manage.py password_link."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from league.domain.people import links
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Create a password reset link."""

    help = (
        "Print a link with which a player can set a new password once, within an hour. "
        "The journal records its creation; the player's account page shows its use."
    )
    example = "manage.py password_link ana --by berto --site https://league.example"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player")
        parser.add_argument("--by", default="operator", help="who creates it, for the journal")
        parser.add_argument("--site", help="address of the site; by default from ALLOWED_HOSTS and HTTPS")

    def run(self, **options: Any) -> None:
        """Create the link and print nothing else to stdout."""
        host = next(
            (name.lstrip(".") for name in settings.ALLOWED_HOSTS if name.lstrip(".") not in ("", "*")), "localhost"
        )
        site = options["site"] or f"{'https' if settings.HTTPS else 'http'}://{host}"
        account, proof = links.make(find_player(options["player"]), actor=options["by"])
        self.say(f"{site.rstrip('/')}{reverse('reset', args=[account, proof])}")
