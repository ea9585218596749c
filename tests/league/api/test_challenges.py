"""Challenges by the API and by the page of the bot."""

from __future__ import annotations

from django.test import Client

from league.models import Match
from tests.support import league


def test_a_challenge_by_the_api_is_made_once(nobody, as_alice, alice, charlie) -> None:
    league.accepted(alice, "rufo")
    league.accepted(charlie, "luna", policy="ask")
    wish = {"bot": "rufo", "against": "luna", "against_version": 1, "game": "partnership", "boards": 1}

    first, again = (as_alice.post("challenges", wish, headers={"Idempotency-Key": "one"}) for _ in range(2))
    assert (first.status_code, again.json()) == (201, first.json())
    assert first["Location"] == f"/api/v1/matches/{first.json()['id']}"
    assert (first.json()["kind"], first.json()["rated"]) == ("challenge", False)
    assert [row["id"] for row in nobody.results("matches?kind=challenge&bot=luna")] == [first.json()["id"]]
    assert nobody.post("challenges", wish).status_code == 401
    for wrong in ({"bot": "nobody"}, {"against_version": 9}, {"boards": 99}):
        assert as_alice.post("challenges", {**wish, **wrong}).status_code == 400
    assert (
        as_alice.post("challenges", {**wish, "bot": "luna", "against": "rufo", "against_version": 1}).status_code == 409
    )
    used = {limit["name"]: limit["used"] for limit in as_alice.get("me/limits").json()}
    assert used["challenges"] == 1


def test_challenges_of_games_with_more_sides_name_the_others(as_alice, alice, charlie) -> None:
    for owner, name in ((alice, "rufo"), (charlie, "luna"), (alice, "nena"), (charlie, "sola")):
        league.accepted(owner, name)
    wish = {"bot": "rufo", "against": "luna", "game": "cabrero", "boards": 1}
    assert as_alice.post("challenges", wish).status_code == 409
    assert as_alice.post("challenges", {**wish, "others": [{"bot": "nobody"}, {"bot": "sola"}]}).status_code == 400
    answer = as_alice.post("challenges", {**wish, "others": [{"bot": "nena"}, {"bot": "sola", "version": 1}]})
    assert (answer.status_code, [party["version"]["bot"] for party in answer.json()["parties"]]) == (
        201,
        ["rufo", "luna", "nena", "sola"],
    )

    browser = Client()
    browser.force_login(alice.user)
    assert 'name="others"' in browser.get("/bots/luna/?tab=matches").content.decode()
    form = {"with": "rufo", "version": "", "game": "cabrero", "boards": "1"}
    browser.post("/bots/luna/challenge/", {**form, "others": "nobody, sola"})
    assert Match.objects.filter(kind="challenge").count() == 1
    browser.post("/bots/luna/challenge/", {**form, "others": "nena, sola"})
    assert Match.objects.filter(kind="challenge").count() == 2


def test_a_challenge_by_the_page(alice, charlie) -> None:
    league.accepted(alice, "rufo")
    league.accepted(charlie, "luna", policy="ask")
    browser = Client()
    browser.force_login(alice.user)

    assert 'action="/bots/luna/challenge/"' in browser.get("/bots/luna/?tab=matches").content.decode()
    answer = browser.post(
        "/bots/luna/challenge/", {"with": "rufo", "version": "", "game": "partnership", "boards": "2"}
    )
    match = Match.objects.get(kind="challenge")
    assert answer.url == f"/m/{match.public_id}/"
    assert match.public_id in browser.get("/bots/rufo/").content.decode()
    refused = browser.post("/bots/luna/challenge/", {"with": "rufo", "game": "cabrero", "boards": "2"}, follow=True)
    assert refused.status_code == 200
    assert Match.objects.filter(kind="challenge").count() == 1
