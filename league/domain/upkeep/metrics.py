"""Metrics for operators, read from the rows on request, so that every web process gives the same answer and a restart loses nothing.

The page has the text format of Prometheus (version 0.0.4). A client library is not needed, because nothing is counted between requests or shared
between web processes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Case, Count, F, Min, Sum, Value, When

from league.domain.core import clock
from league.domain.matches import workers
from league.domain.upkeep import invariants, schedulers
from league.enums import BotState, MatchKind, MatchStatus
from league.models import Bot, LeagueEvent, Match, Party, PoolSums, Scheduler, Worker

LANES = ("validation", "match", "slow", "ladder", "audit")
# Loops of workers and schedulers.
LOOPS = (
    "pulse",
    "look",
    "ahead",
    "hints",
    "broker",
    "reconcile",
    "ratings",
    "ranks",
    "ladders",
    "calendar",
    "tell",
)
MINUTES = timedelta(minutes=5)
HOUR = timedelta(hours=1)


@dataclass(frozen=True)
class Metric:
    """A metric with its values by label."""

    name: str
    what: str
    # Values by label; "" without a label.
    values: Mapping[str, float]
    label: str = ""
    kind: str = "gauge"

    def text(self) -> Iterator[str]:
        """Yield the lines of the metric in the exposition format."""
        yield f"# HELP {self.name} {self.what}"
        yield f"# TYPE {self.name} {self.kind}"
        for value, number in self.values.items():
            where = f'{{{self.label}="{value}"}}' if self.label else ""
            yield f"{self.name}{where} {number:g}" if number < 1e6 else f"{self.name}{where} {number:.3f}"


def collect(*, now: datetime | None = None) -> list[Metric]:
    """Read all metrics. Sixteen queries, whatever the size of the league."""
    now = clock.now_or(now)
    queue = workers.queue(now=now)
    statuses = dict.fromkeys(MatchStatus.values, 0)
    statuses |= dict(Match.objects.order_by().values_list("status").annotate(Count("pk")))
    uncounted = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, counted=None)
    lag = uncounted.aggregate(first=Min("finished"), boards=Sum("boards_planned"))
    owed = PoolSums.objects.exclude(ranked=F("stamp")).aggregate(first=Min("ranked_until"))["first"]
    refused = LeagueEvent.objects.filter(kind="match.report_refused").count()
    paused = Bot.objects.filter(state=BotState.PAUSED).exclude(paused_for="").count()
    attempts = Match.objects.filter(attempts__gt=1).count()
    check = invariants.last_result()
    waiting = lanes(now)
    lately = Match.objects.filter(finished__gt=now - MINUTES, finished__lte=now, status=MatchStatus.FINISHED)
    pace = lately.aggregate(matches=Count("pk"), boards=Sum("boards_planned"))
    hour = Party.objects.filter(match__finished__gt=now - HOUR, match__finished__lte=now).exclude(fault="")
    faults = dict(hour.order_by().values_list("fault").annotate(Count("pk")))
    voids = Match.objects.filter(finished__gt=now - HOUR, status=MatchStatus.VOID).count()
    minutes = MINUTES.total_seconds() / 60
    processes = [
        *Worker.objects.values_list("errors", "broker", "seen"),
        *Scheduler.objects.values_list("errors", "broker", "seen"),
    ]
    errors = Counter(dict.fromkeys(LOOPS, 0))
    for caught, _, _ in processes:
        errors.update(caught)
    away = sum(bool(broker) and last_report > now - workers.SILENT for _, broker, last_report in processes)
    return [
        Metric("tute_matches", "Matches by status.", statuses, "status"),
        Metric("tute_queue_waiting", "Queued matches by the reason for waiting.", dict(queue.waiting), "reason"),
        Metric("tute_queue_oldest_seconds", "How long the oldest match has waited.", {"": _age(queue.oldest, now)}),
        Metric("tute_queue_starved", "1 while matches wait and nobody can play them.", {"": bool(queue.starved)}),
        Metric("tute_workers", "Worker processes.", {"ready": queue.workers, "refusing": queue.refusing}, "state"),
        Metric(
            "tute_worker_disk_free_bytes",
            "Free space on the fullest disk of a worker; -1 if unknown.",
            {"": -1 if queue.least_free_mb is None else queue.least_free_mb << 20},
        ),
        Metric(
            "tute_lane_waiting", "Queued matches by lane.", {name: lane.count for name, lane in waiting.items()}, "lane"
        ),
        Metric(
            "tute_lane_oldest_seconds",
            "How long the oldest match of a lane has waited.",
            {name: _age(lane.since, now) for name, lane in waiting.items()},
            "lane",
        ),
        Metric(
            "tute_matches_per_minute",
            "Matches finished per minute, over five minutes.",
            {"": pace["matches"] / minutes},
        ),
        Metric(
            "tute_boards_per_minute",
            "Boards of the matches finished per minute, over five minutes.",
            {"": (pace["boards"] or 0) / minutes},
        ),
        Metric("tute_faults_last_hour", "Parties with a fault in matches of the last hour, by fault.", faults, "fault"),
        Metric("tute_voids_last_hour", "Matches that became void in the last hour.", {"": voids}),
        Metric(
            "tute_ratings_lag_seconds",
            "Age of the oldest result that does not count yet.",
            {"": _age(lag["first"], now)},
        ),
        Metric(
            "tute_ratings_rank_lag_seconds",
            "How far margins and ranks of a large pool lag behind the counted results; 0 if they are current.",
            {"": _age(owed, now)},
        ),
        Metric("tute_ratings_lag_boards", "Boards of results that do not count yet.", {"": lag["boards"] or 0}),
        Metric(
            "tute_scheduler_age_seconds",
            "Time since a scheduler last reconciled the queue; -1 if none has.",
            {"": _age(schedulers.last_round(), now, -1)},
        ),
        Metric(
            "tute_loop_errors_total",
            "Errors caught by the loops of workers and schedulers since their start.",
            errors,
            "loop",
            "counter",
        ),
        Metric(
            "tute_broker_away",
            "Workers and schedulers without hints from the broker; they find their work without.",
            {"": away},
        ),
        Metric("tute_matches_retried", "Matches that took more than one attempt.", {"": attempts}),
        Metric("tute_reports_refused", "Reports refused because the lease was overtaken.", {"": refused}),
        Metric("tute_bots_paused", "Bots that the league paused for their faults.", {"": paused}),
        Metric(
            "tute_invariant_findings", "Findings of the last check of the invariants; must be 0.", {"": check.count}
        ),
        Metric(
            "tute_invariant_check_age_seconds", "Age of that check; -1 before the first.", {"": _age(check.at, now, -1)}
        ),
    ]


@dataclass(frozen=True)
class WaitingWork:
    """The queued matches of a lane that may be claimed: their number, when the oldest was created, and the id of the first one."""

    count: int = 0
    since: datetime | None = None
    first: int | None = None


def lanes(now: datetime) -> dict[str, WaitingWork]:
    """Return the waiting matches of each lane. One query."""
    lane = Case(
        When(kind=MatchKind.AUDIT, then=Value("audit")),
        When(
            kind=MatchKind.LADDER, then=Value("ladder")
        ),  # They use idle time, so they may wait as long as an event lasts.
        When(slow=True, then=Value("slow")),
        When(kind__in=[MatchKind.VALIDATION, MatchKind.TRY], then=Value("validation")),
        default=Value("match"),
    )
    queued = Match.work.filter(status=MatchStatus.QUEUED).exclude(not_before__gt=now).annotate(lane=lane)
    rows = queued.order_by().values_list("lane").annotate(Count("pk"), Min("created"), Min("pk"))
    return dict.fromkeys(LANES, WaitingWork()) | {name: WaitingWork(*row) for name, *row in rows}


def metrics_page(*, now: datetime | None = None) -> str:
    """Return the page for Prometheus."""
    return "\n".join(line for metric in collect(now=now) for line in metric.text()) + "\n"


def _age(since: datetime | None, now: datetime, never: float = 0) -> float:
    return never if since is None else max(0.0, (now - since).total_seconds())
