"""The checks of volunteers' results, by the scheduler.

Whenever a worker of the league has done a job that a volunteer has done as well, the two are compared, value by value: judging is the same on every
machine. If they agree, the volunteer's earlier results count. If they differ, the key is shut out, and its unconfirmed results are thrown away.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.jobs.handlers.analysis import AnalysisHandler, AnalysisTask
from league.domain.judgements import bodies
from league.domain.matches.reports import Receipt
from league.domain.notices import notifying
from league.domain.people import rights, tokens
from league.enums import JobState, JudgementStatus, MatchStatus, Right
from league.models import Job, Judgement, Match, Volunteer, VolunteerTask

BY = "volunteers"
MOST = 50  # Checks of one pass, and results that one check confirms.
OVER = (JudgementStatus.DONE, JudgementStatus.FAILED)


class ConfirmedAnalysis(AnalysisHandler):
    """The analysis of one confirmed result, which is stored like that of a worker."""

    def __init__(self, judgement: int) -> None:
        self.judgement = judgement

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the job, unless a worker has it."""
        rows = Job.objects.filter(kind=self.kind, state=JobState.QUEUED, judgement=self.judgement)
        return rows.filter(judgement__status=JudgementStatus.ASKED, judgement__match__status=MatchStatus.FINISHED)


def settle(*, now: datetime | None = None) -> int:
    """Compare results that both a volunteer and a worker have; return the number of those that count now. One query without any. Repeatable."""
    now = clock.now_or(now)
    rows = VolunteerTask.objects.filter(judgement__status__in=OVER).order_by("reported", "pk")
    return sum(_check(pk, now) for pk in rows.values_list("pk", flat=True)[:MOST])


def _check(pk: int, now: datetime) -> int:
    with transaction.atomic():
        rows = VolunteerTask.objects.select_for_update(of=("self",)).select_related(
            "judgement", "volunteer__token__player"
        )
        row = rows.filter(pk=pk).first()
        if row is None:
            return 0
        row.delete()
        if row.reported is None or row.judgement.status != JudgementStatus.DONE:
            return 0
        evidence = _difference(row)
        if evidence:
            _shut_out(row.volunteer, evidence, now)
        if evidence != "":
            return 0
        Volunteer.objects.filter(pk=row.volunteer_id).update(agreed=F("agreed") + 1)
    earlier = row.volunteer.tasks.filter(reported__lte=row.reported).order_by("reported", "pk")
    return sum(_accept(task, now) for task in earlier[:MOST])


def _difference(row: VolunteerTask) -> str | None:
    """Compare a volunteer's result with the worker's. Return the first difference, for an operator; "" if they agree; None if that proves nothing."""
    judgement = row.judgement
    try:
        league, volunteer = (bodies.unpack(bytes(result)) for result in (judgement.body, row.body))
    except Refused:  # The stored analysis is damaged.
        return None
    places = sorted(league.sittings)
    if judgement.limited:
        places.pop()  # The time ran out in this one.
    if not places or league.program != volunteer.program:  # Another one after an upgrade, or with compiled rules.
        return None
    for board, sitting in places:
        ours, theirs = league.sittings[board, sitting], volunteer.sittings.get((board, sitting), [])
        if ours != theirs:
            pairs = zip(ours, theirs, strict=False)
            first = next((pair for pair in pairs if pair[0] != pair[1]), (len(ours), len(theirs)))
            match = Match.objects.values_list("public_id", flat=True).get(pk=judgement.match_id)
            where = f"match {match}, {judgement.kind}, board {board}, sitting {sitting}"
            return f"{where}\nleague: {first[0]}\nvolunteer: {first[1]}"[:2000]
    return ""


def _accept(task: VolunteerTask, now: datetime) -> int:
    """Store a confirmed result and finish its job, unless a worker is doing the job now. Return 1 if the result counts."""
    handler = ConfirmedAnalysis(task.judgement_id)
    with transaction.atomic():
        job = handler.lease(BY, lambda: False, now=now)
        if job is None:
            return 0
        match = Match.objects.only("pk").get(pk=job.subject.match_id)
        job.task = AnalysisTask(job.subject, match, bodies.unpack(bytes(task.body)))
        if handler.report(job, True, now=now) != Receipt.STORED:  # Somebody has just withdrawn the analysis.
            transaction.set_rollback(True)
            return 0
        Judgement.objects.filter(pk=task.judgement_id).update(by_volunteer=True)
        task.delete()
        Volunteer.objects.filter(pk=task.volunteer_id).update(accepted=F("accepted") + 1)
    return 1


def _shut_out(volunteer: Volunteer, evidence: str, now: datetime) -> None:
    """Revoke a key, drop its unconfirmed results, and let workers do those jobs at once."""
    Volunteer.objects.filter(pk=volunteer.pk).update(shut_out=now, evidence=evidence)
    tokens.revoke(volunteer.token, now=now, actor=BY)
    rows = volunteer.tasks.filter(reported__isnull=False)
    Job.objects.filter(judgement__in=rows.values("judgement"), state=JobState.QUEUED).update(not_before=None)
    volunteer.tasks.all().delete()
    subject = f"player:{volunteer.token.player.name}"
    journal.append("volunteer.shut_out", subject, now=now, actor=BY, prefix=volunteer.token.prefix, evidence=evidence)
    key, player = f"tute_{volunteer.token.prefix}…", volunteer.token.player
    hearers = rights.holders(Right.AUDIT)
    notifying.notify(
        hearers, "volunteer_out", f"volunteer:{volunteer.pk}", now=now, actor=player, key=key, player=player.name
    )
