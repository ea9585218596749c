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
    JOB_TRANSITIONS,
    JUDGEMENT_TRANSITIONS,
    MATCH_TRANSITIONS,
    REQUEST_TRANSITIONS,
    TABLE_TRANSITIONS,
    TOURNAMENT_TRANSITIONS,
    VERSION_TRANSITIONS,
    MatchKind,
)
from league.models import BotVersion, Consultation, EntryRequest, Job, Judgement, Leased, Match, Table, Tournament

# Kinds of rows that are in the queue but are not matches.
NOT_MATCHES = (MatchKind.AUDIT, MatchKind.TRY)
Row = Match | Tournament | BotVersion | EntryRequest | Judgement | Consultation | Table | Leased

TRANSITIONS: dict[type, dict[str, frozenset[str]]] = {
    Match: MATCH_TRANSITIONS,
    Tournament: TOURNAMENT_TRANSITIONS,
    BotVersion: VERSION_TRANSITIONS,
    EntryRequest: REQUEST_TRANSITIONS,
    Judgement: JUDGEMENT_TRANSITIONS,
    Consultation: JUDGEMENT_TRANSITIONS,
    Table: TABLE_TRANSITIONS,
    Job: JOB_TRANSITIONS,
}


def subject(row: Row) -> str:
    """Return the name by which the journal refers to a row."""
    if isinstance(row, Match):
        return f"{row.kind if row.kind in NOT_MATCHES else 'match'}:{row.public_id}"
    if isinstance(row, Tournament):
        return f"tournament:{row.slug}"
    if isinstance(row, Job):
        return f"job:{row.pk}"
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
    """Set the status of `row` to `to`, write `columns`, and add a line to the journal, in one transaction. Jobs have none: their subjects do.

    1. The transition table must allow the step from `row.status` to `to`.
    2. The row is updated only if it still has the status that `row` has, and the values of `guard`.
    3. If no row was updated, another process was faster: raise IllegalMove; nothing has changed.
    """
    model = type(row)
    state = _state(model)
    was = getattr(row, state)
    name = subject(row)
    words: Any = model._meta.get_field(state)
    label = dict(words.flatchoices).__getitem__
    if to not in TRANSITIONS[model][was]:
        raise IllegalMove("{name} is {was} and cannot become {to}", name=name, was=label(was), to=label(to))
    with transaction.atomic():
        rows = model._base_manager.filter(pk=row.pk, **{state: was}, **(guard or {}))
        if not rows.update(**{state: to}, **columns):
            raise IllegalMove(
                "{name} could not become {to}: it is no longer {was}, or another process holds it; reload it and try again",
                name=name,
                to=label(to),
                was=label(was),
            )
        if model is not Job:
            kind = f"{name.partition(':')[0]}.moved"
            journal.append(kind, name, now=now, actor=actor, was=was, to=to, **({"why": why} if why else {}))
    for column, value in {state: to, **columns}.items():
        if not hasattr(value, "resolve_expression"):  # Only the database knows the value of F() and the like.
            setattr(row, column, value)


def _state(model: type[Any]) -> str:
    """Return the column with the status."""
    return model.STATE if issubclass(model, Leased) else "status"


def take(rows: QuerySet[Any], *, now: datetime, actor: str, **columns: Any) -> list[int]:
    """Lease the first rows of a sorted and limited query of waiting ones; return their ids in no order.

    One statement chooses and moves, so of two callers each gets different rows, or none. If `rows` skips locked rows (PostgreSQL),
    neither waits for the other, and the same statement writes the journal. Call it in a transaction.
    """
    model = rows.model
    was, to = model.WAITS, model.HELD[0]
    choice_sql, choice_values = rows.only("pk").query.get_compiler(connection=connection).as_sql()
    update: Any = model._base_manager.filter(**{model.STATE: was}).query.chain(UpdateQuery)
    update.add_update_values({model.STATE: to, **columns})
    update_sql, update_values = update.get_compiler(connection=connection).as_sql()
    # Materialized, because a choice evaluated again for each row would skip the rows that this statement has locked.
    with_sql = f"WITH chosen AS MATERIALIZED ({choice_sql})"
    moved_sql = f"{update_sql} AND id IN (SELECT id FROM chosen) RETURNING id"  # noqa: S608  # all of it is Django's
    values = (*choice_values, *update_values)
    with connection.cursor() as cursor:
        if model is Job:
            cursor.execute(f"{with_sql} {moved_sql}", values)
            return [pk for (pk,) in cursor.fetchall()]
        moved_sql += ", public_id, kind"
        if connection.vendor == "postgresql":
            data = json.dumps({"was": was, "to": to})
            statement = f"{with_sql}, moved AS ({moved_sql}), {JOURNAL_INSERT} SELECT id FROM moved"  # noqa: S608  # all of it is Django's or our own
            cursor.execute(statement, (*values, now, actor, data))
            return [pk for (pk,) in cursor.fetchall()]
        cursor.execute(f"{with_sql} {moved_sql}", values)
        rows_moved = cursor.fetchall()
    subjects = [(kind if kind in NOT_MATCHES else "match", public_id) for _, public_id, kind in rows_moved]
    lines = [(f"{name}.moved", f"{name}:{public_id}", {"was": was, "to": to}) for name, public_id in subjects]
    journal.append_all(lines, now=now, actor=actor)
    return [pk for pk, _, _ in rows_moved]


# Appends a line to the journal for each row in `moved`, with the names that `subject` gives them.
JOURNAL_INSERT = f"""journalled AS (INSERT INTO league_leagueevent (at, kind, subject, actor, data)
    SELECT %s, subjects.what || '.moved', subjects.what || ':' || subjects.public_id, %s, %s::jsonb FROM
        (SELECT public_id, CASE WHEN kind IN ({", ".join(f"'{kind}'" for kind in NOT_MATCHES)}) THEN kind ELSE 'match' END AS what
        FROM moved) subjects)"""  # noqa: S608
