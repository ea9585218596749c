"""The ladder of an idle league with a real worker, real bots and a real scheduler: who is accepted plays next."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from league.domain.bots import bots
from league.domain.ladders.drawing import AHEAD
from league.domain.people import players
from league.enums import MatchKind
from league.models import BotVersion, Match, Rating
from tests.support.league import source
from tests.support.live import LiveLeague

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
GAME = "brisca"


@pytest.fixture
def live() -> Iterator[LiveLeague]:
    league = LiveLeague(LADDERS="1")
    yield league
    league.close()


def upload(name: str) -> BotVersion:
    return bots.upload(
        players.Player.objects.filter(name=name).first() or players.create(name), name, source(), "bot.py", [GAME]
    )


def finished(version: BotVersion) -> bool:
    return Rating.objects.filter(version=version).exists()


@pytest.mark.slow
def test_who_is_accepted_plays_next_and_counts(live: LiveLeague) -> None:
    versions = [upload(name) for name in ("uno", "dos", "tres")]
    live.start("worker")
    live.start("scheduler")
    live.start("scheduler")
    live.wait_until(lambda: all(map(finished, versions)), "the first rated boards")
    new = upload("nuevo")
    live.wait_until(lambda: finished(new), "the first rated board of the newcomer")
    better = upload("nuevo")
    test = Match.objects.filter(key__startswith="s:", status="finished")
    live.wait_until(lambda: finished(better) and test.exists(), "the new version against the one before")

    for version in (new, better):
        version.refresh_from_db()
        after = Match.objects.filter(kind=MatchKind.LADDER, created__gte=version.entered, rated=True).order_by("pk")
        # While the only worker writes down that it is accepted, as many may be drawn as wait for one worker, and one more that it has claimed ahead
        assert after.filter(parties__version=version).first() in after[: 2 + AHEAD], "drawn first"
    drawn = Match.objects.filter(kind=MatchKind.LADDER, key__startswith="l:").values_list("key", flat=True)
    lots = {int(key[2:]) for key in drawn}
    others = set(range(1, max(lots) + 1)) - lots
    assert len(others) <= Match.objects.filter(key__startswith="s:").count(), (
        "each lot is a table, or a test of a new version"
    )
    assert not Match.objects.filter(kind=MatchKind.LADDER, status="void").exists()
    assert {tuple(match.parties.order_by("number").values_list("version", flat=True)) for match in test} == {
        (better.pk, new.pk)
    }
