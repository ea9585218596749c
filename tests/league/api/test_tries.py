"""Tries by the API: the same rows, quota and permissions as on the page. What a worker makes of one: tests/league/domain/bots/test_tries.py."""

from __future__ import annotations

import pytest
from django.test import Client

from league.domain.bots import house, tries
from league.domain.bots.languages import JAVASCRIPT
from league.domain.jobs.handlers import tries as handler
from league.domain.matches import leases
from league.domain.matches.reports import Receipt
from league.domain.people import bans, tokens
from league.enums import TokenScope
from league.models import Bot, Match, Try
from league.web.matches.editing import template_text
from tests.league.api.client import Api
from tests.support import league

TEXT = league.BOT.decode()
WISH = {"text": TEXT, "game": "partnership", "against": "greedy", "name": "rufo"}


@pytest.fixture(autouse=True)
def _greedy(db) -> None:
    league.accepted(house.player(now=league.NOW), "greedy")


def test_a_try_is_begun_once_and_its_author_alone_reads_it(nobody, as_alice, as_charlie, as_operator, alice) -> None:
    bots = Bot.objects.count()
    first, again = (as_alice.post("tries", WISH, headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())
    where = first["Location"].removeprefix("/api/v1/")
    begun = as_alice.get(where).json()
    assert {**begun, "status": "queued"} == first.json()
    assert (begun["game"], begun["against"]["bot"], begun["name"], begun["result"]) == (
        "partnership",
        "greedy",
        "rufo",
        None,
    )
    row = Try.objects.get()
    assert (row.source, row.owner, Bot.objects.count()) == (TEXT, alice, bots)
    page = Client()
    page.force_login(alice.user)
    assert page.get(f"/tries/{begun['id']}/").status_code == 200

    assert nobody.get(where).status_code == 401
    assert [other.get(where).status_code for other in (as_charlie, as_operator)] == [404, 404]
    assert as_alice.get("matches/" + begun["id"]).status_code == 404
    assert as_alice.post("tries", WISH).status_code == 429  # the first one is not over

    work = leases.claim("w1", prefer=row.work_id, now=league.NOW)
    assert work is not None
    leases.start(work, now=league.NOW)
    lines = [[0, 1, '{"type":"hello"}', '{"type":"ready"}'], [0, 1, '{"type":"act","legal":["a","b"]}', '{"do":"b"}']]
    assert handler.report(work, tries.TryResult(stderr="mine", lines=lines), now=league.NOW) == Receipt.STORED
    answer = as_alice.get(where).json()
    assert (answer["status"], answer["result"]["stderr"], answer["result"]["sittings"]) == ("finished", "mine", [])
    questions = [
        (question["number"], question["seat"], question["legal"], question["did"])
        for question in answer["result"]["asked"]
    ]
    assert questions == [(0, 1, [], ""), (1, 1, ["a", "b"], "b")]


def test_a_text_in_javascript_is_tried(as_alice) -> None:
    wish = {**WISH, "text": template_text("first", JAVASCRIPT), "language": "javascript"}
    assert as_alice.post("tries", {**wish, "language": "basic"}).status_code == 400
    begun = as_alice.post("tries", wish)
    assert (begun.status_code, begun.json()["language"], Try.objects.get().language) == (
        201,
        "javascript",
        "javascript",
    )


def test_the_limits_are_those_of_the_page(as_alice, alice, settings) -> None:
    settings.QUOTA_TRIES = 1
    for wrong in ({"game": "chess"}, {"against": "nobody"}, {"text": " "}, {"text": "#" * 70_000}):
        assert as_alice.post("tries", {**WISH, **wrong}).status_code in (400, 409, 422), wrong
    assert as_alice.post("tries", {**WISH, "boards": 2}).status_code == 400
    assert not Try.objects.exists()
    reads = Api(tokens.create(alice, "reads", scope=TokenScope.READ)[1])
    assert reads.post("tries", WISH).status_code == 403
    assert as_alice.post("tries", WISH).status_code == 201
    Match.work.filter(tried__owner=alice).update(status="finished")  # Then no other one is running
    refused = as_alice.post("tries", WISH)
    assert (refused.status_code, "Retry-After" in refused) == (429, True)
    bans.ban(alice, why="odd", actor="eva", now=league.NOW)
    assert as_alice.post("tries", WISH).status_code in (401, 403)
    assert Try.objects.count() == 1
