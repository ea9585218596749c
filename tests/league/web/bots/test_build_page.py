"""The page of a version that is source: the compiler's log as it grows, for those who may see the code."""

from __future__ import annotations

import pytest
from django.test import Client

from league.domain.bots import builds
from league.domain.matches import workers
from league.domain.people import players
from league.models import Build
from tests.league.domain.bots.test_builds import uploaded
from tests.league.web.bots.test_downloads import client_of

pytestmark = pytest.mark.django_db
PAGE = "/bots/anas-bot/v1/"


def test_the_log_is_the_authors(ana) -> None:
    version = uploaded(ana)
    clients = [client_of(ana), client_of(players.create("eve")), Client()]
    address = f"/api/v1/versions/{version.pk}"
    assert "The league builds no source now" in clients[0].get("/submit/").content.decode()
    assert clients[0].get(address).json()["waits"] is None, "no worker runs at all"

    workers.register("w:1", tier="namespaces", builds=["go"])
    assert "no worker here builds c; the league builds now: go." in clients[0].get(PAGE).content.decode()
    assert "Ask the operator for a worker with gcc libc6-dev" in clients[0].get(address).json()["waits"]
    for language, word in (("en", "No worker builds c."), ("es", "Ningún proceso de juego compila c.")):
        assert word in Client().get("/status/", headers={"accept-language": language}).content.decode()
    assert Client().get("/api/v1/queue").json()["unbuilt"] == ["c"]

    workers.register("w:1", tier="namespaces", builds=["c", "go"])
    assert "Source that the league builds now: c, go." in clients[0].get("/submit/").content.decode()
    assert clients[0].get(address).json()["waits"] is None
    assert "All is well" in Client().get("/status/").content.decode()
    assert "The league builds it, then checks it." in clients[0].get(PAGE).content.decode()
    Build.objects.filter(version=version).update(log="bot.c:1:1: <error>")
    own, *others = [client.get(PAGE).content.decode() for client in clients]
    assert "The league builds your bot." in own
    assert "bot.c:1:1: &lt;error&gt;" in own
    assert not [page for page in others if "bot.c:1:1" in page]

    Build.objects.filter(version=version).update(finished=version.created, why="bot.c:1:1: <error>", toolchain="gcc 12")
    builds.settle()
    own, *others = [client.get(PAGE, headers={"accept-language": "es"}).content.decode() for client in clients]
    assert "no compila" in own
    assert "gcc 12" in own
    assert not [page for page in others if "bot.c:1:1" in page or "gcc 12" in page]
