"""The actions of a person at a table: sit down, answer, leave. A table is a row; its decisions are the lines of its journal.

The web process writes the person's decisions, and the worker that has the table those of the bots (`holding`). Neither waits for the other within a
transaction, and a caller that comes too late changes nothing.
"""

from __future__ import annotations

import json
import math
import secrets
import zlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

import engine
from engine.runner.table import NEXT
from league.domain.bots import tries
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import IllegalMove, Refused, TooMany
from league.domain.matches import matches
from league.domain.people import ownership, quotas
from league.domain.people.guests import lock
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tables import guests
from league.domain.tables.guests import Sitter
from league.enums import BotState, TableStatus, VersionStatus
from league.models import BotVersion, Player, Pool, Rating, Table, TableAction, TableSeat
from league.models.tables import LIVE
from league.pure.portable import ELO_DIGITS, comparable
from league.service import listening

JOB = "table"  # The kind of the jobs that play a table's bots.
MOST_BOARDS = 4
SEAT = 0  # The person's seat; the first dealer is drawn at random.


def is_on() -> bool:
    """Return True if people may sit down in this league."""
    return settings.TABLES > 0


def rivals(sitter: Sitter) -> list[BotVersion]:
    """Return the possible opponents: house bots, then the newest accepted version of each of the player's active bots. At most two queries."""
    if not isinstance(sitter, Player):
        return tries.rivals()
    rows = BotVersion.objects.filter(
        ownership.owned(sitter, BotAct.ENTER, "bot__"), bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED
    )
    newest: dict[int, BotVersion] = {}
    for version in rows.filter(bot__stopped=None).select_related("bot").order_by("bot__slug", "number"):
        newest[version.bot_id] = version
    return [*tries.rivals(), *(version for version in newest.values() if not version.bot.is_house)]


def may_sit(sitter: Sitter | None) -> bool:
    """Return True if this person may sit down in this league; None is a visitor without a cookie."""
    return is_on() and (isinstance(sitter, Player) or settings.GUEST_TABLES > 0)


def present(sitter: Sitter) -> Table | None:
    """Return the table at which a person or guest sits. One query."""
    return guests.own(sitter).select_related("pool").filter(status__in=LIVE).first()


def sit(
    sitter: Sitter,
    game: str,
    rival: str,
    partner: str = "",
    boards: int = 1,
    *,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    advice: bool = False,
    now: datetime | None = None,
) -> Table:
    """Open a table with the named bots: `partner` (default: `rival`) if the game has partners, `rival` at all other seats.

    players, options: of the rules; by default those of the game. advice: a house bot says on request what it would do (`ask_advice`), and the table
    does not count in the person's rating. This is chosen before the deal: otherwise a player could ask for advice just to keep a bad board from
    counting. A guest has neither advice nor a rating. Raise Refused, or TooMany if all tables of the league are taken or an hourly limit is used
    up.
    """
    now = clock.now_or(now)
    if not may_sit(sitter):
        raise Refused("nobody can play at tables in this league, because its operators have switched them off")
    if not 1 <= boards <= MOST_BOARDS:
        raise Refused("a table has 1 to {most} boards, not {boards}", most=MOST_BOARDS, boards=boards)
    rules = pools.load(game, players, options)
    bots_by_name = {version.bot.slug: version for version in rivals(sitter)}
    seats = {seat: _chosen(bots_by_name, name, game) for seat, name in _names(rules, rival, partner or rival).items()}
    with transaction.atomic():
        lock()
        _check(sitter, advice, now)
        pool = pools.pool(game, players, options)
        if advice:
            seats[SEAT] = _advisor(pool)
        row = Table.objects.create(
            public_id="".join(secrets.choice(matches.ALPHABET) for _ in range(10)),
            pool=pool,
            seat=SEAT,
            boards=boards,
            secret=secrets.token_bytes(32),
            created=now,
            since=now,
            **_person(sitter, advice),
        )
        TableSeat.objects.bulk_create(
            TableSeat(table=row, number=seat, version=version) for seat, version in seats.items()
        )
        queue.add(JOB, table=row, now=now)
        journal.append("table.opened", transitions.subject(row), now=now, actor=guests.name_of(sitter), game=game)
    return row


def sit_again(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> Table:
    """Open another table with the rules and bots of an earlier one of the same person. Raise Refused, or TooMany, like `sit`."""
    row = tables_of(sitter, public_id).select_related("pool").first()
    if row is None:
        raise Refused("you have no such table")
    pool, names = row.pool, bots(row)
    own_side = next(side for side in pools.game_of(pool).sides if row.seat in side)
    rival = next((name for seat, name in sorted(names.items()) if seat not in own_side), "")
    partner = next((name for seat, name in sorted(names.items()) if seat in own_side and seat != row.seat), "")
    rules: dict[str, Any] = {"players": pool.players, "options": pool.options}
    return sit(sitter, pool.game, rival, partner, row.boards, **rules, advice=row.seat in names, now=now)


def _check(sitter: Sitter, advice: bool, now: datetime) -> None:
    """Check the limits; the caller has locked the tables."""
    if isinstance(sitter, Player):
        quotas.ask(sitter, quotas.TABLES, now=now)
        # Read while the player is locked: the request may have begun before a ban.
        if Player.objects.filter(pk=sitter.pk, banned__isnull=False).exists():
            raise Refused("this account is banned, so it cannot sit down")
    if guests.own(sitter).filter(status__in=LIVE).exists():
        raise Refused("you are already sitting at a table; finish it, or leave it first")
    if not isinstance(sitter, Player):
        if advice:
            raise Refused("guests play without advice; sign up to get it")
        idle = guests.idle_table(sitter, now=now)
        if idle is not None:
            away = "its player was away"
            transitions.move(idle, TableStatus.ABANDONED, now=now, why=away, reason=away, **ended(now))
            listening.notify(transitions.subject(idle))
        guests.ask(sitter, now=now)
    if Table.objects.filter(status__in=LIVE).count() >= settings.TABLES:
        raise TooMany(
            "all {most} tables of this league are taken; try again in a few minutes",
            retry_after=120,
            most=settings.TABLES,
        )


def _person(sitter: Sitter, advice: bool) -> dict[str, Any]:
    """Return the columns about the person at the table, and whether the table counts."""
    if isinstance(sitter, Player):
        return {"player": sitter, "rated": not advice}
    return {"guest": sitter.key, "guest_from": sitter.network, "rated": False}


def _names(game: engine.Game, rival: str, partner: str) -> dict[int, str]:
    """Return the bot's name for each seat except the person's."""
    own_side = next(side for side in game.sides if SEAT in side)
    return {seat: partner if seat in own_side else rival for seat in range(game.players) if seat != SEAT}


def _chosen(bots_by_name: dict[str, BotVersion], name: str, game: str) -> BotVersion:
    if name not in bots_by_name:
        raise Refused(
            "{rival!r} is not a house bot or one of your own. Choose one of: {bots}.",
            bots=", ".join(bots_by_name) or "-",
            rival=name,
        )
    if not bots_by_name[name].plays(game):
        raise Refused("{bot!r} does not play {game}; choose another bot", bot=name, game=game)
    return bots_by_name[name]


def tables_of(sitter: Sitter, public_id: str) -> QuerySet[Table]:
    """Select this table if it belongs to the person; nobody learns whether other tables exist."""
    return guests.own(sitter).filter(public_id=public_id)


def visible(sitter: Sitter | None, public_id: str) -> Table | None:
    """Return a table that a person may see: their own, or any finished one. One query."""
    row = Table.objects.select_related("pool", "player").filter(public_id=public_id).first()
    return row if row is not None and (guests.owns(sitter, row) or row.status == TableStatus.FINISHED) else None


def bots(row: Table) -> dict[int, str]:
    """Return the bot of each seat; the bot at the person's seat gives advice. One query."""
    return {seat.number: seat.version.bot.slug for seat in row.seats.select_related("version__bot")}


def names(row: Table, slugs: Mapping[int, str]) -> list[str]:
    """Return the name at each seat: the person, or the bot (from `bots`)."""
    person = gettext(guests.NAME) if row.player is None else row.player.name
    return [person if seat == row.seat else slugs.get(seat, "?") for seat in range(row.pool.players)]


def act(sitter: Sitter, public_id: str, number: int, action: str, *, now: datetime | None = None) -> Table:
    """Answer decision `number` at the player's own table. Raise Refused, with nothing changed, if another decision is due or the action is illegal.

    The answer is the next line of the journal. A resting table then waits for a worker.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = tables_of(sitter, public_id).select_for_update().first()
        if row is None:
            raise Refused("you have no such table")
        if row.status not in LIVE:
            raise Refused("this table is finished")
        if row.turn is None or row.turn != number:
            raise Refused("this decision has been answered already; reload the table")
        if action not in row.legal:
            raise Refused(
                "{action!r} is not possible now; reload the table for the choices",
                action=action[:40],
            )
        TableAction.objects.create(table=row, number=number, seat=row.seat, action=action, at=now)
        cleared: dict[str, Any] = {"turn": None, "legal": [], "hand": [], "advice_asked": None, "advice": ""}
        Table.objects.filter(pk=row.pk).update(since=now, **cleared)
        row.turn, row.legal, row.since = None, [], now
        if row.status == TableStatus.RESTING:
            _call_worker(row, sitter, now)
        listening.notify(transitions.subject(row))
    return row


def ask_advice(sitter: Sitter, public_id: str, number: int, *, now: datetime | None = None) -> Table:
    """Ask a house bot for advice on decision `number`. Repeatable. Raise Refused if there can be none.

    A resting table then waits for a worker.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = tables_of(sitter, public_id).select_for_update().first()
        if row is None:
            raise Refused("you have no such table")
        if not row.seats.filter(number=row.seat).exists():
            raise Refused("this table was started without advice; choose advice when you start the next one")
        if row.status not in LIVE or row.turn is None or row.turn != number or row.legal == [NEXT]:
            raise Refused("there is nothing to decide now; reload the table")
        if row.advice_asked != number:
            row.advice_asked, row.advice, row.since = number, "", now
            row.save(update_fields=["advice_asked", "advice", "since"])
        if row.awaits_advice and row.status == TableStatus.RESTING:
            _call_worker(row, sitter, now)
        listening.notify(transitions.subject(row))
    return row


def _call_worker(row: Table, sitter: Sitter, now: datetime) -> None:
    """Queue a job for a resting table."""
    transitions.move(row, TableStatus.WAITING, now=now, actor=guests.name_of(sitter))
    queue.add(JOB, table=row, now=now)


def _advisor(pool: Pool) -> BotVersion:
    """Return the highest rated house bot that plays the game; without ratings, the first by name. Two queries."""
    candidates = [version for version in tries.rivals() if version.plays(pool.game)]
    if not candidates:
        raise Refused("no house bot plays {game}, so there is no advice; start the table without it", game=pool.game)
    elo = dict(Rating.objects.filter(pool=pool, version__in=candidates).values_list("version", "elo"))
    return min(
        candidates, key=lambda version: (-comparable(elo.get(version.pk, -math.inf), ELO_DIGITS), version.bot.slug)
    )


def leave(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> bool:
    """Leave the table. A started board counts as lost (`standing`); the worker stops within a second. Return False if the table was finished."""
    now = clock.now_or(now)
    with transaction.atomic():
        queue.withdraw(JOB, table__in=tables_of(sitter, public_id))
        row = tables_of(sitter, public_id).select_for_update().first()
        if row is None or row.status not in LIVE:
            return False
        try:
            transitions.move(row, TableStatus.LEFT, now=now, actor=guests.name_of(sitter), **ended(now))
        except IllegalMove:
            return False
        listening.notify(transitions.subject(row))
    return True


def ended(now: datetime) -> dict[str, Any]:
    """Return the columns that a table has after its end, without an open question."""
    return {"finished": now, "turn": None, "legal": [], "hand": []}


def packed(records: list[dict[str, Any]]) -> bytes:
    """Compress replays for the database."""
    return zlib.compress(json.dumps(records, separators=(",", ":"), ensure_ascii=False).encode(), 6)


def opened(row: Table) -> list[dict[str, Any]]:
    """Return the replays of a finished table, board by board; [] if it is not finished."""
    if row.status != TableStatus.FINISHED or not row.records:
        return []
    records: list[dict[str, Any]] = json.loads(zlib.decompress(bytes(row.records)))
    return records
