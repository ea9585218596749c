"""Circuits: recurring leagues, in divisions with promotion and relegation."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Max, QuerySet
from django_celery_beat.models import CrontabSchedule, PeriodicTask, PeriodicTasks

from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names, search_words
from league.domain.core.counts import value_of
from league.domain.core.errors import Refused
from league.domain.people import ownership, quotas
from league.domain.people import players as people
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tournaments import booking, formats, shares, tournaments
from league.enums import DEFAULT_FORMAT, BotState, TournamentStatus
from league.models import Bot, BotVersion, Circuit, Entry, EntryRequest, Player, Season
from league.pure.calendar import calendars, divisions

LIVE = (TournamentStatus.OPEN, TournamentStatus.RUNNING)
POINTS = (15, 12, 10, 8, 6, 5, 4, 3, 2, 1)  # Points of the first places of a season, in the table of the quarter.
MOST_PLACES = 50
LOOKED = 20  # The most circuits that are read for the list of upcoming seasons.


def create(
    owner: Player,
    name: str,
    game: str,
    *,
    days: str,
    at: str,
    time_zone: str,
    size: int = 8,
    moves: int = 2,
    players: int | None = None,
    options: Mapping[str, Any] | None = None,
    format: str = DEFAULT_FORMAT,
    parameters: Mapping[str, Any] | None = None,
    boards: int | None = None,
    per_player: int = 1,
    fill: int = 0,
    description: str = "",
    now: datetime | None = None,
) -> Circuit:
    """Create a circuit whose seasons are due by this calendar. Raise Refused with the allowed values.

    House bots fill a season that any bot has joined up to `fill` entries.
    """
    now = clock.now_or(now)
    name = names.checked(name)
    if not 1 <= len(name) <= 60:
        raise Refused("a circuit needs a name of 1 to 60 characters; this one has {length}", length=len(name))
    loaded = pools.load(game, players, dict(options or {}))
    chosen = formats.choose_parameters(format, parameters)
    formats.check_game(format, loaded, mixed=False)
    if formats.format_named(format).grows and not chosen.get("budget"):
        raise Refused(
            "a season in the format {format} needs a budget, because it would never end without one", format=format
        )
    try:
        calendars.read_calendar(days, at, time_zone)
        divisions.next_divisions([], [], [], size=size, moves=moves, least=len(loaded.sides))
    except ValueError as error:
        raise Refused.from_error(error) from error
    with transaction.atomic():
        quotas.ask(owner, quotas.TOURNAMENTS, now=now)
        tournaments.take_name(owner, name, now=now)
        circuit = Circuit.objects.create(
            slug=tournaments.free_slug(name, Circuit),
            name=name,
            owner=owner,
            game=game,
            players=players,
            options=dict(options or {}),
            format=format,
            parameters=chosen,
            boards=boards,
            size=size,
            moves=moves,
            days=days,
            at=at,
            time_zone=time_zone,
            per_player=shares.checked(per_player),
            fill=fill,
            description=description,
            created=now,
        )
        search_words.put(circuit, name, circuit.slug)
        _remind(circuit)
        journal.append("circuit.created", f"circuit:{circuit.slug}", now=now, actor=owner.name)
    return circuit


def _remind(circuit: Circuit) -> None:
    """Let Celery's calendar send a hint when a season is due. The scheduler also finds seasons without a hint."""
    chosen = calendar(circuit)
    weekdays = [day for day in chosen.days if not day.isdigit()]
    dates = [day for day in chosen.days if day.isdigit()]
    for kind, days in (("day_of_week", weekdays), ("day_of_month", dates)):
        if not days:
            continue
        when, _ = CrontabSchedule.objects.get_or_create(
            minute=str(chosen.at.minute), hour=str(chosen.at.hour), timezone=chosen.zone, **{kind: ",".join(days)}
        )
        PeriodicTask.objects.update_or_create(
            name=f"circuit {circuit.slug} by {kind}",
            defaults={"task": "league.tasks.open_seasons", "crontab": when, "queue": "upkeep"},
        )


def forget(circuit: Circuit) -> None:
    """Remove the circuit's entries from Celery's calendar, before the circuit is deleted."""
    PeriodicTask.objects.filter(name__startswith=f"circuit {circuit.slug} by ").delete()


def set_active(circuit: Circuit, active: bool, *, actor: str, now: datetime | None = None) -> None:
    """Pause or resume a circuit. A resumed circuit continues with the next season of its calendar."""
    Circuit.objects.filter(pk=circuit.pk).update(active=active)
    PeriodicTask.objects.filter(name__startswith=f"circuit {circuit.slug} by ").update(enabled=active)
    PeriodicTasks.update_changed()
    journal.append("circuit.active", f"circuit:{circuit.slug}", now=clock.now_or(now), actor=actor, active=active)


def join(
    circuit: Circuit, bot: Bot, *, player: Player, message: str = "", now: datetime | None = None
) -> EntryRequest | None:
    """Add a bot from the next season on; if its owner wants to be asked, return the request instead. Repeatable.

    `player` must own the circuit or the bot. Raise Refused if the bot has no accepted version that plays the game.
    """
    now = clock.now_or(now)
    bots.sent_version(bot, circuit.game)
    consent.check_shown(bot, circuit)
    is_own = ownership.may(player, bot, BotAct.ENTER)
    if not is_own and player.pk != circuit.owner_id:
        raise Refused(
            "only the owners of {bot!r} and {tournament!r} can enter the bot", bot=bot.slug, tournament=circuit.name
        )
    with transaction.atomic():
        row = Circuit.objects.select_for_update(of=("self",)).select_related("owner").get(pk=circuit.pk)
        if row.bots.filter(pk=bot.pk).exists():
            return None
        shares.check(row, player, bot, row.bots.all(), "pk", now=now)
        if player.pk == row.owner_id:
            consent.welcome(row, bot)
        if not is_own and not bot.is_house:
            people.lock(player.pk)
            consent.hold([bot], player)
        if not consent.is_willing(bot, player, row):
            return consent.ask(row, bot, player, message, now=now)
        admit(row, bot, actor=player.name, now=now)
    return None


def admit(circuit: Circuit, bot: Bot, *, actor: str, now: datetime) -> None:
    """Add a bot from the next season on; its owner has agreed."""
    bots.sent_version(bot, circuit.game)
    most = room(circuit)
    if circuit.bots.count() >= most:
        raise Refused("{tournament!r} is full; it takes {most} bots", tournament=circuit.name, most=most)
    circuit.bots.add(bot)
    journal.append("circuit.joined", consent.place(circuit), now=now, actor=actor, bot=bot.slug)
    consent.note_entry(circuit, bot, actor=actor, now=now)


def room(circuit: Circuit) -> int:
    """Return the most bots that a circuit takes: its owner may have all boards of a season with them queued. One query."""
    most, top = quotas.most(circuit.owner, quotas.BOARDS), settings.MAX_ENTRIES
    game = pools.load(circuit.game, circuit.players, circuit.options)
    seats, form = len(game.sides), formats.format_named(circuit.format)
    boards = circuit.boards or tournaments.default_boards(circuit.game, circuit.players, circuit.options)

    def fits(count: int) -> bool:
        order = list(range(count))
        cut = divisions.next_divisions([], order, order, size=circuit.size, moves=circuit.moves, least=seats)
        values = {"boards": boards, "seats": seats}
        sizes = [formats.make_field(circuit.format, circuit.parameters, entries=len(each), **values) for each in cut]
        try:
            return most is None or sum(form.size(field).boards[1] for field in sizes) <= most
        except ValueError:
            return True  # Not a matter of boards: the season will say what is wrong.

    return booking.most_fitting(top + 1, fits, least=seats)


def leave(circuit: Circuit, bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """Remove a bot from the next season on; it finishes the current one. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Circuit.objects.select_for_update(of=("self",)).get(pk=circuit.pk)
        if row.bots.filter(pk=bot.pk).exists():
            row.bots.remove(bot)
            journal.append("circuit.left", consent.place(row), now=now, actor=player.name, bot=bot.slug)
            consent.take_out(row, bot, player, now=now)


def calendar(circuit: Circuit) -> calendars.Calendar:
    """Return the calendar of its seasons."""
    return calendars.read_calendar(circuit.days, circuit.at, circuit.time_zone)


@dataclass(frozen=True)
class Course:
    """The calendar of a circuit, and when its last season was due (or the circuit was created): together they determine the next season."""

    calendar: calendars.Calendar
    since: datetime

    def due(self, now: datetime) -> datetime:
        """Return when the next season is due; this is in the past if the current season lasts longer."""
        passed = self.calendar.moments(self.since, now)
        return passed[-1] if passed else self.calendar.next(now)


def course(circuit: Circuit) -> Course | None:
    """Return the course of a circuit; None if it is paused. One query, or none if `with_last_due` has read it."""
    if not circuit.active:
        return None
    facts = vars(circuit)
    last = facts["last_due"] if "last_due" in facts else circuit.seasons.aggregate(due=Max("due"))["due"]
    return Course(calendar(circuit), last or circuit.created)


def with_last_due(rows: QuerySet[Circuit]) -> QuerySet[Circuit]:
    """Read circuits with the time at which their latest season was due (`last_due`). No query."""
    return rows.annotate(last_due=value_of(Season.objects.all(), "circuit", Max("due")))


def next_due(circuit: Circuit) -> datetime | None:
    """Return when the next season is due; None if the circuit is paused."""
    present = course(circuit)
    return present.due(clock.present()) if present else None


def upcoming(most: int, *, now: datetime | None = None) -> list[tuple[datetime, Circuit]]:
    """Return the next seasons of the newest LOOKED circuits, soonest first. One query."""
    now = clock.now_or(now)
    rows = with_last_due(Circuit.objects.filter(active=True))
    seasons: list[tuple[datetime, Circuit]] = []
    for circuit in rows.order_by("-pk")[:LOOKED]:
        due = calendar(circuit).next(max(now, vars(circuit)["last_due"] or now))
        seasons.append((due, circuit))
    return sorted(seasons, key=lambda season: (season[0], season[1].pk))[:most]


def open_due(*, now: datetime | None = None) -> int:
    """Open the seasons that are due; return their number. Repeatable, also by two processes at once."""
    now = clock.now_or(now)
    return sum(_open(circuit.pk, now) for circuit in Circuit.objects.filter(active=True).order_by("pk"))


def _open(pk: int, now: datetime) -> bool:
    """Open the latest due season if the one before is finished. Seasons missed in between are skipped."""
    with transaction.atomic():
        circuit = Circuit.objects.select_for_update().select_related("owner").get(pk=pk)
        last = circuit.seasons.order_by("-number").first()
        due = calendar(circuit).moments(last.due if last else circuit.created, now)
        if not due or circuit.seasons.filter(tournaments__status__in=LIVE).exists():
            return False
        season = Season.objects.create(
            circuit=circuit, number=1 + (last.number if last else 0), due=due[-1], opened=now
        )
        try:
            with transaction.atomic():
                _fill(season, now=now)
        except Refused as error:
            Season.objects.filter(pk=season.pk).update(reason=str(error))
            journal.append("season.passed", f"circuit:{circuit.slug}", now=now, number=season.number, why=str(error))
            return True
        journal.append("season.opened", f"circuit:{circuit.slug}", now=now, number=season.number)
    return True


def _fill(season: Season, *, now: datetime) -> None:
    """Create and start the divisions of a season."""
    circuit = season.circuit
    versions = _versions(circuit)
    least = len(pools.load(circuit.game, circuit.players, circuit.options).sides)
    if len(versions) < least:
        raise Refused(
            "{count} bots can play, and a table needs {least}; more bots must join before the next season",
            count=len(versions),
            least=least,
        )
    last = _last_divisions(circuit)
    previous = {bot for division_bots in last for bot in division_bots}
    newcomers = [bot for bot in versions if bot not in previous]
    members_by_division = divisions.next_divisions(
        last, versions, newcomers, size=circuit.size, moves=circuit.moves, least=least
    )
    for number, members in enumerate(members_by_division, 1):
        division = tournaments.create(
            circuit.owner,
            f"{circuit.name} {season.number}.{number}",
            circuit.game,
            circuit.options,
            circuit.boards,
            [versions[bot] for bot in members],
            circuit.players,
            format=circuit.format,
            parameters=circuit.parameters,
            now=now,
            season=season,
            group=number,
        )
        tournaments.start(division, actor=circuit.owner.name, now=now)


def _versions(circuit: Circuit) -> dict[int, BotVersion]:
    """Return the version that each bot sends, oldest bot first; bots that cannot play are left out.

    House bots fill the places up to `fill` if any bot has joined.
    """
    able = {"state": BotState.ACTIVE, "stopped": None, "owner_banned": False}
    versions: dict[int, BotVersion] = {}

    def add(bot: Bot) -> None:
        with suppress(Refused):
            versions[bot.pk] = bots.sent_version(bot, circuit.game)

    for bot in circuit.bots.filter(**able).order_by("pk"):
        add(bot)
    if versions and circuit.fill > len(versions):
        for bot in Bot.objects.filter(**able, is_house=True).exclude(pk__in=versions).order_by("pk"):
            if len(versions) < circuit.fill:
                add(bot)
    return versions


def quarter(circuit: Circuit, now: datetime) -> datetime:
    """Return when the current quarter of the year began at the circuit's place."""
    local = now.astimezone(calendar(circuit).zone)
    return local.replace(
        month=local.month - (local.month - 1) % 3, day=1, hour=0, minute=0, second=0, microsecond=0, fold=0
    )


@dataclass
class CircuitPlace:
    """A bot in the table of a quarter: its points, its seasons with their number of first places, and its place, shared by equals."""

    bot: str
    points: int = 0
    seasons: int = 0
    firsts: int = 0
    place: int = 0


def table(circuit: Circuit, *, now: datetime) -> list[CircuitPlace]:
    """Return the MOST_PLACES best bots of the finished seasons since the quarter began. One query.

    The first ten of a season get the points in POINTS; bots with the same place get the same. A lower division begins where the one above ends.
    Equal points are ordered by first places, then share a place.
    House bots that only filled a place have none. Nobody gains by skipping a season, because points only add up.
    """
    rows = Entry.objects.filter(
        tournament__season__circuit=circuit,
        tournament__season__due__gte=quarter(circuit, now),
        tournament__status=TournamentStatus.FINISHED,
        disqualified=None,
    ).order_by("tournament__season_id", "tournament__group", "place")
    places: dict[str, CircuitPlace] = {}
    season, division, above, size = 0, 0, 0, 0
    columns = ("tournament__season_id", "tournament__group", "place", "version__bot__slug", "version__bot__is_house")
    for number, group, place, slug, is_house in rows.values_list(*columns):
        if number != season:
            season, division, above, size = number, group, 0, 0
        if group != division:
            division, above, size = group, above + size, 0
        size += 1
        if is_house or place is None:
            continue
        row = places.setdefault(slug, CircuitPlace(slug))
        rank = above + place
        row.points += POINTS[rank - 1] if rank <= len(POINTS) else 0
        row.seasons += 1
        row.firsts += rank == 1
    line = sorted(places.values(), key=lambda row: (-row.points, -row.firsts, row.bot))[:MOST_PLACES]
    for number, row in enumerate(line, 1):
        before = line[number - 2] if number > 1 else None
        level = before is not None and (before.points, before.firsts) == (row.points, row.firsts)
        row.place = before.place if before is not None and level else number
    return line


def _last_divisions(circuit: Circuit) -> list[list[int]]:
    """Return the bots of the last season that was played, by division, from first place to last."""
    played = circuit.seasons.filter(tournaments__status=TournamentStatus.FINISHED).order_by("-number").first()
    if played is None:
        return []
    return [
        list(division.entries.order_by("place", "seed").values_list("version__bot_id", flat=True))
        for division in played.tournaments.order_by("group")
    ]
