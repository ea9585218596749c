"""The role of the workers can look for puzzles, and change nothing else of them (docker/grant_roles.py)."""

from __future__ import annotations

from functools import partial

import pytest
from django.db import transaction
from django.db.utils import ProgrammingError

from engine.judging import Child
from league.domain.jobs.handlers import mistakes as mistake_jobs
from league.domain.jobs.handlers import puzzles
from league.domain.jobs.handlers.mistakes import MistakeHandler
from league.domain.judgements import summing
from league.domain.puzzles import mistakes
from league.models import FoundPuzzle, Mistake, PuzzleSearch
from tests.league.domain.puzzles.test_finding import make_match
from tests.league.domain.puzzles.test_mistakes import sat
from tests.support import jobs
from tests.support.league import NOW
from tests.support.roles import NEEDS_ROLES, become, granted

pytestmark = NEEDS_ROLES


def test_the_role_of_the_workers_adds_puzzles_of_what_it_looks_through(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(puzzles, "DEALS", 4)
    monkeypatch.setattr(puzzles, "Child", partial(Child, nodes=2000, margin=3))
    match = make_match(ana, berto)
    assert summing.count_new(now=NOW) == 1

    with granted():
        become("tute_runner")
        job = jobs.PUZZLES.claim("host:1", now=NOW)
        assert job is not None
        assert jobs.run(job, now=NOW)
        queryset = FoundPuzzle.objects.all()
        for forbidden in (queryset.delete, partial(queryset.update, line=""), PuzzleSearch.objects.all().delete):
            with pytest.raises(ProgrammingError, match="permission denied"):
                forbidden()
        assert PuzzleSearch.objects.update(made=0) == 0, "what was looked through stays so"
        late = FoundPuzzle(puzzle="0" * 12, match=match, created=NOW, line="{}")
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            late.save(force_insert=True)
        become("NONE")


def test_the_role_of_the_workers_adds_mistakes_of_the_player_who_asked(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(mistake_jobs, "DEALS", 4)
    monkeypatch.setattr(mistake_jobs, "Child", partial(Child, nodes=2000, margin=3))
    sat(ana)
    assert mistakes.ask(ana, now=NOW) == 1

    with granted():
        become("tute_runner")
        job = MistakeHandler().claim("host:1", now=NOW)
        assert job is not None
        stray = Mistake(player=berto, search=job.subject, puzzle="0" * 12, line="{}", created=NOW)
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            stray.save(force_insert=True)
        assert jobs.run(job, now=NOW)
        for forbidden in (Mistake.objects.all().delete, partial(Mistake.objects.update, due=None)):
            with pytest.raises(ProgrammingError, match="permission denied"), transaction.atomic():
                forbidden()
        late = Mistake(player=ana, search=job.subject, puzzle="0" * 12, line="{}", created=NOW)
        with pytest.raises(ProgrammingError, match="row-level security"), transaction.atomic():
            late.save(force_insert=True)
        become("NONE")
    assert mistakes.due(ana, now=NOW)
