"""The course of an arena, by the scheduler: tables are counted, who is away is paused, and who waits is drawn."""

from __future__ import annotations

import random
import secrets
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import F

from engine.runner.table import NEXT
from league.domain.arenas import arenas
from league.domain.bots import tries
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import Refused
from league.domain.people import ownership
from league.domain.people.guests import lock
from league.domain.ratings import pools
from league.domain.tables import levels, people, seating
from league.enums import TableStatus
from league.models import Arena, ArenaEntry, ArenaSide, BotVersion, Table, TablePerson
from league.models.tables import LIVE
from league.pure.pairing import arena as pairing
from league.pure.pairing.arena import TIE, WIN, Filler, Waiting
from league.service import listening

MOST = 20  # Arenas of one pass.


def run(*, now: datetime | None = None) -> int:
    """Go on with all arenas that have begun; return the number of tables counted or drawn. Repeatable. One query if there are none."""
    now = clock.now_or(now)
    rows = Arena.objects.filter(finished=None, start__lte=now).select_related("pool").order_by("start", "pk")
    return sum(_step(arena, now) for arena in rows[:MOST])


def _step(arena: Arena, now: datetime) -> int:
    counted = 0
    in_play = Table.objects.filter(pk__in=arenas.in_play(arena)).order_by("pk").defer("records", "spectated")
    for table in in_play.prefetch_related("people__player", "sides"):
        if table.status not in LIVE or _look(arena, table, now):
            counted += _count(table.pk, now)
    if arenas.is_running(arena, now):
        return counted + _draw(arena, now)
    if not in_play.exists():
        _finish(arena, now)
    return counted


# --- tables in play ----------------------------------------------------------------------------------------------------


def _look(arena: Arena, table: Table, now: datetime) -> bool:
    """Take people who are away from a table, and end it once its winner is certain. Return True if it may have ended."""
    is_late = table.turn is not None and now - table.since > timedelta(seconds=arena.clock_s)
    gone = False
    for person in table.people.all():
        is_asked = bool(person.legal) and person.legal != [NEXT]
        if person.seated and person.player is not None and (person.away or (is_asked and is_late)):
            gone |= seating.leave(person.player, table.public_id, now=now)
    if not gone and all(side.given_up is None for side in table.sides.all()):
        return False
    if ArenaSide.objects.filter(table=table, given_up=None).count() < 2:
        _end(table, now)
    return True


def _end(table: Table, now: datetime) -> None:
    """End a table of which only one side is left."""
    with transaction.atomic():
        queue.withdraw(seating.JOB, table=table)
        row = Table.objects.select_for_update().get(pk=table.pk)
        if row.status in LIVE:
            people.rise(row)
            transitions.move(row, TableStatus.LEFT, now=now, reason="the other side has left", **seating.ended(now))
            listening.notify(transitions.subject(row))


def _count(pk: int, now: datetime) -> int:
    """Give the sides of a table that has ended their points; return 1, or 0 if it is in play or has been counted."""
    with transaction.atomic():
        row = Table.objects.select_related("pool").select_for_update(of=("self",)).get(pk=pk)
        if row.status in LIVE:
            return 0
        sides = list(ArenaSide.objects.filter(table=row, points=None).select_related("entry").order_by("number"))
        away = set(row.people.filter(away=True).values_list("player", flat=True))
        is_void = row.status == TableStatus.VOID
        gave_up = [
            side.given_up is not None
            or side.entry.player_id in away
            or (row.status == TableStatus.ABANDONED and side.entry.player_id is not None)
            for side in sides
        ]
        for side, points, rests in zip(sides, _points(row, sides, gave_up), gave_up, strict=True):
            ArenaSide.objects.filter(pk=side.pk).update(points=0 if is_void else points)
            changes: dict[str, Any] = {}
            if rests:
                changes["rests_until"] = now + timedelta(seconds=settings.ARENA_REST_S)
            if not is_void:
                changes |= {"games": F("games") + 1, "points": F("points") + points}
                changes |= {"wins": F("wins") + int(points == WIN), "ties": F("ties") + int(points == TIE)}
            if changes:
                ArenaEntry.objects.filter(pk=side.entry_id).update(**changes)
    return 1 if sides else 0


def _points(row: Table, sides: Sequence[ArenaSide], gave_up: Sequence[bool]) -> list[int]:
    """Return the points of each side. Who gave up stands behind all others, earlier ones behind later ones; a bot that failed, behind the people."""
    scores = [0.0] * len(sides)
    if row.fault:
        scores = [float(side.entry.player_id is not None) for side in sides]
    elif row.status == TableStatus.FINISHED:
        of_game = pools.game_of(row.pool).sides
        scores = [float(sum(board[of_game[side.number][0]] for board in row.scores)) for side in sides]
    order = sorted(side.given_up for side in sides if side.given_up is not None)
    for place, side in enumerate(sides):
        if side.given_up is not None:
            scores[place] = -1e9 + order.index(side.given_up)
        elif gave_up[place]:
            scores[place] = -1e8
    return pairing.points(scores)


# --- the draw ------------------------------------------------------------------------------------------------------------


def _draw(arena: Arena, now: datetime) -> int:
    """Seat who waits: people with people at once, and with bots who has waited for ARENA_WAIT_S. Return the number of tables."""
    with transaction.atomic():
        lock()  # Before any row, as everybody does who sits down.
        room = settings.TABLES - Table.objects.filter(status__in=LIVE).count()
        rows = ArenaEntry.objects.select_for_update(of=("self",)).filter(arena=arena, waiting__isnull=False)
        entries = {row.pk: row for row in rows.select_related("player__user") if _is_here(row)}
        if not entries:
            return 0
        rng = secrets.SystemRandom()
        met = _met(arena, entries)
        sides = len(pools.game_of(arena.pool).sides)
        waiting = [Waiting(pk, row.points, met[pk]) for pk, row in entries.items()]
        house = tries.rivals()
        name = levels.bot(arenas.LEVEL, house, arena.pool.game)
        behind = next((version for version in house if version.bot.slug == name), None)
        if behind is None:
            return 0
        fillers: list[Filler] | None = None
        versions: dict[int, BotVersion] = {}
        drawn = 0
        for group in pairing.draw(waiting, sides, rng):
            if drawn >= room:
                break
            here = [entries[person.entry] for person in group]
            if len(here) < sides:
                since = min(row.waiting for row in here if row.waiting is not None)
                if now - since < timedelta(seconds=settings.ARENA_WAIT_S):
                    continue
                if fillers is None:
                    fillers, versions = _fillers(arena, now)
                here += _fill(group, here, fillers, sides, rng)
                if len(here) < sides:
                    continue
            rng.shuffle(here)
            _seat(arena, here, versions, behind, now)
            drawn += 1
        return drawn


def _is_here(entry: ArenaEntry) -> bool:
    """Return True if a person who waits may be seated; else they stop waiting."""
    player = entry.player
    if player is not None and player.banned is None and player.user.is_active and people.present(player) is None:
        return True
    ArenaEntry.objects.filter(pk=entry.pk).update(waiting=None)
    return False


def _met(arena: Arena, entries: dict[int, ArenaEntry]) -> dict[int, tuple[frozenset[int], ...]]:
    """Return the opponents of each entry in its games of the arena, oldest first. Two queries."""
    own = ArenaSide.objects.filter(entry__in=entries).values_list("entry", "table")
    games: dict[int, list[int]] = defaultdict(list)
    for entry, table in own.order_by("table"):
        games[entry].append(table)
    at_table: dict[int, set[int]] = defaultdict(set)
    tables = {table for played in games.values() for table in played}
    for table, entry in ArenaSide.objects.filter(table__in=tables).values_list("table", "entry"):
        at_table[table].add(entry)
    return {pk: tuple(frozenset(at_table[table] - {pk}) for table in games[pk]) for pk in entries}


def _fillers(arena: Arena, now: datetime) -> tuple[list[Filler], dict[int, BotVersion]]:
    """Return the bots that may fill in, and their versions."""
    rows = list(arena.entries.filter(bot__isnull=False).select_related("bot"))
    owners = ownership.people_of([row.bot for row in rows if row.bot is not None], now=now)
    versions, fillers = {}, []
    for row in rows:
        version = arenas.version_of(row.bot, arena.pool.game) if row.bot is not None else None
        if version is not None:
            versions[row.pk] = version
            fillers.append(Filler(row.pk, row.points, row.games, owners[version.bot_id]))
    return fillers, versions


def _fill(
    group: Sequence[Waiting], here: Sequence[ArenaEntry], fillers: Sequence[Filler], sides: int, rng: random.Random
) -> list[ArenaEntry]:
    games = sum(row.games for row in here)
    mean = sum(row.points for row in here) / games if games else float(TIE)
    owners = frozenset(row.player_id for row in here if row.player_id is not None)
    lately = frozenset().union(*(game for person in group for game in person.met[-pairing.LATELY :]))
    chosen = pairing.fill(mean, owners, lately, fillers, sides - len(here), rng)
    return [ArenaEntry.objects.get(pk=pk) for pk in chosen]


def _seat(
    arena: Arena, entries: Sequence[ArenaEntry], versions: dict[int, BotVersion], behind: BotVersion, now: datetime
) -> Table:
    """Seat an entry at each side: a bot at all its seats, a person at the first one, with the same bot as everybody's partner."""
    of_game = pools.game_of(arena.pool).sides
    persons = [(row, of_game[side][0]) for side, row in enumerate(entries) if row.player is not None]
    host = persons[0][0].player
    if host is None:
        raise ValueError("a table of an arena has a person")
    columns = {"level": arenas.LEVEL, "clock_s": arena.clock_s, "shared": True, "rated": False}
    table = seating.open_table(host, arena.pool, 1, now, **columns)
    table.people.update(number=persons[0][1])
    for row, seat in persons[1:]:
        TablePerson.objects.create(table=table, number=seat, player=row.player)
    bots = {seat: versions.get(row.pk, behind) for row, seats in zip(entries, of_game, strict=True) for seat in seats}
    seating.deal_in(table, bots, now)
    ArenaSide.objects.bulk_create(ArenaSide(table=table, number=side, entry=row) for side, row in enumerate(entries))
    ArenaEntry.objects.filter(pk__in=[row.pk for row, _seat in persons]).update(waiting=None)
    return table


# --- before and after --------------------------------------------------------------------------------------------------


def _finish(arena: Arena, now: datetime) -> None:
    """Give everybody a place, and create the next arena of a weekly one. Equal points share a place."""
    with transaction.atomic():
        arena = Arena.objects.select_for_update(of=("self",)).select_related("pool").get(pk=arena.pk)
        if arena.finished is not None:
            return
        for place, row in arenas.placed(arenas.standing(arena)):
            ArenaEntry.objects.filter(pk=row.pk).update(place=place)
        arena.entries.update(waiting=None)
        Arena.objects.filter(pk=arena.pk).update(finished=now)
        journal.append("arena.finished", arenas.subject(arena), now=now)
        with suppress(Refused):  # No house bot plays the game any more.
            arenas.follow_on(arena, now=now)
