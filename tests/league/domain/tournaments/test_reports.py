"""Reports of users of other tournament servers, tried here (docs/reports.md)."""

from __future__ import annotations

import pytest

from league.domain.bots import bots
from league.domain.core.errors import Refused
from league.domain.matches import leases, reports
from league.domain.people import bans, players
from league.domain.tournaments import enrolment, progress, tournaments
from league.domain.upkeep import reconcile
from league.models import Entry, Match, Player, Tournament
from tests.support import rows
from tests.support.league import NOW, SECRET, accepted, later, play, result


@pytest.fixture
def field(ana: Player, berto: Player) -> list:
    """Five accepted versions, of three owners."""
    return rows.once(make_field, ana, berto)


def make_field(ana: Player, berto: Player) -> list:
    cira = players.create("cira", now=NOW)
    return [accepted((ana, berto, cira)[n % 3], f"bot{n}") for n in range(5)]


def cup(owner: Player, field: list, form: str = "swiss", **more: object) -> Tournament:
    return tournaments.create(
        owner, "Cup", "partnership", boards=1, versions=field, format=form, parameters=more, secret=SECRET, now=NOW
    )


def play_round(tournament: Tournament) -> list[Match]:
    """Play every queued match; return them."""
    played = [play(match, winner=0) for match in tournament.matches.filter(status="queued")]
    tournament.refresh_from_db()
    progress.advance(tournament, now=NOW)
    return played


def test_a_tournament_that_all_have_left_is_not_paired(ana: Player, field: list) -> None:
    tournament = cup(ana, field)
    for version in field:
        enrolment.withdraw(tournament, version, now=NOW)
    with pytest.raises(Refused):
        tournaments.start(tournament, now=NOW)
    reconcile.reconcile(now=later(60))
    assert not tournament.matches.exists()
    assert not tournament.entries.exists()


def test_who_returns_before_the_start_has_one_place(ana: Player, field: list) -> None:
    tournament = cup(ana, field)
    for _ in range(3):
        enrolment.withdraw(tournament, field[0], now=NOW)
        enrolment.enter(tournament, field[0], now=NOW)
        enrolment.enter(tournament, field[0], now=NOW)
    numbers = list(tournament.entries.values_list("number", flat=True))
    assert (len(numbers), len(set(numbers))) == (5, 5)
    tournaments.start(tournament, now=NOW)
    assert tournament.matches.count() == 2
    with pytest.raises(Refused):
        enrolment.enter(tournament, accepted(ana, "late"), now=NOW)


def test_a_player_banned_in_the_middle_spoils_no_table(ana: Player, field: list) -> None:
    """The bots of the banned player play on: nobody waits for them, and nobody wins or loses by the ban."""
    tournament = cup(ana, field, rounds=3)
    tournaments.start(tournament, now=NOW)
    play_round(tournament)
    bans.ban(Player.objects.get(name="cira"), why="farms", actor="olga", now=NOW)
    for _ in range(10):
        reconcile.reconcile(now=later(60))
        while match := leases.claim("w1", now=later(60)):
            leases.start(match, now=later(60))
            assert reports.report(match, result(match, winner=0), now=later(60)) == reports.Receipt.STORED
    tournament.refresh_from_db()
    assert tournament.status == "finished"
    places = Entry.objects.filter(tournament=tournament).order_by("place").values_list("place", flat=True)
    assert places[0] == 1
    assert None not in places


def test_a_cancelled_tournament_goes_on_with_nothing(ana: Player, field: list) -> None:
    """Also not if a match that ran at that moment is reported later."""
    tournament = cup(ana, field)
    tournaments.start(tournament, now=NOW)
    progress.cancel(tournament, actor="ana", now=NOW)
    tournament.refresh_from_db()
    assert progress.advance(tournament, now=NOW) is False
    assert progress.schedule(tournament, now=NOW) == 0
    reconcile.reconcile(now=later(600))
    assert not tournament.matches.exclude(status="cancelled").exists()


@pytest.mark.slow
@pytest.mark.parametrize("how", ["withdrawn", "stopped", "banned"])
def test_two_bots_of_three_go_on_while_the_third_rests(how: str, ana: Player, berto: Player) -> None:
    """A ladder of three, of which one has left or is shut out, still pairs the other two, again and again."""
    three = [accepted(ana, "one"), accepted(berto, "two"), accepted(players.create("dora", now=NOW), "three")]
    tournament = cup(ana, three, "ladder", budget=9)
    tournaments.start(tournament, now=NOW)
    if how == "withdrawn":
        enrolment.withdraw(tournament, three[2], now=NOW)
    elif how == "stopped":
        bots.stop(three[2].bot, why="odd", actor="olga", now=NOW)
    else:
        bans.ban(three[2].bot.owner, why="odd", actor="olga", now=NOW)
    play_round(tournament)  # The tables that were drawn before
    before = tournament.matches.filter(parties__version=three[2]).count()
    for _ in range(12):
        play_round(tournament)
        reconcile.reconcile(now=later(60))
    drawn = [set(m.parties.values_list("version_id", flat=True)) for m in tournament.matches.order_by("id")]
    assert tournament.matches.filter(parties__version=three[2]).count() == before
    assert drawn.count({three[0].pk, three[1].pk}) > 3
