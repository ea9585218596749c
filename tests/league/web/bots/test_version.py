"""The page of a version: what its validation found, game by game."""

import re

import pytest

from engine.runner import FaultReport
from engine.runner.trial import CHECKS
from engine.runner.trial import TrialCheck as Checked
from league.domain.matches import reports, validation
from league.models import Match
from tests.support import rows
from tests.support.league import NOW, accepted, result, running, uploaded

pytestmark = pytest.mark.django_db


@pytest.fixture
def refused(ana):
    """A version whose only game has a fault in a rare decision."""
    return rows.once(make_refused, ana)


def make_refused(ana):
    version = uploaded(ana, "rufo", games=("corriente",))
    match = running()
    fault = FaultReport(0, 1, 1, 0, 4, "crash", "ended by exit status 1", '{"asked": 1}', '{"said": 1}')
    checks = [Checked(name, fault if name == "awkward" else None, "claim", 12, 0.25) for name in CHECKS]
    outcome = result(match)
    outcome.parties[
        0
    ].stderr = 'Traceback (most recent call last):\n  File "/bot/bot.py", line 7, in act\nKeyError: 3\n'
    reports.report(match, outcome, [validation.TriedGame("corriente", checks, None, outcome)], now=NOW)
    version.refresh_from_db()
    return version


def test_each_game_and_check_has_its_row(client, refused) -> None:
    page = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()

    for words in (
        "whole boards",
        "rare decisions",
        "a long match",
        "an interrupted match",
        "repeated requests",
    ):
        assert page.count(words) == 1
    assert f"{len(CHECKS) - 1} of {len(CHECKS)} checks passed" in " ".join(page.split())
    assert page.index("What failed") < page.index("checks passed")  # Faults come first
    assert "0.250 s" in page
    assert "asked" not in page  # Only the owner sees a bot's messages


def test_its_owner_reads_what_was_asked_and_where_it_failed(client, ana, refused) -> None:
    client.force_login(ana.user)

    page = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()

    assert "bot.py, line 7, in act: KeyError: 3" in page
    assert "{&quot;asked&quot;: 1}" in page
    assert "{&quot;said&quot;: 1}" in page
    assert "Situation: claim" in page
    assert "keeps playing" not in page  # Nothing was accepted before
    accepted(ana, "rufo", games=("corriente",))
    assert "keeps playing" in client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()


def test_the_api_tells_the_checks(client, ana, refused) -> None:
    public = client.get(f"/api/v1/versions/{refused.pk}").json()
    client.force_login(ana.user)
    own = client.get(f"/api/v1/versions/{refused.pk}").json()

    assert [(check["game"], check["name"], check["fault"]) for check in public["checks"]] == [
        ("corriente", name, "crash" if name == "awkward" else None) for name in CHECKS
    ]
    assert {check["fault_detail"] for check in public["checks"]} == {None}
    assert public["refused"] == []
    assert {check["name"]: check["fault_detail"] for check in own["checks"]}["awkward"] == "ended by exit status 1"


def test_the_page_shows_how_far_the_validation_is(client, ana) -> None:
    uploaded(ana, "rufo", games=("brisca", "cabrero", "corriente"))
    arrived = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()
    assert "waits for a free place" in arrived
    assert "Its check in 3 games begins soon" in arrived

    match = running()
    Match.objects.filter(pk=match.pk).update(progress=34)
    page = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()
    assert "Checking: 1 of 3 games" in page
    assert f"match:{match.public_id}" in page  # It follows the match, whose progress it shows


def test_the_verdict_says_where_the_bot_plays_now(client, ana, settings) -> None:
    settings.LADDERS = True
    version = accepted(ana, "rufo", games=("brisca", "cabrero"))
    client.force_login(ana.user)
    page = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()
    assert "It plays the ladders of these games now:" in page
    assert "/g/cabrero/" in page
    assert "See its matches" in page
    version.bot.on_ladders = False
    version.bot.save()
    page = client.get("/bots/rufo/v1/", headers={"accept-language": "en"}).content.decode()
    assert "It can play in tournaments and challenges" in page


def test_the_menu_shows_ones_own_bot_below_build(league, owner, reader) -> None:
    for address in ("/bots/rufo/", "/bots/rufo/v1/"):
        for client, section in ((owner, "/editor/"), (reader, "/g/")):
            page = client.get(address).content.decode()
            assert set(re.findall(r'<a href="([^"]+)" aria-current="true"', page)) == {section}, address
