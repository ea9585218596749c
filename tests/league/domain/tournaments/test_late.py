"""Late entries: a bot enters a running Swiss tournament once, until its last round for that is drawn."""

from __future__ import annotations

import pytest

from league.domain.bots import bots
from league.domain.core.errors import Refused
from league.domain.tournaments import enrolment, progress, tournaments
from league.enums import MatchStatus
from league.models import Tournament
from tests.support.league import NOW, SECRET, accepted, in_turn, play, uploaded


@pytest.fixture
def swiss(ana, berto) -> Tournament:
    """A running Swiss tournament of four bots and four rounds, which bots may enter until the third."""
    versions = in_turn(ana, berto, *(f"bot{number}" for number in range(4)))
    chosen = {"format": "swiss", "parameters": {"rounds": 4, "late": 3}}
    row = tournaments.create(
        ana, "Copa", "partnership", boards=1, versions=versions, per_player=3, secret=SECRET, now=NOW, **chosen
    )
    tournaments.start(row, now=NOW)
    return row


def play_round(row: Tournament) -> None:
    """Play all queued matches, and draw the next round."""
    for match in row.matches.filter(status=MatchStatus.QUEUED).order_by("pk"):
        play(match, winner=0)
    row.refresh_from_db()
    progress.advance(row, now=NOW)
    row.refresh_from_db()


def test_a_late_bot_plays_from_the_next_round_on_with_no_points_before(swiss, berto):
    late = accepted(berto, "late")
    assert enrolment.late_round(swiss) == 2
    entry = enrolment.enter(swiss, late, player=berto, now=NOW)
    assert (entry.since, entry.number, entry.seed) == (2, 4, 5)
    assert enrolment.enter(swiss, late, player=berto, now=NOW) == entry
    for _ in range(4):
        play_round(swiss)
    assert swiss.status == "finished"
    rounds = sorted(swiss.matches.filter(parties__version=late).values_list("round__number", flat=True))
    assert set(rounds) <= {2, 3, 4}
    assert len(rounds) >= 2, "it had at most one bye"
    assert swiss.matches.count() == 8
    assert swiss.planned_matches == 8


def test_nobody_leaves_a_bad_start_behind(swiss, berto):
    entry = swiss.entries.select_related("version__bot__owner").filter(version__bot__owner=berto).first()
    enrolment.withdraw(swiss, entry.version, now=NOW)
    with pytest.raises(Refused, match="a bot enters a running tournament once"):
        enrolment.enter(swiss, entry.version, player=berto, now=NOW)
    better = uploaded(berto, entry.version.bot.slug)
    type(better).objects.filter(pk=better.pk).update(status="accepted")
    with pytest.raises(Refused, match="a bot enters a running tournament once"):
        enrolment.enter(swiss, bots.version_of(better, "partnership"), player=berto, now=NOW)
    enrolment.enter(swiss, accepted(berto, "third"), player=berto, now=NOW)
    with pytest.raises(Refused, match="as many bots"):  # The withdrawn one counts.
        enrolment.enter(swiss, accepted(berto, "fourth"), player=berto, now=NOW)


def test_entries_close_when_the_last_round_for_it_is_drawn(swiss, berto):
    play_round(swiss)
    assert enrolment.late_round(swiss) == 3
    play_round(swiss)
    assert enrolment.late_round(swiss) == 0
    with pytest.raises(Refused, match="entries change only while it is open"):
        enrolment.enter(swiss, accepted(berto, "late"), player=berto, now=NOW)
