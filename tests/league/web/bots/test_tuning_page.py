"""The page of a bot's tunings: for those who may upload the bot."""

from __future__ import annotations

import pytest
from django.test import Client

from engine import spsa
from league.domain.bots import house, teams
from league.domain.core.errors import Forbidden
from league.domain.jobs.handlers.tunings import TuningHandler
from league.domain.people import players
from league.domain.tunings import asking, steps
from league.enums import TeamRole
from league.models import Player, Tuning
from tests.league.domain.tunings.test_tunings import outcome, tunable
from tests.league.web.bots.test_downloads import client_of
from tests.support.league import NOW, accepted, uploaded

pytestmark = pytest.mark.django_db
PAGE = "/bots/rufo/tuning/"
START = {"action": "start", "game": "a_dos", "boards": "400", "opponent": ""}


def test_the_owner_starts_follows_and_stops_a_tuning(ana, berto) -> None:
    tunable(ana)
    accepted(house.player(), "greedy", games=("a_dos",))
    own, other = client_of(ana), client_of(berto)
    assert PAGE in own.get("/bots/rufo/?tab=settings").content.decode()
    for client, status in ((other, 403), (Client(), 302)):
        for answer in (client.get(PAGE), client.post(PAGE, START)):
            assert answer.status_code == status
    for wrong, status in (
        ({"action": "x"}, 403),
        ({"action": "stop", "tuning": "1"}, 403),
        ({"boards": "9"}, 422),
        ({"boards": "many"}, 422),
        ({"game": "no"}, 422),
        ({"opponent": "rufo/0"}, 422),
    ):
        assert own.post(PAGE, START | wrong).status_code == status, wrong
    assert '<option value="greedy">' in own.get(PAGE).content.decode()
    assert own.post(PAGE, START).status_code == 302
    assert own.post(PAGE, START).status_code == 429

    handler = TuningHandler()
    for _ in range(3):
        job = handler.claim("host:1")
        assert job is not None
        handler.report(job, outcome(won=6, drawn=1, lost=1))
        steps.settle()
    row = Tuning.objects.get()
    page = own.get(PAGE).content.decode()
    assert "24 of 400" in page
    assert '<polyline class="line"' in page
    value = spsa.final_values(steps.parameters_of(row), row.values)["care"]
    assert f"care = {{ start = {value}, least = 0.0, most = 10.0, step = 1.0 }}" in page
    assert "Start tuning" not in page

    assert own.post(PAGE, {"action": "stop", "tuning": str(row.pk)}).status_code == 302
    Tuning.objects.update(verdict="stronger", won=30, drawn=2, lost=10, tested=row.begun)
    page = own.get(PAGE).content.decode()
    assert "The result is better than the start." in page
    assert ("42 of at most 1000" in page, "Start tuning" in page) == (True, True)
    spanish = own.get(f"{PAGE}?tuning={row.pk}", headers={"accept-language": "es"}).content.decode()
    assert "El resultado es mejor que el punto de partida." in spanish
    assert own.get(f"{PAGE}?tuning=999").status_code == 404


def test_who_left_the_team_stops_what_they_began_and_the_team_takes_it_over(ana, berto) -> None:
    bot, team = tunable(ana).bot, teams.create(ana, "ases")
    teams.put_in(team, bot, player=ana)
    players.create("carla")
    for name in ("berto", "carla"):
        teams.invite(team, name, TeamRole.UPLOADER, player=ana)
        teams.accept(team, Player.objects.get(name=name))
    tunable(berto, "lola")
    leaver = client_of(berto)
    assert leaver.post(PAGE, START).status_code == 302
    teams.leave(team, berto)
    other = leaver.get("/bots/lola/tuning/").content.decode()
    assert ('action="/bots/rufo/tuning/"' in other, "Start tuning" in other) == (True, False)
    page = leaver.get(PAGE).content.decode()
    assert ("Stop tuning" in page, "care" in page, "Boards of the search" in page) == (True, False, False)
    assert leaver.post(PAGE, START).status_code == 200, "nothing but to stop it"
    assert Tuning.objects.filter(decided=None).count() == 1
    carla = client_of(Player.objects.get(name="carla"))
    stop = {"action": "stop", "tuning": str(Tuning.objects.get().pk)}
    assert "Start tuning" in carla.get(PAGE).content.decode(), "it costs her no limit"
    for client in (carla, leaver):
        assert client.post(PAGE, stop).status_code == 302
        assert Tuning.objects.get().why == "stopped"
        Tuning.objects.update(decided=None, why="")
    Tuning.objects.update(decided=NOW)
    assert leaver.get(PAGE).status_code == 403
    assert leaver.post(PAGE, stop).status_code == 403
    with pytest.raises(Forbidden):
        asking.stop(Tuning.objects.get(), players.create("dora"))


def test_a_running_tuning_hides_that_a_newer_version_declares_no_parameters(ana) -> None:
    tunable(ana)
    own = client_of(ana)
    assert own.post(PAGE, START).status_code == 302
    accepted(ana, "rufo", games=("a_dos",))
    page = own.get(PAGE).content.decode()
    assert ("Stop tuning" in page, "declares no parameters" in page) == (True, False)


def test_a_bot_without_an_accepted_version_is_told_to_wait(ana) -> None:
    uploaded(ana, "rufo")
    assert "No version of this bot is accepted yet" in client_of(ana).get(PAGE).content.decode()


def test_a_bot_without_parameters_is_shown_how(ana) -> None:
    accepted(ana, "rufo")
    page = client_of(ana).get(PAGE).content.decode()
    assert "declares no parameters" in page
    assert client_of(ana).post(PAGE, START).status_code == 422
