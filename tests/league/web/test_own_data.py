"""The settings: a person downloads what is stored about them, and closes the account with name and password."""

from __future__ import annotations

import io
import re
import zipfile

import pytest
from django.test import Client

from league.domain.people import players
from league.models import Player
from league.web.people import views

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


def test_a_session_is_listed_and_ended_from_another_one(owner) -> None:
    agent = "Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0"
    other = Client(headers={"user-agent": agent})
    other.post("/accounts/login/", {"username": "ana", "password": PASSWORD})
    stranger = players.create("berto", password=PASSWORD)
    his = Client()
    his.force_login(stranger.user)

    page = owner.get("/accounts/me/").content.decode()
    (name,) = set(re.findall(r'name="end" value="([0-9a-f]+)"', page))
    assert "this browser" in page
    assert "Firefox, Linux" in page
    assert other.session.session_key not in page
    assert his.post("/accounts/me/", {"end": name}).status_code == 302
    assert other.get("/accounts/me/").status_code == 200, "of another account it ends nothing"

    owner.post("/accounts/me/", {"end": name})

    assert [client.get("/accounts/me/").status_code for client in (other, owner, his)] == [302, 200, 200]


@pytest.mark.parametrize(
    ("agent", "name"),
    [
        ("Mozilla/5.0 (X11; Linux x86_64; rv:145.0) Gecko/20100101 Firefox/145.0", "Firefox, Linux"),
        (
            "Mozilla/5.0 (Linux; Android 15) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0 Mobile Safari/537.36",
            "Chrome, Android",
        ),
        (
            "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605 Version/18.0 Safari/604.1",
            "Safari, iPhone",
        ),
        ("curl/8.0", ""),
    ],
)
def test_a_browser_has_a_name(agent: str, name: str) -> None:
    assert views.browser_name(agent) == name


def test_an_operator_is_told_what_to_do_first(owner) -> None:
    user = Player.objects.get().user
    user.is_staff = True
    user.save()
    response = owner.post("/accounts/close/", {"name": "ana", "password": PASSWORD})
    assert response.status_code == 422
    assert "ask another operator" in response.content.decode()
