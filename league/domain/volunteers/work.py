"""The work of a volunteer: jobs about finished public matches, their leases and results.

A volunteer leases a job as a worker does, with a fencing token, but through the web process. A reported result counts for nothing yet: it
waits beside its job, which is queued again. It counts when a repetition by a worker of the league agrees (`checks`). A worker does the job again
after HOLD, or at once if it is drawn.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

import engine
from engine.analysis import USUAL_NODES, Move, decisions
from engine.compiled import COMPILED, described
from engine.errors import EngineError
from engine.judging import DecisionVerdict, fields, fingerprint
from engine.replay import parse
from league.domain.core import clock, queue
from league.domain.core.errors import Refused
from league.domain.core.queue import LeaseLost
from league.domain.jobs.handlers.analysis import POOL_COLUMNS, AnalysisHandler, AnalysisJob
from league.domain.jobs.handlers.puzzles import MATCH_COLUMNS, is_open
from league.domain.judgements import bodies
from league.domain.matches import replays
from league.domain.people import ownership
from league.enums import JobState, JudgementKind, MatchKind
from league.models import Job, Judgement, Match, Sitting, Volunteer, VolunteerTask

FIRST = timedelta(minutes=1)  # The league's own workers have this long to begin with what a player asks for.
HOLD = timedelta(minutes=10)  # A result without confirmation waits this long; then a worker does the job.
MOST_WORKING = 16  # The most unreported tasks of a key, those of dead programs included.
MOST_HELD = 64  # The most results of a key that wait for confirmation.
MOST_LOOKED = 5  # The most unsuitable jobs that one request passes over.
MOST_BYTES = 1 << 20  # The most bytes of the records of a task.
MOST_RESULT = 2 << 20  # The most bytes of a result.
MOST_POINTS = 1e6
PROVED = 5  # Every result of a key is repeated until this many agreed.
KINDS = (MatchKind.TOURNAMENT, MatchKind.CHALLENGE, MatchKind.LADDER, MatchKind.REMOTE)
RECORD = ("format", "game", "revision", "options", "players", "deals", "suits", "seed", "actions")
_DRAW = random.SystemRandom()


class VolunteerAnalysis(AnalysisHandler):
    """The analyses that one volunteer may do."""

    counts_attempts = False

    def __init__(self, volunteer: Volunteer) -> None:
        self.volunteer = volunteer
        self.worker = f"volunteer:{volunteer.pk}"

    def waiting(self, now: datetime) -> QuerySet[Job]:
        """Return the jobs that no worker and no volunteer has begun, about public matches without a bot of this person or their teams."""
        rows = super().waiting(now).filter(judgement__cpu_s=0, judgement__match__kind__in=KINDS)
        # Analyses that the league itself requests are evidence in a case.
        rows = rows.exclude(judgement__kind=JudgementKind.FAIR, judgement__asked_by=None)
        rows = rows.filter(Q(owner=None) | Q(created__lte=now - FIRST), judgement__match__tournament__opens=None)
        own = ownership.bots_of_people([self.volunteer.token.player_id], now=now)
        taken = VolunteerTask.objects.filter(kind=self.kind)
        return rows.exclude(judgement__in=taken.values("judgement")).exclude(
            judgement__match__parties__version__bot__in=own
        )

    def hold(self, job: AnalysisJob, *, now: datetime, not_before: datetime | None = None) -> None:
        """Queue the job again without counting an attempt."""
        self._release(job, now=now, not_before=not_before)


def require_same_program(digest: str) -> None:
    """Raise Refused if the program of a volunteer would not compute exactly what the league's workers do."""
    if digest != fingerprint():
        raise Refused(
            "this league judges with tute {version}, rules: {rules} (fingerprint {digest}); yours is another program. Install "
            "that version, and run make fast if its rules are compiled (docs/volunteers.md)",
            version=engine.__version__,
            rules=described(),
            digest=fingerprint(),
        )


def claim(volunteer: Volunteer, *, now: datetime | None = None) -> dict[str, Any] | None:
    """Lease the next task. Return it as JSON: the records and how to judge them. Return None if there is none or the key has too many open ones."""
    now = clock.now_or(now)
    for _ in range(MOST_LOOKED):
        job, task = _lease(volunteer, now)
        if job is None:
            return None
        if records := _records(job.subject):
            judge = {"fair": job.subject.samples or None, "nodes": USUAL_NODES, "cpu_s": settings.JUDGE_CPU_S}
            return {"task": task, "token": job.row.token, "records": records, **judge}
        VolunteerAnalysis(volunteer).hold(job, now=now)
    return None


def _lease(volunteer: Volunteer, now: datetime) -> tuple[AnalysisJob | None, int]:
    """Lease the next job, and note the task. Return both; None and 0 if there is none or the key has too many open ones."""
    handler = VolunteerAnalysis(volunteer)
    with transaction.atomic():
        Volunteer.objects.select_for_update().get(pk=volunteer.pk)  # Two requests at once count as one after the other.
        reports = list(volunteer.tasks.values_list("reported", flat=True)[: MOST_WORKING + MOST_HELD])
        if reports.count(None) >= MOST_WORKING or len(reports) - reports.count(None) >= MOST_HELD:
            return None, 0
        job = handler.lease(handler.worker, lambda: False, now=now)
        if job is None:
            return None, 0
        return job, volunteer.tasks.create(judgement=job.subject, kind=job.kind, created=now).pk


def _sittings(judgement: Judgement) -> QuerySet[Sitting]:
    rows = Sitting.objects.filter(board__match=judgement.match_id).select_related("board")
    return rows.order_by("board__number", "number")


def _records(judgement: Judgement) -> list[dict[str, Any]]:
    """Return the records of a match, with nothing but what judging needs; [] if it is not public, damaged, or too large."""
    match = Match.objects.select_related("tournament").only(*MATCH_COLUMNS).get(pk=judgement.match_id)
    if not is_open(match):
        return []
    records, size = [], 0
    for sitting in _sittings(judgement):
        sitting.board.match = match  # Shared, so that its log is read once
        try:
            full = replays.unpack(sitting)
        except Refused:
            return []
        records.append({name: full[name] for name in RECORD} | {"events": []})
        size += len(str(records[-1]))
        if size > MOST_BYTES:
            return []
    return records


def beat(volunteer: Volunteer, task: int, token: int, progress: int, *, now: datetime | None = None) -> bool:
    """Renew the lease of a task. Return False if it is lost."""
    job = _leased(volunteer, task, token)
    return job is not None and queue.beat(job.row, now=clock.now_or(now), progress=progress)


def drop(volunteer: Volunteer, task: int, token: int, *, now: datetime | None = None) -> None:
    """Give a task back; a worker of the league will do it. Do nothing if the lease is lost."""
    if job := _leased(volunteer, task, token):
        VolunteerAnalysis(volunteer).hold(job, now=clock.now_or(now))


def report(
    volunteer: Volunteer, task: int, token: int, sittings: Sequence[Any], *, now: datetime | None = None
) -> bool:
    """Store a result, and draw whether it is repeated now. Return False if the lease is lost.

    Raise Refused if it is no result of this task; then the task is given back.
    """
    now = clock.now_or(now)
    job = _leased(volunteer, task, token)
    if job is None:
        return False
    try:
        body = _body(job.subject, sittings)
    except Refused:  # Otherwise the league would read the same match again for each wrong result.
        drop(volunteer, task, token, now=now)
        raise
    try:
        with transaction.atomic():
            queue.lock(job.row)
            VolunteerTask.objects.filter(pk=task).update(reported=now, body=bodies.pack(body))
            is_drawn = volunteer.agreed < PROVED or _DRAW.random() * 100 < settings.VOLUNTEER_CHECKS
            VolunteerAnalysis(volunteer).hold(job, now=now, not_before=None if is_drawn else now + HOLD)
    except LeaseLost:
        return False
    return True


def _leased(volunteer: Volunteer, task: int, token: int) -> AnalysisJob | None:
    """Return a task's job if the volunteer still has its lease."""
    row = volunteer.tasks.filter(pk=task, reported=None).first()
    handler = VolunteerAnalysis(volunteer)
    jobs = Job.objects.filter(kind=handler.kind, state=JobState.LEASED, token=token, worker=handler.worker)
    job = jobs.filter(judgement=row.judgement_id).first() if row else None
    return AnalysisJob(job, handler.subject(job), job.created) if job else None


def _body(judgement: Judgement, sittings: Sequence[Any]) -> bodies.Body:
    """Build an analysis from the verdicts that a volunteer reports for each sitting. Raise Refused if they do not fit the decisions."""
    matches = Match.objects.select_related("tournament", "pool").only(*MATCH_COLUMNS, *POOL_COLUMNS)
    match = matches.get(pk=judgement.match_id)
    game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
    body = bodies.Body(str(game.score_unit), USUAL_NODES, COMPILED, program=fingerprint())
    try:
        for sitting, rows in zip(_sittings(judgement), sittings, strict=True):
            sitting.board.match = match
            body.sittings[sitting.board.number, sitting.number] = _verdicts(replays.unpack(sitting), rows)
    except (TypeError, ValueError, KeyError, AttributeError, OverflowError, EngineError) as error:
        raise Refused("the result does not fit this task: {why}", why=str(error)[:200]) from None
    return body


def _verdicts(record: dict[str, Any], rows: Sequence[Any]) -> list[DecisionVerdict]:
    """Put reported verdicts beside the decisions of a sitting. Raise an error if one fits no decision."""
    reported = {step: rest for step, *rest in rows}
    verdicts = []
    for decision in decisions(record):
        verdict = DecisionVerdict(*fields(decision))
        verdicts.append(verdict)
        if decision.step not in reported:
            continue
        lost, best, par, worth, error, line = reported.pop(decision.step)
        if not all(type(value) in (int, float) and abs(value) < MOST_POINTS for value in (lost, par, worth, error)):
            raise ValueError("a loss is no number of points")
        if len(best) > len(decision.state.legal_actions()):
            raise ValueError("an action is named twice")
        for text in best:
            parse(decision.state, decision.step, text)
        state = decision.state.clone() if line else decision.state
        for seat, text in line:
            if seat != state.turn:
                raise ValueError("a line of play is not legal")
            state.apply(parse(state, decision.step, text))
        verdict.lost, verdict.best, verdict.par = lost, tuple(best), par
        verdict.worth, verdict.error, verdict.line = worth, error, tuple(Move(*move) for move in line)
    if reported:
        raise ValueError("a verdict fits no decision")
    return verdicts
