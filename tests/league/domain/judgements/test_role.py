"""The role of the workers can do the work of a judgement, and nothing else to it (docker/grant_roles.py)."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from functools import partial
from urllib.parse import quote

import pytest
from django.conf import settings
from django.db import connection
from django.db.utils import ProgrammingError

from engine.judging import Child
from league.domain.judgements import asking, carrying
from league.models import Judgement
from tests.support.league import NOW, accepted, play, started

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" in settings.DATABASES["default"]["ENGINE"], reason="SQLite has no roles"),
]


@pytest.fixture
def runner() -> Iterator[None]:
    """Everything after `SET ROLE` is done as the workers do it."""
    spec = importlib.util.spec_from_file_location("grant_roles", settings.BASE_DIR / "docker" / "grant_roles.py")
    assert spec is not None
    assert spec.loader is not None
    roles = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = roles
    spec.loader.exec_module(roles)
    has = {name: quote(str(value), safe="") for name, value in connection.settings_dict.items() if value}
    where = f"{has['NAME']}?host={has['HOST']}&port={has['PORT']}"
    roles.grant(f"postgresql://{has['USER']}:{has.get('PASSWORD', '')}@/{where}", web="web", runner="runner")
    yield
    become("NONE")


def become(role: str) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"SET ROLE {role}")


def test_the_role_of_the_workers_carries_it_out_and_changes_nothing_that_is_done(
    runner, ana, berto, monkeypatch
) -> None:
    monkeypatch.setattr(carrying, "Child", partial(Child, nodes=300))
    match = play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())
    row, _made = asking.ask(match, "open", ana, now=NOW)

    become("tute_runner")
    held = carrying.claim("host:1", now=NOW)
    assert held is not None
    held.beat(now=NOW)
    assert carrying.carry_out(held, stop=lambda: False, now=NOW)
    mine = Judgement.objects.filter(pk=row.pk)
    for forbidden in (mine.delete, partial(mine.update, asked_by=None), partial(mine.update, match=match)):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert mine.update(body=b"") == 0, "what is done stays as it is"

    become("NONE")
    row.refresh_from_db()
    assert (row.status, row.worker, row.judged > 0) == ("done", "host:1", True)
