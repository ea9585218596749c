"""An arena as rows: it ends by its clock, and a bot that cannot play is out for good."""

from __future__ import annotations

from datetime import timedelta

import pytest

from league.domain.bots.bots import set_state
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.tournaments import enrolment, formats, progress, tournaments
from league.domain.upkeep import reconcile
from league.enums import MatchStatus
from league.models import Entry, Match, Tournament
from tests.support import league as made
from tests.support.league import NOW, SECRET, accepted, begun, in_turn, play, result
from tests.support.live import LiveLeague
from tests.support.parts import mostly_slow

ENDS = NOW + timedelta(minutes=5)


@pytest.fixture
def arena(ana, berto) -> Tournament:
    """A running arena of six bots of two players, five minutes long."""
    versions = in_turn(ana, berto, *(f"bot{number}" for number in range(6)))
    parameters = {"minutes": 5, "most": 4}
    row = tournaments.create(
        ana,
        "Arena",
        "partnership",
        boards=1,
        versions=versions,
        format="arena",
        parameters=parameters,
        secret=SECRET,
        now=NOW,
    )
    tournaments.start(row, now=NOW)
    return row


def queued(arena: Tournament) -> list[Match]:
    return list(arena.matches.filter(status=MatchStatus.QUEUED).order_by("pk"))


def test_running_matches_count_at_the_end_and_queued_ones_are_dropped(arena):
    assert formats.ends_at(arena) == ENDS
    first, second, third = queued(arena)
    play(first, winner=0)
    running = begun(second, now=ENDS - timedelta(seconds=9))
    reconcile.reconcile(now=ENDS - timedelta(seconds=1))
    assert third in queued(arena)

    reconcile.reconcile(now=ENDS)

    assert [match.status for match in arena.matches.order_by("pk")][:3] == ["finished", "running", "cancelled"]
    assert not queued(arena), "nothing new begins"
    arena.refresh_from_db()
    assert arena.status == "running", "it waits for the match at the table"
    made.reports.report(running, result(running, winner=0), now=ENDS)
    reconcile.reconcile(now=ENDS + timedelta(seconds=5))
    arena.refresh_from_db()
    assert (arena.status, arena.ending) == ("finished", "")
    assert list(arena.entries.order_by("place").values_list("place", flat=True)) == [1, 1, 3, 3, 3, 3]


@pytest.mark.parametrize("state", mostly_slow(["paused", "retired"], ("paused").__eq__))
def test_a_bot_that_stops_is_out_for_good_and_nobody_waits_for_it(arena, state):
    match = queued(arena)[0]
    bot = match.parties.get(number=0).version.bot
    set_state(bot, state, actor=bot.owner.name, now=NOW)
    progress.advance(arena, now=NOW)

    match.refresh_from_db()
    assert match.status == "queued", "what an event has drawn is played"
    if state == "paused":
        set_state(bot, "active", actor=bot.owner.name, now=NOW)
    for _ in range(40):
        if not queued(arena):
            break
        play(queued(arena)[0], winner=0)
        progress.advance(arena, now=NOW)
        arena.refresh_from_db()

    assert arena.status == "finished", "every other bot has played its most matches, or has nobody left"
    entry = Entry.objects.get(tournament=arena, version__bot=bot)
    assert entry.withdrawn == NOW
    assert arena.matches.filter(parties__version=entry.version).count() == 1
    most = max(arena.matches.filter(parties__version=other.version).count() for other in arena.entries.all())
    assert most == 4


def test_nobody_enters_a_running_arena_and_who_leaves_stays_away(arena, ana):
    entry = arena.entries.select_related("version__bot__owner").get(number=0)
    enrolment.withdraw(arena, entry.version, now=NOW)
    with pytest.raises(Refused, match="entries change only while it is open"):
        enrolment.enter(arena, entry.version, now=NOW)
    assert formats.field_of_tournament(arena)[1].withdrawn == {0}
    assert formats.field_of_tournament(arena)[1].lot != arena.secret_sha256, "nobody can compute a draw before the end"


@pytest.mark.slow
@pytest.mark.django_db(transaction=True)
def test_many_bots_play_an_arena_with_a_worker_and_a_scheduler():
    players_ = [players.create(f"player{number}", now=NOW) for number in range(16)]
    versions = [accepted(player, f"bot{number}") for number, player in enumerate(players_)]
    live = LiveLeague(LADDERS="0")
    try:
        live.start("worker", "--slots", "2")
        live.start("scheduler")
        row = tournaments.create(
            players_[0],
            "Arena",
            "corriente",
            boards=1,
            versions=versions,
            format="arena",
            parameters={"minutes": 60, "most": 2},
        )
        tournaments.start(row)
        live.wait_until(lambda: Tournament.objects.filter(status="finished").exists(), "the end")
    finally:
        live.close()
    row.refresh_from_db()
    assert row.ending == "budget"
    assert set(row.matches.values_list("status", flat=True)) == {"finished"}
    pairs = list(row.matches.order_by("pk").values_list("table", flat=True))
    assert 14 <= len(pairs) <= 16, "two matches each, but for the last ones, who may have met just now"
    assert len(set(pairs[:-1])) == len(pairs[:-1]), "nobody has met the same bot twice, but for the last two"
    assert row.entries.filter(place=1).exists()
