"""manage.py password_link."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.urls import reverse

from league.domain.people import links
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """A way in for who has lost their password."""

    help = (
        "Print a link by which a player sets another password: once, within an hour. "
        "The journal says that it was made, their account page that it was used."
    )
    example = "manage.py password_link ana --by berto --site https://league.example"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player")
        parser.add_argument("--by", default="operator", help="who makes it: stands in the journal")
        parser.add_argument("--site", help="address of the site; from ALLOWED_HOSTS and HTTPS if left out")

    def run(self, **options: Any) -> None:
        """Make the link; stdout holds it alone."""
        host = next(
            (name.lstrip(".") for name in settings.ALLOWED_HOSTS if name.lstrip(".") not in ("", "*")), "localhost"
        )
        site = options["site"] or f"{'https' if settings.HTTPS else 'http'}://{host}"
        account, proof = links.make(find_player(options["player"]), actor=options["by"])
        self.say(f"{site.rstrip('/')}{reverse('reset', args=[account, proof])}")
