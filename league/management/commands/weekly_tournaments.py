"""manage.py weekly_tournaments."""

from __future__ import annotations

from typing import Any

import engine
from league.domain.arenas import arenas
from league.domain.bots import house
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.ratings import pools
from league.domain.tournaments import circuits
from league.management.base import LeagueCommand
from league.models import Arena, Circuit
from league.pure.calendar import calendars

# Game, day, hour and format of the league's own tournaments.
WEEK = (
    ("partnership", "mon", "20:00", "swiss"),
    ("corriente", "tue", "20:00", "swiss"),
    ("guinote", "wed", "20:00", "swiss"),
    ("subastado", "thu", "20:00", "swiss"),
    ("brisca", "fri", "20:00", "swiss"),
    ("cabrero", "sat", "18:00", "swiss"),
    ("partnership", "sun", "19:00", "arena"),
)
# Game, players, day and hour of the arenas for people.
ARENAS = (
    ("partnership", None, "fri", "21:00"),
    ("brisca", None, "sun", "17:00"),
    ("individual", 3, "wed", "21:30"),
)
ARENA_BOARDS = 2
SIZE, MOVES, FILL = 64, 8, 4


class Command(LeagueCommand):
    """Create the league's own weekly tournaments."""

    help = (
        "Create the league's own weekly tournaments for bots, one a game and an arena, and arenas for people: at fixed hours, open to all, "
        "with house bots where few have joined. Tournaments that exist already stay as they are."
    )
    example = "manage.py weekly_tournaments --zone Europe/Madrid"

    def add_arguments(self, parser: Any) -> None:
        """Declare the arguments."""
        parser.add_argument("--zone", default="Europe/Madrid", help="time zone of the hours")

    def run(self, **options: Any) -> None:
        """Create the missing tournaments, and print when each is due."""
        owner = house.player()
        for game, days, at, form in WEEK:
            name = f"{engine.load(game).title} {'arena' if form == 'arena' else 'weekly'}"
            boards = ARENA_BOARDS if form == "arena" else None
            hours = {"days": days, "at": at, "time_zone": options["zone"]}
            chosen: dict[str, Any] = {"format": form, "boards": boards, "size": SIZE, "moves": MOVES, "fill": FILL}
            existing = Circuit.objects.filter(owner=owner, name=name).first()
            circuit = existing or circuits.create(owner, name, game, **hours, **chosen)
            due = circuits.next_due(circuit)
            when = f"next on {due:%Y-%m-%d at %H:%M} UTC" if due else "paused"
            self.say(f"{circuit.slug}: {when}")
        for game, players, days, at in ARENAS:
            calendar = calendars.read_calendar(days, at, options["zone"])
            start, pool = calendar.next(clock.present()), pools.pool(game, players)
            coming = Arena.objects.filter(pool=pool, finished=None).exclude(time_zone="").first()
            try:
                arena = coming or arenas.create(game, start, players=players, time_zone=options["zone"])
            except Refused:
                self.say(f"arena of {game}: not yet, because no house bot plays it; run this again after enter_house")
                continue
            self.say(f"arena {arena.slug}: next on {arena.start:%Y-%m-%d at %H:%M} UTC")
