"""The role of the workers asks remote bots in matches that it has, and answers for none (docker/grant_roles.py)."""

from __future__ import annotations

import pytest
from django.conf import settings
from django.db import transaction
from django.db.utils import ProgrammingError

from engine.sandbox import TurnStopped
from league.domain.bots import house
from league.domain.matches import leases, workers
from league.domain.remote import asking, drawing, links
from league.models import Match, Party, RemoteLine
from tests.support.league import accepted
from tests.support.remote import GAMES, remote
from tests.support.roles import become, granted

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" in settings.DATABASES["default"]["ENGINE"], reason="SQLite has no roles"),
]


def test_the_role_of_the_workers_asks_and_answers_nothing(ana) -> None:
    accepted(house.player(), "greedy", games=GAMES)
    workers.register("host:1", tier="none")
    version = remote(ana, "rufo")
    assert drawing.play() == 1
    match = Match.objects.get(kind="remote")
    party = Party.objects.select_related("version__bot").get(match=match, version=version)
    with granted():
        become("tute_runner")
        with pytest.raises(ProgrammingError), transaction.atomic():
            RemoteLine.objects.create(party=party, number=1, request="{}")
        (leased,) = leases.claim_several("host:1", 1, remote=True)
        leases.start(leased)
        seat = asking.RemoteSeat(party)
        seat.stop = lambda: True
        with pytest.raises(TurnStopped):
            seat.ask(b'{"type":"hello"}\n', 5.0, 5.0, 100)
        line = RemoteLine.objects.filter(party=party)
        for forbidden in (lambda: line.update(answer="x"), line.delete, lambda: line.update(request="")):
            with pytest.raises(ProgrammingError), transaction.atomic():
                forbidden()
        become("NONE")
        assert links.answer(version.bot, match.public_id, 1, "x")
        become("tute_runner")
        assert line.update(answer="") == 0, "an answer stays as it is"
        become("NONE")
