"""Matches that break off at a bot, and void matches: which worker plays them next, and who advances."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.conf import settings

from league.domain.matches import health, leases, matches, workers
from league.domain.tournaments import fixtures, progress, tournaments
from league.domain.upkeep import reconcile
from league.enums import BotState, MatchStatus, TournamentStatus
from league.models import Bot, LeagueEvent, Match, Tournament
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play, started

HOUR = 3600


def break_off(match: Match, worker: str, party: int | None, *, at: float) -> Match:
    claim = leases.claim(worker, prefer=match.pk, now=later(at))
    assert claim is not None
    assert claim.pk == match.pk
    leases.start(claim, now=later(at))
    assert leases.fail(claim, why="it does not stop, see /srv/x", party=party, now=later(at)) is True
    match.refresh_from_db()
    return match


@pytest.fixture
def pair(ana, berto) -> Match:
    return rows.once(make_pair, ana, berto)


def make_pair(ana, berto) -> Match:
    return started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")]).matches.get()


def test_what_was_seen_is_kept_with_the_bot_and_names_no_folder(pair: Match) -> None:
    break_off(pair, "w1", 1, at=0)

    innocent, guilty = pair.parties.order_by("number")
    assert innocent.broken_off == []
    assert guilty.broken_off == [{"worker": "w1", "attempt": 1, "why": "it does not stop, see x"}]
    assert (pair.status, pair.avoid) == (MatchStatus.QUEUED, "w1")


def test_another_worker_is_to_try_if_there_is_one(pair: Match) -> None:
    for name in ("w1", "w2"):
        workers.register(name, tier="landlock", now=later(HOUR))
    workers.register("refuses", tier="", refusal="no sandbox", now=later(HOUR))
    break_off(pair, "w1", 0, at=0)

    assert leases.claim("w1", now=later(HOUR)) is None
    workers.unregister("w2", now=later(HOUR))
    assert leases.claim("w1", now=later(HOUR)).pk == pair.pk


def test_a_fault_of_ours_that_names_nobody_may_be_tried_again_by_anybody(pair: Match) -> None:
    for name in ("w1", "w2"):
        workers.register(name, tier="landlock", now=later(HOUR))
    break_off(pair, "w1", None, at=0)

    assert leases.claim("w1", now=later(HOUR)).pk == pair.pk
    assert not pair.parties.exclude(broken_off=[]).exists()


def test_bots_that_break_off_matches_are_paused_like_those_that_fail(ana, berto) -> None:
    versions = [accepted(ana, "rufo"), *(accepted(berto, f"good-{i}") for i in range(4))]
    cup = started(berto, versions, boards=1)
    rufo_matches = list(cup.matches.filter(parties__version__bot__slug="rufo").order_by("id"))
    for number, match in enumerate(rufo_matches[: health.FAULTS]):
        assert Bot.objects.get(slug="rufo").state == BotState.ACTIVE
        party = match.parties.get(version__bot__slug="rufo").number
        break_off(match, "w1", party, at=2 * number * HOUR)
        play(match, now=later((2 * number + 1) * HOUR))

    assert Bot.objects.get(slug="rufo").state == BotState.PAUSED
    assert "in the last one: broken off" in Bot.objects.get(slug="rufo").paused_for
    assert health.retest(now=later(10 * HOUR)) == 1
    assert Bot.objects.filter(slug__startswith="good", state=BotState.ACTIVE).count() == 4


def make_void(match: Match, *, at: float) -> Match:
    for number in range(settings.MAX_ATTEMPTS):
        break_off(match, "w1", None, at=at + number * HOUR)
    assert leases.expire(now=later(at + number * HOUR)) == 1
    match.refresh_from_db()
    assert match.status == MatchStatus.VOID
    return match


def test_a_void_match_of_a_tournament_is_played_again_and_each_time_later(pair: Match) -> None:
    make_void(pair, at=0)
    end = (settings.MAX_ATTEMPTS - 1) * HOUR

    again = Match.objects.exclude(pk=pair.pk).get(kind="tournament", status=MatchStatus.QUEUED)
    assert again.not_before == later(end) + matches.PAUSES[0]
    assert (again.table, again.first_board, bytes(again.secret)) == (pair.table, pair.first_board, bytes(pair.secret))
    assert f"in place of match {pair.public_id}" in again.reason
    assert LeagueEvent.objects.filter(kind="match.again").count() == 1
    assert pair.tournament.status == TournamentStatus.RUNNING

    make_void(again, at=end + 100 * HOUR)
    third = Match.objects.get(kind="tournament", status=MatchStatus.QUEUED)
    assert third.not_before == later(end + 100 * HOUR + end) + matches.PAUSES[1]


def test_what_was_seen_goes_on_to_the_match_in_its_place(pair: Match) -> None:
    break_off(pair, "w1", 1, at=0)
    for number in range(1, settings.MAX_ATTEMPTS):
        break_off(pair, "w1", None, at=number * HOUR)
    assert leases.expire(now=later(number * HOUR)) == 1

    again = Match.objects.get(kind="tournament", status=MatchStatus.QUEUED)
    assert [len(party.broken_off) for party in again.parties.order_by("number")] == [0, 1]


def test_a_void_match_of_a_cancelled_tournament_is_not_played_again(pair: Match) -> None:
    for number in range(settings.MAX_ATTEMPTS):
        break_off(pair, "w1", None, at=number * HOUR)
    Tournament.objects.update(status=TournamentStatus.CANCELLED)  # Cancelled just as it becomes void
    assert leases.expire(now=later(number * HOUR)) == 1

    pair.refresh_from_db()
    assert pair.status == MatchStatus.VOID
    assert not Match.objects.filter(status=MatchStatus.QUEUED).exists()


@pytest.fixture
def knockout(ana, berto) -> Tournament:
    return rows.once(make_knockout, ana, berto)


def make_knockout(ana, berto) -> Tournament:
    versions = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena"), accepted(ana, "pipo")]
    cup = tournaments.create(
        ana, "Cup", "partnership", boards=1, versions=versions, format="single_elimination", secret=SECRET, now=NOW
    )
    tournaments.start(cup, now=NOW)
    return cup


def decided(cup: Tournament) -> list[str]:
    return [pairing.decided_by for pairing in fixtures.play_format(cup).outcome.bracket if pairing.winner is not None]


@pytest.mark.slow
@pytest.mark.parametrize("how", ["broken off by us", "struck out by a person"])
def test_a_void_advances_nobody(how: str, knockout: Tournament) -> None:
    first, second = knockout.matches.order_by("id")
    play(second, winner=0)
    if how == "broken off by us":
        make_void(first, at=HOUR)
    else:
        matches.void(first, actor="operator", why="a broken rules file", now=NOW)

    reconcile.reconcile(now=NOW + timedelta(days=3))
    knockout.refresh_from_db()

    assert knockout.status == TournamentStatus.RUNNING
    assert decided(knockout) == ["boards"]
    assert first.public_id in [pairing.void for pairing in progress.stalled(knockout)]

    if how == "struck out by a person":
        matches.play_again(first, actor="operator", why="mended", now=NOW)
    again = knockout.matches.exclude(pk=first.pk).get(table=first.table)
    play(again, winner=1, now=NOW + timedelta(days=3))
    assert progress.stalled(knockout) == []
    assert decided(knockout)[:2] == ["boards", "boards"]
    assert progress.schedule(knockout, now=NOW + timedelta(days=3)) > 0
