"""The table of work: a lease is one worker's, outlives no deadline, and ends once; what does not fit its subject is mended."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import IntegrityError, transaction

from league.domain.core import queue
from league.domain.core.queue import AttemptTerms, LeaseLost
from league.domain.upkeep import reconcile
from league.enums import JudgementStatus, TableStatus
from league.models import Job, Judgement, LeagueEvent, Leased, Match, Table
from tests.support import jobs, rows
from tests.support.league import NOW, accepted, later, play, started, uploaded

TERMS = AttemptTerms(attempts=2, limit=timedelta(minutes=2))
LEASE_COLUMNS = {field.name for field in Leased._meta.fields}


@pytest.fixture
def judgement(ana, berto) -> Judgement:
    """One that a process of the release before has asked for: without a job."""
    match = rows.once(make_match, ana, berto)
    return Judgement.objects.create(match=match, kind="open", judge="open-1", asked_by=ana, created=NOW)


def make_match(ana, berto) -> Match:
    return play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())


def claimed(*, after: float = 0) -> Job | None:
    with transaction.atomic():
        return queue.claim(queue.waiting("counting", now=later(after)), "host:1", TERMS, now=later(after))


@pytest.mark.parametrize("model", [Job, Match])
def test_a_match_and_a_job_are_leased_by_the_same_code(model: type[Leased], judgement, ana) -> None:
    """One claim, heartbeat, fence and back-off: what differs is only the name of the column with the state."""
    queue.add("counting", judgement=judgement, now=NOW)
    uploaded(ana, "nena")
    (waiting,) = waits = model.work.filter(**{model.STATE: model.WAITS})
    assert {field.name for field in model._meta.fields} > LEASE_COLUMNS

    with transaction.atomic():
        assert queue.take(waits.order_by("id"), 9, "host:1", now=NOW) == [waiting.pk]
        assert queue.take(waits.order_by("id"), 9, "host:2", now=NOW) == [], "one worker has it"
    row = model.work.get(pk=waiting.pk)
    assert (row.token, row.worker, row.attempts, row.lease_until) == (1, "host:1", 1, queue.deadline(NOW))
    assert queue.beat(row, now=later(9), progress=40)
    assert model.work.values_list("lease_until", "progress").get(pk=row.pk) == (queue.deadline(later(9)), 40)

    assert queue.pause(row) == timedelta(seconds=queue.BACKOFF_S)
    late = model.work.get(pk=row.pk)
    queue.free(row, now=later(10), why="a test", not_before=later(10) + queue.pause(row))
    for change in (lambda: queue.lock(late), lambda: queue.free(late, now=later(11))):
        with pytest.raises(LeaseLost), transaction.atomic():
            change()
    assert not queue.beat(late, now=later(11))

    with transaction.atomic():
        queue.take(waits.order_by("id"), 1, "host:2", now=later(20))
    assert not queue.overdue(model, now=later(21)).exists()
    (silent,) = queue.overdue(model, now=later(1000))
    assert (silent.pk, silent.token, silent.worker, silent.attempts) == (row.pk, 2, "host:2", 2)


def test_a_lease_outlives_no_deadline(judgement, settings) -> None:
    queue.add("counting", judgement=judgement, now=NOW)
    row = claimed()
    assert row is not None
    assert (row.lease_until, row.ends_by) == (later(settings.LEASE_S), later(120))
    assert queue.beat(row, now=later(100), progress=40)
    assert Job.objects.values_list("lease_until", "progress").get() == (later(120), 40)
    assert not queue.beat(row, now=later(120))


def test_a_subject_has_one_job_of_a_kind_and_a_job_one_subject(judgement) -> None:
    first = queue.add("counting", judgement=judgement, now=NOW)
    assert queue.add("counting", judgement=judgement, now=later(9)) == first
    assert queue.add("weighing", judgement=judgement, now=NOW) != first
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(kind="counting", created=NOW)


def test_an_old_token_changes_nothing(judgement) -> None:
    queue.add("counting", judgement=judgement, now=NOW)
    old = claimed()
    assert old is not None
    with transaction.atomic():
        queue.release(old, now=NOW)
    new = claimed()
    assert new is not None
    assert (new.token, new.attempts) == (2, 1), "no attempt was counted"

    assert not queue.beat(old, now=NOW)
    for change in (
        lambda: queue.finish(old),
        lambda: queue.lock(old),
        lambda: queue.release(old, now=NOW),
        lambda: queue.retry(old, TERMS, "odd", now=NOW),
    ):
        with pytest.raises(LeaseLost), transaction.atomic():
            change()
    assert queue.beat(new, now=NOW)
    queue.finish(new)
    assert not Job.objects.exists()


def test_what_fails_waits_twice_as_long_each_time(judgement) -> None:
    queue.add("counting", judgement=judgement, now=NOW)
    for attempt, pause in ((1, 2), (2, 4)):
        row = claimed(after=100 * attempt)
        assert row is not None
        with transaction.atomic():
            assert queue.retry(row, AttemptTerms(attempts=3), "of /a/folder/file", now=later(100 * attempt))
        assert claimed(after=100 * attempt + pause - 1) is None
    assert Job.objects.get().reason == "of file"
    last = claimed(after=300)
    assert last is not None
    with transaction.atomic():
        assert not queue.retry(last, AttemptTerms(attempts=3), "odd", now=later(300))
    assert not Job.objects.exists()


@pytest.mark.slow
def test_a_request_of_the_release_before_gets_its_job(judgement) -> None:
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None
    reconcile.reconcile(now=NOW)
    row = Job.objects.get()
    assert (row.kind, row.judgement, row.owner) == ("analysis", judgement, judgement.asked_by)

    # One of its workers is at it, and is lost
    Judgement.objects.update(status=JudgementStatus.WORKING)
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is None
    reconcile.reconcile(now=NOW)
    judgement.refresh_from_db()
    assert judgement.status == JudgementStatus.ASKED
    assert jobs.ANALYSIS.claim("host:1", now=NOW) is not None

    # Another one is done first
    Judgement.objects.update(status=JudgementStatus.DONE, finished=NOW, summed=True)
    reconcile.reconcile(now=NOW)
    assert not Job.objects.exists()


@pytest.mark.slow
def test_a_table_of_the_release_before_gets_its_job(judgement, ana) -> None:
    columns = {"player": ana, "pool": judgement.match.pool, "boards": 1, "secret": b"", "created": NOW, "since": NOW}
    row = Table.objects.create(public_id="a", status=TableStatus.HELD, **columns)
    reconcile.reconcile(now=NOW)
    row.refresh_from_db()
    assert (row.status, Job.objects.filter(table=row).count()) == (TableStatus.WAITING, 1)
    assert LeagueEvent.objects.filter(kind="table.moved").count() == 1

    Table.objects.update(status=TableStatus.LEFT, finished=NOW)
    reconcile.reconcile(now=NOW)
    assert not Job.objects.filter(table=row).exists()
