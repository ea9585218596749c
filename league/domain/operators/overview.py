"""The overview for an operator at night: what is stuck, what fails and what grows, the most urgent first, each with what to do.

Every number comes from an index, from the rows of running processes, or from a fixed number of the latest rows; sizes of tables are the database's
own estimates. So the overview costs the same with 100 matches and with 100,000.
"""

from __future__ import annotations

import shutil
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import Enum, IntEnum
from typing import Any

from django.apps import apps
from django.conf import settings
from django.db import connection
from django.db.models import Count, Min, Q, Subquery, Value
from django.utils.translation import gettext_noop

from league.domain.core import clock
from league.domain.matches import workers
from league.domain.notices import letters
from league.domain.upkeep import invariants, metrics
from league.enums import BotState, ConsultationStatus, JobState, JudgementStatus, MatchStatus
from league.models import Bot, Consultation, Job, Judgement, LeagueEvent, Match, Party, Scheduler, Worker
from league.models.workers import Process
from league.pure.refusal import Message

DAY = timedelta(days=1)
LATEST = 500  # The finished matches in which faults are counted.
LINES = 5_000  # The latest lines of the journal in which stalled tournaments and refused reports are counted.
EXAMPLES = 4  # The most subjects that one sign names.
TABLES = 8  # The largest tables.
GRACE = timedelta(seconds=60)  # A lease that ended this long ago should have been taken back.
SCHEDULER_SILENT = timedelta(minutes=2)
CHECK_AGE = timedelta(hours=2)
MANY_ERRORS = 10  # A database that restarts costs each loop one.
MANY_FAULTS = 20  # Percent of seats in the latest matches.
FULL_MB, LOW_MB = 1_000, 5_000
SLOW_DRAIN = timedelta(hours=6)
# How long the oldest match of a kind may wait until somebody should look, as in docker/monitoring/alerts.yml.
PATIENCE = {"validation": timedelta(minutes=5), "match": timedelta(hours=1), "slow": timedelta(hours=3)}


class Urgency(IntEnum):
    """The urgency of a sign: act now, act soon, or do nothing."""

    NOW = 0
    SOON = 1
    NONE = 2


class Guide(Enum):
    """A page that shows how to do what no button does."""

    WORKERS = "workers"
    SANDBOX = "sandbox"
    SCHEDULER = "scheduler"
    QUEUE = "queue"
    MAIL = "mail"
    REPAIR = "repair"
    DISKS = "disks"
    TROUBLE = "trouble"
    JOURNAL = "journal"


@dataclass(frozen=True)
class Symptom:
    """An observation, and what to do about it. `subjects`: examples, to which `action` applies if there is one; `guide`: the page that shows how."""

    urgency: Urgency
    what: Message
    do: Message | None = None
    subjects: tuple[str, ...] = ()
    action: str = ""
    guide: Guide | None = None


@dataclass(frozen=True)
class TableSize:
    """A table with its estimated rows, and its bytes with indexes; None if the database does not know."""

    name: str
    rows: int
    bytes: int | None


@dataclass(frozen=True)
class Overview:
    """The signs of trouble, and what grows. `calm` are the sentences about what is in order."""

    stuck: list[Symptom]
    failing: list[Symptom]
    growing: list[Symptom]
    calm: list[Symptom]
    tables: list[TableSize]
    database_bytes: int

    @property
    def urgent(self) -> int:
        """Return the number of signs that cannot wait until the morning."""
        return sum(sign.urgency is Urgency.NOW for sign in (*self.stuck, *self.failing, *self.growing))


def overview(*, now: datetime | None = None) -> Overview:
    """Read everything that an operator should know. At most 18 queries, whatever the size of the league."""
    now = clock.now_or(now)
    running = list(Worker.objects.filter(seen__gt=now - DAY).order_by("name"))
    queue = workers.queue(now=now, rows=running)
    tables, size = table_sizes()
    jobs = _count_jobs(now)
    finished = list(
        Match.objects.filter(status=MatchStatus.FINISHED)
        .order_by("-finished", "-id")
        .values_list("pk", "public_id", "attempts", "finished", named=True)[:LATEST]
    )
    rounds = list(Scheduler.objects.order_by("-seen")[:EXAMPLES])
    processes: list[Process] = [row for row in (*running, *rounds) if row.seen > now - DAY]
    stuck = [
        *_workers(queue, running, now),
        *_scheduler(rounds, now),
        *_oldest(jobs, now),
        *_leases(jobs, now),
        *_paused_work(now),
        *_mail(now),
    ]
    failing = [
        *_checks(now),
        *_voids(now),
        *_latest_faults(finished),
        *_journal(),
        *_failed_work(now),
        *_loops(processes),
        *_bots(),
    ]
    growing = [*_backlog(queue, finished, now), *_disk(queue)]
    every = [*stuck, *failing, *growing]
    return Overview(
        _troubles(stuck),
        _troubles(failing),
        _troubles(growing),
        [sign for sign in every if sign.urgency is Urgency.NONE],
        tables,
        size,
    )


def _troubles(signs: list[Symptom]) -> list[Symptom]:
    return sorted((sign for sign in signs if sign.urgency is not Urgency.NONE), key=lambda sign: sign.urgency)


# ---- what is stuck


def _workers(queue: workers.Queue, rows: list[Worker], now: datetime) -> Iterator[Symptom]:
    lost = [row.name for row in rows if workers.is_silent(row, now)]
    refusing = {row.name: row.refusal for row in rows if row.refusal and row.name not in lost}
    away = next((row.broker for row in rows if row.broker and row.name not in lost), "")
    if not queue.workers and not refusing:
        yield Symptom(
            Urgency.NOW if queue.queued else Urgency.SOON,
            Message("No worker is running."),
            Message("Start one: manage.py worker, or docker compose up --detach worker."),
            guide=Guide.WORKERS,
        )
    if refusing:
        name, why = next(iter(refusing.items()))
        yield Symptom(
            Urgency.SOON if queue.workers else Urgency.NOW,
            Message(
                "Workers that refuse to play: {count}. {name} says: {why}", count=len(refusing), name=name, why=why
            ),
            Message("Run tute sandbox check on that machine, or make room if its disk is full."),
            guide=Guide.SANDBOX,
        )
    if lost and queue.workers:
        yield Symptom(
            Urgency.SOON,
            Message(
                "Workers that stopped reporting: {count} ({names}).", count=len(lost), names=", ".join(lost[:EXAMPLES])
            ),
            Message("Their matches are played again. Read the end of their logs; start new ones if too few are left."),
            guide=Guide.WORKERS,
        )
    if away:
        yield Symptom(
            Urgency.SOON,
            Message("A worker gets no hints from the broker: {why}", why=away),
            Message("Bring Redis back. Until then workers look for work every few seconds."),
            guide=Guide.TROUBLE,
        )
    if queue.workers and not refusing and not lost:
        yield Symptom(Urgency.NONE, Message("Workers ready: {count}.", count=queue.workers))


def _scheduler(rows: list[Scheduler], now: datetime) -> Iterator[Symptom]:
    last = rows[0].seen if rows else None
    do = Message("Start or restart the scheduler: manage.py scheduler. Matches go on, but nothing is counted or drawn.")
    if last is None:
        yield Symptom(Urgency.NOW, Message("No scheduler has ever run."), do, guide=Guide.SCHEDULER)
    elif now - last > SCHEDULER_SILENT:
        yield Symptom(
            Urgency.NOW,
            Message("The scheduler took its last step {ago} ago.", ago=length(now - last)),
            do,
            guide=Guide.SCHEDULER,
        )
    else:
        yield Symptom(Urgency.NONE, Message("The scheduler took its last step {ago} ago.", ago=length(now - last)))


@dataclass(frozen=True)
class JobCount:
    """The jobs of a kind: how many wait, since when, and how many leases ended a while ago."""

    kind: str
    waiting: int
    since: datetime | None
    late: int


def _count_jobs(now: datetime) -> list[JobCount]:
    """Count the jobs of each kind. One query over all jobs, which are deleted when they are over."""
    waits = Q(state=JobState.QUEUED)
    late = Q(state=JobState.LEASED, lease_until__lt=now - GRACE)
    counts = {
        "waiting": Count("pk", filter=waits),
        "since": Min("created", filter=waits),
        "late": Count("pk", filter=late),
    }
    rows = Job.objects.order_by("kind").values("kind").annotate(**counts)
    return [JobCount(*row) for row in rows.values_list("kind", *counts)]


def _oldest(jobs: Sequence[JobCount], now: datetime) -> Iterator[Symptom]:
    """Report the oldest waiting match of each kind, and of each kind of other work. Two queries."""
    lanes = metrics.lanes(now)
    names = dict(
        Match.work.filter(pk__in=[lane.first for lane in lanes.values() if lane.first]).values_list("pk", "public_id")
    )
    for name, lane in lanes.items():
        if lane.since is None:
            continue
        is_late = name in PATIENCE and now - lane.since > PATIENCE[name]
        yield Symptom(
            Urgency.NOW if is_late and name == "validation" else Urgency.SOON if is_late else Urgency.NONE,
            Message(
                "Waiting, {kind}: {count}; the oldest for {age}.",
                kind=LANES[name],
                count=lane.count,
                age=length(now - lane.since),
            ),
            Message("Start more workers, or look at the status page for the matches that occupy them.")
            if is_late
            else None,
            (f"match:{names[lane.first]}",) if is_late and lane.first in names and name != "validation" else (),
            guide=Guide.QUEUE,
        )
    for job in jobs:
        if job.since is None:
            continue
        is_late = job.kind == "table" and now - job.since > timedelta(minutes=1)
        yield Symptom(
            Urgency.NOW if is_late else Urgency.NONE,
            Message(
                "Waiting, jobs of kind {kind}: {count}; the oldest for {age}.",
                kind=job.kind,
                count=job.waiting,
                age=length(now - job.since),
            ),
            Message("People wait at tables. Start more workers, or raise TABLES_PER_WORKER.") if is_late else None,
            guide=Guide.WORKERS,
        )


LANES = {
    "validation": Message("uploads and tries"),
    "match": Message("matches"),
    "slow": Message("slow matches"),
    "ladder": Message("ladder matches"),
    "audit": Message("audits"),
}


def _leases(jobs: Sequence[JobCount], now: datetime) -> Iterator[Symptom]:
    """Report leases that ended a while ago, of matches and of jobs. One query."""
    late = Match.objects.filter(status__in=Match.HELD, lease_until__lt=now - GRACE).order_by("lease_until")
    names = list(late.values_list("public_id", flat=True)[:EXAMPLES])
    late_jobs = sum(job.late for job in jobs)
    if names:
        yield Symptom(
            Urgency.NOW,
            Message("A worker is past its deadline, and nobody took the match back."),
            Message(
                "Check that a scheduler runs; it takes matches back by itself. Try again now does it for one match."
            ),
            tuple(f"match:{name}" for name in names),
            "retry",
        )
    if late_jobs:
        yield Symptom(
            Urgency.NOW,
            Message("Jobs past their deadline: {count}.", count=late_jobs),
            Message("Check that a scheduler runs; manage.py reconcile takes them back."),
            guide=Guide.SCHEDULER,
        )
    if not names and not late_jobs:
        yield Symptom(Urgency.NONE, Message("No lease is past its deadline."))


def _paused_work(now: datetime) -> Iterator[Symptom]:
    """Report matches, and jobs, that pause after a failed attempt. Two queries."""
    matches = Match.objects.filter(status=MatchStatus.QUEUED, not_before__gt=now).order_by("-not_before")
    jobs = Job.objects.filter(state="queued", attempts__gt=0, not_before__gt=now).order_by("-not_before")
    for sentence, kind, rows in (
        (
            gettext_noop("Matches pause after a failed attempt, the longest for another {age}: {reason}"),
            "match",
            matches.values_list("public_id", "reason", "not_before"),
        ),
        (
            gettext_noop("Jobs pause after a failed attempt, the longest for another {age}: {reason}"),
            "job",
            jobs.values_list("pk", "reason", "not_before"),
        ),
    ):
        paused = list(rows[:EXAMPLES])
        if paused:
            _, reason, until = paused[0]
            yield Symptom(
                Urgency.SOON,
                Message(sentence, age=length(until - now if until else timedelta()), reason=reason),
                Message("They are tried again by themselves. If the reason is mended, try again now."),
                tuple(f"{kind}:{row[0]}" for row in paused),
                "retry",
            )


def _mail(now: datetime) -> Iterator[Symptom]:
    """Report mail that could not be sent: digests and letters at once. One query; `_journal` counts letters with a link."""
    if not settings.MAIL:
        yield Symptom(Urgency.NONE, Message("No mail server is set, so no mail is sent."))
        return
    late = list(letters.late(now).values_list("name", flat=True)[:EXAMPLES])
    if late:
        yield Symptom(
            Urgency.SOON,
            Message("Mail could not be sent."),
            Message(
                "Check the mail server and MAIL_URL; the scheduler's log has its answer. The pause between attempts doubles."
            ),
            tuple(f"player:{name}" for name in late),
            "retry",
            Guide.MAIL,
        )
    else:
        yield Symptom(Urgency.NONE, Message("No mail waits for the mail server."))


# ---- what fails


def _checks(now: datetime) -> Iterator[Symptom]:
    check = invariants.last_result()
    for finding in check.findings[:EXAMPLES]:
        yield Symptom(
            Urgency.NOW,
            Message("{why}", why=f"{finding.subject}: {finding.what}"),
            Message("{why}", why=finding.do),
            guide=Guide.REPAIR,
        )
    if check.count > EXAMPLES:
        yield Symptom(
            Urgency.NOW,
            Message("Findings of the last check: {count}.", count=check.count),
            Message("manage.py check_invariants lists all."),
            guide=Guide.REPAIR,
        )
    if check.at is None or now - check.at > CHECK_AGE:
        yield Symptom(
            Urgency.SOON,
            Message("The tables have not been checked for two hours."),
            Message("The scheduler checks them every hour. Check that it runs, or run manage.py check_invariants."),
            guide=Guide.SCHEDULER,
        )
    elif not check.count:
        yield Symptom(
            Urgency.NONE, Message("The tables agree; the last check was {ago} ago.", ago=length(now - check.at))
        )


def _voids(now: datetime) -> Iterator[Symptom]:
    """Report the matches that became void in the last day, by reason. One query, by the index of void matches."""
    rows = Match.objects.filter(status=MatchStatus.VOID, finished__gt=now - DAY).order_by("-finished")
    void = [(name, _kind_of(reason)) for name, reason in rows.values_list("public_id", "reason")[:LATEST]]
    for reason, count in Counter(reason for _, reason in void).most_common(EXAMPLES):
        names = [name for name, its_reason in void if its_reason == reason]
        yield Symptom(
            Urgency.SOON,
            Message("Void in the last day: {count}. {reason}", count=count, reason=reason),
            Message(
                "No bot pays for it. Mend the cause. Tournament matches are tried again after longer and longer pauses; Play again tries at once."
            ),
            tuple(f"match:{name}" for name in names[:EXAMPLES]),
            "rerun",
        )
    if not void:
        yield Symptom(Urgency.NONE, Message("No match became void in the last day."))


def _kind_of(reason: str) -> str:
    """Return a reason without its numbers, so that equal faults are counted together."""
    words = reason.rpartition("; the last one failed: ")[2].split()
    return " ".join("#" if any(map(str.isdigit, word)) else word for word in words)[:160]


def _latest_faults(rows: Sequence[Any]) -> Iterator[Symptom]:
    """Report retried matches and faults of bots among the latest finished matches. One query."""
    if not rows:
        return
    retried = [row.public_id for row in rows if row.attempts > 1]
    seats = Party.objects.filter(match__in=[row.pk for row in rows]).order_by()
    faults = Counter(dict(seats.values_list("fault").annotate(Count("pk"))))
    total, bad = faults.total(), faults.total() - faults.pop("", 0)
    if retried:
        yield Symptom(
            Urgency.SOON if len(retried) * 20 > len(rows) else Urgency.NONE,
            Message(
                "{count} of the latest {all} matches needed more than one attempt.", count=len(retried), all=len(rows)
            ),
            Message("The log of a worker names each match and what broke off."),
            tuple(f"match:{name}" for name in retried[:EXAMPLES]),
            guide=Guide.TROUBLE,
        )
    kinds = ", ".join(f"{kind} {count}" for kind, count in faults.most_common())
    is_much = bad * 100 > total * MANY_FAULTS
    yield Symptom(
        Urgency.SOON if is_much else Urgency.NONE,
        Message("Faults of bots in the latest {all} matches: {kinds}.", all=len(rows), kinds=kinds or Message("none")),
        Message("If bots lose by timeout that never did before, the host is overloaded: run fewer workers.")
        if is_much
        else None,
        guide=Guide.WORKERS,
    )


NEWS = {
    "match.report_refused": Message("reports that came too late"),
    "match.given_up": Message("matches that a worker gave up"),
    "tournament.stalled": Message("tournaments that wait for a void match"),
    "worker.refused": Message("workers that refused to play"),
    "mail.failed": Message("letters with a link that the mail server did not take"),
}


def _journal() -> Iterator[Symptom]:
    """Count some kinds of lines among the latest ones. One query."""
    newest = Subquery(LeagueEvent.objects.order_by("-id").values("id")[:1])
    lines = LeagueEvent.objects.filter(id__gt=newest - Value(LINES), kind__in=NEWS).order_by()
    for kind, count in lines.values_list("kind").annotate(Count("pk")):
        yield Symptom(
            Urgency.SOON if count > EXAMPLES or kind == "tournament.stalled" else Urgency.NONE,
            Message(
                "In the latest {all} lines of the journal: {what}, {count}.", all=LINES, what=NEWS[kind], count=count
            ),
            Message("The journal in the admin names them; a line has the reason."),
            guide=Guide.JOURNAL,
        )


def _failed_work(now: datetime) -> Iterator[Symptom]:
    """Report analyses and consultations that failed in the last day, the latest first. One query, by their indexes of failed rows."""
    judgements, consultations = (
        model.objects.filter(status=status, finished__gt=now - DAY)
        .annotate(word=Value(kind))
        .values_list("word", "pk", "finished")
        for kind, model, status in (
            ("judgement", Judgement, JudgementStatus.FAILED),
            ("consultation", Consultation, ConsultationStatus.FAILED),
        )
    )
    rows = judgements.union(consultations, all=True).order_by("-finished")[:LATEST]
    failed = [f"{kind}:{pk}" for kind, pk, _finished in rows]
    if failed:
        yield Symptom(
            Urgency.SOON,
            Message("Analyses and consultations that failed in the last day: {count}.", count=len(failed)),
            Message("The page of the match says why. If the reason is mended, try again now."),
            tuple(failed[:EXAMPLES]),
            "retry",
        )


def _loops(processes: Sequence[Process]) -> Iterator[Symptom]:
    """Report errors in loops of running processes. No query."""
    errors: Counter[str] = Counter()
    for row in processes:
        errors.update(row.errors)
    kinds = ", ".join(f"{name} {count}" for name, count in errors.most_common() if count)
    if kinds:
        yield Symptom(
            Urgency.SOON if errors.total() > MANY_ERRORS else Urgency.NONE,
            Message("Errors in loops of running processes since their start: {kinds}.", kinds=kinds),
            Message("They go on by themselves when the cause is gone. The log of that process names it."),
            guide=Guide.TROUBLE,
        )


def _bots() -> Iterator[Symptom]:
    """Report the bots that the league paused. One query over the bots that are paused."""
    paused = list(
        Bot.objects.filter(state=BotState.PAUSED)
        .exclude(paused_for="")
        .order_by("-retests")
        .values_list("slug", flat=True)[:LATEST]
    )
    if paused:
        yield Symptom(
            Urgency.NONE,
            Message("Bots that the league paused for their faults: {count}.", count=len(paused)),
            Message("Nothing: they are tested again by themselves, and their owners know."),
            tuple(f"bot:{slug}" for slug in paused[:EXAMPLES]),
        )


# ---- what grows


def _backlog(queue: workers.Queue, rows: Sequence[Any], now: datetime) -> Iterator[Symptom]:
    """Compare the matches that wait for a worker with the pace of the latest ones that were finished. No query."""
    waiting = sum(queue.waiting[why] for why in ("turn", "worker", "sandbox"))
    since = now - metrics.MINUTES
    finished = sum(row.finished > since for row in rows)
    if finished == LATEST:  # Earlier ones were not read.
        since = rows[-1].finished
    per_minute = finished / (max(1.0, (now - since).total_seconds()) / 60)
    pace = f"{per_minute:.1f}"
    if not waiting:
        yield Symptom(Urgency.NONE, Message("No match waits for a worker; finished per minute: {pace}.", pace=pace))
    elif not finished:
        yield Symptom(
            Urgency.NOW if queue.workers and queue.playing else Urgency.SOON,
            Message(
                "Matches that wait for a worker: {count}; none was finished in the last five minutes.", count=waiting
            ),
            Message("Read the log of a worker: each line names its match. Long matches may be the reason."),
            guide=Guide.QUEUE,
        )
    else:
        drain = timedelta(minutes=waiting / per_minute)
        is_long = drain > SLOW_DRAIN
        yield Symptom(
            Urgency.SOON if is_long else Urgency.NONE,
            Message(
                "Matches that wait for a worker: {count}; at {pace} a minute they take {time}.",
                count=waiting,
                pace=pace,
                time=length(drain),
            ),
            Message("Start more workers if that is too long.") if is_long else None,
            guide=Guide.WORKERS,
        )


def _disk(queue: workers.Queue) -> Iterator[Symptom]:
    """Report the free space of the workers' fullest disk and of this machine's. No query."""
    here = shutil.disk_usage(settings.STATE_DIR).free >> 20
    for name, free in ((Message("of a worker"), queue.least_free_mb), (Message("of this web process"), here)):
        if free is None:
            continue
        urgency = Urgency.NOW if free < FULL_MB else Urgency.SOON if free < LOW_MB else Urgency.NONE
        yield Symptom(
            urgency,
            Message("Free on the disk {whose}: {free} GB.", whose=name, free=f"{free / 1024:.1f}"),
            Message("Make room: shorten KEEP_..._DAYS, lower UNPACKED_MB, or remove old logs and backups.")
            if urgency is not Urgency.NONE
            else None,
            guide=Guide.DISKS,
        )


def table_sizes() -> tuple[list[TableSize], int]:
    """Return the largest tables by the database's own estimates, and the size of the database. One query.

    PostgreSQL estimates rows at each ANALYZE. SQLite only knows the highest row number, and the size of the file.
    """
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute(
                "SELECT relname, greatest(reltuples, 0)::bigint, pg_total_relation_size(oid),"
                # In a query of its own, or it would be measured again for each table.
                " (SELECT pg_database_size(current_database()))"
                " FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace ORDER BY 3 DESC LIMIT %s",
                [TABLES],
            )
        else:
            names = [model._meta.db_table for model in apps.get_app_config("league").get_models()]
            counts = " UNION ALL ".join(f"SELECT '{name}', max(rowid) AS top FROM {name}" for name in names)  # noqa: S608
            cursor.execute(
                "SELECT counts.*, NULL, page_count * page_size FROM pragma_page_count(), pragma_page_size(),"  # noqa: S608
                f" ({counts}) AS counts ORDER BY 2 DESC LIMIT {TABLES}"
            )
        rows = cursor.fetchall()
    return [TableSize(name, count or 0, size) for name, count, size, _total in rows], rows[0][3]


def length(span: timedelta) -> Message:
    """Return a span of time in its two largest units."""
    seconds = max(0, int(span.total_seconds()))
    if seconds < 120:
        return Message("{n} s", n=seconds)
    if seconds < 7200:
        return Message("{n} min", n=seconds // 60)
    return Message("{n} h", n=seconds // 3600) if seconds < 172_800 else Message("{n} days", n=seconds // 86_400)
