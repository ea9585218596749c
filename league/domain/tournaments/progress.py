"""The progress of a tournament: insert its missing matches, then finish, close or cancel it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from league.domain.bots import consent
from league.domain.core import clock, hints, journal, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import fairness, holds, matches, workers
from league.domain.people import players
from league.domain.tournaments import fixtures, formats
from league.enums import BotState, Ending, MatchStatus, TournamentStatus
from league.models import Entry, Match, Tournament
from league.pure.formats import Outcome, Pairing
from league.service import logs

HALTED = Q(paused__isnull=False) | Q(stopped__isnull=False)  # Paused by the owner, or by an operator.
WINDOW = 500  # The most queued matches of one tournament, or ...
WINDOW_OF_WORKER = 20  # ... this many for each worker, if that is more: enough until the scheduler's next round.


def schedule(tournament: Tournament, *, now: datetime | None = None) -> int:
    """Insert missing matches of a running tournament, at most `room` of them; return their number. Repeatable.

    The limit keeps requests short, and the queue no longer than the workers need.
    """
    with _about(tournament):
        return _schedule(tournament, now=clock.now_or(now))


def _about(tournament: Tournament) -> AbstractContextManager[None]:
    """Return a context for log lines about the tournament, and for new matches.

    New matches get the request id of the caller; without one, that of the request that started the tournament.
    """
    return logs.about(tournament=tournament.slug, request=logs.asked_by() or tournament.request)


def _schedule(tournament: Tournament, *, now: datetime) -> int:
    if Tournament.objects.filter(HALTED, pk=tournament.pk).exists():
        return 0
    if _is_time_up(tournament, now):
        return 0
    form, field = formats.field_of_tournament(tournament)
    if not formats.follows_results(tournament):
        # A match that is played again has the original key with a number appended.
        if tournament.matches.exclude(key__contains="#").count() >= form.size(field).matches[1]:
            return 0
        free = room(tournament, now=now)
        return free and _insert(tournament, fixtures.play_format(tournament, blank=True).sheet.pairings, free, now=now)
    if tournament.matches.exists() and not form.eager and fixtures.has_open_matches(tournament):
        return 0
    with (
        transaction.atomic()
    ):  # Such a format adds matches that depend on the existing ones, so only one process may add at a time.
        row = _lock(tournament)
        if row.status != TournamentStatus.RUNNING:
            return 0
        # A ladder adds few matches at a time, all drawn together.
        space = None if form.grows else room(row, now=now)
        return _insert(row, fixtures.play_format(row).sheet.pairings, space, now=now)


def room(tournament: Tournament, *, now: datetime) -> int:
    """Return how many more matches of a tournament may be queued. Two queries."""
    waiting = tournament.matches.filter(status=MatchStatus.QUEUED).count()
    return max(0, max(WINDOW, WINDOW_OF_WORKER * workers.count_able(now=now)) - waiting)


def _insert(tournament: Tournament, tables: Sequence[Pairing], space: int | None, *, now: datetime) -> int:
    """Insert the missing tables, at most `space` of them (None: all)."""
    existing = set(tournament.matches.values_list("table", "first_board"))
    missing = [table for table in tables if table.slot not in existing]
    return fixtures.insert(tournament, missing[:space], now=now)


def advance(tournament: Tournament, *, now: datetime | None = None) -> bool:
    """Continue a running tournament: insert its next matches, or finish it. Return True if it finished.

    Before it finishes, its state is read again with the row locked, so that nobody can extend it or repeat a match at the same time.
    """
    now = clock.now_or(now)
    if tournament.status != TournamentStatus.RUNNING or tournament.paused or tournament.stopped:
        return False
    if formats.format_named(tournament.format).timed:
        _keep_going(tournament, now=now)
    waits = fixtures.has_open_matches(tournament)
    if waits and not formats.format_named(tournament.format).eager:
        return False
    if schedule(tournament, now=now) or fixtures.has_open_matches(tournament):
        return False
    with transaction.atomic():
        row = _lock(tournament)
        if row.status != TournamentStatus.RUNNING or fixtures.has_open_matches(row):
            return False
        outcome = fixtures.play_format(row).outcome
        is_over = outcome.over or _is_time_up(row, now)
        if is_over:
            _finish(row, outcome, now=now)
    return is_over


def _is_time_up(tournament: Tournament, now: datetime) -> bool:
    ends = formats.ends_at(tournament)
    return ends is not None and ends <= now


def _keep_going(tournament: Tournament, *, now: datetime) -> None:
    """Take the bots that cannot play out of an arena for good, and cancel the matches that nobody should wait for: theirs, and all at its end.

    A bot may be paused because it failed, or by its owner. If it could return, its owner could choose its opponents by pausing it.
    """
    unable = tournament.entries.filter(withdrawn=None).exclude(version__bot__state=BotState.ACTIVE)
    for entry in unable.select_related("version__bot").order_by("number"):
        if Entry.objects.filter(pk=entry.pk, withdrawn=None).update(withdrawn=now):
            subject = transitions.subject(tournament)
            journal.append("tournament.withdrawn", subject, now=now, actor="", version=str(entry.version))
    queued = tournament.matches.filter(status=MatchStatus.QUEUED)
    is_over = _is_time_up(tournament, now)
    why = "the time of its arena is up" if is_over else "a bot at the table cannot play"
    for match in queued if is_over else holds.blocked_matches(queued):
        with suppress(IllegalMove):  # A worker has just leased it.
            matches.cancel(match, actor="", why=why, now=now)


def _lock(tournament: Tournament) -> Tournament:
    """Lock and read the row. Code that changes something on which the end of a tournament depends takes the same lock."""
    return Tournament.objects.select_for_update().select_related("pool").get(pk=tournament.pk)


@dataclass(frozen=True)
class Stall:
    """A void match, and the match that replaces it ("" if nobody has asked for one). Until that is played, the tournament cannot finish."""

    void: str
    again: str


def stalled(tournament: Tournament) -> list[Stall]:
    """Return the void matches that keep a running tournament from finishing. One query."""
    if tournament.status != TournamentStatus.RUNNING:
        return []
    bracket = formats.format_named(tournament.format).bracket
    rows: dict[tuple[str, int], list[Match]] = defaultdict(list)
    for match in tournament.matches.order_by("id").only("public_id", "table", "first_board", "status"):
        rows[match.table, match.first_board].append(match)
    stalls = []
    for row in rows.values():
        first, last = row[0], row[-1]
        if last.status == MatchStatus.FINISHED or first.status != MatchStatus.VOID:
            continue
        if last.status in fixtures.OVER:
            stalls += [Stall(last.public_id, "")] if bracket else []
        else:
            stalls.append(Stall(row[-2].public_id, last.public_id))
    return stalls


def close(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """End a running ladder: queued matches are cancelled, running ones no longer count, and the current order is final."""
    now = clock.now_or(now)
    if not formats.format_named(tournament.format).grows:
        raise Refused("a {format} ends by itself, so it cannot be closed; you can cancel it", format=tournament.format)
    with transaction.atomic():
        row = _lock(tournament)
        if row.status == TournamentStatus.FINISHED:
            return
        _finish(row, fixtures.play_format(row).outcome, ending=Ending.CLOSED, now=now, actor=actor)
    tournament.refresh_from_db()
    cancel_matches(tournament, actor=actor, why="its ladder was closed", now=now)


def _finish(tournament: Tournament, outcome: Outcome, *, now: datetime, ending: str = "", actor: str = "") -> None:
    """Write places and ending, and set the status. The caller has locked the row."""
    write_places(tournament, outcome)
    facts = dict(outcome.facts)
    transitions.move(
        tournament,
        TournamentStatus.FINISHED,
        now=now,
        actor=actor,
        finished=now,
        ending=ending or outcome.why,
        facts=facts,
    )
    consent.lapse(tournament, now=now)


def write_places(tournament: Tournament, outcome: Outcome) -> None:
    """Write the place of each entry, in the order of the format; the disqualified ones share the last place."""
    entries = {entry.number: entry for entry in tournament.entries.all()}
    out = {number for number, entry in entries.items() if entry.disqualified is not None}
    place = 1
    for level in [*([n for n in level if n not in out] for level in outcome.rank().levels), sorted(out)]:
        for number in level:
            entries[number].place = place
        place += len(level)
    Entry.objects.bulk_update(entries.values(), ["place"])


def rank_again(tournament: Tournament) -> None:
    """Write the places of a finished tournament again, after a disqualification or its undoing. The caller has locked the row."""
    if tournament.status == TournamentStatus.FINISHED:
        write_places(tournament, fixtures.play_format(tournament).outcome)


def pause(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """Pause a running tournament: no match of it starts, and running ones are finished. Repeatable."""
    _hold(tournament, {"paused": clock.now_or(now)}, "paused", actor=actor, now=clock.now_or(now))


def resume(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """Resume a paused tournament. Its matches join the fair queue as if they were new. Repeatable."""
    _hold(tournament, {"paused": None}, "resumed", actor=actor, now=clock.now_or(now))


def stop(tournament: Tournament, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Pause a tournament as an operator, which its owner cannot undo; return True if something changed."""
    columns = {"stopped": clock.now_or(now), "stopped_for": why}
    return _hold(tournament, columns, "stopped", actor=actor, now=clock.now_or(now), why=why)


def release(tournament: Tournament, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """End the pause by an operator; return True if something changed."""
    columns = {"stopped": None, "stopped_for": ""}
    return _hold(tournament, columns, "let_go", actor=actor, now=clock.now_or(now), why=why)


def _hold(
    tournament: Tournament, columns: dict[str, Any], word: str, *, actor: str, now: datetime, **facts: str
) -> bool:
    """Set or clear a pause, according to the first of `columns`. Return True if something changed."""
    name, since = next(iter(columns.items()))
    with transaction.atomic():
        row = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        if row.status != TournamentStatus.RUNNING:
            raise Refused(
                "the tournament {tournament!r} is {status}; only a running one can be paused or resumed",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        changed = (getattr(row, name) is None) != (since is None)
        if changed:
            Tournament.objects.filter(pk=row.pk).update(**columns)
            journal.append(f"tournament.{word}", transitions.subject(row), now=now, actor=actor, **facts)
            players.lock(row.owner_id)
            fairness.reorder(row.owner_id, 0)
            hints.matches_wait()
    tournament.refresh_from_db(fields=list(columns))
    return changed


def cancel(
    tournament: Tournament, *, actor: str, why: str = "cancelled by its owner", now: datetime | None = None
) -> None:
    """Cancel an unfinished tournament. Finished matches count; queued and running ones are cancelled. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        tournament.status = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk).status
        if tournament.status != TournamentStatus.CANCELLED:  # Otherwise this is a repeated request.
            transitions.move(tournament, TournamentStatus.CANCELLED, now=now, actor=actor, why=why, finished=now)
            consent.lapse(tournament, now=now)
    cancel_matches(tournament, actor=actor, why=why, now=now)


def cancel_matches(tournament: Tournament, *, actor: str, why: str, now: datetime) -> int:
    """Cancel the unfinished matches of a tournament; return their number."""
    cancelled = 0
    for match in Match.objects.filter(tournament=tournament).exclude(status__in=fixtures.OVER):
        try:
            matches.cancel(match, actor=actor, why=why, now=now)
        except IllegalMove:
            continue  # It has just finished or been requeued; the scheduler tries again.
        cancelled += 1
    return cancelled
