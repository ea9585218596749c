"""Circuits: recurring leagues by the calendar, in divisions with promotion and relegation."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Max
from django_celery_beat.models import CrontabSchedule, PeriodicTask, PeriodicTasks

from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names
from league.domain.core.counts import value_of
from league.domain.core.errors import Refused
from league.domain.people import players as people
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import formats, tournaments
from league.enums import DEFAULT_FORMAT, BotState, TournamentStatus
from league.models import Bot, BotVersion, Circuit, EntryRequest, Player, Season
from league.pure.calendar import calendars, divisions

LIVE = (TournamentStatus.OPEN, TournamentStatus.RUNNING)
LOOKED = 20  # leagues that are looked at for the next seasons


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
    now: datetime | None = None,
) -> Circuit:
    """A league whose seasons are due by this calendar. Refused with what is allowed."""
    now = clock.now_or(now)
    name = names.checked(name)
    if not 1 <= len(name) <= 60:
        raise Refused("a circuit needs a name of 1 to 60 characters; this one has {length}", length=len(name))
    loaded = pools.load(game, players, dict(options or {}))
    chosen = formats.choose_parameters(format, parameters)
    formats.check_game(format, loaded, mixed=False)
    if formats.format_named(format).grows and not chosen.get("budget"):
        raise Refused("a season by {format} needs a budget, since without one it never ends", format=format)
    try:
        calendars.read_calendar(days, at, time_zone)
        divisions.next_divisions([], [], [], size=size, moves=moves, least=len(loaded.sides))
    except ValueError as error:
        raise Refused.from_error(error) from error
    with transaction.atomic():
        quotas.ask(owner, quotas.TOURNAMENTS, now=now)
        tournaments.take_name(owner, name)
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
            created=now,
        )
        _remind(circuit)
        journal.append("circuit.created", f"circuit:{circuit.slug}", now=now, actor=owner.name)
    return circuit


def _remind(circuit: Circuit) -> None:
    """Let Celery's calendar call at the due moments. A hint like every message: the scheduler opens what no call announced."""
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


def set_active(circuit: Circuit, active: bool, *, actor: str, now: datetime | None = None) -> None:
    """Pause a circuit or let it go on; then its next season is that of the next due moment."""
    Circuit.objects.filter(pk=circuit.pk).update(active=active)
    PeriodicTask.objects.filter(name__startswith=f"circuit {circuit.slug} by ").update(enabled=active)
    PeriodicTasks.update_changed()
    journal.append("circuit.active", f"circuit:{circuit.slug}", now=clock.now_or(now), actor=actor, active=active)


def join(
    circuit: Circuit, bot: Bot, *, by: Player, message: str = "", now: datetime | None = None
) -> EntryRequest | None:
    """Let a bot take part from the next season on; where its owner wants to be asked, the request. Joining again changes nothing.

    By the owner of the circuit or of the bot. Refused for a bot without an accepted version that plays the game.
    """
    now = clock.now_or(now)
    bots.sent_version(bot, circuit.game)
    if by.pk not in (circuit.owner_id, bot.owner_id):
        raise Refused(
            "only the owners of {bot!r} and of {tournament!r} can enter it", bot=bot.slug, tournament=circuit.name
        )
    with transaction.atomic():
        row = Circuit.objects.select_for_update(of=("self",)).get(pk=circuit.pk)
        if by.pk != bot.owner_id and not bot.is_house:
            people.lock(by.pk)
            consent.hold([bot], by)
        if row.bots.filter(pk=bot.pk).exists():
            return None
        if not consent.is_willing(bot, by, row):
            return consent.ask(row, bot, by, message, now=now)
        admit(row, bot, actor=by.name, now=now)
    return None


def admit(circuit: Circuit, bot: Bot, *, actor: str, now: datetime) -> None:
    """From the next season on, for a bot whose owner has agreed."""
    bots.sent_version(bot, circuit.game)
    circuit.bots.add(bot)
    journal.append("circuit.joined", consent.place(circuit), now=now, actor=actor, bot=bot.slug)


def leave(circuit: Circuit, bot: Bot, *, by: Player, now: datetime | None = None) -> None:
    """From the next season on; the present one is played to its end. Doing it again changes nothing."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Circuit.objects.select_for_update(of=("self",)).get(pk=circuit.pk)
        if row.bots.filter(pk=bot.pk).exists():
            row.bots.remove(bot)
            journal.append("circuit.left", consent.place(row), now=now, actor=by.name, bot=bot.slug)
            consent.take_out(row, bot, by, now=now)


def calendar(circuit: Circuit) -> calendars.Calendar:
    """When its seasons are due."""
    return calendars.read_calendar(circuit.days, circuit.at, circuit.time_zone)


@dataclass(frozen=True)
class Course:
    """What the next season of a circuit follows from: its calendar, and when the last one was due, or else when it was made."""

    calendar: calendars.Calendar
    since: datetime

    def due(self, now: datetime) -> datetime:
        """When the next season is due, which may be past where the present one is still played. The same until the next moment of the calendar."""
        passed = self.calendar.moments(self.since, now)
        return passed[-1] if passed else self.calendar.next(now)


def course(circuit: Circuit) -> Course | None:
    """Of a circuit; None while it rests. One query, or none where its seasons are at hand."""
    if not circuit.active:
        return None
    return Course(calendar(circuit), max((season.due for season in circuit.seasons.all()), default=circuit.created))


def next_due(circuit: Circuit, *, now: datetime | None = None) -> datetime | None:
    """When its next season is due, as its course has it; None while it rests."""
    found = course(circuit)
    return found.due(clock.now_or(now)) if found else None


def upcoming(most: int, *, now: datetime | None = None) -> list[tuple[datetime, Circuit]]:
    """The next seasons of recurring leagues, the first one first, of the newest LOOKED leagues. One query."""
    now = clock.now_or(now)
    rows = Circuit.objects.filter(active=True).annotate(last=value_of(Season.objects.all(), "circuit", Max("due")))
    found: list[tuple[datetime, Circuit]] = []
    for circuit in rows.order_by("-pk")[:LOOKED]:
        due = calendar(circuit).next(max(now, vars(circuit)["last"] or now))
        found.append((due, circuit))
    return sorted(found, key=lambda one: (one[0], one[1].pk))[:most]


def open_due(*, now: datetime | None = None) -> int:
    """Open the seasons that are due by now; their number. Harmless to repeat, and to run twice at once."""
    now = clock.now_or(now)
    return sum(_open(circuit.pk, now) for circuit in Circuit.objects.filter(active=True).order_by("pk"))


def _open(pk: int, now: datetime) -> bool:
    """The season of the last due moment, once the one before is over. Moments that passed meanwhile are not made up for."""
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
    """Create and start its divisions."""
    circuit = season.circuit
    versions = _versions(circuit)
    least = len(pools.load(circuit.game, circuit.players, circuit.options).sides)
    if len(versions) < least:
        raise Refused(
            "{count} bots can play and a table takes {least}; more bots must join before the next season",
            count=len(versions),
            least=least,
        )
    last = _last_divisions(circuit)
    known = {bot for division in last for bot in division}
    newcomers = [bot for bot in versions if bot not in known]
    line = divisions.next_divisions(last, versions, newcomers, size=circuit.size, moves=circuit.moves, least=least)
    for number, members in enumerate(line, 1):
        made = tournaments.create(
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
        tournaments.start(made, actor=circuit.owner.name, now=now)


def _versions(circuit: Circuit) -> dict[int, BotVersion]:
    """The version that each bot sends, in the order in which the bots were made; those that cannot play are left out."""
    found: dict[int, BotVersion] = {}
    for bot in circuit.bots.filter(state=BotState.ACTIVE, stopped=None, owner_banned=False).order_by("pk"):
        try:
            found[bot.pk] = bots.sent_version(bot, circuit.game)
        except Refused:
            continue
    return found


def _last_divisions(circuit: Circuit) -> list[list[int]]:
    """Bots of the last season that was played, division by division, from first to last."""
    played = circuit.seasons.filter(tournaments__status=TournamentStatus.FINISHED).order_by("-number").first()
    if played is None:
        return []
    return [
        list(one.entries.order_by("place", "seed").values_list("version__bot_id", flat=True))
        for one in played.tournaments.order_by("group")
    ]
