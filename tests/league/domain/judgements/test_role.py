"""The role of the workers can do the work of a judgement, and nothing else to it (docker/grant_roles.py)."""

from __future__ import annotations

from functools import partial

import pytest
from django.db.utils import ProgrammingError

from engine.judging import Child
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.models import Job, Judgement
from tests.support import jobs
from tests.support.league import NOW, accepted, play, started
from tests.support.roles import NEEDS_ROLES, become, granted

pytestmark = NEEDS_ROLES


@granted()
def test_the_role_of_the_workers_carries_it_out_and_changes_nothing_that_is_done(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))
    match = play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())
    row, _created = asking.ask(match, "open", ana, now=NOW)

    become("tute_runner")
    job = jobs.ANALYSIS.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    assert jobs.run(job, now=NOW)
    become("NONE")
    asking.ask(match, "fair", ana, now=NOW)
    become("tute_runner")
    for forbidden in (partial(Job.objects.update, owner=None), partial(Job.objects.update, judgement=row)):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert Job.objects.all().delete()[0] == 0, "what others have to do stays"
    queryset = Judgement.objects.filter(pk=row.pk)
    for forbidden in (queryset.delete, partial(queryset.update, asked_by=None), partial(queryset.update, match=match)):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert queryset.update(body=b"") == 0, "what is done stays as it is"

    become("NONE")
    row.refresh_from_db()
    assert (row.status, row.judged > 0, Job.objects.get().judgement.kind) == ("done", True, "fair")
