"""An arena for people: its hour, entering, waiting for a table, and the standing.

Who gains if it fails: an account that gets points without playing better. So points only add up, nobody chooses whom they meet or when the draw is
(`league.pure.pairing.arena`), nobody meets their own bots, who gives a hand up has lost it and rests, and no rating ever changes.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.bots import bots, consent, tries
from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tables import levels, people
from league.domain.tables.levels import Level
from league.enums import BotState
from league.models import Arena, ArenaEntry, ArenaSide, Bot, BotVersion, Player, Table
from league.pure.calendar import calendars

MINUTES = 60
CLOCK_S = 30
MOST_BOTS = 4  # Bots of one player in an arena; all bots with the same people count together.
MOST_ENTRIES = 500  # Bots in an arena.
LEVEL = Level.NORMAL  # Of the bot that plays for a partner, and for who is away.
FILLING = (Level.NORMAL, Level.HARD, Level.CHAMPION)  # The house bots that are in every arena.
SHOWN = 50  # Places on the page.


def create(
    game: str,
    start: datetime,
    *,
    minutes: float = MINUTES,
    time_zone: str = "",
    clock_s: int = CLOCK_S,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    actor: str = "",
    now: datetime | None = None,
) -> Arena:
    """Create an arena with the house bots, or return the one of this game and hour. time_zone: it repeats every week by the clocks there."""
    now = clock.now_or(now)
    if not 0 < minutes <= 24 * 60 or not 0 < clock_s <= 600:
        raise Refused("an arena lasts up to a day, and an answer up to ten minutes")
    if time_zone:
        try:
            _next_week(start, time_zone, start)
        except ValueError as error:
            raise Refused.from_error(error) from error
    with transaction.atomic():
        pool = pools.pool(game, players, options)
        if not levels.bot(LEVEL, tries.rivals(), pool.game):
            raise Refused(
                "no house bot plays {game} yet; choose another game, or try again in a few minutes", game=game
            )
        times = {"start": start, "ends": start + timedelta(minutes=minutes), "time_zone": time_zone}
        arena, is_new = Arena.objects.get_or_create(
            slug=f"{game}-{start:%Y%m%d-%H%M}", defaults={"pool": pool, "clock_s": clock_s, "created": now, **times}
        )
        if is_new:
            house = levels.offered(tries.rivals(), pool.game)
            filling = [house[level].bot for level in FILLING if level in house]
            ArenaEntry.objects.bulk_create(ArenaEntry(arena=arena, bot=bot, joined=now) for bot in filling)
            journal.append("arena.created", subject(arena), now=now, actor=actor)
    return arena


def _next_week(start: datetime, zone: str, after: datetime) -> datetime:
    """Return the first time after `after` on the weekday and at the wall-clock time of `start` in a zone."""
    local = start.astimezone(calendars.zone_named(zone))
    day = calendars.WEEKDAYS[local.weekday()]
    return calendars.read_calendar(day, f"{local:%H:%M}", zone).next(after)


def follow_on(arena: Arena, *, now: datetime) -> Arena | None:
    """Create the next arena of a weekly one. Repeatable: each follows from the one before."""
    if not arena.time_zone:
        return None
    start = _next_week(arena.start, arena.time_zone, max(arena.start, now))
    rules: dict[str, Any] = {"players": arena.pool.players, "options": arena.pool.options}
    minutes = (arena.ends - arena.start) / timedelta(minutes=1)
    zone, clock_s = arena.time_zone, arena.clock_s
    return create(arena.pool.game, start, minutes=minutes, time_zone=zone, clock_s=clock_s, **rules, now=now)


def subject(arena: Arena) -> str:
    """Return the name by which the journal refers to an arena."""
    return f"arena:{arena.slug}"


def state(arena: Arena, now: datetime) -> str:
    """Return how far an arena is: open, running or over."""
    if arena.finished is not None or now >= arena.ends:
        return "over"
    return "running" if now >= arena.start else "open"


def is_running(arena: Arena, now: datetime) -> bool:
    """Return True while tables are drawn."""
    return state(arena, now) == "running"


def play(arena: Arena, player: Player, *, now: datetime | None = None) -> ArenaEntry:
    """Enter, and once the arena runs, wait for the next table. Repeatable. Raise Refused."""
    now = clock.now_or(now)
    if state(arena, now) == "over":
        raise Refused("this arena is over; the next one is in the calendar")
    players.refuse_banned(player)
    entry, is_new = ArenaEntry.objects.get_or_create(arena=arena, player=player, defaults={"joined": now})
    if is_new:
        journal.append("arena.entered", subject(arena), now=now, actor=player.name)
    if not is_running(arena, now):
        return entry
    if entry.rests_until is not None and entry.rests_until > now:
        raise Refused("you gave a hand up; you can play again in a moment")
    if people.present(player) is not None:
        raise Refused("you are already sitting at a table; finish it, or leave it first")
    ArenaEntry.objects.filter(pk=entry.pk, waiting=None).update(waiting=now)
    return entry


def stop(arena: Arena, player: Player, *, now: datetime | None = None) -> None:
    """Stop waiting; before the start, leave the arena. Points stay. Repeatable."""
    rows = ArenaEntry.objects.filter(arena=arena, player=player)
    if clock.now_or(now) < arena.start:
        rows.filter(games=0).delete()
    else:
        rows.update(waiting=None)


def enter_bot(arena: Arena, bot: Bot, player: Player, *, now: datetime | None = None) -> None:
    """Let a bot fill in at the tables of the arena until it ends. Repeatable. Raise Refused."""
    now = clock.now_or(now)
    if not ownership.may(player, bot, BotAct.ENTER):
        raise Refused("only an owner of {bot!r} can enter it", bot=bot.slug)
    if state(arena, now) == "over":
        raise Refused("this arena is over; the next one is in the calendar")
    bots.check_playable(bots.sent_version(bot, arena.pool.game), arena.pool.game)
    consent.check_shown(bot, arena)
    with transaction.atomic():
        Arena.objects.select_for_update().get(pk=arena.pk)
        consent.check_shown(Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk), arena)
        rows = arena.entries.filter(bot__isnull=False)
        if rows.filter(bot=bot).exists():
            return
        if rows.filter(bot__in=ownership.related_bots(bot, now=now)).count() >= MOST_BOTS:
            raise Refused("{most} of your bots are in this arena already", most=MOST_BOTS)
        if rows.count() >= MOST_ENTRIES:
            raise Refused("this arena has all the bots that it takes")
        ArenaEntry.objects.create(arena=arena, bot=bot, joined=now)
        journal.append("arena.entered", subject(arena), now=now, actor=player.name, bot=bot.slug)


def withdraw_bot(arena: Arena, bot: Bot, player: Player) -> None:
    """Take a bot out of the arena before it has played; later it stays in the standing. Raise Refused."""
    if not ownership.may(player, bot, BotAct.ENTER):
        raise Refused("only an owner of {bot!r} can withdraw it", bot=bot.slug)
    entry = arena.entries.filter(bot=bot).first()
    if entry is not None and entry.sides.exists():
        raise Refused("{bot!r} has played here already, so it stays until the end", bot=bot.slug)
    arena.entries.filter(bot=bot, sides=None).delete()


def own_entry(arena: Arena, player: Player | None) -> ArenaEntry | None:
    """Return the person's entry. One query."""
    return arena.entries.filter(player=player).first() if player is not None else None


def table_of(entry: ArenaEntry) -> Table | None:
    """Return the table of the arena at which the person of an entry sits. One query."""
    side = entry.sides.filter(points=None, given_up=None).select_related("table").order_by("-table").first()
    return side.table if side is not None and entry.player_id is not None else None


def in_play(arena: Arena) -> QuerySet[ArenaSide, int]:
    """Select the ids of the tables whose points are not counted yet. No query."""
    return ArenaSide.objects.filter(entry__arena=arena, points=None).values_list("table", flat=True)


def sides_of(table: Table) -> list[ArenaSide]:
    """Return the sides of a table of an arena; none of any other table. One query."""
    return list(ArenaSide.objects.filter(table=table).select_related("entry__arena").order_by("number"))


def standing(arena: Arena) -> QuerySet[ArenaEntry]:
    """Select who has played, by points, then by fewer games. Equal ones share a place."""
    rows = arena.entries.filter(games__gt=0).select_related("player", "bot")
    return rows.order_by("-points", F("games").asc(), "pk")


def placed(entries: Iterable[ArenaEntry]) -> list[tuple[int, ArenaEntry]]:
    """Number the entries of a standing from its top. Equal points share a place. No query besides that of the entries."""
    rows: list[tuple[int, ArenaEntry]] = []
    for number, entry in enumerate(entries, 1):
        rows.append((rows[-1][0] if rows and rows[-1][1].points == entry.points else number, entry))
    return rows


def place_of(arena: Arena, entry: ArenaEntry) -> int:
    """Return the current place of an entry that has played. One query."""
    return 1 + arena.entries.filter(games__gt=0, points__gt=entry.points).count()


def version_of(bot: Bot, game: str) -> BotVersion | None:
    """Return the version that a bot sends to a table; None if it may not play now."""
    if bot.state != BotState.ACTIVE or bot.stopped is not None or bot.owner_banned:
        return None
    try:
        version = bots.sent_version(bot, game)
        bots.check_playable(version, game)
    except Refused:
        return None
    return version


def near(most: int) -> list[Arena]:
    """Return the arenas that run or come next, soonest first. One query."""
    return list(Arena.objects.filter(finished=None).select_related("pool").order_by("start", "pk")[:most])
