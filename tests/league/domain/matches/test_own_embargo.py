"""Owners hold back the replays of their own tournaments and events."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.core.errors import Refused
from league.domain.matches import embargoes
from league.domain.tournaments import events, progress
from league.models import Event, LeagueEvent, Player, Tournament
from tests.support import league as made
from tests.support import rows
from tests.support.league import NOW, later

WEEK = NOW + timedelta(days=7)
DOCUMENT = {
    "name": "Copa",
    "game": "partnership",
    "stages": [
        {"format": "round_robin", "boards": 1, "advance": 2},
        {"format": "round_robin", "boards": 1},
    ],
}


@pytest.fixture
def cup(ana, berto) -> Tournament:
    return rows.once(make_cup, ana, berto)


def make_cup(ana, berto) -> Tournament:
    return made.started(ana, [made.accepted(ana, "rufo"), made.accepted(berto, "luna")], boards=1)


@pytest.fixture
def event(ana, berto) -> Event:
    return rows.once(make_event, ana, berto)


def make_event(ana, berto) -> Event:
    entrants = [made.accepted(ana, "rufo"), made.accepted(berto, "luna")]
    return events.create(ana, DOCUMENT, entrants, secret=made.SECRET, now=NOW)


def hold(row: Tournament | Event, until: object, player: Player) -> bool:
    return embargoes.change_own(row, until, owner=player, now=NOW)  # type: ignore[arg-type]


def test_the_owner_holds_back_longer_or_shorter_and_not_at_all(cup, ana) -> None:
    assert hold(cup, WEEK, ana)
    assert not hold(cup, WEEK, ana)
    match = cup.matches.select_related("tournament").get()
    assert embargoes.in_force(match, now=NOW) == WEEK
    assert hold(cup, WEEK + timedelta(days=1), ana)
    assert hold(cup, later(60), ana)
    assert hold(cup, None, ana)
    cup.refresh_from_db()
    assert (cup.embargo, cup.secret_after) == (None, None)
    lines = LeagueEvent.objects.filter(subject="tournament:cup", kind__startswith="embargo.").order_by("id")
    assert [(line.kind, line.actor) for line in lines] == [("embargo.set", "ana")] * 3 + [("embargo.lifted", "ana")]


def test_not_for_longer_than_a_year(cup, ana) -> None:
    assert hold(cup, NOW + timedelta(days=365), ana)
    with pytest.raises(Refused, match="365 days at most"):
        hold(cup, NOW + timedelta(days=365, seconds=1), ana)


def test_what_is_over_is_only_shown_earlier(cup, ana) -> None:
    made.play(cup.matches.get())
    progress.advance(cup, now=NOW)
    with pytest.raises(Refused, match="only choose an earlier time"):
        hold(cup, WEEK, ana)

    embargoes.change(cup, WEEK, why="a test", actor="ana", now=NOW)
    with pytest.raises(Refused, match="only choose an earlier time"):
        hold(cup, WEEK + timedelta(seconds=1), ana)
    assert hold(cup, later(60), ana)


def test_what_an_operator_holds_back_the_owner_does_not_show(cup, ana) -> None:
    embargoes.change(cup, WEEK, why="a test", actor="olga", now=NOW)
    assert hold(cup, WEEK + timedelta(days=1), ana)
    for sooner in (None, later(60)):
        with pytest.raises(Refused, match="only operators can show them earlier"):
            hold(cup, sooner, ana)
    assert hold(cup, WEEK, ana)

    embargoes.change(cup, None, why="a test", actor="olga", now=NOW)
    assert hold(cup, later(60), ana)


@pytest.mark.slow
def test_an_event_holds_back_all_its_stages(event, ana) -> None:
    assert hold(event, WEEK, ana)
    stage = event.tournaments.select_related("event").get()
    assert stage.embargo == WEEK
    with pytest.raises(Refused, match="stage of the event 'Copa'"):
        hold(stage, None, ana)

    made.play(stage.matches.get())
    progress.advance(stage, now=NOW)
    events.advance(event, now=NOW)
    assert list(event.tournaments.values_list("embargo", flat=True)) == [WEEK, WEEK]


def test_an_operators_word_about_a_stage_stands_until_the_next_about_the_event(event, ana) -> None:
    embargoes.change(event.tournaments.get(), WEEK, why="a test", actor="olga", now=NOW)
    for sooner in (None, later(60)):
        with pytest.raises(Refused, match="only operators"):
            hold(event, sooner, ana)

    embargoes.change(event, later(60), why="a test", actor="olga", now=NOW)
    assert hold(event, later(61), ana)


def test_what_is_over_may_be_said_once_more(cup, ana) -> None:
    assert hold(cup, WEEK, ana)
    made.play(cup.matches.get())
    progress.advance(cup, now=NOW)

    assert not hold(cup, WEEK, ana), "nothing changes, and nobody is refused"


def test_the_word_of_an_operator_goes_to_its_last_moment(cup, ana) -> None:
    embargoes.change(cup, later(60), why="a test", actor="olga", now=NOW)

    with pytest.raises(Refused, match="only operators"):
        embargoes.change_own(cup, None, owner=ana, now=later(59))
    assert embargoes.change_own(cup, None, owner=ana, now=later(60))


def test_the_owner_of_what_is_over_may_hold_nothing_back_that_was_shown(cup, ana) -> None:
    made.play(cup.matches.get())
    progress.advance(cup, now=NOW)

    assert not hold(cup, None, ana)
    with pytest.raises(Refused, match="only choose an earlier time"):
        hold(cup, later(1), ana)
