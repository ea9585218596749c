"""Nobody fills a contest alone, makes its start fail, comes and goes without end, or takes names for ever."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.bots import consent
from league.domain.core import names
from league.domain.core.errors import Refused, TooMany
from league.domain.people import players, quotas
from league.domain.tournaments import (
    booking,
    circuits,
    corrections,
    enrolment,
    events,
    log,
    releases,
    requests,
    shares,
    tournaments,
    waiting,
)
from league.enums import Entrance, RequestStatus, TournamentStatus
from league.models import EntryRequest, LeagueEvent, TakenName
from tests.support.league import NOW, accepted, later, play, started, willing
from tests.support.parts import mostly_slow

pytestmark = pytest.mark.django_db
DAY = 24 * 3600
DUE = NOW + timedelta(days=2)


@pytest.fixture
def cira():
    return players.create("cira", now=NOW)


def open_event(owner, name="Copa", *, boards=1, **more):
    document = {"name": name, "game": "partnership", "stages": [{"format": "round_robin", "boards": boards}]}
    return events.create(owner, document, [], wait=True, entrance=Entrance.ANYBODY, now=NOW, **more)


def open_cup(owner, name="Copa", **more):
    return tournaments.create(owner, name, "partnership", now=NOW, **{"boards": 1, **more})


def open_circuit(owner, name="Copa", **more):
    return circuits.create(
        owner, name, "partnership", days="fri", at="20:00", time_zone="UTC", now=NOW, **{"boards": 1, **more}
    )


def come(contest, version, player=None, at=0.0):
    """Enter a bot in any contest, by its own player or by the one named."""
    player = player or version.bot.owner
    if isinstance(contest, events.Event):
        events.enter(contest, version.bot, player, now=later(at))
    elif isinstance(contest, tournaments.Tournament):
        enrolment.enter(contest, version, player=player, now=later(at))
    else:
        circuits.join(contest, version.bot, player=player, now=later(at))


def go(contest, version, player=None, at=0.0):
    player = player or version.bot.owner
    if isinstance(contest, events.Event):
        events.leave(contest, version.bot, player, now=later(at))
    elif isinstance(contest, tournaments.Tournament):
        enrolment.withdraw(contest, version, player=player, now=later(at))
    else:
        circuits.leave(contest, version.bot, player=player, now=later(at))


CONTESTS = pytest.mark.parametrize(
    "make", mostly_slow([open_event, open_cup, open_circuit], lambda make: make is open_event)
)


@CONTESTS
def test_a_player_enters_one_bot_and_the_owner_any(make, ana, berto) -> None:
    contest = make(ana)
    first, second = accepted(berto, "luna"), accepted(berto, "sol")
    come(contest, first)
    come(contest, first)  # Repeatable.
    with pytest.raises(Refused, match=r"as a player may \(1\)"):
        come(contest, second)
    for name in ("rufo", "nena"):
        come(contest, accepted(ana, name))
    go(contest, first)
    come(contest, second)
    with pytest.raises(Refused, match="as a player may"):
        come(contest, first)
    corrections.set_share(contest, 2, actor="ana", now=NOW)
    come(contest, first)
    assert "shared" in [line.kind.partition(".")[2] for line in log.public_log(contest)]
    with pytest.raises(Refused, match="1 to 256"):
        make(ana, "Other", per_player=0)


@CONTESTS
def test_who_was_taken_out_comes_back_by_the_owner_alone(make, ana, berto) -> None:
    contest = make(ana)
    luna, sol = willing(accepted(berto, "luna")), accepted(berto, "sol")
    come(contest, luna)
    go(contest, luna, ana)
    for version in (luna, sol):
        with pytest.raises(Refused, match="taken your bot out"):
            come(contest, version)
    assert not consent.is_welcome(contest, berto)
    come(contest, luna, ana)
    assert consent.is_welcome(contest, berto)
    go(contest, luna)
    come(contest, luna)


@CONTESTS
def test_who_comes_and_goes_leaves_no_rows_and_pushes_nothing_out(make, ana, berto) -> None:
    contest = make(ana)
    luna = accepted(berto, "luna")
    corrections.rename(contest, "Copa de Mayo", actor="ana", now=NOW)
    for number in range(shares.MOST_A_DAY):
        come(contest, luna, at=number)
        go(contest, luna, at=number)
    with pytest.raises(TooMany, match="10 times in the last day"):
        come(contest, luna, at=100)
    assert EntryRequest.objects.count() <= 1
    assert {"created", "renamed"} <= {line.kind.partition(".")[2] for line in log.public_log(contest)}
    come(contest, luna, at=DAY + 1)


def test_nobody_uses_up_a_ladders_places_by_entering_and_withdrawing(ana, berto, monkeypatch) -> None:
    monkeypatch.setattr(shares, "MOST_LEFT", 2)
    ladder = open_cup(ana, format="ladder", parameters={"budget": 0, "open": 2}, entrance=Entrance.ANYBODY)
    for name in ("rufo", "nena"):
        come(ladder, accepted(ana, name))
    tournaments.start(ladder, now=NOW)
    luna, sol, mar = (accepted(berto, name) for name in ("luna", "sol", "mar"))
    for version in (luna, sol):
        come(ladder, version)
        go(ladder, version)

    with pytest.raises(Refused, match="You have withdrawn 2 versions"):
        come(ladder, mar)

    come(ladder, luna, at=DAY + 1)
    assert set(ladder.entries.filter(withdrawn=None).values_list("version__bot__slug", flat=True)) == {
        "rufo",
        "nena",
        "luna",
    }


@pytest.mark.slow
def test_an_event_takes_no_more_bots_than_its_owner_can_let_play(ana, berto, cira, settings) -> None:
    settings.QUOTA_BOARDS = 12  # Three bots meet on three boards of four.
    event, cup = open_event(ana, boards=4), open_cup(ana, "Torneo", boards=4)
    league = open_circuit(ana, "Liga", boards=4)
    for contest in (event, cup, league):
        come(contest, accepted(ana, f"rufo-{contest.pk}-{type(contest).__name__}".lower()))
        for player in (berto, cira):
            come(contest, accepted(player, f"{player.name}-{type(contest).__name__}".lower()))
        late = accepted(players.create(f"dora-{type(contest).__name__}".lower(), now=NOW), f"late-{contest.name}")
        with pytest.raises(Refused, match="is full; it takes 3 bots"):
            come(contest, late)
    assert events.room(event) == 3
    events.start(event, actor="ana", now=NOW)
    assert event.status == TournamentStatus.RUNNING
    with pytest.raises(Refused, match="12 boards"):
        quotas.check_free(ana, quotas.BOARDS, 12, now=NOW)


@pytest.mark.parametrize("make", [open_event, open_cup])
def test_what_nobody_could_ever_play_is_refused_at_its_creation(make, ana, settings) -> None:
    settings.QUOTA_BOARDS = 3
    with pytest.raises(Refused, match="4 boards"):
        make(ana, boards=4)
    assert make(ana, boards=3)


def test_a_bot_that_was_asked_for_finds_no_place_in_a_full_event(ana, berto, cira, settings) -> None:
    settings.QUOTA_BOARDS = 1
    document = {"name": "Copa", "game": "partnership", "stages": [{"format": "round_robin", "boards": 1}]}
    shy = accepted(berto, "luna", policy="ask")
    event = events.create(ana, document, [accepted(ana, "rufo").bot, shy.bot], wait=True, entrance="anybody", now=NOW)
    come(event, accepted(cira, "vega"))
    with pytest.raises(Refused, match="is full"):
        requests.grant(EntryRequest.objects.get(status=RequestStatus.ASKED), player=berto, now=NOW)
    assert EntryRequest.objects.filter(status=RequestStatus.ASKED).exists()


@pytest.mark.slow
def test_an_event_whose_owner_has_too_many_boards_queued_starts_when_they_are_played(
    ana, berto, settings, django_assert_max_num_queries
) -> None:
    settings.QUOTA_BOARDS = 4
    event = open_event(ana, boards=4, terms=releases.ReleaseTerms(due=DUE))
    pair = [accepted(ana, "rufo"), accepted(berto, "luna")]
    for version in pair:
        come(event, version)
    cup = started(ana, pair, boards=4)
    assert "4 of yours are queued" in events.why_not_yet(event, 2), "the owner is told before"
    for at in (0, 60):
        events.start_due(now=DUE + timedelta(seconds=at))
    event.refresh_from_db()
    assert (event.status, event.due) == (TournamentStatus.OPEN, DUE)
    assert LeagueEvent.objects.filter(kind="event.not_started").count() == 1, "said once"
    assert "queued" in waiting.why_not_started(event)
    with django_assert_max_num_queries(20):  # Creating its first stage in vain would take many more.
        events.start_due(now=DUE + timedelta(seconds=90))
    play(cup.matches.get())
    events.start_due(now=DUE + timedelta(seconds=120))
    event.refresh_from_db()
    assert event.status == TournamentStatus.RUNNING


def test_the_owner_reads_why_it_cannot_start_with_these_entries(ana, berto, settings) -> None:
    cup = open_cup(ana, boards=4, versions=[accepted(ana, name) for name in ("rufo", "nena")])
    assert booking.why_not_yet(cup) == ""
    settings.QUOTA_BOARDS = 3
    assert "this needs 4 boards" in booking.why_not_yet(cup)


def test_a_name_is_given_up_for_a_time_and_then_free(ana, berto) -> None:
    cup, other = open_cup(ana, "Copa"), open_event(ana, "Copa")
    corrections.rename(cup, "Torneo", actor="ana", now=NOW)
    assert TakenName.objects.get(name="Copa").until is None, "the event has it still"
    corrections.rename(other, "Liga", actor="ana", now=NOW)
    almost, after = NOW + names.HELD - timedelta(seconds=1), NOW + names.HELD
    with pytest.raises(Refused, match="is taken"):
        tournaments.create(berto, "Copa", "partnership", now=almost)
    taken = tournaments.create(berto, "Copa", "partnership", now=after)
    assert taken.slug != cup.slug, "old links lead to the tournament that had the name"
    corrections.delete(taken, actor="berto", now=after)
    assert tournaments.create(berto, "Copa!", "partnership", now=after).slug not in ("copa", taken.slug)
    with pytest.raises(Refused, match="is taken"):
        corrections.rename(cup, "Copa", actor="ana", now=after)


def test_an_own_name_is_taken_back_at_once(ana) -> None:
    cup = open_cup(ana, "Copa")
    corrections.rename(cup, "Torneo", actor="ana", now=NOW)
    corrections.rename(cup, "Copa", actor="ana", now=NOW)
    assert set(TakenName.objects.filter(kind="event", until=None).values_list("name", flat=True)) == {"Copa"}


@pytest.mark.slow
def test_names_are_taken_in_no_loop(ana) -> None:
    cup = open_cup(ana, "Copa")
    for number in range(corrections.MOST_NAMES):
        corrections.rename(cup, f"Copa {number}", actor="ana", now=later(number))
    with pytest.raises(TooMany, match="5 times in the last day"):
        corrections.rename(cup, "Copa 9", actor="ana", now=later(100))
    corrections.rename(cup, "Copa 9", actor="ana", now=later(DAY + 1))
    for number in range(tournaments.MOST_IDLE_NAMES - 6):
        corrections.delete(open_cup(ana, f"Torneo {number}"), actor="ana", now=NOW)
    with pytest.raises(TooMany, match="given up 20 names"):
        open_cup(ana, "Another")
    assert open_cup(ana, "Torneo 1"), "one of them again"


def test_corrections_have_a_limit_of_a_day(ana, monkeypatch) -> None:
    monkeypatch.setattr(corrections, "MOST_STEPS", 4)
    cup = open_cup(ana)
    for number in range(4):
        corrections.describe(cup, f"text {number}", actor="ana", now=later(number))
    with pytest.raises(TooMany):
        corrections.describe(cup, "again", actor="ana", now=later(10))
    assert cup.description == "text 3"
