"""The numbers that an operator watches, from the rows themselves: every web process gives the same answer, and a restart loses none.

Written in the text format of Prometheus (version 0.0.4). All of them are read when they are asked for, so there is nothing that a client
library would have to count between two questions, or to share between the processes of the web server.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min

from league.domain.core import clock
from league.domain.matches import workers
from league.domain.upkeep import invariants
from league.enums import BotState, MatchStatus
from league.models import Bot, LeagueEvent, Match


@dataclass(frozen=True)
class Metric:
    """One name with its values by label."""

    name: str
    what: str
    # by label value; "" for one without a label
    values: Mapping[str, float]
    label: str = ""
    kind: str = "gauge"

    def text(self) -> Iterator[str]:
        """Its lines in the exposition format."""
        yield f"# HELP {self.name} {self.what}"
        yield f"# TYPE {self.name} {self.kind}"
        for value, number in self.values.items():
            where = f'{{{self.label}="{value}"}}' if self.label else ""
            yield f"{self.name}{where} {number:g}" if number < 1e6 else f"{self.name}{where} {number:.3f}"


def collect(*, now: datetime | None = None) -> list[Metric]:
    """All of them. Eight queries, whatever the size."""
    now = clock.given(now)
    queue = workers.queue(now=now)
    statuses = dict.fromkeys(MatchStatus.values, 0)
    statuses |= dict(Match.objects.order_by().values_list("status").annotate(Count("pk")))
    uncounted = Match.objects.filter(status=MatchStatus.FINISHED, rated=True, counted=None)
    waits = uncounted.aggregate(first=Min("finished"))["first"]
    refused = LeagueEvent.objects.filter(kind="match.report_refused").count()
    paused = Bot.objects.filter(state=BotState.PAUSED).exclude(paused_for="").count()
    attempts = Match.objects.filter(attempts__gt=1).count()
    check = invariants.last_result()
    return [
        Metric("tute_matches", "Matches by status.", statuses, "status"),
        Metric("tute_queue_waiting", "Queued matches by why they wait.", dict(queue.waiting), "reason"),
        Metric("tute_queue_oldest_seconds", "How long the oldest match has waited.", {"": _age(queue.oldest, now)}),
        Metric("tute_queue_starved", "1 while matches wait and nobody can play them.", {"": bool(queue.starved)}),
        Metric("tute_workers", "Worker processes.", {"ready": queue.workers, "refusing": queue.refusing}, "state"),
        Metric("tute_ratings_lag_seconds", "Age of the oldest result that does not count yet.", {"": _age(waits, now)}),
        Metric("tute_matches_retried", "Matches that took more than one attempt.", {"": attempts}),
        Metric("tute_reports_refused", "Reports with an overtaken lease.", {"": refused}),
        Metric("tute_bots_paused", "Bots that the league paused for their faults.", {"": paused}),
        Metric(
            "tute_invariant_findings", "Findings of the last check of the invariants; must be 0.", {"": check.count}
        ),
        Metric(
            "tute_invariant_check_age_seconds", "Age of that check; -1 before the first.", {"": _age(check.at, now, -1)}
        ),
    ]


def metrics_page(*, now: datetime | None = None) -> str:
    """The page that Prometheus reads."""
    return "\n".join(line for metric in collect(now=now) for line in metric.text()) + "\n"


def _age(since: datetime | None, now: datetime, never: float = 0) -> float:
    return never if since is None else max(0.0, (now - since).total_seconds())
