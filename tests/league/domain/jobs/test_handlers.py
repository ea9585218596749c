"""A new kind of work is one module and one registration: no other code knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from league.domain.core import clock, queue
from league.domain.jobs.handlers import idle, registry
from league.domain.jobs.worker import WorkerLoop
from league.domain.upkeep.reconcile import reconcile
from league.enums import JudgementStatus, MatchKind
from league.models import Job, Judgement, Match
from tests.support import rows
from tests.support.counting import CountingHandler
from tests.support.league import NOW, accepted, play, started, uploaded

pytestmark = pytest.mark.django_db  # a worker goes by the clock of the machine


@pytest.fixture
def counting() -> Iterator[CountingHandler]:
    handler = CountingHandler()
    registry.register(handler)
    yield handler
    registry.unregister(handler)


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, of two boards, and to be counted."""
    match = rows.once(make_match, ana, berto)
    columns = {"status": JudgementStatus.DONE, "created": NOW, "finished": NOW, "summed": True}
    row = Judgement.objects.create(match=match, kind="open", judge="open-1", **columns)
    queue.add("counting", judgement=row, now=clock.present())
    return match


def make_match(ana, berto) -> Match:
    return play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=2).matches.get())


def test_every_kind_of_the_queue_has_a_handler() -> None:
    assert all(registry.handler_of(kind).kinds for kind in MatchKind.values)
    with pytest.raises(LookupError):
        registry.handler_of("counting")


def test_a_kind_has_one_handler(counting: CountingHandler) -> None:
    with pytest.raises(ValueError, match="a handler already: counting"):
        registry.register(CountingHandler())


def test_a_worker_does_the_new_work_where_no_match_waits(counting, match, ana, tmp_path: Path) -> None:
    uploaded(ana, "nena")
    upload = Match.objects.filter(kind=MatchKind.VALIDATION)
    assert idle.is_match_waiting()
    assert counting.claim("host:1") is None
    upload.delete()

    here = WorkerLoop(tmp_path)
    assert here.look()
    assert counting.counts == {match.public_id: 2}
    assert not here.look()
    assert not Job.objects.exists(), "what is done waits no more"
    reconcile()


def test_what_fails_is_tried_again_after_a_while_and_then_given_up(counting, match, tmp_path: Path) -> None:
    counting.breaks = True
    here = WorkerLoop(tmp_path)
    assert not here.look()
    job = Job.objects.get()
    assert (job.state, job.worker, job.attempts, job.reason) == ("queued", "", 1, "ArithmeticError: it cannot count")
    assert not here.look()
    assert (len(counting.again), counting.failed) == (1, [])

    Job.objects.update(not_before=None)
    here.look()
    assert counting.failed == ["ArithmeticError: it cannot count"]
    assert (counting.counts, Job.objects.count()) == ({}, 0)


def test_a_worker_that_is_lost_loses_it(counting, match, tmp_path: Path) -> None:
    lost = counting.claim("host:1")
    assert lost is not None
    assert counting.claim("host:2") is None, "one worker has it"
    later = clock.present() + timedelta(hours=1)
    reconcile(now=later)
    assert counting.again == ["worker host:1 was lost"]

    second = counting.claim("host:2", now=later + timedelta(minutes=1))
    assert second is not None
    lost.beat()
    assert (lost.lost, second.row.token, second.row.attempts) == (True, 2, 2)
    lost.lost = False
    assert WorkerLoop(tmp_path).run(lost) == "refused"
    assert counting.counts == {}
    assert Job.objects.get().worker == "host:2"


def test_a_match_that_comes_ends_it(counting, match, ana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "YIELD_LOOK_S", 0.0)
    here = WorkerLoop(tmp_path)
    job = counting.claim(here.name)
    uploaded(ana, "nena")

    assert here.run(job) is None

    assert job.has_yielded
    assert (counting.again, counting.counts) == ([""], {})
    assert Job.objects.get().attempts == 0
