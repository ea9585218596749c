"""Versions from Git: fetched by a worker from a real server, uploaded like a zip, and asked for by forges that sign."""

from __future__ import annotations

import hashlib
import hmac
import io
import json
import zipfile
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest

from engine.sandbox import SandboxError
from league.domain.bots import fetches
from league.domain.core import queue
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs.handlers import registry
from league.domain.jobs.worker import WorkerLoop
from league.domain.people import bans, quotas
from league.models import Bot, BotVersion, Fetch, GitLink, Job, Match
from tests.support import forge as forges
from tests.support.forge import BOT, Forge
from tests.support.league import NOW, accepted, later

URL = "https://forge.example/ana/rufo"
FILES = {"bot.toml": BOT, "bot.py": "print(1)\n"}


@pytest.fixture(scope="module")
def forge() -> Iterator[Forge]:
    with forges.forge() as server:
        yield server


@pytest.fixture(autouse=True)
def hosts(settings) -> None:
    settings.GIT_HOSTS = ["forge.example"]


def handler():
    return next(handler for handler in registry.idle_handlers() if handler.kinds == (fetches.JOB,))


def fetched(row: Fetch, data: dict[str, str] | None, why: str = "") -> Fetch:
    """Let a worker report the end of a fetch, and the scheduler act on it."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, text in (data or {}).items():
            packed.writestr(name, text)
    queue.withdraw(fetches.JOB, fetch=row)
    result = None if why else buffer.getvalue()
    Fetch.objects.filter(pk=row.pk).update(finished=NOW, commit="c" * 40, result=result, why=why)
    fetches.settle(now=NOW)
    return Fetch.objects.get(pk=row.pk)


@pytest.mark.django_db  # a worker goes by the clock of the machine
def test_a_tag_becomes_a_version_that_shows_its_commit(ana, worker: WorkerLoop, forge: Forge, settings) -> None:
    settings.GIT_PRIVATE_HOSTS = [forge.site]
    fetches.is_possible_here.cache_clear()
    first = forge.push("rufo", {f"bots/rufo/{name}": text for name, text in FILES.items()}, "v1")
    row = fetches.ask(ana, "Rufo", forge.url("rufo"), "v1", "bots/rufo/")
    job = handler().claim(worker.name)
    assert job is not None
    worker.run(job)
    assert (fetches.settle(), Job.objects.filter(kind=fetches.JOB).count()) == (1, 0)

    row.refresh_from_db()
    version = BotVersion.objects.get()
    assert (row.why, row.commit, row.version, row.result) == ("", first, version, None)
    assert (str(version), version.games, version.entry) == ("rufo v1", ["a_dos"], "bot.py")
    assert Match.objects.filter(kind="validation").exists()
    # The tag moves: the version stays as it is, and a new fetch is a new version.
    second = forge.push("rufo", {"bots/rufo/bot.py": "print(2)\n"}, "v1")
    again = fetches.ask(ana, "rufo", forge.url("rufo"), "v1", "bots/rufo")
    job = handler().claim(worker.name)
    assert job is not None
    worker.run(job)
    fetches.settle()
    assert [version.fetch.commit for version in BotVersion.objects.order_by("pk")] == [first, second]
    assert Fetch.objects.get(pk=again.pk).version.number == 2


@pytest.mark.django_db
def test_a_host_that_is_no_longer_allowed_is_not_reached(ana, worker: WorkerLoop, settings) -> None:
    settings.GIT_HOSTS = ["forge.example", "*"]
    fetches.is_possible_here.cache_clear()
    row = fetches.ask(ana, "rufo", "https://other.example/ana/rufo", "v1")
    settings.GIT_HOSTS = ["forge.example"]
    job = handler().claim(worker.name)
    assert job is not None
    worker.run(job)
    row.refresh_from_db()
    assert "fetches from forge.example only" in row.why


def test_what_is_refused_at_once(ana, berto, settings) -> None:
    accepted(berto, "trufo")
    for how, why in (
        ({"url": "http://forge.example/ana/rufo"}, "like https://host/owner/name"),
        ({"url": "https://ana:x@forge.example/ana/rufo"}, "like https://host/owner/name"),
        ({"url": "https://127.0.0.1/ana/rufo"}, "fetches from forge.example only"),
        ({"url": "https://forge.example:8443/ana/rufo"}, "fetches from forge.example only"),
        ({"tag": "--upload-pack=x"}, "name of a tag"),
        ({"tag": "v1\0"}, "name of a tag"),
        ({"folder": "../x"}, "path inside the repository"),
        ({"folder": "a\nb"}, "path inside the repository"),
        ({"folder": "x" * 121}, "path inside the repository"),
        ({"bot_name": "trufo"}, "taken by another player"),
        ({"bot_name": "new"}, "cannot be used as the name"),
    ):
        with pytest.raises(Refused, match=why):
            fetches.ask(ana, **({"bot_name": "rufo", "url": URL, "tag": "v1"} | how))
    settings.GIT_HOSTS = []
    with pytest.raises(Refused, match="fetches nothing from Git"):
        fetches.ask(ana, "rufo", URL, "v1")
    assert not Fetch.objects.exists()


def test_what_arrives_is_checked_like_an_upload(ana) -> None:
    first = fetched(fetches.ask(ana, "rufo", URL, "v1", now=NOW), FILES)
    for number, (files, why) in enumerate(
        (
            (FILES, "has these exact files already"),
            ({"bot.py": "print(3)"}, "bot.toml"),
            ({}, "bot.toml"),
            ({"../bot.toml": BOT}, "bot.toml"),
        )
    ):
        row = fetched(fetches.ask(ana, "rufo", URL, f"v{number}", now=NOW), files)
        assert (row.version, row.result) == (None, None)
        assert why in row.why
    assert fetched(fetches.ask(ana, "rufo", URL, "v9", now=NOW), None, "the repository has no tag v9").why
    assert list(BotVersion.objects.values_list("pk", flat=True)) == [first.version_id]


def test_what_arrives_after_a_ban_is_no_version(ana) -> None:
    row = fetches.ask(ana, "rufo", URL, "v1", now=NOW)
    bans.ban(ana, why="cheating", actor="op", now=NOW)
    row = fetched(row, FILES)
    assert (row.version, row.result) == (None, None)
    assert "cheating" in row.why
    pk = row.pk
    row.delete()
    fetches._upload(pk, NOW)  # Its player closed the account between two looks of the scheduler.


def test_fetches_count_as_uploads_once(ana, settings) -> None:
    settings.UPLOADS_PER_HOUR = 3
    fetched(fetches.ask(ana, "rufo", URL, "v1", now=NOW), FILES)
    fetched(fetches.ask(ana, "rufo", URL, "v2", now=NOW), None, "no such tag")
    last = fetches.ask(ana, "rufo", URL, "v3", now=NOW)
    with pytest.raises(TooMany, match="uploaded 3 versions"):
        fetches.ask(ana, "rufo", URL, "v4", now=NOW)
    assert fetched(last, {**FILES, "bot.py": "print(3)"}).version is not None
    assert quotas.limit(ana, quotas.UPLOADS, now=NOW).used == 3


def test_a_fetch_that_nobody_does_ends_and_is_forgotten(ana) -> None:
    row = fetches.ask(ana, "rufo", URL, "v1", now=NOW)
    assert fetches.settle(now=later(3599)) == 0
    assert fetches.settle(now=later(3601)) == 1
    row.refresh_from_db()
    assert "no worker" in row.why
    assert not Job.objects.filter(kind=fetches.JOB).exists()
    fetches.settle(now=NOW + timedelta(days=31))
    assert not Fetch.objects.exists()


def test_a_worker_that_may_not_go_out_takes_no_fetch(ana, settings) -> None:
    fetches.ask(ana, "rufo", URL, "v1", now=NOW)
    settings.GIT_HOSTS = []
    fetches.is_possible_here.cache_clear()
    assert not handler().is_overdue(now=NOW)
    assert handler().claim("w:1", now=NOW) is None
    fetches.is_possible_here.cache_clear()


def test_a_fault_of_the_league_is_tried_again_and_then_named(ana, monkeypatch) -> None:
    monkeypatch.setattr(fetches, "is_possible_here", lambda: True)
    row = fetches.ask(ana, "rufo", URL, "v1", now=NOW)
    for attempt in range(3):
        job = handler().claim("w:1", now=later(100 * attempt))
        assert job is not None
        handler().fail(job, SandboxError("/secret/folder is full"), now=later(100 * attempt + 1))
    row.refresh_from_db()
    assert (row.why, row.finished) == ("the league could not fetch it; try again later", later(201))
    assert not Job.objects.filter(kind=fetches.JOB).exists()


@pytest.fixture
def link(ana) -> GitLink:
    return fetches.link(accepted(ana, "rufo").bot, URL, "bots/rufo", player=ana, now=NOW)


def event(**more: Any) -> bytes:
    return json.dumps({"ref": "refs/tags/v1", "before": "0" * 40, "after": "a" * 40, "commits": []} | more).encode()


def signed(secret: str, body: bytes) -> dict[str, str]:
    return {"X-Hub-Signature-256": "sha256=" + hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()}


def test_whoever_has_the_secret_uploads(link: GitLink, berto) -> None:
    Bot.objects.filter(slug="rufo").update(owner=berto)
    secret = fetches.new_secret(link, player=berto)
    opened = fetches.find_link("rufo", b"", {"X-Gitlab-Token": secret})
    assert opened is not None
    assert opened.player == berto


def test_a_delivery_acts_once(link: GitLink) -> None:
    body, secret = event(), fetches.new_secret(link, player=link.player)
    for headers in (signed(secret, body), {"X-Gitlab-Token": secret}):
        found_link = fetches.find_link("rufo", body, headers)
        assert found_link == link
        row = fetches.push(found_link, body, now=NOW)
        assert row is not None
        assert (row.bot_name, row.url, row.folder, row.tag, row.player) == ("rufo", URL, "bots/rufo", "v1", link.player)
    fetched(row, None, "the repository has no folder")
    assert fetches.push(link, body, now=later(60)) == row
    assert Fetch.objects.count() == 1
    assert fetches.push(link, event(after="b" * 40), now=NOW) != row


def test_only_pushes_of_tags_act(link: GitLink) -> None:
    fetches.new_secret(link, player=link.player)
    for change in (
        {"ref": "refs/heads/main"},
        {"after": "0" * 40},
        {"ref": None},
        {"ref": ["refs/tags/v1"]},
        {"after": 7},
        {"after": "--x"},
    ):
        assert fetches.push(link, event(**change), now=NOW) is None
    assert fetches.push(link, b'["a"]', now=NOW) is None
    for body in (b"", b"payload=%7B%7D", b"\xff", b"[" * 100_000):
        with pytest.raises(Refused, match="not JSON"):
            fetches.push(link, body, now=NOW)
    with pytest.raises(Refused, match="name of a tag"):
        fetches.push(link, event(ref="refs/tags/v 1\0"), now=NOW)
    assert not Fetch.objects.exists()


def test_only_the_secret_of_the_link_opens_it(link: GitLink, ana, berto) -> None:
    body = event()
    old = fetches.new_secret(link, player=ana)
    secret = fetches.new_secret(link, player=ana)
    assert fetches.find_link("rufo", body, signed(secret, body)) == link
    assert fetches.link(link.bot, URL, "bots/other", player=ana, now=NOW).salt == GitLink.objects.get().salt != ""
    for slug, sent, headers in (
        ("rufo", body, {}),
        ("rufo", body, signed(old, body)),
        ("rufo", event(ref="refs/tags/v2"), signed(secret, body)),
        ("rufo", body, signed(fetches._secret(""), body)),
        ("rufo", body, {"X-Gitlab-Token": ""}),
        ("rufo", body, {"X-Hub-Signature-256": "sha256=ñ"}),
        ("nobody", body, signed(fetches._secret(""), body)),
    ):
        assert fetches.find_link(slug, sent, headers) is None
    Bot.objects.filter(slug="rufo").update(owner=berto)  # Who has handed it on uploads no more.
    assert fetches.find_link("rufo", body, signed(secret, body)) is None
    Bot.objects.filter(slug="rufo").update(owner=ana)
    bans.ban(ana, why="x", actor="op", now=NOW)
    assert fetches.find_link("rufo", body, signed(secret, body)) is None
    assert not fetches.link(link.bot, f"{URL}-2", "", player=ana, now=NOW).salt
    Bot.objects.filter(slug="rufo").update(owner=berto)
    secret = fetches.new_secret(link, player=berto)
    assert fetches.find_link("rufo", body, signed(secret, body)).player == berto, "nobody uploads in another's name"
    fetches.unlink(link.bot, player=berto, now=NOW)
    assert not GitLink.objects.exists()
