"""The only writer of `status` columns."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import connection, transaction
from django.db.models import QuerySet
from django.db.models.sql import UpdateQuery

from league.domain.core import journal
from league.domain.core.errors import IllegalMove
from league.enums import (
    JUDGEMENT_MOVES,
    MATCH_MOVES,
    REQUEST_MOVES,
    TABLE_MOVES,
    TOURNAMENT_MOVES,
    VERSION_MOVES,
    MatchKind,
)
from league.models import BotVersion, EntryRequest, Judgement, Match, Table, Tournament

BESIDE = (MatchKind.AUDIT, MatchKind.TRY)  # they wait in the queue and are no matches
Row = Match | Tournament | BotVersion | EntryRequest | Judgement | Table

MOVES: dict[type, dict[str, frozenset[str]]] = {
    Match: MATCH_MOVES,
    Tournament: TOURNAMENT_MOVES,
    BotVersion: VERSION_MOVES,
    EntryRequest: REQUEST_MOVES,
    Judgement: JUDGEMENT_MOVES,
    Table: TABLE_MOVES,
}


def subject(row: Row) -> str:
    """The name of a row in the journal."""
    if isinstance(row, Match):
        return f"{row.kind if row.kind in BESIDE else 'match'}:{row.public_id}"
    if isinstance(row, Tournament):
        return f"tournament:{row.slug}"
    if isinstance(row, Table):
        return f"table:{row.public_id}"
    if isinstance(row, Judgement):
        return f"judgement:{row.pk}"
    return f"{'request' if isinstance(row, EntryRequest) else 'version'}:{row.pk}"


def move(
    row: Row,
    to: str,
    *,
    now: datetime,
    actor: str = "",
    why: str = "",
    guard: dict[str, Any] | None = None,
    **columns: Any,
) -> None:
    """Give `row` the status `to` and write `columns`, with a line of the journal in the same transaction.

    1. The step from `row.status` to `to` must stand in the transition table.
    2. The row is updated only if it still has the status that `row` was read with, and every `guard` column.
    3. If nothing was updated, somebody was faster: IllegalMove, and nothing has changed.
    """
    was = row.status
    name = subject(row)
    word = dict(type(row)._meta.get_field("status").flatchoices).__getitem__
    if to not in MOVES[type(row)][was]:
        raise IllegalMove("{name} is {was} and cannot become {to}", name=name, was=word(was), to=word(to))
    with transaction.atomic():
        rows = type(row)._base_manager.filter(pk=row.pk, status=was, **(guard or {}))
        if not rows.update(status=to, **columns):
            raise IllegalMove(
                "{name} could not become {to}: it is no longer {was}, or not held by the caller; read it again",
                name=name,
                to=word(to),
                was=word(was),
            )
        kind = f"{name.partition(':')[0]}.moved"
        journal.append(kind, name, now=now, actor=actor, was=was, to=to, **({"why": why} if why else {}))
    for column, value in {"status": to, **columns}.items():
        if not hasattr(value, "resolve_expression"):  # F() and the like are known to the database only
            setattr(row, column, value)


def take(rows: QuerySet[Match], was: str, to: str, **columns: Any) -> list[int]:
    """Move the first matches of a query that is sorted and limited, whichever they are, from one status to another; their ids, in no order.

    One statement chooses and moves: of two callers at once each gets others, or none. Where `rows` is to skip what is locked (PostgreSQL),
    neither waits for the other. In a transaction, and the journal hears of it by `tell`.
    """
    if to not in MOVES[Match][was]:
        raise ValueError(f"no match moves from {was} to {to}")
    chosen, which = rows.only("pk").query.get_compiler(connection=connection).as_sql()
    update: Any = Match._base_manager.filter(status=was).query.chain(UpdateQuery)
    update.add_update_values({"status": to, **columns})
    words, given = update.get_compiler(connection=connection).as_sql()
    with connection.cursor() as cursor:
        # Chosen once, whatever the planner thinks: chosen anew for each row, it would skip what it has locked itself
        statement = f"WITH chosen AS MATERIALIZED ({chosen}) {words} AND id IN (SELECT id FROM chosen) RETURNING id"  # noqa: S608  # all of it is Django's
        cursor.execute(statement, (*which, *given))
        return [pk for (pk,) in cursor.fetchall()]


def tell(rows: Sequence[Match], was: str, *, now: datetime, actor: str) -> None:
    """The lines of the journal about matches that `take` has moved, in one statement."""
    journal.append_all(
        [(f"{subject(row).partition(':')[0]}.moved", subject(row), {"was": was, "to": row.status}) for row in rows],
        now=now,
        actor=actor,
    )
