"""Requests for analyses of matches, and the existing ones. An analysis shows all cards, so only people who may see the replays see it."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from engine.analysis import JUDGE
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.errors import Refused
from league.domain.matches import logs, replays
from league.domain.people import players, quotas
from league.enums import JudgementKind, JudgementStatus, MatchStatus
from league.models import Consultation, Judgement, Match, Player

JOB = "analysis"  # The kind of an analysis job
FAILED_DAYS = 30  # How long a failure is kept; after that, people may ask for the work again
WAITING = (JudgementStatus.ASKED, JudgementStatus.WORKING)


def samples(kind: str) -> int:
    """Return the number of deals over which an analysis of this kind averages each decision; 0 for the real deal alone."""
    return settings.JUDGE_DEALS if kind == JudgementKind.FAIR else 0


def ask(match: Match, kind: str, player: Player, *, now: datetime | None = None) -> tuple[Judgement, bool]:
    """Return the analysis of a match by the current program, and True if it is new. Only a new one counts towards a quota.

    Raise Refused while the cards are hidden or if the replays are no longer stored, TooMany at the quota. `match` must have been read with its
    tournament.
    """
    now = clock.now_or(now)
    kind = JudgementKind(kind).value
    if reason := reason_not(match):
        raise reason
    with transaction.atomic():
        players.lock(player.pk)
        existing = _present(match).filter(kind=kind).first()
        if existing is not None:
            return existing, False
        quotas.ask(player, quotas.JUDGEMENTS, now=now)
        row, is_new = _insert(match, kind, player, now)
        if is_new:
            journal.append("judgement.asked", transitions.subject(match), now=now, actor=player.name, how=kind)
    return row, is_new


def ask_for_league(match: Match, kind: str, *, now: datetime) -> bool:
    """Ask for an analysis that the league itself needs, unless there is one; return True if it is new. `reason_not` must be None.

    Workers repeat one that a volunteer has computed.
    """
    with transaction.atomic():
        row = _present(match).filter(kind=kind).defer("body").first()
        if row is None:
            return _insert(match, kind, None, now)[1]
        if not row.by_volunteer or row.status != JudgementStatus.DONE:
            return False
        columns: dict[str, Any] = {"by_volunteer": False, "asked_by": None, "body": b"", "finished": None}
        transitions.move(row, JudgementStatus.ASKED, now=now, why="a worker repeats it", **columns)
        enqueue(row, now=now)
        return True


def _insert(match: Match, kind: str, player: Player | None, now: datetime) -> tuple[Judgement, bool]:
    row, is_new = Judgement.objects.get_or_create(
        match=match, kind=kind, judge=JUDGE, samples=samples(kind), defaults={"asked_by": player, "created": now}
    )
    if is_new:
        enqueue(row, now=now)
    return row, is_new


def retry(row: Judgement | Consultation, *, why: str, actor: str, now: datetime) -> bool:
    """Queue an analysis or a consultation that failed again. Return False if it did not fail, or if its match cannot be analysed any more."""
    if row.status != JudgementStatus.FAILED or reason_not(row.match):
        return False
    with transaction.atomic():
        transitions.move(row, JudgementStatus.ASKED, now=now, actor=actor, why=why, reason="", finished=None)
        enqueue(row, now=now)
    return True


def enqueue(row: Judgement | Consultation, *, now: datetime) -> None:
    """Give an analysis or a consultation its job. The players who ask take turns."""
    column = type(row).__name__.lower()
    kind = JOB if isinstance(row, Judgement) else column
    position = queue.turn_of(kind, row.asked_by) if row.asked_by else 0
    queue.add(kind, owner=row.asked_by, position=position, now=now, **{column: row})


def reason_not(match: Match) -> Refused | None:
    """Return why a match cannot be analysed, or None. `match` must have been read with its tournament."""
    if match.status != MatchStatus.FINISHED:
        return replays.reason_closed(match) or Refused(
            "match {match} is void, so it cannot be analysed", match=match.public_id
        )
    if reason := replays.reason_closed(match):
        return reason
    if logs.was_let_go(match):
        return Refused(
            "the replays of match {match} are no longer stored, so it cannot be analysed", match=match.public_id
        )
    return None


def of_match(match: Match) -> dict[str, Judgement]:
    """Return the analyses of a match by the current program, by kind and without bodies; none while its cards are hidden. One query."""
    if replays.reason_closed(match):
        return {}
    return {row.kind: row for row in _present(match).defer("body")}


def find(match: Match, kind: str) -> Judgement | None:
    """Return the analysis of one kind with its body; None if there is none or the cards are hidden. One query."""
    return None if replays.reason_closed(match) else _present(match).filter(kind=kind).first()


def _present(match: Match) -> QuerySet[Judgement]:
    return Judgement.objects.filter(match=match, judge=JUDGE, samples__in=[0, settings.JUDGE_DEALS])
