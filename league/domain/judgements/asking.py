"""Who may have which match judged, and what is there already. A judgement tells all cards, so it is for who may see the replays, when they may."""

from __future__ import annotations

from datetime import datetime

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from engine.analysis import JUDGE
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import background, logs, replays
from league.domain.people import players, quotas
from league.enums import JudgementKind, MatchStatus
from league.models import Judgement, Match, Player

WAITING = background.WAITING


def samples(kind: str) -> int:
    """Deals over which a decision is judged in this way; 0: the real one."""
    return settings.JUDGE_DEALS if kind == JudgementKind.FAIR else 0


def ask(match: Match, kind: str, by: Player, *, now: datetime | None = None) -> tuple[Judgement, bool]:
    """The judgement of a match by the present judge, and whether it is new. What is there already costs nobody anything.

    Refused while its cards are closed or where its replays are not kept, TooMany. Needs the match's tournament.
    """
    now = clock.now_or(now)
    kind = JudgementKind(kind).value
    if why := reason_not(match):
        raise why
    with transaction.atomic():
        players.lock(by.pk)
        there = _present(match).filter(kind=kind).first()
        if there is not None:
            return there, False
        quotas.ask(by, quotas.JUDGEMENTS, now=now)
        row, made = Judgement.objects.get_or_create(
            match=match,
            kind=kind,
            judge=JUDGE,
            samples=samples(kind),
            defaults={
                "asked_by": by,
                "place": background.position_of_next(Judgement, by),
                "created": now,
            },
        )
        if made:
            journal.append("judgement.asked", transitions.subject(match), now=now, actor=by.name, how=kind)
    return row, made


def reason_not(match: Match) -> Refused | None:
    """Why a match cannot be judged, None where it can. Needs its tournament."""
    if match.status != MatchStatus.FINISHED:
        return replays.reason_closed(match) or Refused(
            "match {match} counts for nothing, so it is not judged", match=match.public_id
        )
    if closed := replays.reason_closed(match):
        return closed
    if logs.was_let_go(match):
        return Refused(
            "the replays of match {match} are not kept any more, so it cannot be judged", match=match.public_id
        )
    return None


def of_match(match: Match) -> dict[str, Judgement]:
    """The judgements of a match by the present judge, by their kind, without their bodies; none while its cards are closed. One query."""
    if replays.reason_closed(match):
        return {}
    return {row.kind: row for row in _present(match).defer("body")}


def find(match: Match, kind: str) -> Judgement | None:
    """One of them with its body; None where there is none, or the cards are closed. One query."""
    return None if replays.reason_closed(match) else _present(match).filter(kind=kind).first()


def _present(match: Match) -> QuerySet[Judgement]:
    return Judgement.objects.filter(match=match, judge=JUDGE, samples__in=[0, settings.JUDGE_DEALS])
