"""The analysis of a match's decisions, in a separate process (engine.judging) that ends as soon as a match is queued.

Results up to that point are stored, together with the CPU time: the limit is on the CPU seconds of all attempts together.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings

import engine
from engine.analysis import USUAL_NODES
from engine.compiled import COMPILED
from engine.judging import Child, Stopped, fingerprint
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.idle import JobLease
from league.domain.jobs.handlers.requests import RequestHandler
from league.domain.judgements import asking, bodies
from league.domain.matches import replays
from league.models import Judgement, Match, Sitting

SLICE_S = 60.0  # After this no further sitting begins, so that audits, which yield to analyses, need not wait longer
MOST_S = 600.0  # An attempt ends after this, with the sitting that it is analysing
MATCH_COLUMNS = ("public_id", "kind", "status", "embargo", "tournament__embargo")
POOL_COLUMNS = ("pool__game", "pool__players", "pool__options")

AnalysisJob = JobLease[Judgement]


@dataclass
class AnalysisTask:
    """A match to analyse, from the point where the last attempt stopped."""

    row: Judgement
    match: Match
    body: bodies.Body
    began: float = field(default_factory=time.monotonic)
    child: Child | None = None

    @property
    def cpu_s(self) -> float:
        """Return the CPU seconds of this attempt and all earlier ones. Calling this ends the process."""
        self.close()
        return self.row.cpu_s + (self.child.cpu_s if self.child else 0.0)

    def close(self) -> None:
        """End the process."""
        if self.child is not None:
            self.child.close()


class AnalysisHandler(RequestHandler[Judgement, AnalysisTask, bool]):
    """The work on an analysis. The result of a run is True if there was time for all decisions."""

    kinds = (asking.JOB,)
    model, key = Judgement, "judgement"
    needs_sandbox = False
    reads = ("match", "kind", "samples", "cpu_s", "body")

    def read(self, job: AnalysisJob, site: Site) -> AnalysisTask:
        """Load the match and the results of earlier attempts."""
        matches = Match.objects.select_related("pool", "tournament").only(*MATCH_COLUMNS, *POOL_COLUMNS)
        return AnalysisTask(job.subject, matches.get(pk=job.subject.match_id), bodies.unpack(bytes(job.subject.body)))

    def run(self, job: AnalysisJob, task: AnalysisTask, site: Site, signals: Signals) -> bool | None:
        """Analyse the remaining sittings. Raise Refused if the match can no longer be analysed."""
        try:
            return self._judge(job, task, signals.stop)
        except Stopped:
            return None if task.cpu_s < settings.JUDGE_CPU_S else False

    def _judge(self, job: AnalysisJob, task: AnalysisTask, stop: Callable[[], bool]) -> bool:
        row, match, body = task.row, task.match, task.body
        if replays.reason_closed(match):  # An embargo was set after the request
            raise Stopped
        # If it were given back, it would be the first in the queue again, for ever
        if reason := asking.reason_not(match):
            raise reason
        cpu_s_left = settings.JUDGE_CPU_S - row.cpu_s
        if cpu_s_left <= 0:
            return False
        game = engine.load(match.pool.game, players=match.pool.players, **match.pool.options)
        body.unit, body.nodes, body.compiled, body.program = str(game.score_unit), USUAL_NODES, COMPILED, fingerprint()
        rows = Sitting.objects.filter(board__match=match).select_related("board")
        sittings = list(rows.order_by("board__number", "number"))
        child = task.child = Child(fair=row.samples or None, cpu_s=cpu_s_left)

        def stops() -> bool:
            return job.lost or time.monotonic() - task.began > MOST_S or stop()

        for number, sitting in enumerate(sittings):
            place = (sitting.board.number, sitting.number)
            job.progress = 100 * number // len(sittings)
            if place in body.sittings:
                continue
            if stops() or time.monotonic() - task.began > SLICE_S:
                raise Stopped
            sitting.board.match = match  # Shared, so that its log is read once
            body.sittings[place], is_whole = child.judge(replays.unpack(sitting), stop=stops)
            if not is_whole:
                return False
        return True

    def close(self, task: AnalysisTask) -> None:
        """End the process."""
        task.close()

    def result(self, job: AnalysisJob, result: bool) -> dict[str, Any]:
        """Return the columns with the results."""
        task: AnalysisTask = job.task
        verdicts = [verdict for sitting in task.body.sittings.values() for verdict in sitting]
        return {
            "cpu_s": task.cpu_s,
            "body": bodies.pack(task.body),
            "decisions": len(verdicts),
            "judged": sum(verdict.lost is not None for verdict in verdicts),
            "limited": not result,
        }

    def progress_kept(self, job: AnalysisJob | None) -> int:
        """Return the percentage of analysed sittings."""
        return job.progress if job else 0

    def unfinished(self, job: AnalysisJob) -> dict[str, Any]:
        """Return the columns that store the results so far."""
        return {"body": bodies.pack(job.task.body), "cpu_s": job.task.cpu_s} if job.task is not None else {}

    def abandoned(self, job: AnalysisJob) -> dict[str, Any]:
        """Return the columns of an analysis that is not tried again: it stores no results."""
        return {"body": b"", **({"cpu_s": job.task.cpu_s} if job.task is not None else {})}
