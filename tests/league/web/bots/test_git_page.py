"""The page of a bot's repository: for those who manage the bot, with a secret that is shown once."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from league.domain.bots import fetches
from league.domain.people import players
from league.models import Fetch, GitLink, Player
from tests.league.web.bots.test_downloads import client_of
from tests.support.league import NOW, accepted, later

pytestmark = pytest.mark.django_db
PAGE, URL = "/bots/rufo/git/", "https://forge.example/ana/rufo"


def test_the_owner_links_a_repository_and_sees_its_fetches(ana, settings) -> None:
    settings.GIT_HOSTS = ["forge.example"]
    Fetch.objects.create(player=players.create("eve"), bot_name="rufo", tag="of-eve", why="x", created=later(-1))
    version = accepted(ana, "rufo")
    own, other = client_of(ana), client_of(Player.objects.get(name="eve"))
    assert PAGE in own.get("/bots/rufo/?tab=settings").content.decode()
    assert "of-eve" not in own.get(PAGE).content.decode()
    for client, status in ((other, 403), (Client(), 302)):
        for answer in (client.get(PAGE), client.post(PAGE, {"action": "link", "url": URL})):
            assert answer.status_code == status
    assert own.post(PAGE, {"action": "link", "url": "https://10.0.0.1/x"}).status_code == 422
    assert own.post(PAGE, {"action": "secret"}).status_code == 403, "without a repository"
    assert own.post(PAGE, {"action": "link", "url": URL, "folder": "bots/rufo"}).status_code == 302

    page = own.post(PAGE, {"action": "secret"}).content.decode()
    assert "http://testserver/api/v1/bots/rufo/push" in page
    (secret,) = set(re.findall(r"\b[0-9a-f]{64}\b", page))
    assert fetches.find_link("rufo", b"", {"X-Gitlab-Token": secret}) == GitLink.objects.get()
    assert secret not in own.get(PAGE).content.decode()

    assert own.post(PAGE, {"action": "fetch", "tag": "v1"}).status_code == 302
    assert own.post(PAGE, {"action": "fetch", "tag": "v 1"}).status_code == 422
    assert (Fetch.objects.get(player=ana).folder, "waiting" in own.get(PAGE).content.decode()) == ("bots/rufo", True)
    Fetch.objects.filter(player=ana).update(finished=NOW, why="the repository has no tag <v1>")
    assert "has no tag &lt;v1&gt;" in own.get(PAGE).content.decode()
    Fetch.objects.filter(player=ana).update(why="", commit="c" * 40, version=version)
    assert '<a href="/bots/rufo/v1/">' in own.get(PAGE, headers={"accept-language": "es"}).content.decode()
    commits = ["c" * 40 in client.get("/bots/rufo/v1/").content.decode() for client in (own, other, Client())]
    assert commits == [True, False, False]

    assert own.post(PAGE, {"action": "unlink"}).status_code == 302
    assert not GitLink.objects.exists()
    settings.GIT_HOSTS = []
    assert "fetches nothing from Git" in own.get(PAGE).content.decode()
    assert PAGE not in own.get("/bots/rufo/?tab=settings").content.decode()
