"""The settings: a person downloads what is stored about them, and closes the account with name and password."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.test import Client

from league.domain.people import players
from league.models import Player

PASSWORD = "a long password"


@pytest.fixture
def owner(db) -> Client:
    players.create("ana", password=PASSWORD)
    client = Client(headers={"accept-language": "en"})
    assert client.login(username="ana", password=PASSWORD)
    return client


def test_a_player_downloads_everything(owner) -> None:
    page = owner.get("/accounts/me/").content.decode()
    assert "/accounts/data/" in page
    response = owner.post("/accounts/data/")
    assert response.headers["Content-Disposition"].startswith('attachment; filename="tute-ana-')
    assert "account.json" in zipfile.ZipFile(io.BytesIO(b"".join(response))).namelist()
    assert owner.get("/accounts/data/").status_code == 405
    assert Client().post("/accounts/data/").status_code == 302


def test_closing_asks_for_name_and_password_and_ends_the_session(owner) -> None:
    other = Client()
    other.force_login(Player.objects.get().user)
    for form in (
        {"name": "ana", "password": "wrong"},
        {"name": "berto", "password": PASSWORD},
        {"name": "", "password": ""},
    ):
        assert owner.post("/accounts/close/", form).status_code == 422
    assert owner.get("/players/ana/").status_code == 200

    response = owner.post("/accounts/close/", {"name": "ana", "password": PASSWORD}, follow=True)

    assert "Your account is closed" in response.content.decode()
    assert owner.get("/players/ana/").status_code == 404
    for client in (owner, other):
        assert client.get("/accounts/me/").status_code == 302
    assert "ana" not in owner.get("/players/").content.decode().split("<main")[1]


def test_an_operator_is_told_what_to_do_first(owner) -> None:
    user = Player.objects.get().user
    user.is_staff = True
    user.save()
    response = owner.post("/accounts/close/", {"name": "ana", "password": PASSWORD})
    assert response.status_code == 422
    assert "ask another operator" in response.content.decode()
