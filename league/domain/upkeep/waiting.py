"""The jobs that wait for workers, by kind, and why no worker takes them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q
from django.db.models.functions import Coalesce

from league.domain.bots import builds
from league.domain.core import clock
from league.domain.judgements.summing import SEARCH
from league.domain.matches import workers
from league.enums import JobState, MatchKind
from league.models import Job, Match

IDLE = timedelta(minutes=15)  # A job waits no longer while nothing else is played ...
BUSY = timedelta(hours=12)  # ... and no longer beside ladders, which leave a share of the time to every kind.
# Requests about a match wait until everybody sees its cards.
EMBARGOES = [
    f"{request}__match__{end}"
    for request in ("judgement", "consultation")
    for end in ("embargo", "tournament__embargo")
]


@dataclass(frozen=True)
class WaitingJobs:
    """The jobs of a kind that wait; builds by language.

    why: why no worker takes them: "worker" (none runs), "sandbox" (every worker refuses), "language" (none has the compiler), "stale" (for some other
    reason); empty if one will.
    """

    kind: str
    language: str
    count: int
    since: datetime
    why: str


def waiting_jobs(*, now: datetime | None = None) -> list[WaitingJobs]:
    """Return the jobs that may be claimed, by kind. Two queries; another one, or two, if there are any."""
    now = clock.now_or(now)
    due = Job.objects.filter(Q(not_before=None) | Q(not_before__lte=now), state=JobState.QUEUED)
    due = due.exclude(consultation__version__bot__stopped__isnull=False)  # An operator has stopped the bot, and knows.
    for end in EMBARGOES:
        due = due.exclude(**{f"{end}__gt": now})
    counts = due.order_by("kind", "build__language").values_list("kind", "build__language")
    rows = list(counts.annotate(count=Count("pk"), since=Min(Coalesce("not_before", "created"))))
    if not rows:
        return []
    alive = list(workers.living(now))
    ready = [worker for worker in alive if worker.tier]
    built = {name for worker in ready for name in worker.runtimes if name.startswith(workers.BUILDS)}
    began = min((worker.started for worker in ready), default=now)  # After an outage all jobs are old
    patience = _patience() if ready else None

    def why(kind: str, language: str, since: datetime) -> str:
        if not ready:
            return "sandbox" if alive else "worker"
        if kind == builds.JOB and workers.BUILDS + language not in built:
            return "language"
        if patience is None or kind == SEARCH:  # A day that has enough puzzles searches for no more.
            return ""
        return "stale" if now - max(since, began) > patience else ""

    return [
        WaitingJobs(kind, language or "", count, since, why(kind, language or "", since))
        for kind, language, count, since in rows
    ]


def _patience() -> timedelta | None:
    """Return how long a job waits at most for a worker that takes its kind; None if other work may go first for any time."""
    matches = Match.line.filter(status__in=(Match.WAITS, *Match.HELD), held_back=False)
    kinds = set(matches.order_by().values_list("kind", flat=True).distinct())
    if kinds - {MatchKind.LADDER}:
        return None
    return BUSY if kinds or Job.objects.filter(state=JobState.LEASED).exists() else IDLE
