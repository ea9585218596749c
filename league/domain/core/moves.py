"""The only writer of `status` columns."""

from __future__ import annotations

import json
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
from league.models import BotVersion, Consultation, EntryRequest, Judgement, Match, Table, Tournament

BESIDE = (MatchKind.AUDIT, MatchKind.TRY)  # they wait in the queue and are no matches
Row = Match | Tournament | BotVersion | EntryRequest | Judgement | Consultation | Table

MOVES: dict[type, dict[str, frozenset[str]]] = {
    Match: MATCH_MOVES,
    Tournament: TOURNAMENT_MOVES,
    BotVersion: VERSION_MOVES,
    EntryRequest: REQUEST_MOVES,
    Judgement: JUDGEMENT_MOVES,
    Consultation: JUDGEMENT_MOVES,
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
    if isinstance(row, Consultation):
        return f"consultation:{row.pk}"
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


def take(rows: QuerySet[Match], was: str, to: str, *, now: datetime, actor: str, **columns: Any) -> list[int]:
    """Move the first matches of a query that is sorted and limited, whichever they are, from one status to another; their ids, in no order.

    One statement chooses and moves: of two callers at once each gets others, or none. Where `rows` is to skip what is locked (PostgreSQL),
    neither waits for the other, and the same statement writes the lines of the journal. In a transaction.
    """
    if to not in MOVES[Match][was]:
        raise ValueError(f"no match moves from {was} to {to}")
    chosen, which = rows.only("pk").query.get_compiler(connection=connection).as_sql()
    update: Any = Match._base_manager.filter(status=was).query.chain(UpdateQuery)
    update.add_update_values({"status": to, **columns})
    words, given = update.get_compiler(connection=connection).as_sql()
    # Chosen once, whatever the planner thinks: chosen anew for each row, it would skip what it has locked itself
    begin = f"WITH chosen AS MATERIALIZED ({chosen})"
    moved = f"{words} AND id IN (SELECT id FROM chosen) RETURNING id, public_id, kind"  # noqa: S608  # all of it is Django's
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            data = json.dumps({"was": was, "to": to})
            whole = f"{begin}, moved AS ({moved}), {TOLD} SELECT id FROM moved"  # noqa: S608  # all of it is Django's or our own
            cursor.execute(whole, (*which, *given, now, actor, data))
            return [pk for (pk,) in cursor.fetchall()]
        cursor.execute(f"{begin} {moved}", (*which, *given))
        found = cursor.fetchall()
    about = [(kind if kind in BESIDE else "match", public_id) for _, public_id, kind in found]
    lines = [(f"{what}.moved", f"{what}:{public_id}", {"was": was, "to": to}) for what, public_id in about]
    journal.append_all(lines, now=now, actor=actor)
    return [pk for pk, _, _ in found]


# As `subject` names them
TOLD = f"""told AS (INSERT INTO league_leagueevent (at, kind, subject, actor, data)
    SELECT %s, named.what || '.moved', named.what || ':' || named.public_id, %s, %s::jsonb FROM
        (SELECT public_id, CASE WHEN kind IN ({", ".join(f"'{kind}'" for kind in BESIDE)}) THEN kind ELSE 'match' END AS what FROM moved) named)"""  # noqa: S608
