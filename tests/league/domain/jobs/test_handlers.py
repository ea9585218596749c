"""A new kind of work is one module and one registration: no other code knows of it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from league.domain.jobs.handlers import idle, registry
from league.domain.jobs.worker import Worker
from league.domain.upkeep.reconcile import reconcile
from league.enums import MatchKind
from league.models import Match
from tests.support.counting import CountingHandler
from tests.support.league import accepted, play, started, uploaded

pytestmark = pytest.mark.django_db  # a worker goes by the clock of the machine


@pytest.fixture
def counting() -> Iterator[CountingHandler]:
    handler = CountingHandler()
    registry.register(handler)
    yield handler
    registry.unregister(handler)


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, of two boards."""
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

    here = Worker(tmp_path)
    assert here.look()
    assert counting.counts == {match.public_id: 2}
    assert not here.look()
    reconcile()


def test_what_fails_is_the_handlers_business(counting, match, tmp_path: Path) -> None:
    counting.breaks = True
    here = Worker(tmp_path)
    assert not here.look()
    assert (counting.failed, counting.counts) == ([match.public_id], {})


def test_a_match_that_comes_ends_it(counting, match, ana, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idle, "YIELD_LOOK_S", 0.0)
    here = Worker(tmp_path)
    job = counting.claim(here.name)
    uploaded(ana, "nena")

    assert here.run(job) is None

    assert job.has_yielded
    assert counting.given_back == [f"worker {here.name} was told to stop"]
