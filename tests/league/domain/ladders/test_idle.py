"""Ladders say why they do not play: switched off, too few bots, owners who do not want it, no worker, no room, rest."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.ladders import drawing, places
from league.domain.ladders.idle import Idle, why_idle
from league.domain.matches import workers
from league.domain.people import players
from league.domain.ratings import pools, ratings
from league.enums import EntryPolicy, MatchKind
from league.models import Bot, Match, Rating, Rung
from tests.support.league import NOW, accepted, later, play, started

GAME = "partnership"


@pytest.fixture
def pair(db, settings):
    """Two bots of two owners on the ladder of a game for two sides."""
    settings.LADDERS = True
    versions = [accepted(players.create(f"p{n}", now=NOW), f"bot-{n}", games=[GAME]) for n in range(2)]
    places.enter(now=NOW)
    return versions


def test_a_ladder_says_what_it_lacks(pair, settings) -> None:
    assert why_idle(GAME, now=NOW) == Idle("worker", 2, 2)
    workers.register("w1", tier="landlock", now=NOW)
    assert why_idle(GAME, now=NOW) is None
    assert why_idle("cabrero", now=NOW) == Idle("few", 0, 4)
    Bot.objects.filter(pk=pair[0].bot.pk).update(entry_policy=EntryPolicy.NOBODY)
    assert why_idle(GAME, now=NOW) == Idle("few", 1, 2, away=1)
    settings.LADDERS = False
    assert why_idle(GAME, now=NOW) == Idle("off")


def test_a_house_bot_fills_the_seat_that_a_ladder_lacks(pair) -> None:
    workers.register("w1", tier="landlock", now=NOW)
    Bot.objects.filter(pk=pair[1].bot.pk).update(entry_policy=EntryPolicy.NOBODY)
    assert drawing.draw(now=NOW) == 0
    Bot.objects.filter(pk=pair[1].bot.pk).update(is_house=True)
    assert why_idle(GAME, now=NOW) is None
    assert drawing.draw(now=NOW) == 1


def test_two_bots_of_two_owners_play_at_a_table_of_four_with_house_bots_rated(settings, ana, berto) -> None:
    settings.LADDERS = True
    game = "cabrero"
    own = [accepted(ana, "rufo", games=[game]), accepted(berto, "luna", games=[game])]
    places.enter(now=NOW)
    workers.register("w1", tier="landlock", now=NOW)
    assert why_idle(game, now=NOW) == Idle("few", 2, 4)
    house = players.create(players.HOUSE, reserved=True, now=NOW)
    theirs = [accepted(house, name, games=[game]) for name in ("greedy", "random")]
    places.enter(now=NOW)
    assert why_idle(game, now=NOW) is None
    assert drawing.draw(now=NOW) > 0
    match = Match.objects.filter(kind=MatchKind.LADDER, pool=pools.pool(game)).earliest("pk")
    assert set(match.parties.values_list("version", flat=True)) == {version.pk for version in (*own, *theirs)}
    assert match.rated
    play(match, now=later(1))
    ratings.refresh(match.pool, now=later(1))
    assert Rating.objects.filter(pool=match.pool).count() == 4


def test_a_ladder_waits_for_room_and_for_rested_bots(pair, ana) -> None:
    workers.register("w1", tier="landlock", now=NOW)
    due = NOW + timedelta(minutes=5)
    Rung.objects.update(due=due)
    assert why_idle(GAME, now=NOW) == Idle("rest", 2, 2, 0, due)
    Rung.objects.update(due=NOW)
    started(ana, [accepted(ana, name) for name in ("rufo", "nena", "sol")])
    assert why_idle(GAME, now=NOW) == Idle("busy", 2, 2)
