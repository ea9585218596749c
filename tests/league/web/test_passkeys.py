"""Passkeys: a device signs in without name and password, and nothing that is old, copied, foreign or bent does."""

from __future__ import annotations

import io
import json
import zipfile
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.sessions.models import Session
from django.core.exceptions import ImproperlyConfigured
from django.test import Client

from league.domain.bots import closing
from league.domain.core import clock
from league.domain.people import bans, passkeys, passwords, players, sessions, tokens
from league.models import LeagueEvent, Passkey, Player
from league.service.env import passkey_origin
from tests.league.web.conftest import PATIENT_MS
from tests.support.authenticator import Authenticator

PASSWORD = "a long password"
LOG_IN, OWN = "/accounts/login/passkey/", "/accounts/passkeys/"
ENGLISH = {"accept-language": "en"}


@pytest.fixture(autouse=True)
def _on_this_machine(settings) -> None:
    """Keys are bound to localhost, whatever database the tests have."""
    settings.PASSKEY_ORIGIN = "http://localhost"


@pytest.fixture
def ana(db) -> Player:
    return players.create("ana", password=PASSWORD)


@pytest.fixture
def owner(ana) -> Client:
    """Ana, who has just logged in with her password."""
    client = Client(headers=ENGLISH)
    client.post("/accounts/login/", {"username": "ana", "password": PASSWORD})
    return client


def add(client: Client, device: Authenticator, name: str = "phone") -> Any:
    options = client.post(OWN, {"do": "add", "name": name}).json()
    return client.post(OWN, {"do": "add", "name": name, "answer": device.make(options)})


def log_in(client: Client, device: Authenticator, **how: Any) -> Any:
    options = client.post(LOG_IN).json()
    return client.post(LOG_IN, {"answer": device.sign(options, **how), "next": "/bots/"})


def is_in(client: Client) -> bool:
    return client.get("/accounts/me/").status_code == 200


def make_stale(client: Client) -> None:
    """Let the log-in of a session be older than ten minutes."""
    session = client.session
    session[sessions.FRESH] = (clock.present() - sessions.FRESH_FOR).isoformat()
    session.save()


def test_a_device_is_added_signs_in_without_a_name_and_is_removed(owner, ana) -> None:
    device, elsewhere = Authenticator(), Client(headers=ENGLISH)
    _token, key = tokens.create(ana, "laptop")
    assert add(owner, device).json() == {"next": OWN}
    row = Passkey.objects.get()
    assert (row.player, row.name, row.sign_count, row.last_used) == (ana, "phone", 0, None)

    options = elsewhere.post(LOG_IN).json()
    assert (options["rpId"], options["allowCredentials"], options["userVerification"]) == ("localhost", [], "preferred")
    assert log_in(elsewhere, device).json() == {"next": "/bots/"}
    assert is_in(elsewhere)
    row.refresh_from_db()
    assert (row.sign_count, row.last_used is not None) == (1, True)
    assert "phone" in owner.get("/accounts/me/").content.decode()
    archive = zipfile.ZipFile(io.BytesIO(b"".join(owner.post("/accounts/data/"))))
    [exported] = json.loads(archive.read("account.json"))["passkeys"]
    assert (exported["name"], "public_key" in exported) == ("phone", False)

    assert owner.post(OWN, {"do": "remove", "passkey": row.pk, "end": "on"}).status_code == 302
    assert (is_in(elsewhere), is_in(owner), Passkey.objects.count()) == (False, True, 0)
    assert log_in(Client(headers=ENGLISH), device).json()["error"].startswith("This passkey is not known")
    assert Client().get("/api/v1/me", headers={"Authorization": f"Bearer {key}"}).status_code == 200
    kinds = LeagueEvent.objects.filter(subject="player:ana", kind__startswith="player.passkey").order_by("id")
    assert list(kinds.values_list("kind", flat=True)) == ["player.passkey_added", "player.passkey_removed"]


def test_only_a_fresh_log_in_adds_and_removes(owner) -> None:
    device = Authenticator()
    add(owner, device)
    make_stale(owner)
    page = owner.get(OWN).content.decode()
    assert "Show that it is you" in page
    assert 'data-passkey="create"' not in page
    assert owner.post(OWN, {"do": "add", "name": "x"}).json() == {"next": OWN}
    owner.post(OWN, {"do": "remove", "passkey": Passkey.objects.get().pk})
    assert Passkey.objects.count() == 1
    assert owner.post(OWN, {"do": "confirm", "password": "wrong"}).status_code == 422
    assert owner.post(OWN, {"do": "confirm", "password": PASSWORD}).status_code == 302
    assert 'data-passkey="create"' in owner.get(OWN).content.decode()
    make_stale(owner)
    log_in(owner, device)
    assert 'data-passkey="create"' in owner.get(OWN).content.decode()


def test_answers_are_counted_like_passwords(settings, db) -> None:
    settings.LIMITS = {**settings.LIMITS, "password": (2, 3600)}
    assert [Client().post(LOG_IN).status_code for _ in range(3)] == [200, 200, 429]


def test_a_visitor_who_leaves_leaves_no_session_and_one_who_stays_has_a_long_one(ana) -> None:
    left, stayed = Client(), Client()
    left.post(LOG_IN)
    assert left.session.get_expiry_age() <= 300
    Session.objects.update(expire_date=clock.present() - timedelta(seconds=1))
    stayed.post(LOG_IN)
    assert Session.objects.count() == 1
    stayed.post("/accounts/login/", {"username": "ana", "password": PASSWORD})
    assert stayed.session.get_expiry_age() > 86_400


def test_what_is_bent_signs_nobody_in(owner, settings) -> None:
    """Each answer differs from a good one in one thing."""
    settings.LIMITS = {**settings.LIMITS, "password": (1000, 3600), "account": (1000, 3600)}
    device = Authenticator()
    add(owner, device)
    stranger = Client(headers=ENGLISH)

    def refused(answer: str, why: str = "was not accepted") -> None:
        reply = stranger.post(LOG_IN, {"answer": answer})
        assert (reply.status_code, why in reply.json()["error"], is_in(stranger)) == (422, True, False)

    refused(device.sign({"challenge": "AAAA"}), "more than five minutes")  # Without a challenge
    for bent in ({"origin": "https://evil.example"}, {"origin": "http://localhost.evil"}, {"site": "evil.example"}):
        bent_device = Authenticator(**{"identity": device.identity, "key": device.key, "count": 100, **bent})
        refused(bent_device.sign(stranger.post(LOG_IN).json()))
    refused(Authenticator(identity=device.identity).sign(stranger.post(LOG_IN).json()))  # Another key
    refused(Authenticator().sign(stranger.post(LOG_IN).json()), "not known")
    refused(device.sign({"challenge": stranger.post(LOG_IN).json()["challenge"][::-1]}))
    options = stranger.post(LOG_IN).json()
    refused("{}", "not known")
    refused(device.sign(options), "more than five minutes")  # The challenge was used up by the refused answer
    for text in ("", "[]", "[" * 9000, '{"id": 1}', '{"id": null, "response": 3}', "x" * 20_000):
        stranger.post(LOG_IN)
        assert stranger.post(LOG_IN, {"answer": text}).status_code == 422
    good = json.loads(device.sign(stranger.post(LOG_IN).json()))
    for part in ("clientDataJSON", "authenticatorData", "signature"):
        for value in (None, 3, "", "AAAA", "!!"):
            stranger.post(LOG_IN)
            refused(json.dumps({**good, "response": {**good["response"], part: value}}))
    options = stranger.post(LOG_IN).json()
    session = stranger.session
    session["passkey_challenge"][2] = (clock.present() - timedelta(seconds=1)).isoformat()
    session.save()
    refused(device.sign(options), "more than five minutes")
    options = owner.post(OWN, {"do": "add", "name": "x"}).json()
    assert owner.post(LOG_IN, {"answer": device.sign(options)}).status_code == 422  # A challenge for another purpose
    assert log_in(stranger, device).status_code == 200


def test_a_copied_key_signs_nobody_in_and_its_owner_is_told(owner) -> None:
    device = Authenticator(count=7)
    add(owner, device)
    assert log_in(Client(), device).status_code == 200
    copy = Authenticator(identity=device.identity, key=device.key, count=3)
    assert "copy" in log_in(Client(headers=ENGLISH), copy).json()["error"]
    assert LeagueEvent.objects.filter(kind="player.passkey_copied", subject="player:ana").count() == 1
    assert (
        "copy"
        in log_in(
            Client(headers=ENGLISH), Authenticator(identity=device.identity, key=device.key, count=0), uses=0
        ).json()["error"]
    )
    without_counter = Authenticator()
    add(owner, without_counter, "key")
    for _ in range(2):
        assert log_in(Client(), without_counter, uses=0).status_code == 200


def test_who_may_not_sign_in_does_not_with_a_key_either(owner, ana) -> None:
    device, other = Authenticator(), Authenticator()
    add(owner, device)
    berto = Client(headers=ENGLISH)
    berto.force_login(players.create("berto").user)
    assert log_in(berto, device).status_code == 422  # Logged in as another
    assert berto.get("/accounts/me/").context["player"].name == "berto"
    session = berto.session
    session[sessions.FRESH] = clock.present().isoformat()
    session.save()
    assert add(berto, device).status_code == 422  # Another account has this key
    berto.post(OWN, {"do": "remove", "passkey": Passkey.objects.get().pk})
    assert Passkey.objects.count() == 1
    assert add(berto, other).status_code == 200
    bans.ban(ana, why="flooded the queue", actor="operator")
    assert "flooded the queue" in log_in(Client(headers=ENGLISH), device).json()["error"]
    bans.lift(ana, why="a mistake", actor="operator")
    assert log_in(Client(), device).status_code == 200
    closing.close(Player.objects.get(name="berto"))
    assert list(Passkey.objects.values_list("player__name", flat=True)) == ["ana"]
    passwords.set_password(Player.objects.get(name="ana"), "another long password", actor="ana")
    assert Passkey.objects.count() == 1
    passwords.set_password(Player.objects.get(name="ana"), "a third long password", actor="link")  # A lost password
    assert Passkey.objects.count() == 0


def test_names_and_numbers_of_keys_are_limited(owner, ana) -> None:
    for name in ("", "   ", "a\u202eb"):
        assert add(owner, Authenticator(), name).status_code == 422
    rows = [
        Passkey(player=ana, name="x", credential=f"c{number}", created=clock.present())
        for number in range(passkeys.MOST)
    ]
    Passkey.objects.bulk_create(rows)
    assert "which is the limit" in add(owner, Authenticator()).json()["error"]
    for number in ("", "x", "999999", "-1"):
        assert owner.post(OWN, {"do": "remove", "passkey": number}).status_code == 302
    assert Passkey.objects.count() == passkeys.MOST


def test_without_an_address_there_are_no_passkeys(owner, settings) -> None:
    settings.PASSKEY_ORIGIN = ""
    assert [owner.get(OWN).status_code, owner.post(LOG_IN).status_code] == [404, 404]
    assert "passkey" not in Client(headers=ENGLISH).get("/accounts/login/").content.decode().split("<main")[1]


def test_the_address_comes_from_the_settings() -> None:
    for text, hosts, https, origin in (
        (None, ["league.example", "www.example"], True, "https://league.example"),
        (None, [".league.example"], True, ""),
        (None, ["10.0.0.1"], True, ""),
        (None, ["127.0.0.1", "localhost"], False, "http://localhost"),
        (None, [], False, ""),
        ("", ["league.example"], True, ""),
        ("https://league.example:8443", [], False, "https://league.example:8443"),
    ):
        assert passkey_origin(text, hosts, https=https) == origin
    for text in ("league.example", "http://league.example", "https://league.example/x", "https://"):
        with pytest.raises(ImproperlyConfigured):
            passkey_origin(text, [], https=True)


@pytest.mark.slow
def test_a_phone_adds_a_passkey_and_logs_in_without_a_name(browser, live_server) -> None:
    """Use the software device of Chromium, on the screen of a phone."""
    players.create("ana", password=PASSWORD)
    context = browser.new_context(viewport={"width": 390, "height": 844}, locale="en-GB")
    context.set_default_timeout(PATIENT_MS)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    devices = context.new_cdp_session(page)
    devices.send("WebAuthn.enable")
    how = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True}
    how |= {"isUserVerified": True, "automaticPresenceSimulation": True}
    devices.send("WebAuthn.addVirtualAuthenticator", {"options": how})
    home = live_server.url.replace("127.0.0.1", "localhost")

    page.goto(f"{home}/accounts/login/")
    page.fill("[name=username]", "ana")
    page.fill("[name=password]", PASSWORD)
    page.click("main form button.button")
    page.goto(f"{home}/accounts/me/")
    page.click("a[href='/accounts/passkeys/']")
    page.fill("#name", "my phone")
    page.click("form[data-passkey=create] button")
    page.wait_for_selector("text=You can log in with it from now on")
    page.fill("#name", "the same again")
    page.click("form[data-passkey=create] button")
    page.wait_for_selector("text=This device already holds a passkey of yours")
    page.goto(f"{home}/accounts/me/")
    page.click("main .push button")  # Log out

    page.goto(f"{home}/accounts/login/?next=/bots/")
    page.click("form[data-passkey=get] button")
    page.wait_for_url(f"{home}/bots/")
    page.goto(f"{home}/accounts/passkeys/")
    assert "my phone" in page.inner_text("main")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.click("button:has-text('Remove')")
    page.wait_for_selector("text=It no longer logs you in")
    page.goto(f"{home}/accounts/me/")
    page.click("main .push button")
    page.goto(f"{home}/accounts/login/")
    page.click("form[data-passkey=get] button")
    page.wait_for_selector("text=This passkey is not known here any more")
    assert errors == []
    context.close()
