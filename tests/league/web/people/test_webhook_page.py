"""The page of webhooks: the secret is shown once, and a player acts on nobody else's."""

from __future__ import annotations

from django.test import Client

from league.domain.notices import webhooks
from league.models import Delivery, Webhook
from tests.support.league import NOW

PAGE = "/accounts/webhooks/"
FORM = {"add": "1", "url": "https://example.org/tute", "events": list(webhooks.EVENTS)}


def test_a_webhook_is_added_tested_switched_on_and_deleted(ana, berto, client) -> None:
    client.force_login(ana.user)
    page = client.post(PAGE, FORM).content.decode()
    row = Webhook.objects.get()
    assert row.secret in page
    assert row.secret not in client.get(PAGE).content.decode()
    assert client.post(PAGE, {"test": row.pk}).url == PAGE
    assert Delivery.objects.get().event == "test"
    Webhook.objects.update(off=NOW)
    assert client.post(PAGE, {"test": row.pk}).status_code == 422
    client.post(PAGE, {"on": row.pk})
    assert Webhook.objects.get().off is None
    stranger = Client()
    assert stranger.post(PAGE, FORM).url.startswith("/accounts/login/")
    stranger.force_login(berto.user)
    for act in ("test", "on", "delete"):
        for key in (row.pk, "x", "", "9" * 30, "\x00"):
            assert stranger.post(PAGE, {act: key}).status_code in (404, 400), (act, key)
    for wrong in ({"url": "\x00"}, {"url": "http://example.org"}, {"events": "x"}, {"url": "y" * 10_000}):
        assert client.post(PAGE, {**FORM, **wrong}).status_code in (400, 422)
    assert "example.org" not in stranger.get(PAGE).content.decode().replace('https://example.org/tute"', "")
    client.post(PAGE, {"delete": row.pk})
    assert not Webhook.objects.exists()
