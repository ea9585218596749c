"""manage.py permit."""

from __future__ import annotations

from typing import Any

from league.domain.core.errors import Refused
from league.domain.people import rights
from league.management.base import LeagueCommand, find_player


class Command(LeagueCommand):
    """Who may do what as an operator."""

    help = (
        "Give a player rights of an operator, or take them; without a player, list who has which. `staff` may look at everything, each other right "
        "allows one thing. A superuser may do everything; nobody is made one here, and --take ends it. Doing it again changes nothing."
    )
    example = "manage.py permit olga staff void pause --why 'keeps the cup'"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("player", nargs="?")
        parser.add_argument("right", nargs="*", help=", ".join(rights.WORDS))
        parser.add_argument("--take", action="store_true", help="take them; with `staff` all of them")
        parser.add_argument("--why", help="for the journal")

    def run(self, **options: Any) -> None:
        """Give, take or list."""
        if options["player"] is None:
            self._list()
            return
        player = find_player(options["player"])
        if options["right"]:
            if not options["why"]:
                raise Refused("say why: --why '...'")
            give = not options["take"]
            rights.change(player, options["right"], give=give, why=options["why"], actor="operator")
        self.say(f"{player.name}: {', '.join(rights.words_of(player)) or 'a player like any other'}")

    def _list(self) -> None:
        for one in rights.operators():
            self.say(f"{one.name}: {', '.join(one.words)}")
