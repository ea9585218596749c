"""How a tournament goes on: its missing matches are inserted, and it finishes, is closed or is cancelled."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Q

from league.domain.bots import consent
from league.domain.core import clock, hints, journal, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import matches, turns, workers
from league.domain.people import players
from league.domain.tournaments import fixtures, formats
from league.enums import Ending, MatchStatus, TournamentStatus
from league.models import Entry, Match, Tournament
from league.pure.formats import Outcome, Pairing
from league.service import logs

HALTED = Q(paused__isnull=False) | Q(stopped__isnull=False)  # by its owner, by an operator
WINDOW = 500  # matches of one tournament that wait at most ...
WINDOW_OF_WORKER = 20  # ... or so many for each worker: what it may play before the scheduler looks again


def schedule(tournament: Tournament, *, now: datetime | None = None) -> int:
    """Insert the matches of a running tournament that are missing, as many as there is room for; their number. Running it twice adds nothing.

    At most `room` of one tournament wait in the queue: so no request and no pass inserts more, and the queue is as long as what is played soon.
    """
    with _about(tournament):
        return _schedule(tournament, now=clock.now_or(now))


def _about(tournament: Tournament) -> AbstractContextManager[None]:
    """Lines of the log within are about it, and its new matches are asked for by whoever asks now, else by who started it."""
    return logs.about(tournament=tournament.slug, request=logs.asked_by() or tournament.request)


def _schedule(tournament: Tournament, *, now: datetime) -> int:
    if Tournament.objects.filter(HALTED, pk=tournament.pk).exists():
        return 0
    form, field = formats.field_of_tournament(tournament)
    if not formats.follows_results(tournament):
        # Matches that are played in place of others bear the others' keys with a number behind
        if tournament.matches.exclude(key__contains="#").count() >= form.size(field).matches[1]:
            return 0
        free = room(tournament, now=now)
        return free and _insert(tournament, fixtures.play_format(tournament, blank=True).sheet.pairings, free, now=now)
    if tournament.matches.exists() and not form.eager and fixtures.has_open_matches(tournament):
        return 0
    with transaction.atomic():  # what such a format adds follows from what is there: one process at a time
        row = _lock(tournament)
        if row.status != TournamentStatus.RUNNING:
            return 0
        # What a ladder adds is drawn together; it is little at a time
        space = None if form.grows else room(row, now=now)
        return _insert(row, fixtures.play_format(row).sheet.pairings, space, now=now)


def room(tournament: Tournament, *, now: datetime) -> int:
    """How many more matches of it may wait in the queue. Two queries."""
    waiting = tournament.matches.filter(status=MatchStatus.QUEUED).count()
    return max(0, max(WINDOW, WINDOW_OF_WORKER * workers.count_able(now=now)) - waiting)


def _insert(tournament: Tournament, tables: Sequence[Pairing], space: int | None, *, now: datetime) -> int:
    """Those of `tables` that are missing, the first `space` of them (None: all)."""
    there = set(tournament.matches.values_list("table", "first_board"))
    missing = [table for table in tables if table.slot not in there]
    return fixtures.insert(tournament, missing[:space], now=now)


def advance(tournament: Tournament, *, now: datetime | None = None) -> bool:
    """Take what was played into a running tournament: insert its next matches, or finish it when it is over. Whether it finished.

    Whether it is over is read again with the row locked: who extends it, or has one of its matches played again, comes before that or after
    the end.
    """
    now = clock.now_or(now)
    if tournament.status != TournamentStatus.RUNNING or tournament.paused or tournament.stopped:
        return False
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
        if outcome.over:
            _finish(row, outcome, now=now)
    return outcome.over


def _lock(tournament: Tournament) -> Tournament:
    """The row as it is now. Who changes what the end of a tournament follows from holds it, too."""
    return Tournament.objects.select_for_update().select_related("pool").get(pk=tournament.pk)


@dataclass(frozen=True)
class Stall:
    """A match that could not be played, and the one in its place, "" where nobody has asked for one: until it is played nobody goes on by it."""

    void: str
    again: str


def stalled(tournament: Tournament) -> list[Stall]:
    """What keeps a running tournament from its end besides matches that are played for the first time. One query."""
    if tournament.status != TournamentStatus.RUNNING:
        return []
    bracket = formats.format_named(tournament.format).bracket
    rows: dict[tuple[str, int], list[Match]] = defaultdict(list)
    for match in tournament.matches.order_by("id").only("public_id", "table", "first_board", "status"):
        rows[match.table, match.first_board].append(match)
    found = []
    for row in rows.values():
        first, last = row[0], row[-1]
        if last.status == MatchStatus.FINISHED or first.status != MatchStatus.VOID:
            continue
        if last.status in fixtures.OVER:
            found += [Stall(last.public_id, "")] if bracket else []
        else:
            found.append(Stall(row[-2].public_id, last.public_id))
    return found


def close(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """End a running ladder: what waits is taken back, what is being played is waited for no longer, the order of now is final."""
    now = clock.now_or(now)
    if not formats.format_named(tournament.format).grows:
        raise Refused("a {format} ends by itself, so nobody closes it; it can be cancelled", format=tournament.format)
    with transaction.atomic():
        row = _lock(tournament)
        if row.status == TournamentStatus.FINISHED:
            return
        _finish(row, fixtures.play_format(row).outcome, ending=Ending.CLOSED, now=now, actor=actor)
    tournament.refresh_from_db()
    cancel_matches(tournament, actor=actor, why="its ladder was closed", now=now)


def _finish(tournament: Tournament, outcome: Outcome, *, now: datetime, ending: str = "", actor: str = "") -> None:
    """Write places and ending, and move to finished. The row is locked."""
    entries = {entry.number: entry for entry in tournament.entries.all()}
    place = 1
    for level in outcome.rank().levels:
        for number in level:
            entries[number].place = place
        place += len(level)
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
    Entry.objects.bulk_update(entries.values(), ["place"])
    consent.lapse(tournament, now=now)


def pause(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """Let no match of a running tournament be begun: what waits waits, what a worker holds is played to its end. Doing it again changes nothing."""
    _hold(tournament, {"paused": clock.now_or(now)}, "paused", actor=actor, now=clock.now_or(now))


def resume(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """Let a paused tournament go on. Its matches stand in the line of its owner as if they came now. Doing it again changes nothing."""
    _hold(tournament, {"paused": None}, "resumed", actor=actor, now=clock.now_or(now))


def stop(tournament: Tournament, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """The pause of an operator, which the owner cannot end. Whether that changes something."""
    found = {"stopped": clock.now_or(now), "stopped_for": why}
    return _hold(tournament, found, "stopped", actor=actor, now=clock.now_or(now), why=why)


def let_go(tournament: Tournament, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """End the pause of an operator. Whether that changes something."""
    found = {"stopped": None, "stopped_for": ""}
    return _hold(tournament, found, "let_go", actor=actor, now=clock.now_or(now), why=why)


def _hold(
    tournament: Tournament, columns: dict[str, Any], word: str, *, actor: str, now: datetime, **facts: str
) -> bool:
    """Write a pause, or its end. The first of `columns` says which one; whether it was otherwise before."""
    name, since = next(iter(columns.items()))
    with transaction.atomic():
        row = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk)
        if row.status != TournamentStatus.RUNNING:
            raise Refused(
                "the tournament {tournament!r} is {status}; only a running one can be paused or go on",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        changed = (getattr(row, name) is None) != (since is None)
        if changed:
            Tournament.objects.filter(pk=row.pk).update(**columns)
            journal.append(f"tournament.{word}", transitions.subject(row), now=now, actor=actor, **facts)
            players.lock(row.owner_id)
            turns.lay(row.owner_id, 0)
            hints.matches_wait()
    tournament.refresh_from_db(fields=list(columns))
    return changed


def cancel(
    tournament: Tournament, *, actor: str, why: str = "cancelled by its owner", now: datetime | None = None
) -> None:
    """End a tournament that is not over. What is finished stays and counts; what waits or is played now is cancelled. Again changes nothing."""
    now = clock.now_or(now)
    with transaction.atomic():
        tournament.status = Tournament.objects.select_for_update(of=("self",)).get(pk=tournament.pk).status
        if tournament.status != TournamentStatus.CANCELLED:  # else somebody asks again who got no answer
            transitions.move(tournament, TournamentStatus.CANCELLED, now=now, actor=actor, why=why, finished=now)
            consent.lapse(tournament, now=now)
    cancel_matches(tournament, actor=actor, why=why, now=now)


def cancel_matches(tournament: Tournament, *, actor: str, why: str, now: datetime) -> int:
    """Take back the matches of a tournament that are not over; their number."""
    cancelled = 0
    for match in Match.objects.filter(tournament=tournament).exclude(status__in=fixtures.OVER):
        try:
            matches.cancel(match, actor=actor, why=why, now=now)
        except IllegalMove:
            continue  # it was finished or requeued in this moment; the scheduler looks again
        cancelled += 1
    return cancelled
