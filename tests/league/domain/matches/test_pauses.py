"""Pause, go on, go back: what becomes of matches that wait, and of those that are played."""

from __future__ import annotations

import pytest

from league.domain.bots import bots
from league.domain.core.errors import Refused
from league.domain.matches import leases, reports, workers
from league.domain.tournaments import enrolment, progress, tournaments
from league.domain.upkeep import reconcile
from league.enums import BotState, MatchStatus
from league.models import Bot, LeagueEvent, Tournament
from tests.support import rows
from tests.support.league import NOW, accepted, later, result, running, started, uploaded

DAY = 24 * 3600


@pytest.fixture
def cup(ana, berto) -> Tournament:
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto) -> Tournament:
    return started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "nena")], boards=1)


def state(cup: Tournament) -> list[str]:
    return sorted(cup.matches.values_list("status", flat=True))


def kinds(subject: str) -> list[str]:
    return list(LeagueEvent.objects.filter(subject=subject).order_by("pk").values_list("kind", flat=True))


def test_a_paused_tournament_begins_nothing_and_what_is_played_ends(cup) -> None:
    match = running()
    for _ in range(2):
        progress.pause(cup, actor="ana", now=later(1))

    assert leases.claim("w2", now=later(2)) is None
    assert reconcile.count_waiting(now=later(2), most=9) == 0
    assert reports.report(match, result(match), now=later(3)) == reports.Receipt.STORED
    reconcile.reconcile(now=later(4))
    assert state(cup) == [MatchStatus.FINISHED, MatchStatus.QUEUED, MatchStatus.QUEUED]
    assert set(cup.matches.filter(status="queued").values_list("reason", flat=True)) == {workers.PAUSED}
    assert workers.queue(now=later(4)).waiting["paused"] == 2
    assert {match.why for match in workers.waiting_line(now=later(4))} == {"paused"}

    for _ in range(2):
        progress.resume(cup, actor="ana", now=later(5))
    while claim := leases.claim("w1", now=later(6)):
        leases.start(claim, now=later(6))
        reports.report(claim, result(claim), now=later(6))
    reconcile.reconcile(now=later(7))
    cup.refresh_from_db()
    assert cup.status == "finished"
    assert [kind for kind in kinds("tournament:cup") if "paus" in kind or "resum" in kind] == [
        "tournament.paused",
        "tournament.resumed",
    ]
    with pytest.raises(Refused, match="only a running one can be paused"):
        progress.pause(cup, actor="ana", now=later(8))


def test_nothing_is_begun_of_a_tournament_whose_web_died_while_it_was_cancelled(cup, monkeypatch) -> None:
    def die(*args: object, **options: object) -> None:
        raise SystemExit

    with monkeypatch.context() as web:
        web.setattr(progress, "cancel_matches", die)
        with pytest.raises(SystemExit):
            progress.cancel(cup, actor="ana", now=later(1))

    assert leases.claim("w1", now=later(2)) is None
    assert state(cup) == [MatchStatus.QUEUED] * 3
    reconcile.reconcile(now=later(3))
    assert state(cup) == [MatchStatus.CANCELLED] * 3


def test_nothing_is_added_to_a_paused_tournament(cup, monkeypatch) -> None:
    progress.pause(cup, actor="ana", now=NOW)
    cup.matches.all().delete()

    assert progress.schedule(cup, now=NOW) == 0
    progress.resume(cup, actor="ana", now=NOW)
    assert progress.schedule(cup, now=NOW) == 3


@pytest.mark.parametrize("counts", [True, False])
def test_a_pause_by_the_owner_delays_no_match_of_an_event(cup, counts) -> None:
    """An owner could read the queue and hold the match, and with it one of the two tables at which the opponent may sit, or the whole event."""
    cup.matches.update(rated=counts)
    bots.set_state(Bot.objects.get(slug="rufo"), BotState.PAUSED, actor="ana", now=NOW)
    workers.explain(now=NOW)
    assert not cup.matches.filter(held_back=True).exists()
    assert not cup.matches.filter(reason=workers.PAUSED).exists()
    assert sum(leases.claim("w", now=NOW) is not None for _ in range(4)) == 3


@pytest.mark.slow
def test_a_bot_paused_by_its_owner_holds_back_its_matches_for_a_day_and_not_again_within_a_week(cup) -> None:
    cup.matches.update(rated=False, kind="challenge")
    rufo = Bot.objects.get(slug="rufo")
    first = leases.claim("w1", prefer=cup.matches.filter(parties__version__bot=rufo).first().pk, now=NOW)
    leases.start(first, now=NOW)
    for _ in range(2):
        bots.set_state(rufo, BotState.PAUSED, actor="ana", now=later(1))

    others = leases.claim("w2", now=later(2))
    assert not others.parties.filter(version__bot=rufo).exists()
    assert leases.claim("w3", now=later(2)) is None
    leases.start(others, now=later(2))
    reports.report(others, result(others), now=later(3))
    assert reports.report(first, result(first), now=later(3)) == reports.Receipt.STORED

    assert reconcile.reconcile(now=later(DAY)).released == 0
    assert reconcile.reconcile(now=later(DAY + 1)).released == 1
    assert "bot.hold_ended" in kinds("bot:rufo")
    late = leases.claim("w3", now=later(DAY + 2))
    assert late.parties.filter(version__bot=rufo).exists()
    assert leases.release(late, why="stopped", now=later(DAY + 2))

    bots.set_state(rufo, BotState.ACTIVE, actor="ana", now=later(2 * DAY))
    bots.set_state(rufo, BotState.PAUSED, actor="ana", now=later(2 * DAY))
    assert leases.claim("w3", now=later(2 * DAY)).pk == late.pk, "it cannot stop an event again and again"
    bots.set_state(rufo, BotState.ACTIVE, actor="ana", now=later(9 * DAY))
    bots.set_state(rufo, BotState.PAUSED, actor="ana", now=later(9 * DAY))
    assert Bot.objects.get(slug="rufo").held_until == later(10 * DAY)


def test_making_it_active_or_retiring_it_lets_its_matches_be_played(cup) -> None:
    cup.matches.update(rated=False, kind="challenge")
    rufo = Bot.objects.get(slug="rufo")
    for to in (BotState.ACTIVE, BotState.RETIRED):
        bots.set_state(rufo, BotState.PAUSED, actor="ana", now=NOW)
        bots.set_state(rufo, to, actor="ana", now=NOW)
        assert Bot.objects.get(slug="rufo").held_until is None
    assert sum(leases.claim("w", now=NOW) is not None for _ in range(4)) == 3


def test_a_bot_goes_back_to_an_earlier_version(ana, cup) -> None:
    rufo = Bot.objects.get(slug="rufo")
    second = accepted(ana, "rufo")
    assert bots.sent_version(rufo).number == 2
    for _ in range(2):
        bots.choose_version(rufo, 1, actor="ana", now=NOW)

    rufo = Bot.objects.get(slug="rufo")
    assert (bots.sent_version(rufo).number, bots.sent_version(rufo, "corriente").number) == (1, 1)
    new = tournaments.create(ana, "New", "partnership", boards=1, now=NOW)
    assert enrolment.enter(new, rufo, now=NOW).version.number == 1
    assert cup.entries.get(version__bot=rufo).version.number == 1
    third = uploaded(ana, "rufo")
    for number in (third.number, 9):
        with pytest.raises(Refused, match=f"rufo has no accepted version {number}"):
            bots.choose_version(rufo, number, actor="ana", now=NOW)
    bots.choose_version(rufo, None, actor="ana", now=NOW)
    assert bots.sent_version(Bot.objects.get(slug="rufo")) == second
    assert kinds("bot:rufo").count("bot.sends") == 2
