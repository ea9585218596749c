"""Audits: a conversation of a finished match is repeated with its bot."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime

from django.db import transaction

from engine.runner import BotSpec
from engine.runner import audit as runner
from engine.runner.faults import party_of
from engine.runner.rebuild import passes
from league.domain.bots import packages
from league.domain.core import clock, journal, queue, transitions
from league.domain.core.queue import LeaseLost
from league.domain.jobs.handlers.base import Signals, Site
from league.domain.jobs.handlers.matches import UNPLAYABLE
from league.domain.jobs.handlers.queued import MatchLease, QueuedHandler
from league.domain.matches import leases, replays
from league.domain.matches.reports import Receipt
from league.enums import MatchKind
from league.models import Audit, Match, Sitting

READS = (
    *("sitting", "seat", "match__public_id"),
    *("version__number", "version__deterministic", "version__bot__slug", "version__package__data"),
)

# Columns for the line in the journal
REPORTED = ("sitting", "seat", "reason", "match__kind", "match__public_id", "version__number", "version__bot__slug")


@dataclass
class AuditTask:
    """A conversation to repeat with its bot."""

    row: Audit
    sittings: list[Sitting]
    bot: BotSpec


class AuditHandler(QueuedHandler[AuditTask, runner.AuditResult]):
    """The work on an audit."""

    kinds = (MatchKind.AUDIT,)

    def read(self, job: MatchLease, site: Site) -> AuditTask:
        """Load the conversation, and unpack its bot."""
        rows = Audit.objects.select_related("version__bot", "version__package", "match").only(*READS)
        row = rows.get(work=job.match)
        played = Sitting.objects.filter(board__match=row.match, number=row.sitting).order_by("board__number")
        sittings = list(played.select_related("board"))
        for sitting in sittings:
            sitting.board.match = row.match  # Shared, so that its log is read once
        return AuditTask(row, sittings, packages.spec(row.version, site.folder))

    def run(self, job: MatchLease, task: AuditTask, site: Site, signals: Signals) -> runner.AuditResult | None:
        """Repeat the conversation with its bot.

        Raise Unreadable, ReplayError or ValueError if the log cannot be replayed, SandboxError or OSError after a fault of ours.
        """
        (group,) = passes(map(replays.unpack, task.sittings))
        deterministic = task.row.version.deterministic
        seed = job.match.public_id
        return runner.audit(
            task.bot,
            site.proven_sandbox(),
            group,
            task.row.seat,
            deterministic=deterministic,
            seed=seed,
            stop=signals.stop,
        )

    def fail(self, job: MatchLease, error: Exception, *, now: datetime | None = None) -> None:
        """Let another worker try. If the audit has broken off at this bot before, the bot has failed, as in a match."""
        task = job.task
        if task is not None and party_of(error) == task.row.seat and job.match.attempts >= UNPLAYABLE:
            broken = runner.AuditResult(
                runner.FAILED, 0, fault="unplayable", detail=f"the audit broke off at this bot: {error}"
            )
            self.report(job, broken, now=now)
        else:
            super().fail(job, error, now=now)

    def report(self, job: MatchLease, result: runner.AuditResult, *, now: datetime | None = None) -> Receipt:
        """Store the result and finish the work, unless another worker has the lease."""
        return report(job.match, result, now=now)


def report(work: Match, result: runner.AuditResult, *, now: datetime | None = None) -> Receipt:
    """Store the result of an audit and finish its row in the queue, in one transaction that checks the token."""
    now = clock.now_or(now)
    with suppress(LeaseLost), transaction.atomic():
        work = queue.lock(work)
        row = Audit.objects.select_related("match", "version__bot").only(*REPORTED).get(work=work)
        plain = result.plain()
        row.fault_detail = plain.pop("detail").replace("\0", "\ufffd")  # PostgreSQL has no NUL in text
        for column, value in plain.items():
            setattr(row, column, value)
        row.finished = now
        row.save(update_fields=["fault_detail", *plain, "finished"])
        leases.finish(work, now=now)
        journal.append(
            "audit.finished",
            transitions.subject(row.match),
            now=now,
            actor=work.worker,
            verdict=row.verdict,
            fault=row.fault,
            version=str(row.version),
            sitting=row.sitting,
            seat=row.seat,
            reason=row.reason,
            decisions=row.decisions,
        )
        return Receipt.STORED
    return Receipt.REFUSED
