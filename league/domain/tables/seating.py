"""The actions of people at a table: sit down, answer, leave. A table is a row; its decisions are the lines of its journal.

The web process writes the decisions of people, and the worker that has the table those of the bots (`holding`). Neither waits for the other within a
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
from django.db.models import F

import engine
from engine.runner.table import NEXT
from league.domain.bots import tries
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import IllegalMove, Refused, TooMany
from league.domain.matches import matches
from league.domain.people import ownership, players, quotas
from league.domain.people.guests import lock
from league.domain.people.ownership import BotAct
from league.domain.ratings import pools
from league.domain.tables import clocks, deals, guests, people
from league.domain.tables.people import Sitter, TableView
from league.enums import BotState, TableStatus, VersionStatus
from league.models import ArenaSide, BotVersion, Player, Pool, Rating, Table, TableAction, TablePerson, TableSeat
from league.models.tables import LIVE
from league.pure.portable import ELO_DIGITS, comparable
from league.service import listening, topics

JOB = "table"  # The kind of the jobs that play a table's bots.
MOST_BOARDS = 4
SEAT = 0  # The seat of who opens a table; the first dealer is drawn at random.


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
        check(sitter, now, advice=advice)
        pool = pools.pool(game, players, options)
        if advice:
            seats[SEAT] = _advisor(pool)
        row = open_table(sitter, pool, boards, now, rated=isinstance(sitter, Player) and not advice)
        deal_in(row, seats, now)
    return row


def open_table(sitter: Sitter, pool: Pool, boards: int, now: datetime, **columns: Any) -> Table:
    """Insert a table with its host; the caller has checked that they may sit down (`check`)."""
    row = Table.objects.create(
        public_id="".join(secrets.choice(matches.ALPHABET) for _ in range(10)),
        pool=pool,
        boards=boards,
        secret=secrets.token_bytes(32),
        created=now,
        since=now,
        **people.keys(sitter),
        **columns,
    )
    TablePerson.objects.create(table=row, number=SEAT, **people.keys(sitter))
    journal.append("table.opened", transitions.subject(row), now=now, actor=people.name_of(sitter), game=pool.game)
    return row


def deal_in(row: Table, bots: Mapping[int, BotVersion], now: datetime) -> None:
    """Seat the bots, and call a worker."""
    TableSeat.objects.bulk_create(TableSeat(table=row, number=seat, version=version) for seat, version in bots.items())
    queue.add(JOB, table=row, now=now)


def sit_again(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> Table:
    """Open another table with the rules and bots of an earlier one of the same person. Raise Refused, or TooMany, like `sit`."""
    row = people.own(sitter).filter(public_id=public_id).select_related("pool").first()
    if row is None:
        raise Refused("you have no such table")
    pool, view = row.pool, people.view(row, sitter)
    own_side = next(side for side in pools.game_of(pool).sides if view.seat in side)
    rival = next((name for seat, name in sorted(view.bots.items()) if seat not in own_side), "")
    partner = next((name for seat, name in sorted(view.bots.items()) if seat in own_side and seat != view.seat), "")
    rules: dict[str, Any] = {"players": pool.players, "options": pool.options}
    return sit(sitter, pool.game, rival, partner, row.boards, **rules, advice=view.seat in view.bots, now=now)


def check(sitter: Sitter, now: datetime, *, advice: bool = False, opens: bool = True) -> None:
    """Lock the tables, and check that a person may sit down. opens: at a table of their own, for which the league must have room."""
    lock()
    if isinstance(sitter, Player):
        quotas.ask(sitter, quotas.TABLES, now=now)
        players.refuse_banned(sitter)
    if people.present(sitter) is not None:
        raise Refused("you are already sitting at a table; finish it, or leave it first")
    if not isinstance(sitter, Player):
        if advice:
            raise Refused("guests play without advice; sign up to get it")
        idle = guests.idle_table(sitter, now=now)
        if idle is not None:
            away = "its player was away"
            people.rise(idle)
            transitions.move(idle, TableStatus.ABANDONED, now=now, why=away, reason=away, gathering=False, **ended(now))
            listening.notify(transitions.subject(idle))
        guests.ask(sitter, now=now)
    if opens and Table.objects.filter(status__in=LIVE).count() >= settings.TABLES:
        raise TooMany(
            "all {most} tables of this league are taken; try again in a few minutes",
            retry_after=120,
            most=settings.TABLES,
        )


def _names(game: engine.Game, rival: str, partner: str) -> dict[int, str]:
    """Return the bot's name for each seat except that of the host."""
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


def visible(sitter: Sitter | None, public_id: str, row: Table | None = None) -> TableView | None:
    """Return a table that a person may see: their own, a finished one with open cards, or one that others may watch. Four queries at most.

    row: the table, if it has just been read with its pool.
    """
    row = row or Table.objects.select_related("pool").filter(public_id=public_id).first()
    if row is None:
        return None
    is_open = row.status in LIVE and row.shared and (row.gathering or people.is_watched(row))
    is_open = is_open or (row.status == TableStatus.FINISHED and deals.are_open(row))
    view = people.view(row, sitter) if is_open or sitter is not None else None
    return view if view is not None and (is_open or view.is_own) else None


def locked(sitter: Sitter, public_id: str) -> tuple[Table, TablePerson]:
    """Lock a live table and return it with the seat of a person who sits there. Raise Refused."""
    row = people.own(sitter).filter(public_id=public_id).select_for_update().first()
    if row is None:
        raise Refused("you have no such table")
    if row.status not in LIVE:
        raise Refused("this table is finished")
    person = people.seats(sitter).filter(table=row, seated=True).first()
    if person is None:
        raise Refused("you have left this table")
    return row, person


def act(sitter: Sitter, public_id: str, number: int, action: str, *, now: datetime | None = None) -> Table:
    """Answer decision `number` of the people at the player's own table.

    Raise Refused, with nothing changed, if another decision is due or the action is illegal. The answer is the next line of the journal. A resting
    table then waits for a worker.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row, person = locked(sitter, public_id)
        if row.turn is None or row.question != number or not person.legal:
            raise Refused("this decision has been answered already; reload the table")
        if person.away:
            raise Refused("a bot plays for you; come back first")
        if action not in person.legal:
            raise Refused(
                "{action!r} is not possible now; reload the table for the choices",
                action=action[:40],
            )
        answer(row, person, row.turn, action, now)
        if row.status == TableStatus.RESTING:
            call_worker(row, people.name_of(sitter), now)
        listening.notify(transitions.subject(row), listening.WORKER)
    return row


def answer(row: Table, person: TablePerson, number: int, action: str, now: datetime) -> None:
    """Write the answer to the current decision as line `number` of the journal; the caller has locked the table."""
    TableAction.objects.create(table=row, number=number, seat=person.number, action=action, at=now)
    clocks.spend(row, person, now)
    TablePerson.objects.filter(table=row).exclude(legal=[]).update(legal=[], hand=[], advice_asked=None, advice="")
    Table.objects.filter(pk=row.pk).update(turn=None, question=F("question") + 1, since=now)
    row.turn, row.question, row.since = None, row.question + 1, now


def ask_advice(sitter: Sitter, public_id: str, number: int, *, now: datetime | None = None) -> Table:
    """Ask a house bot for advice on decision `number` of the people. Repeatable. Raise Refused if there can be none.

    A resting table then waits for a worker.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row, person = locked(sitter, public_id)
        if row.shared or not people.behind(row, person.number):
            raise Refused("this table was started without advice; choose advice when you start the next one")
        if row.turn is None or row.question != number or person.legal in ([], [NEXT]):
            raise Refused("there is nothing to decide now; reload the table")
        if person.advice_asked != row.turn:
            person.advice_asked, person.advice = row.turn, ""
            person.save(update_fields=["advice_asked", "advice"])
            Table.objects.filter(pk=row.pk).update(since=now)
        if person.awaits_advice and row.status == TableStatus.RESTING:
            call_worker(row, people.name_of(sitter), now)
        listening.notify(transitions.subject(row))
    return row


def call_worker(row: Table, actor: str, now: datetime) -> None:
    """Queue a job for a resting table."""
    transitions.move(row, TableStatus.WAITING, now=now, actor=actor)
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
    """Leave the table. If nobody else sits there it ends, and a started board counts as lost (`standing`); else a bot plays on in the person's place.

    The worker stops within a second. Return False if the person does not sit there any more.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        rows = people.own(sitter).filter(public_id=public_id)
        others = TablePerson.objects.filter(table__in=rows, seated=True).exclude(pk__in=people.seats(sitter))
        if not others.exists():
            queue.withdraw(JOB, table__in=list(rows.values_list("pk", flat=True)))
        try:
            row, person = locked(sitter, public_id)
            ArenaSide.objects.filter(table=row, entry__player=person.player_id, points=None).update(given_up=now)
            successor = others.order_by("pk").first()
            if successor is not None:
                _pass_on(row, person, successor, now)
            else:
                people.rise(row)
                transitions.move(
                    row, TableStatus.LEFT, now=now, actor=people.name_of(sitter), gathering=False, **ended(now)
                )
        except (IllegalMove, Refused):
            return False
        listening.notify(transitions.subject(row))
        listening.notify(topics.LOBBY)
    return True


def _pass_on(row: Table, person: TablePerson, successor: TablePerson, now: datetime) -> None:
    """Take a person from a table at which others sit: the table passes to `successor` if it was theirs."""
    if (row.player_id, row.guest) == (person.player_id, person.guest):
        columns = ("player_id", "guest", "guest_from")
        Table.objects.filter(pk=row.pk).update(**{column: getattr(successor, column) for column in columns})
    if row.gathering:
        person.delete()
    else:
        TablePerson.objects.filter(pk=person.pk).update(seated=False, away=True)
        if row.status == TableStatus.RESTING and person.legal not in ([], [NEXT]):
            call_worker(row, "", now)
    people.tell(row)


def ended(now: datetime) -> dict[str, Any]:
    """Return the columns that a table has after its end, without an open question."""
    return {"finished": now, "turn": None}


def packed(records: list[dict[str, Any]]) -> bytes:
    """Compress replays for the database."""
    return zlib.compress(json.dumps(records, separators=(",", ":"), ensure_ascii=False).encode(), 6)


def opened(row: Table) -> list[dict[str, Any]]:
    """Return the replays of a finished table, board by board; [] if it is not finished, or others may still play its deals."""
    if row.status != TableStatus.FINISHED or not row.records or not deals.are_open(row):
        return []
    records: list[dict[str, Any]] = json.loads(zlib.decompress(bytes(row.records)))
    return records
