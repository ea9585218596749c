"""Sessions that are found by whose they are."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.test import Client
from django.utils import timezone

from league.domain.people import bans, passwords, sessions
from league.models import LeagueEvent, Player, SessionOwner
from tests.support.league import NOW

PASSWORD = "a long enough one"


def signed_in(player: Player) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


def test_the_sessions_of_one_account_end_and_nobody_elses_are_looked_at(ana, berto, django_assert_num_queries) -> None:
    hers, too, his = signed_in(ana), signed_in(ana), signed_in(berto)
    for _ in range(5):
        signed_in(berto)

    with django_assert_num_queries(4):  # The count; the sessions; their owners; the deletion
        assert sessions.end(ana.user_id) == 2
    assert [client.get("/accounts/me/").status_code for client in (hers, too, his)] == [302, 302, 200]
    assert set(SessionOwner.objects.values_list("account", flat=True)) == {berto.user_id}


def test_a_ban_ends_sessions_for_good(ana, berto) -> None:
    client, other = signed_in(ana), signed_in(berto)

    ended = bans.ban(ana, why="a test", actor="operator", now=NOW)
    assert ended is not None
    assert ended.sessions == 1
    bans.lift(ana, why="a test", actor="operator", now=NOW)
    assert client.get("/accounts/me/").status_code == 302
    assert other.get("/accounts/me/").status_code == 200


@pytest.mark.django_db
def test_a_set_password_ends_sessions_but_for_the_one_in_which_it_was_set(ana) -> None:
    passwords.set_password(ana, PASSWORD, actor="ana", now=NOW)
    here, elsewhere = Client(), Client()
    for client in (here, elsewhere):
        assert client.login(username="ana", password=PASSWORD)
    new = {"old_password": PASSWORD, "new_password1": PASSWORD + "!", "new_password2": PASSWORD + "!"}

    assert here.post("/accounts/password/", new).status_code == 302
    assert here.get("/accounts/me/").status_code == 200
    assert elsewhere.get("/accounts/me/").status_code == 302
    assert Session.objects.count() == SessionOwner.objects.count() == 1
    assert LeagueEvent.objects.filter(kind=passwords.SET).latest("id").data["sessions"] == 2


def test_signing_out_and_in_leaves_nothing_behind(ana) -> None:
    client = signed_in(ana)
    client.post("/accounts/logout/")
    assert (Session.objects.count(), SessionOwner.objects.count()) == (0, 0)

    signed_in(ana)
    Session.objects.update(expire_date=timezone.now() - timedelta(days=1))
    signed_in(ana)
    assert Session.objects.count() == SessionOwner.objects.count() == 1
