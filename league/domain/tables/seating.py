"""What a person does: sits down, answers, leaves. A table is a row; what was decided at it are the lines of its journal.

The web writes the person's answer as the next line of the journal, the worker that has the table those of the bots (`holding`). Neither
waits for the other in a transaction. Whoever finds that it is not asked any more has changed nothing.
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

import engine
from engine.runner.table import NEXT
from league.domain.bots import tries
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import IllegalMove, Refused, TooMany
from league.domain.matches import matches
from league.domain.people import quotas
from league.domain.ratings import pools
from league.enums import BotState, TableStatus, VersionStatus
from league.models import BotVersion, Player, Pool, Rating, Table, TableAction, TableSeat
from league.models.tables import LIVE
from league.pure.portable import ELO_DIGITS, comparable
from league.service import listening

MOST_BOARDS = 4
SEAT = 0  # of the person; who deals first is drawn


def is_on() -> bool:
    """Whether people may sit down in this league."""
    return settings.TABLES > 0


def rivals(player: Player) -> list[BotVersion]:
    """Whom one may sit down with: the bots of the house, then of one's own active bots the newest accepted version each. Two queries."""
    rows = BotVersion.objects.filter(bot__owner=player, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    newest: dict[int, BotVersion] = {}
    for version in rows.filter(bot__stopped=None).select_related("bot").order_by("bot__slug", "number"):
        newest[version.bot_id] = version
    return [*tries.rivals(), *(one for one in newest.values() if not one.bot.is_house)]


def present(player: Player) -> Table | None:
    """The table at which somebody sits. One query."""
    return Table.objects.select_related("pool").filter(player=player, status__in=LIVE).first()


def sit(
    by: Player,
    game: str,
    rival: str,
    partner: str = "",
    boards: int = 1,
    *,
    advice: bool = False,
    now: datetime | None = None,
) -> Table:
    """Sit down at a table of a game with bots, by their names: `partner` where the game has partners, as `rival` unless given, `rival` elsewhere.

    advice: a bot of the house says what it would do, when it is asked (`advice`), and the table does not count in the rating of the person. That
    is chosen before the cards are dealt: whoever could take advice later could have a bad board not counted.
    Raises Refused; TooMany where all tables of the league are taken, or one's own hour is used up.
    """
    now = clock.now_or(now)
    if not is_on():
        raise Refused("this league has no tables for people")
    if game not in engine.games():
        raise Refused("there is no game {game!r}; the games are {there}", game=game, there=", ".join(engine.games()))
    if not 1 <= boards <= MOST_BOARDS:
        raise Refused("a table has 1 to {most} boards, not {boards}", most=MOST_BOARDS, boards=boards)
    there = {version.bot.slug: version for version in rivals(by)}
    pool = pools.pool(game)
    seats = {seat: _chosen(there, name, game) for seat, name in _names(pool, rival, partner or rival).items()}
    if advice:
        seats[SEAT] = _advisor(pool)
    with transaction.atomic():
        quotas.ask(by, quotas.TABLES, now=now)
        # As it is now, behind the lock: a request may have begun before a ban
        if Player.objects.filter(pk=by.pk, banned__isnull=False).exists():
            raise Refused("this account is banned, so nothing of it is played")
        if Table.objects.filter(player=by, status__in=LIVE).exists():
            raise Refused("you sit at a table already; go on there, or leave it first")
        if Table.objects.filter(status__in=LIVE).count() >= settings.TABLES:
            raise TooMany(
                "all {most} tables of this league are taken; try again in some minutes",
                retry_after=120,
                most=settings.TABLES,
            )
        public_id = "".join(secrets.choice(matches.ALPHABET) for _ in range(10))
        secret = secrets.token_bytes(32)
        row = Table.objects.create(
            public_id=public_id,
            player=by,
            pool=pool,
            seat=SEAT,
            boards=boards,
            secret=secret,
            created=now,
            since=now,
        )
        TableSeat.objects.bulk_create(TableSeat(table=row, number=seat, version=one) for seat, one in seats.items())
        journal.append("table.opened", transitions.subject(row), now=now, actor=by.name, game=game)
    return row


def _names(pool: Pool, rival: str, partner: str) -> dict[int, str]:
    """The bot of each seat but the person's."""
    game = pools.game_of(pool)
    mine = next(side for side in game.sides if SEAT in side)
    return {seat: partner if seat in mine else rival for seat in range(game.players) if seat != SEAT}


def _chosen(there: dict[str, BotVersion], name: str, game: str) -> BotVersion:
    if name not in there:
        raise Refused(
            "one sits down with a bot of the house or an own one: {there}; {rival!r} is none",
            there=", ".join(there) or "-",
            rival=name,
        )
    if not there[name].plays(game):
        raise Refused("{bot!r} does not play {game}; choose another bot", bot=name, game=game)
    return there[name]


def of(player: Player, public_id: str) -> QuerySet[Table]:
    """A table of this player, if there is one; of anybody else's nobody is told that it exists."""
    return Table.objects.filter(player=player, public_id=public_id)


def visible(viewer: Player | None, public_id: str) -> Table | None:
    """A table that `viewer` may see: their own, or anybody's that was played to its end. One query."""
    row = Table.objects.select_related("pool", "player").filter(public_id=public_id).first()
    mine = row is not None and viewer is not None and viewer.pk == row.player_id
    return row if row is not None and (mine or row.status == TableStatus.FINISHED) else None


def bots(row: Table) -> dict[int, str]:
    """The bot of each seat; that of the person's seat gives advice. One query."""
    return {seat.number: seat.version.bot.slug for seat in row.seats.select_related("version__bot")}


def names(row: Table, there: Mapping[int, str]) -> list[str]:
    """Who holds each seat: the person, or one of `bots`."""
    return [row.player.name if seat == row.seat else there.get(seat, "?") for seat in range(row.pool.players)]


def act(by: Player, public_id: str, number: int, action: str, *, now: datetime | None = None) -> Table:
    """Answer decision `number` of one's table. Refused, and nothing is changed, where it is not what is asked now, or no choice.

    The answer is the next line of the journal. A table that rested waits for a worker from now on.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = of(by, public_id).select_for_update().first()
        if row is None:
            raise Refused("there is no such table of yours")
        if row.status not in LIVE:
            raise Refused("this table is over")
        if row.turn is None or row.turn != number:
            raise Refused("this has been answered already; look at the table again")
        if action not in row.legal:
            raise Refused("{action!r} is not possible now", action=action[:40])
        TableAction.objects.create(table=row, number=number, seat=row.seat, action=action, at=now)
        taken: dict[str, Any] = {"turn": None, "legal": [], "hand": [], "advice_asked": None, "advice": ""}
        Table.objects.filter(pk=row.pk).update(since=now, **taken)
        row.turn, row.legal, row.since = None, [], now
        if row.status == TableStatus.RESTING:
            transitions.move(row, TableStatus.WAITING, now=now, actor=by.name)
        listening.notify(transitions.subject(row))
    return row


def ask_advice(by: Player, public_id: str, number: int, *, now: datetime | None = None) -> Table:
    """Ask what a bot of the house would do at decision `number` of one's table; once more does no harm. Refused where there is none to be had.

    A table that rested waits for a worker from now on.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = of(by, public_id).select_for_update().first()
        if row is None:
            raise Refused("there is no such table of yours")
        if not row.seats.filter(number=row.seat).exists():
            raise Refused("this table was begun without advice")
        if row.status not in LIVE or row.turn is None or row.turn != number or row.legal == [NEXT]:
            raise Refused("there is nothing to decide now; look at the table again")
        if row.advice_asked != number:
            row.advice_asked, row.advice, row.since = number, "", now
            row.save(update_fields=["advice_asked", "advice", "since"])
        if row.awaits_advice and row.status == TableStatus.RESTING:
            transitions.move(row, TableStatus.WAITING, now=now, actor=by.name)
        listening.notify(transitions.subject(row))
    return row


def _advisor(pool: Pool) -> BotVersion:
    """Of the bots of the house that play the game the one that is rated highest, else the first by name. Two queries."""
    there = [version for version in tries.rivals() if version.plays(pool.game)]
    if not there:
        raise Refused("no bot of the house plays {game}, so there is no advice; sit down without it", game=pool.game)
    elo = dict(Rating.objects.filter(pool=pool, version__in=there).values_list("version", "elo"))
    return min(there, key=lambda version: (-comparable(elo.get(version.pk, -math.inf), ELO_DIGITS), version.bot.slug))


def leave(by: Player, public_id: str, *, now: datetime | None = None) -> bool:
    """Get up. A board that was begun counts as lost (`standing`); the worker lets it go within a second. False where it was over."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = of(by, public_id).select_for_update().first()
        if row is None or row.status not in LIVE:
            return False
        try:
            transitions.move(row, TableStatus.LEFT, now=now, actor=by.name, **ended(now))
        except IllegalMove:
            return False
        listening.notify(transitions.subject(row))
    return True


def ended(now: datetime) -> dict[str, Any]:
    """The columns of a table that is over: nobody is asked."""
    return {"finished": now, "lease_until": None, "turn": None, "legal": [], "hand": []}


def packed(records: list[dict[str, Any]]) -> bytes:
    """Replays as they are stored."""
    return zlib.compress(json.dumps(records, separators=(",", ":"), ensure_ascii=False).encode(), 6)


def opened(row: Table) -> list[dict[str, Any]]:
    """The replays of a table that is finished, board by board; none of any other."""
    if row.status != TableStatus.FINISHED or not row.records:
        return []
    found: list[dict[str, Any]] = json.loads(zlib.decompress(bytes(row.records)))
    return found
