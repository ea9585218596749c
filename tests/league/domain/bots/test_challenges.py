"""Challenges: unrated, bounded, and at nobody's cost."""

from __future__ import annotations

import pytest

from engine.runner import FaultReport
from league.domain.bots import bots, challenges, consent, house
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import holds, leases, reports
from league.domain.ratings import ratings
from league.models import BotVersion, Match, Rating
from tests.support import rows
from tests.support.league import NOW, accepted, later, play, result, started


@pytest.fixture
def pair(ana, berto):
    """Ana's bot, and Berto's, whom everybody has to ask for what is rated."""
    return rows.once(make_pair, ana, berto)


def make_pair(ana, berto):
    return accepted(ana, "rufo"), accepted(berto, "luna", policy="ask")


def test_a_challenge_is_played_last_and_counts_for_nobody(ana, pair) -> None:
    rufo, luna = pair
    match = challenges.challenge(ana, rufo.bot, [luna.bot], "partnership", 2, now=NOW)
    cup = started(ana, [rufo, accepted(ana, "nena")])

    assert (match.rated, match.boards_planned, match.kind) == (False, 2, "challenge")
    first = leases.claim("w1", now=NOW)
    assert first is not None
    assert first.tournament == cup
    match = play(match)
    assert match.status == "finished"
    ratings.refresh(match.pool, now=NOW)
    match.refresh_from_db()
    assert (match.counted, Rating.objects.count()) == (None, 0)


def test_a_house_bot_takes_as_many_seats_as_the_game_needs(ana, pair) -> None:
    rufo, luna = pair
    greedy = accepted(house.player(now=NOW), "greedy")
    BotVersion.objects.update(games=[])
    for version in (rufo, luna, greedy):
        version.refresh_from_db()
    match = challenges.challenge(ana, rufo, [greedy, greedy, greedy], "cabrero", now=NOW)
    assert [party.version_id for party in match.parties.order_by("number")] == [rufo.pk, *[greedy.pk] * 3]
    with pytest.raises(Refused, match="against itself"):
        challenges.challenge(ana, rufo, [luna, luna, greedy], "cabrero", now=NOW)


def test_what_cannot_be_challenged(ana, berto, pair) -> None:
    rufo, luna = pair
    refused = [
        (rufo, luna, "chess", 2, "no game"),
        (rufo, luna, "partnership", 17, "1 to 16 boards"),
        (luna, rufo, "partnership", 2, "is not yours"),
        (rufo, rufo, "partnership", 2, "against itself"),
        (rufo, luna, "cabrero", 2, "name 3 besides yours, not 1"),
        (rufo.bot, luna.bot, "brisca", 2, "no accepted version"),
    ]
    for own, rival, game, boards, why in refused:
        with pytest.raises(Refused, match=why):
            challenges.challenge(ana, own, [rival], game, boards, now=NOW)
    consent.set_policy(luna.bot, "nobody", actor="berto", now=NOW)
    with pytest.raises(Refused, match="lets nobody else enter or challenge it"):
        challenges.challenge(ana, rufo, [luna], "partnership", now=NOW)
    consent.set_policy(luna.bot, "anybody", actor="berto", now=NOW)
    consent.block(berto, "ana", now=NOW)
    with pytest.raises(Refused, match="accepts no requests from you"):
        challenges.challenge(ana, rufo, [luna], "partnership", now=NOW)
    assert not Match.objects.filter(kind="challenge").exists()


def test_challenges_have_a_limit_a_day(ana, pair, settings) -> None:
    settings.QUOTA_CHALLENGES = 1
    first = challenges.challenge(ana, pair[0], pair[1:], "partnership", 1, now=NOW)
    with pytest.raises(TooMany, match="made 1 challenges in the last day") as refusal:
        challenges.challenge(ana, pair[0], pair[1:], "partnership", 1, now=later(60))
    assert refusal.value.retry_after == 24 * 3600 - 60
    Match.objects.filter(pk=first.pk).update(status="void")  # a fault of ours costs no challenge
    challenges.challenge(ana, pair[0], pair[1:], "partnership", 1, now=later(60))


def test_nobody_gets_a_bot_paused_by_challenges_and_a_pause_holds_them(ana, berto, pair) -> None:
    _, luna = pair
    fault = FaultReport(kind="crash", detail="x", party=1, seat=1, board=1, sitting=0, step=3, request="", answer="")
    for _ in range(4):
        challenge = challenges.challenge(ana, pair[0], pair[1:], "partnership", 1, now=NOW)
        match = leases.claim("w1", prefer=challenge.pk, now=NOW)
        leases.start(match, now=NOW)
        reports.report(match, result(match, faults=[fault]), now=NOW)
    luna.bot.refresh_from_db()
    assert luna.bot.state == "active"

    waits = challenges.challenge(ana, pair[0], pair[1:], "partnership", 1, now=NOW)
    bots.set_state(luna.bot, "paused", actor="berto", now=NOW)
    queued = Match.objects.filter(pk=waits.pk)
    assert list(holds.paused_matches(queued)) == [waits]
    assert not holds.playable_matches(queued).exists()


def test_a_game_of_more_sides_is_played_by_as_many_bots(ana, berto, pair) -> None:
    rufo, luna = pair
    nena, sola = accepted(ana, "nena"), accepted(berto, "sola")
    match = challenges.challenge(ana, rufo, [luna.bot, nena, sola], "cabrero", 1, now=NOW)
    assert list(match.parties.order_by("number").values_list("version", flat=True)) == [
        version.pk for version in (rufo, luna, nena, sola)
    ]
    assert play(match).status == "finished"

    for rivals, why in (
        ([luna, luna, nena], "against itself"),
        ([luna, nena, sola, sola], "name 3 besides yours, not 4"),
    ):
        with pytest.raises(Refused, match=why):
            challenges.challenge(ana, rufo, rivals, "cabrero", 1, now=NOW)
    consent.set_policy(sola.bot, "nobody", actor="berto", now=NOW)
    with pytest.raises(Refused, match="'sola' lets nobody else"):
        challenges.challenge(ana, rufo, [luna, nena, sola], "cabrero", 1, now=NOW)
