"""The admin pages show, and change nothing; nobody takes an account over in silence."""

from __future__ import annotations

import pytest
from django.contrib import admin
from django.contrib.auth.hashers import PBKDF2PasswordHasher
from django.contrib.auth.models import User
from django.core.management import call_command
from django.test import Client

from league.domain.people import passwords, players, tokens
from league.models import LeagueEvent, Player
from tests.support.league import accepted
from tests.support.parts import mostly_slow

NEW = "tres reyes magos"


@pytest.fixture
def eva(db) -> Player:
    return players.create("eva", password="a long password")


@pytest.mark.parametrize("superuser", mostly_slow([False, True], bool))
def test_nobody_changes_a_row_in_the_admin(superuser: bool, eva: Player) -> None:
    accepted(eva, "rufo")
    looker = Client()
    looker.force_login(User.objects.create_user("boss", is_staff=True, is_superuser=superuser))
    index = looker.get("/admin/", headers={"accept-language": "en"}).content.decode()
    assert "Tute League" in index
    assert "Matches" in index
    assert "password" not in {
        field.name for field in admin.site._registry[User].get_fields(None) if hasattr(field, "name")
    }
    for model in admin.site._registry:
        place = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        assert place in index
        assert looker.get(place).status_code == 200, place
        assert looker.get(f"{place}add/").status_code == 403, place
        for row in model._default_manager.all()[:1]:
            page = looker.get(f"{place}{row.pk}/change/")
            assert page.status_code == 200, place
            assert '<input type="submit"' not in page.content.decode(), place
            assert eva.user.password not in page.content.decode()
            for way in ("change", "delete"):
                assert looker.post(f"{place}{row.pk}/{way}/", {"post": "yes"}).status_code == 403, place
            looker.post(place, {"action": "delete_selected", "_selected_action": [row.pk], "post": "yes"})
            assert model._default_manager.filter(pk=row.pk).exists(), place
    for way in ("password", "change"):
        answer = looker.post(
            f"/admin/auth/user/{eva.user.pk}/{way}/", {"password1": NEW, "password2": NEW, "username": "x"}
        )
        assert answer.status_code in (302, 403, 404)
    assert looker.get("/admin/password_change/").url == "/accounts/password/"
    eva.user.refresh_from_db()
    assert eva.user.username == "eva"
    assert eva.user.check_password("a long password")


def test_an_operator_is_no_superuser(db) -> None:
    call_command("create_player", "olga", "--staff", "--no-password")
    user = User.objects.get(username="olga")
    assert (user.is_staff, user.is_superuser) == (True, False)


def by_our_command(eva: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda *words, **options: NEW)
    call_command("set_password", "eva", "--by", "olga")


def by_the_command_of_django(eva: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("getpass.getpass", lambda *words, **options: NEW)
    call_command("changepassword", "eva")


def by_hand(eva: Player, monkeypatch: pytest.MonkeyPatch) -> None:
    user = User.objects.get(pk=eva.user.pk)
    user.set_password(NEW)
    user.save()


@pytest.mark.parametrize(
    ("way", "who"),
    mostly_slow(
        [(by_our_command, "olga"), (by_the_command_of_django, "operator"), (by_hand, "operator")],
        lambda case: case[0] is by_our_command,
    ),
)
def test_a_password_that_another_sets_ends_what_the_old_one_let_in(way, who, eva: Player, monkeypatch) -> None:
    owner, api = Client(headers={"accept-language": "es"}), Client()
    assert owner.login(username="eva", password="a long password")
    assert who not in owner.get("/accounts/me/").content.decode()
    _, key = tokens.create(eva, "laptop")
    _, before = tokens.create(players.create("other"), "laptop")

    way(eva, monkeypatch)

    assert owner.get("/accounts/me/").status_code == 302  # to the form of name and password
    assert api.get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}).status_code == 401
    assert tokens.authenticate(before) is not None
    event = LeagueEvent.objects.get(kind=passwords.SET)
    assert (event.subject, event.actor, event.data) == ("player:eva", who, {"keys": 1, "sessions": 1})
    assert owner.login(username="eva", password=NEW)
    assert f"Otra persona ({who}) cambió tu contraseña" in owner.get("/accounts/me/").content.decode()

    form = {"old_password": NEW, "new_password1": "otra muy larga", "new_password2": "otra muy larga"}
    assert owner.post("/accounts/password/", form).status_code == 302
    assert LeagueEvent.objects.filter(kind=passwords.SET).latest("id").actor == "eva"
    assert "Otra persona (" not in owner.get("/accounts/me/").content.decode()


def test_a_key_that_an_operator_makes_is_shown_to_its_owner(eva: Player) -> None:
    owner = Client(headers={"accept-language": "es"})
    owner.force_login(eva.user)
    tokens.create(eva, "mine")
    assert "Un administrador creó claves" not in owner.get("/accounts/me/").content.decode()

    call_command("create_token", "eva")

    key = eva.tokens.exclude(label="mine").get()
    notice = (
        owner.get("/accounts/me/").content.decode().partition("Un administrador creó claves")[2].partition("</p>")[0]
    )
    assert f"tute_{key.prefix}…" in notice
    tokens.revoke(key)
    assert "Un administrador creó claves" not in owner.get("/accounts/me/").content.decode()


def test_a_hash_that_a_login_makes_anew_is_no_new_password(eva: Player, monkeypatch) -> None:
    _, key = tokens.create(eva, "laptop")
    was = User.objects.get(username="eva").password
    monkeypatch.setattr(PBKDF2PasswordHasher, "iterations", PBKDF2PasswordHasher.iterations + 1000)

    assert Client().login(username="eva", password="a long password")

    assert User.objects.get(username="eva").password != was
    assert tokens.authenticate(key) is not None
    assert not LeagueEvent.objects.filter(kind=passwords.SET).exists()
