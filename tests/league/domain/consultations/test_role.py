"""The role of the workers can do the work of a consultation, and nothing else to it (docker/grant_roles.py)."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest
from django.conf import settings
from django.db.utils import ProgrammingError

from engine.sandbox import Sandbox
from league.domain.consultations import asking
from league.models import Consultation, Job
from tests.support import consulting, jobs
from tests.support.league import NOW, accepted, play, started
from tests.support.roles import NEEDS_ROLES, become, granted

pytestmark = NEEDS_ROLES


@granted()
def test_the_role_of_the_workers_carries_it_out_and_changes_nothing_that_is_done(ana, berto, tmp_path: Path) -> None:
    consulting.enter("greedy")
    cup = started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1)
    match = consulting.told(play(cup.matches.get()))
    row, _created = asking.ask(match, 1, 0, 0, "greedy", ana, now=NOW)

    become("tute_runner")
    job = jobs.CONSULTATION.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    box = Sandbox("none", settings.STATE_DIR / "sandbox")
    assert jobs.run(job, box=box, folder=tmp_path / "bots", now=NOW)
    queryset = Consultation.objects.filter(pk=row.pk)
    for forbidden in (queryset.delete, partial(queryset.update, asked_by=None), partial(queryset.update, seat=1)):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert queryset.update(answers=[]) == 0, "what is done stays as it is"

    become("NONE")
    row.refresh_from_db()
    assert (row.status, len(row.answers) > 0, Job.objects.count()) == ("done", True, 0)
