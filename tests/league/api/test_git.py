"""Versions from Git by the API: who may ask, what a webhook shows to strangers, and what a version tells to whom."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest

from league.domain.bots import fetches
from league.models import Bot, Fetch, Job
from tests.league.api.client import Api
from tests.support.league import NOW, accepted

URL = "https://forge.example/ana/rufo"
PUSH = {"ref": "refs/tags/v1", "after": "a" * 40}


@pytest.fixture(autouse=True)
def hosts(settings) -> None:
    settings.GIT_HOSTS = ["forge.example"]


def test_an_author_asks_and_only_they_follow_it(as_alice: Api, as_charlie: Api, nobody: Api, alice) -> None:
    wish = {"url": URL, "tag": "v1", "folder": "bots/rufo"}
    answer = as_alice.call("POST", "bots/Mi_bot/fetches".lower(), wish, headers={"Idempotency-Key": "1"})
    assert answer.status_code == 201
    row = Fetch.objects.get()
    fetch = answer.json()
    assert answer["Location"] == f"/api/v1/fetches/{row.pk}"
    assert {name: fetch[name] for name in ("bot", "url", "tag", "folder", "commit", "version", "why")} == {
        "bot": "mi-bot", **wish, "commit": "", "version": None, "why": "",
    }  # fmt: skip
    again = as_alice.call("POST", "bots/mi_bot/fetches", wish, headers={"Idempotency-Key": "1"})
    assert (again.json(), Fetch.objects.count(), Job.objects.count()) == (fetch, 1, 1)
    path = f"fetches/{row.pk}"
    assert [caller.get(path).status_code for caller in (as_alice, as_charlie, nobody)] == [200, 404, 401]
    for change in (
        {"tag": "v 1"},
        {"url": "https://10.0.0.1/x"},
        {"folder": "../.."},
        {"tag": None},
        {"url": "x" * 301},
        {"x": 1},
    ):
        assert as_alice.post("bots/rufo2/fetches", wish | change).status_code in (400, 409, 422)


def test_a_version_shows_its_commit_to_those_who_may_read_it(
    as_alice: Api, as_charlie: Api, nobody: Api, alice
) -> None:
    version = accepted(alice, "rufo2")
    Fetch.objects.create(
        player=alice, bot_name="rufo2", url=URL, tag="v1", commit="c" * 40, version=version, created=NOW, finished=NOW
    )
    git = {"url": URL, "folder": "", "tag": "v1", "commit": "c" * 40}
    path = f"versions/{version.pk}"
    assert [caller.get(path).json()["git"] for caller in (as_alice, as_charlie, nobody)] == [git, None, None]
    version.opened = NOW
    version.save()
    assert nobody.get(path).json()["git"] == git


def test_a_webhook_answers_strangers_as_if_there_were_none(nobody: Api, as_alice: Api, alice, settings) -> None:
    link = fetches.link(accepted(alice, "rufo2").bot, URL, "", player=alice)
    secret = fetches.new_secret(link, player=alice)
    body = json.dumps(PUSH).encode()
    right = {"X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}
    before = settings.REST_FRAMEWORK
    refusals = {
        (answer.status_code, answer.content)
        for slug, headers in (("rufo2", {}), ("nobody", right), ("rufo2", {"X-Gitlab-Token": "x"}), ("luna", right))
        for answer in [nobody.call("POST", f"bots/{slug}/push", body, headers=headers, content_type="application/json")]
    }
    assert len(refusals) == 1
    assert refusals.pop()[0] == 404
    assert as_alice.post("bots/rufo2/push", PUSH).status_code == 404, "her token is no signature"
    for status, kind in ((202, "application/json"), (202, "text/plain")):
        answer = nobody.call("POST", "bots/rufo2/push", body, headers=right, content_type=kind)
        assert (answer.status_code, answer.json()["tag"]) == (status, "v1")
    assert Fetch.objects.count() == 1
    empty = nobody.call("POST", "bots/rufo2/push", headers={"X-Gitlab-Token": secret})
    assert (empty.status_code, nobody.call("POST", "bots/rufo2/push").status_code) == (409, 404)
    ping = nobody.call(
        "POST", "bots/rufo2/push", b"{}", headers={"X-Gitlab-Token": secret}, content_type="application/json"
    )
    assert (ping.status_code, ping.content) == (204, b"")
    settings.REST_FRAMEWORK = {
        **settings.REST_FRAMEWORK,
        "DEFAULT_THROTTLE_RATES": {"anon": (1, 3600), "user": (1, 3600)},
    }
    wrong = [nobody.call("POST", "bots/rufo2/push", headers={"X-Gitlab-Token": "x"}).status_code for _ in range(3)]
    assert (wrong[0], wrong[-1]) == (404, 429)
    right_ones = [nobody.call("POST", "bots/rufo2/push", body, headers=right).status_code for _ in range(2)]
    assert right_ones == [202, 429], "whoever shares the address has a limit of their own"
    settings.REST_FRAMEWORK = before
    large = nobody.call(
        "POST", "bots/rufo2/push", b" " * (1 << 21), headers={"X-Gitlab-Token": secret}, content_type="x/y"
    )
    assert large.status_code == 413
    Bot.objects.filter(slug="rufo2").update(state="retired")
    late = nobody.call(
        "POST", "bots/rufo2/push", json.dumps(PUSH | {"after": "b" * 40}).encode(), headers={"X-Gitlab-Token": secret}
    )
    assert late.status_code == 409
