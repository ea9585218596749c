"""Uploads, tournaments, tokens: what a change does, and what is refused."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import threading
import zipfile
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.conf import settings
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client

from league.domain.core import clock, idempotency
from league.domain.people import players, tokens
from league.models import Bot, BotVersion, LeagueEvent, Match, Tournament
from tests.league.api.client import Api
from tests.support import league as made
from tests.support.live import database_url


def zipped(files: dict[str, bytes]) -> bytes:
    """A zip of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def test_upload_as_form_makes_bot_version_and_validation_match(as_alice):
    file = SimpleUploadedFile("pinta.py", made.source())

    response = as_alice.post("bots/pinta/versions", {"file": file, "games": "corriente, partnership"}, form=True)

    assert response.status_code == 201
    version = response.json()
    assert (version["bot"], version["number"], version["status"]) == ("pinta", 1, "validating")
    assert version["games"] == ["corriente", "partnership"]
    assert as_alice.get(response["Location"]).json() == version
    assert Match.objects.filter(kind="validation", parties__version_id=version["id"]).distinct().count() == 1


def test_upload_as_plain_bytes(as_alice):
    response = as_alice.post("bots/pinta/versions?filename=pinta.py&games=partnership", made.source())

    assert response.status_code == 201
    assert response.json()["games"] == ["partnership"]


def test_upload_of_a_zip(as_alice):
    toml = b'name = "pinta"\nruntime = "python"\nentry = "main.py"\ngames = ["corriente"]\n'

    response = as_alice.post("bots/pinta/versions", zipped({"bot.toml": toml, "main.py": made.source()}))

    assert (response.status_code, response.json()["entry"], response.json()["games"]) == (201, "main.py", ["corriente"])


@pytest.mark.parametrize(
    ("data", "status"),
    [
        (zipped({"../evil.py": b"x"}), 422),
        (zipped({"bot.toml": b"not toml"}), 422),
        (b"PK\x03\x04 broken", 422),
        (b"\0" * 100, 422),
    ],
    ids=["traversal", "toml", "broken zip", "zeros"],
)
def test_bad_packages_are_refused_with_a_reason(as_alice, data, status):
    response = as_alice.post("bots/pinta/versions", data)

    assert response.status_code == status, response.json()
    assert response.json()["type"] == "/api/v1/#package"
    assert len(response.json()["detail"]) > 20
    assert not Bot.objects.exists()


@pytest.mark.parametrize(
    "name",
    [
        "../../evil.py",
        "/etc/passwd.py",
        "a/b.py",
        "..",
        ".",
        "%00.py",
        "x" * 500 + ".py",
        "a%0ab.py",
        "noextension",
        "CON.py",
        "",
    ],
)
def test_names_of_files_are_checked_or_made_harmless(as_alice, name):
    response = as_alice.post(f"bots/pinta/versions?filename={name}", made.source())

    if response.status_code == 201:
        assert "/" not in response.json()["entry"]
        assert ".." not in response.json()["entry"]
    else:
        assert response.status_code in (400, 422)


def test_form_of_thousands_of_fields_is_refused(as_alice):
    response = as_alice.post("bots/pinta/versions", {f"f{number}": "x" for number in range(2000)}, form=True)

    assert response.status_code == 400


def test_games_that_do_not_exist_are_refused(as_alice):
    response = as_alice.post("bots/pinta/versions?filename=a.py&games=chess", made.source())

    assert response.status_code == 422
    assert "chess" in response.json()["detail"]


def test_empty_upload_names_the_field(as_alice):
    response = as_alice.post("bots/pinta/versions?filename=a.py", b"")

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["file"]


def test_upload_without_a_file_names_the_field(as_alice):
    response = as_alice.post("bots/pinta/versions", {"games": "corriente"}, form=True)

    assert response.status_code == 400
    assert list(response.json()["errors"]) == ["file"]


def test_oversized_upload_is_refused_before_it_is_read(as_alice):
    response = as_alice.post("bots/pinta/versions", b"x" * (11 * 1024 * 1024))

    assert response.status_code == 413
    assert "at most" in response.json()["detail"]


def test_same_files_twice_are_a_conflict(as_alice):
    data = made.source()
    first = as_alice.post("bots/pinta/versions?filename=a.py", data)

    second = as_alice.post("bots/pinta/versions?filename=a.py", data)

    assert (first.status_code, second.status_code) == (201, 409)
    assert "pinta v1" in second.json()["detail"]


def test_upload_limit_of_the_league_is_a_429_with_seconds(as_alice, settings):
    settings.UPLOADS_PER_HOUR = 1
    as_alice.post("bots/pinta/versions?filename=a.py", made.source())

    response = as_alice.post("bots/pinta/versions?filename=a.py", made.source())

    assert response.status_code == 429
    assert 1 <= int(response["Retry-After"]) <= 3600


def test_owner_describes_and_retires_a_bot(as_alice, league):
    changed = as_alice.call("PATCH", "bots/rufo", {"description": "Plays low.", "state": "retired"})

    assert (changed.json()["description"], changed.json()["state"]) == ("Plays low.", "retired")
    again = as_alice.call("PATCH", "bots/rufo", {"state": "active"})
    assert again.status_code == 409
    assert "permanently" in again.json()["detail"]


def test_a_name_that_could_be_taken_for_another_is_refused_with_the_reason(as_alice, as_charlie, league):
    assert as_alice.post("tournaments", {"name": "Copa", "game": "partnership"}).status_code == 201

    whole = as_charlie.post("tournaments", {"name": "Сора", "game": "partnership"})
    mixed = as_charlie.post("tournaments", {"name": "Cоpa", "game": "partnership"})

    assert (whole.status_code, mixed.status_code) == (409, 409)
    assert "'Сора' looks like 'Copa'" in whole.json()["detail"]
    assert "character 2 of the name, U+043E CYRILLIC SMALL LETTER O" in mixed.json()["detail"]


def test_tournament_from_create_to_start(as_alice, league):
    response = as_alice.post(
        "tournaments", {"name": "Copa", "game": "corriente", "boards": 3, "bots": ["rufo", "luna"], "options": {}}
    )

    assert response.status_code == 201
    cup = response.json()
    assert (cup["slug"], cup["status"], cup["entries"], cup["matches"], cup["boards"]) == ("copa", "open", 2, 0, 3)
    assert response["Location"] == "/api/v1/tournaments/copa"
    assert as_alice.post("tournaments/copa/entries", {"bot": "sol"}).status_code == 201
    started = as_alice.post("tournaments/copa/start").json()
    assert (started["status"], started["matches"]) == ("running", 3)
    assert as_alice.post("tournaments/copa/start").json()["matches"] == 3
    assert as_alice.get("tournaments/copa/standings").json()["matches"] == {"queued": 3}
    paused = as_alice.post("tournaments/copa/pause").json()["paused"]
    assert paused is not None
    assert as_alice.post("tournaments/copa/pause").json()["paused"] == paused
    assert as_alice.get("queue").json()["waiting"]["paused"] == 3
    assert as_alice.post("tournaments/copa/resume").json()["paused"] is None
    cancelled = as_alice.post("tournaments/copa/cancel", {"why": "enough"}).json()
    assert cancelled["status"] == "cancelled"
    # Who got no answer asks again
    assert as_alice.post("tournaments/copa/cancel", {"why": "enough"}).json() == cancelled
    assert LeagueEvent.objects.filter(subject="tournament:copa", data__to="cancelled").count() == 1
    assert as_alice.get("tournaments/copa/standings").json()["matches"] == {"cancelled": 3}


def test_a_bot_is_paused_and_goes_back_to_a_version(as_alice, as_charlie, league):
    assert as_charlie.call("PATCH", "bots/rufo", {"sends": 1}).status_code == 403
    bot = as_alice.call("PATCH", "bots/rufo", {"sends": 1, "state": "paused"}).json()
    assert (bot["sends"], bot["state"], bot["held_until"] is None) == (1, "paused", False)
    assert as_alice.call("PATCH", "bots/rufo", {"sends": 99}).status_code == 409
    back = as_alice.call("PATCH", "bots/rufo", {"sends": None, "state": "active"}).json()
    assert (back["sends"], back["state"], back["held_until"]) == (None, "active", None)


def test_tournament_can_start_at_once(as_alice, league):
    response = as_alice.post(
        "tournaments", {"name": "Fast", "game": "partnership", "bots": ["rufo", "sol"], "start": True}
    )

    assert (response.json()["status"], response.json()["matches"]) == ("running", 1)


def test_tournament_that_cannot_start_is_not_left_behind(as_alice, league):
    response = as_alice.post("tournaments", {"name": "Lonely", "game": "partnership", "bots": ["rufo"], "start": True})

    assert response.status_code == 409
    assert "enter more bots" in response.json()["detail"]
    assert not Tournament.objects.filter(name="Lonely").exists()


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"game": "chess"}, "game"),
        ({"game": 7}, "game"),
        ({"options": {"no_such": 1}}, "options"),
        ({"options": {"key": 1}}, "options"),
        ({"options": {"players": 3}}, "options"),
        ({"options": [1]}, "options"),
        ({"options": "x"}, "options"),
        ({"options": {"a": {"b": [1]}}}, "options"),
        ({"players": 3}, "options"),
        ({"players": 10**30}, "players"),
        ({"players": True}, "players"),
        ({"boards": 0}, "boards"),
        ({"boards": 10**30}, "boards"),
        ({"boards": "many"}, "boards"),
        ({"boards": 1.5}, "boards"),
        ({"name": ""}, "name"),
        ({"name": "x" * 81}, "name"),
        ({"name": ["a"]}, "name"),
        ({"bots": ["nobody"]}, "bots"),
        ({"bots": "rufo"}, "bots"),
        ({"bots": [{}]}, "bots.0"),
        ({"start": "perhaps"}, "start"),
        ({"colour": "red"}, "colour"),
        ({"limits": {"memory_mb": 10**6}}, "limits"),
    ],
)
def test_bad_tournaments_name_the_field(as_alice, league, change, field):
    response = as_alice.post("tournaments", {"name": "Copa", "game": "partnership"} | change)

    assert response.status_code == 400, response.json()
    assert field in response.json()["errors"], response.json()
    assert Tournament.objects.count() == 2


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"bot": "luna", "version": 1}, 400),
        ({"bot": "nobody"}, 400),
        ({"version": 999_999}, 400),
        ({"version": 10**20}, 400),
        ({"bot": None}, 400),
        ([], 400),
        ("luna", 400),
        (None, 400),
    ],
)
def test_bad_entries_are_refused(as_alice, league, body, status):
    assert as_alice.post("tournaments/next-cup/entries", body).status_code == status


def test_entry_by_version_and_withdrawal(as_alice, league):
    entered = as_alice.post("tournaments/next-cup/entries", {"version": league.luna.pk})

    assert (entered.status_code, entered.json()["number"]) == (201, 1)
    assert as_alice.call("DELETE", "tournaments/next-cup/entries/1").status_code == 204
    assert as_alice.call("DELETE", "tournaments/next-cup/entries/1").status_code == 404
    assert [row["version"]["bot"] for row in as_alice.results("tournaments/next-cup/entries")] == ["rufo"]


def test_entry_of_a_version_that_is_not_accepted_is_a_conflict(as_alice, league):
    response = as_alice.post("tournaments/next-cup/entries", {"version": league.validating.pk})

    assert response.status_code == 409
    assert "validating" in response.json()["detail"]


def test_finished_tournaments_change_no_more(as_alice, league):
    assert as_alice.post("tournaments/cup/entries", {"bot": "rufo"}).status_code == 409
    assert as_alice.post("tournaments/cup/start").status_code == 409
    assert as_alice.post("tournaments/cup/cancel", {}).status_code == 409
    assert as_alice.call("DELETE", "tournaments/cup/entries/0").status_code == 409


def test_token_is_made_in_a_session_shown_once_and_revoked(alice):
    browser = Client(enforce_csrf_checks=False)
    browser.force_login(alice.user)

    made_one = browser.post("/api/v1/tokens", {"label": "laptop"}, content_type="application/json")

    assert made_one.status_code == 201
    api = Api(made_one.json()["key"])
    assert api.get("me").json()["name"] == "alice"
    assert "key" not in api.results("tokens")[0]
    assert api.call("DELETE", f"tokens/{made_one.json()['id']}").status_code == 204
    refused = api.get("me")
    assert refused.status_code == 401
    assert refused["WWW-Authenticate"].startswith("Bearer")


def test_session_writes_need_the_csrf_token(alice):
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(alice.user)

    response = browser.post("/api/v1/tokens", {"label": "laptop"}, content_type="application/json")

    assert response.status_code == 403
    assert response["Content-Type"] == "application/problem+json"
    assert "CSRF" in response.json()["detail"]


def test_tokens_make_no_tokens(as_alice):
    assert as_alice.post("tokens", {"label": "more"}).status_code == 403


def test_tokens_of_a_session_take_no_idempotency_key(alice):
    browser = Client()
    browser.force_login(alice.user)

    response = browser.post(
        "/api/v1/tokens", {"label": "laptop"}, content_type="application/json", headers={"Idempotency-Key": "k"}
    )

    assert response.status_code == 400
    assert alice.tokens.count() == 0


def test_token_of_an_account_that_was_closed_is_refused(alice):
    key = tokens.create(alice, "laptop")[1]
    alice.user.is_active = False
    alice.user.save()

    assert Api(key).get("bots").status_code == 401


class TestIdempotency:
    """A create that is sent again with the same key."""

    def test_repetition_gets_the_first_answer_and_makes_nothing(self, as_alice, league):
        body = {"name": "Copa", "game": "partnership"}

        first = as_alice.post("tournaments", body, headers={"Idempotency-Key": "k1"})
        second = as_alice.post("tournaments", body, headers={"Idempotency-Key": "k1"})

        assert (first.status_code, second.status_code) == (201, 201)
        assert first.json() == second.json()
        assert second["Idempotency-Replayed"] == "true"
        assert first["Location"] == second["Location"] == "/api/v1/tournaments/copa"
        assert Tournament.objects.filter(name="Copa").count() == 1

    def test_upload_is_recognised_by_its_bytes(self, as_alice):
        data = made.source()
        answers = [
            as_alice.post(
                "bots/pinta/versions",
                {"file": SimpleUploadedFile("a.py", data)},
                form=True,
                headers={"Idempotency-Key": "k1"},
            )
            for _ in range(2)
        ]

        assert [answer.status_code for answer in answers] == [201, 201]
        assert BotVersion.objects.count() == 1

    def test_other_request_with_the_same_key_is_a_conflict(self, as_alice):
        as_alice.post("bots/pinta/versions?filename=a.py", made.source(), headers={"Idempotency-Key": "k1"})

        other = as_alice.post("bots/pinta/versions?filename=a.py", made.source(), headers={"Idempotency-Key": "k1"})

        assert other.status_code == 409
        assert "different request" in other.json()["detail"]

    def test_refusal_is_repeated_too(self, as_alice, league):
        answers = [
            as_alice.post("tournaments", {"name": "", "game": "x"}, headers={"Idempotency-Key": "k1"}) for _ in range(2)
        ]

        assert [answer.status_code for answer in answers] == [400, 400]
        assert answers[0].json() == answers[1].json()
        assert answers[1]["Content-Type"] == "application/problem+json"

    @pytest.mark.parametrize("key", ["", "k" * 81])
    def test_bad_keys_are_refused(self, as_alice, key):
        assert as_alice.post("tournaments", {}, headers={"Idempotency-Key": key}).status_code == 409

    def test_key_of_another_player_is_another_key(self, as_alice, as_charlie, league):
        first, second = (
            client.post("tournaments", {"name": name, "game": "partnership"}, headers={"Idempotency-Key": "k1"})
            for client, name in ((as_alice, "Copa"), (as_charlie, "Liga"))
        )

        assert (first.json()["owner"], second.json()["owner"]) == ("alice", "charlie")

    def test_fault_of_ours_keeps_neither_the_key_nor_what_was_made(self, as_alice, monkeypatch):
        body, key = {"name": "Copa", "game": "partnership"}, {"Idempotency-Key": "k1"}
        with monkeypatch.context() as broken:
            broken.setattr(idempotency, "finish", lambda *_, **__: 1 // 0)
            with pytest.raises(ZeroDivisionError):
                as_alice.post("tournaments", body, headers=key)
        assert not Tournament.objects.exists()

        assert as_alice.post("tournaments", body, headers=key).status_code == 201


KILLED = """
import os, signal, sys, django
django.setup()
from django.test import Client
from league.domain.core import idempotency
idempotency.finish = lambda *_, **__: os.kill(os.getpid(), signal.SIGKILL)
Client().post("/api/v1/tournaments", '{"name": "Copa", "game": "partnership"}', content_type="application/json",
              headers={"Authorization": "Bearer " + sys.argv[1], "Idempotency-Key": "k1"})
"""


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_key_of_a_process_that_was_killed_is_free_at_once():
    """After the tournament was made, before its answer was kept."""
    key = tokens.create(players.create("alice"), "test")[1]
    environment = {**os.environ, "DATABASE_URL": database_url(), "SECRET_KEY": "x", "ALLOWED_HOSTS": "testserver"}

    died = subprocess.run([sys.executable, "-c", KILLED, key], env=environment, cwd=settings.BASE_DIR, timeout=120)
    answer = Api(key).post("tournaments", {"name": "Copa", "game": "partnership"}, headers={"Idempotency-Key": "k1"})

    assert died.returncode == -signal.SIGKILL
    assert answer.status_code == 201
    assert "Idempotency-Replayed" not in answer
    assert Tournament.objects.count() == 1


@pytest.mark.django_db(transaction=True)
def test_repetition_that_comes_meanwhile_waits_for_the_first_answer(monkeypatch):
    key = tokens.create(players.create("alice"), "test")[1]
    Api(key).get("me")  # its last use is noted: the second request has nothing to write before it waits
    came, real = threading.Event(), idempotency.finish

    def finish(*words, **options):
        came.wait(60)
        real(*words, **options)

    def send():
        try:
            return Api(key).post(
                "tournaments", {"name": "Copa", "game": "partnership"}, headers={"Idempotency-Key": "k1"}
            )
        finally:
            connection.close()

    authenticate, calls = tokens.authenticate, []

    def counted(*words, **options):
        calls.append(1)
        if len(calls) == 2:
            came.set()
        return authenticate(*words, **options)

    monkeypatch.setattr(idempotency, "finish", finish)
    monkeypatch.setattr(tokens, "authenticate", counted)
    with ThreadPoolExecutor(2) as pool:
        answers = [future.result(120) for future in [pool.submit(send), pool.submit(send)]]

    assert [answer.status_code for answer in answers] == [201, 201]
    assert sorted("Idempotency-Replayed" in answer for answer in answers) == [False, True]
    assert Tournament.objects.count() == 1


@pytest.mark.slow
def test_owners_hold_back_the_replays_of_their_own(as_alice, as_charlie, alice, charlie) -> None:
    made.accepted(alice, "rufo")
    made.accepted(charlie, "luna")
    as_alice.post("tournaments", {"name": "Copa", "game": "partnership", "bots": ["rufo", "luna"]})
    stages = [{"format": "round_robin", "boards": 1, "advance": 2}, {"format": "round_robin", "boards": 1}]
    document = {"name": "Serie", "game": "partnership", "stages": stages}
    assert as_alice.post("events", {"document": document, "bots": ["rufo", "luna"]}).status_code == 201

    for where in ("tournaments/copa", "events/serie"):
        until = f"{clock.present() + timedelta(days=2):%Y-%m-%dT%H:%M:00Z}"
        assert as_alice.post(f"{where}/embargo", {"until": until}).json()["embargo"] == until
        assert as_charlie.post(f"{where}/embargo", {"until": None}).status_code == 403
        assert as_alice.post(f"{where}/embargo", {"until": "soon"}).status_code == 400
        assert as_alice.post(f"{where}/embargo", {"until": "2020-01-01T00:00Z"}).status_code == 409
        assert as_alice.post(f"{where}/embargo", {"until": None}).json()["embargo"] is None
