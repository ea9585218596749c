"""The pages and the API of the open data: the files as they are stored, and the owner's choice."""

from __future__ import annotations

import hashlib
from datetime import timedelta

import pytest
from django.test import Client

from league.domain.people import players
from league.domain.upkeep import open_data
from league.models import DataFile, Player
from league.web.pages import open_data as pages
from tests.support import league as made

NAME = "tute-partnership-2026-01.jsonl.zst"


@pytest.fixture
def file(league) -> DataFile:
    for player in Player.objects.all():
        open_data.accept(player, True, now=made.NOW)
    (file,) = open_data.write_missing(now=made.NOW + timedelta(days=31))
    return file


def test_a_file_is_sent_as_it_is_stored(file, reader, client) -> None:
    DataFile.objects.create(game="brisca", month=file.month, renewed=made.NOW)  # Half written: nowhere to be seen.
    page = reader.get("/data/").content.decode()
    assert f"/data/{NAME}" in page
    assert "brisca" not in page
    answer = reader.get(f"/data/{NAME}", headers={"Accept-Encoding": "gzip, br"})
    content = b"".join(answer.streaming_content)
    assert (len(content), hashlib.sha256(content).hexdigest()) == (int(answer["Content-Length"]), file.sha256)
    assert reader.get(f"/data/{NAME}.sha256").content.decode() == f"{file.sha256}  {NAME}\n"
    assert reader.get("/data/schema.json").json()["title"] == "A replay of Tute League"
    (row,) = client.get("/api/v1/data").json()["results"]
    assert row["month"] == "2026-01"
    assert (row["url"], row["sha256"], row["matches"]) == (f"/data/{NAME}", file.sha256, file.matches)
    for wrong in ("tute-brisca-2026-01.jsonl.zst", "x", "a%00b", "..%2F..%2Fetc", f"{NAME}.sha256.sha256"):
        assert reader.get(f"/data/{wrong}").status_code in (400, 404)
    assert reader.post(f"/data/{NAME}").status_code == 405


def test_large_downloads_leave_threads_for_the_pages(file, reader, monkeypatch) -> None:
    monkeypatch.setattr(pages, "SMALL", 0)
    running = [reader.get(f"/data/{NAME}", REMOTE_ADDR=f"192.0.2.{number}") for number in range(pages.AT_ONCE)]
    for address in ("192.0.2.0", "192.0.2.99"):
        refused = reader.get(f"/data/{NAME}", REMOTE_ADDR=address)
        assert (refused.status_code, refused["Retry-After"]) == (429, str(pages.BUSY_S))
    for response in running:
        assert len(b"".join(response.streaming_content)) == file.bytes
    for _ in range(3):
        assert b"".join(reader.head(f"/data/{NAME}").streaming_content) == b""
    only = reader.get(f"/data/{NAME}")
    assert (only.status_code, reader.get(f"/data/{NAME}").status_code) == (200, 429)
    only.close()


def test_an_owner_is_asked_once(league) -> None:
    def client_of(name: str) -> Client:
        client = Client()
        client.force_login(Player.objects.get(name=name).user)
        return client

    asks = "May public matches of your bots be in the open data"
    for name, answer in (("ana", {}), ("berto", {"accept": "1"})):
        owner = client_of(name)
        assert asks in owner.get("/accounts/me/").content.decode()
        owner.post("/accounts/open-data/", answer)
        assert asks not in owner.get("/accounts/me/").content.decode()
    players.create("nobots")
    assert asks not in client_of("nobots").get("/accounts/me/").content.decode()


def test_owners_choose_at_sign_up_and_later(db, client) -> None:
    for name, box in (("noemi", {}), ("olmo", {"open_data": "on"})):
        client.post("/accounts/signup/", {"name": name, "password": "a long password", **box})
        player = Player.objects.get(name=name)
        assert (player.open_data is not None) == bool(box)
        for choice in ({"accept": "1"}, {}):
            assert client.post("/accounts/open-data/", choice).url == "/accounts/me/"
            player.refresh_from_db()
            assert (player.open_data is not None) == bool(choice)
            assert ("2026" in client.get("/accounts/me/").content.decode()) >= bool(choice)
        client.post("/accounts/logout/")
    assert client.post("/accounts/open-data/", {"accept": "1"}).url.startswith("/accounts/login/")
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(Player.objects.get(name="olmo").user)
    assert strict.post("/accounts/open-data/", {"accept": "1"}).status_code == 403
    assert not Player.objects.get(name="olmo").open_data
