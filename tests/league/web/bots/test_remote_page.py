"""The marks of a remote bot, and its state for its owner."""

from __future__ import annotations

import pytest
from django.urls import reverse

from league.models import RemoteLink
from tests.support.league import NOW
from tests.support.remote import remote

pytestmark = pytest.mark.django_db


def text(client, address: str, **headers: str) -> str:
    return " ".join(client.get(address, headers=headers).content.decode().split())


def test_everybody_sees_that_it_is_remote_and_its_owner_if_it_is_connected(client, ana) -> None:
    remote(ana, "rufo", most=2)
    assert ">remote</span>" in text(client, "/bots/")
    page = text(client, "/bots/rufo/")
    assert "plays from its author’s machine" in page
    assert "onnected" not in page, "when somebody's machine runs is not for all"
    assert "juega desde el ordenador de su autor" in text(client, "/bots/rufo/", **{"accept-language": "es"})
    client.force_login(ana.user)
    assert "playing 0 of at most 2 matches" in text(client, "/bots/rufo/")
    RemoteLink.objects.update(seen=NOW)
    assert "It is not connected: start it with <code>tute remote</code>" in text(client, "/bots/rufo/")
    for tab in ("games", "leagues", "matches", "versions", "history", "settings"):
        assert client.get(f"/bots/rufo/?tab={tab}").status_code == 200
    assert client.get(reverse("version", args=["rufo", 1])).status_code == 200
