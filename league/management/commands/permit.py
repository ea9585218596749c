"""manage.py permit."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.people import rights
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Grant or revoke the rights of operators."""

    help = (
        "Grant operator rights to a player, or revoke them with --take; without a player, list all operators. `staff` may see everything; each "
        "other right allows one action. Superusers may do everything; this command cannot create one, but --take removes the status."
    )
    example = "manage.py permit olga staff void pause --why 'keeps the cup'"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player", nargs="?")
        parser.add_argument("right", nargs="*", help=", ".join(rights.WORDS))
        parser.add_argument("--take", action="store_true", help="revoke these rights; with `staff`, all rights")
        parser.add_argument("--why", help="for the journal")

    def run(self, **options: Any) -> None:
        """Grant, revoke or list."""
        if options["player"] is None:
            self._list()
            return
        player = find_player(options["player"])
        if options["right"]:
            if not options["why"]:
                raise Refused("give a reason: --why '...'")
            give = not options["take"]
            rights.change(player, options["right"], give=give, why=options["why"], actor="operator")
        self.say(f"{player.name}: {', '.join(rights.words_of(player)) or 'a player like any other'}")

    def _list(self) -> None:
        for operator in rights.operators():
            self.say(f"{operator.name}: {', '.join(operator.words)}")
