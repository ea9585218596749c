"""Files for authors: who gets the code of a version, and the kits."""

from __future__ import annotations

import io
import zipfile

import pytest
from django.test import Client

from engine.packages import archive
from league.domain.people import players
from league.models import BotVersion
from tests.support import league

pytestmark = pytest.mark.django_db
FILES = ("source", "package.zip")


def client_of(player) -> Client:
    client = Client()
    client.force_login(player.user)
    return client


def test_only_its_owner_downloads_a_version_in_every_state(ana) -> None:
    version = league.uploaded(ana, "rufo")
    operator = players.create("otto", staff=True)
    for status in ("validating", "accepted", "rejected"):
        BotVersion.objects.update(status=status, fault="crash" if status == "rejected" else "")
        for name in FILES:
            where = f"/bots/rufo/v1/{name}"
            assert client_of(ana).get(where).status_code == 200
            assert client_of(operator).get(where).status_code == 404
            assert client_of(players.create(f"eve-{status}-{name[:3]}")).get(where).status_code == 404
            assert Client().get(where).url.startswith("/accounts/login/")
            assert client_of(ana).post(where).status_code == 405
            assert client_of(ana).get(f"/bots/rufo/v2/{name}").status_code == 404
    source, package = (client_of(ana).get(f"/bots/rufo/v1/{name}") for name in FILES)
    assert source.content == archive.read(package.content, "rufo.zip").files["bot.py"]
    assert source["Content-Disposition"] == 'attachment; filename="rufo-v1.py"'
    assert "no-store" in source["Cache-Control"]
    assert archive.read(package.content, "rufo.zip").sha256 == version.package_id


def test_links_to_the_code_are_its_owners(ana) -> None:
    league.accepted(ana, "rufo")
    own, other = (
        client.get("/bots/rufo/v1/").content.decode() for client in (client_of(ana), client_of(players.create("eve")))
    )
    for link in ("/editor/?from=rufo/1", "/bots/rufo/v1/source", "/bots/rufo/v1/package.zip"):
        assert link in own
        assert link not in other


def test_a_kit_is_a_package_that_can_be_submitted() -> None:
    for name in ("javascript", "typescript", "rust", "go", "java", "c", "cpp"):
        answer = Client().get(f"/editor/kits/{name}.zip")
        assert answer.status_code == 200
        names = zipfile.ZipFile(io.BytesIO(answer.content)).namelist()
        assert {"bot.toml", "README.md", "test.jsonl", "answers.jsonl"} < set(names)
        assert archive.read(answer.content, "kit.zip").manifest.runtime in ("node", "java", "binary")
    assert Client().get("/editor/kits/python.zip").status_code == 404
