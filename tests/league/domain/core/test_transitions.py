"""Statuses change by the table, conditionally, with an event."""

from __future__ import annotations

import itertools

import pytest
from django.utils import translation

from league.domain.core import transitions
from league.domain.core.errors import IllegalMove
from league.enums import (
    MATCH_TRANSITIONS,
    TOURNAMENT_TRANSITIONS,
    VERSION_TRANSITIONS,
    MatchStatus,
    TournamentStatus,
    VersionStatus,
)
from league.models import LeagueEvent, Match
from tests.support.league import NOW, uploaded


def waiting(player) -> Match:
    uploaded(player, "rufo")
    return Match.objects.get()


def moved(match: Match) -> list[dict]:
    events = LeagueEvent.objects.filter(subject=f"match:{match.public_id}", kind="match.moved").order_by("id")
    return [event.data for event in events]


def test_moves_follow_the_table(ana) -> None:
    match = waiting(ana)
    for was, to in itertools.product(MatchStatus, MatchStatus):
        Match.objects.update(status=was)
        match.refresh_from_db()
        if to in MATCH_TRANSITIONS[was]:
            transitions.move(match, to, now=NOW)
            assert moved(match)[-1:] == [{"was": was, "to": to}]
        else:
            before = moved(match)
            words = f"is {was.label} and cannot become {to.label}"
            with translation.override("en"), pytest.raises(IllegalMove, match=words):
                transitions.move(match, to, now=NOW)
            assert moved(match) == before
        assert Match.objects.get().status == (to if to in MATCH_TRANSITIONS[was] else was)
    assert len(moved(match)) == sum(map(len, MATCH_TRANSITIONS.values()))


def test_move_with_a_stale_row_changes_nothing(ana) -> None:
    match = waiting(ana)
    stale = Match.objects.get()
    transitions.move(match, MatchStatus.LEASED, now=NOW, actor="w1", worker="w1")

    with pytest.raises(IllegalMove, match="no longer queued"):
        transitions.move(stale, MatchStatus.CANCELLED, now=NOW)

    assert Match.objects.get().status == MatchStatus.LEASED
    assert moved(match) == [{"was": "queued", "to": "leased"}]


def test_move_with_a_guard_that_fails_changes_nothing(ana) -> None:
    match = waiting(ana)

    with pytest.raises(IllegalMove, match="another process holds it"):
        transitions.move(match, MatchStatus.LEASED, now=NOW, guard={"token": 7})

    assert Match.objects.get().status == MatchStatus.QUEUED


@pytest.mark.parametrize(
    ("table", "words"),
    [
        (MATCH_TRANSITIONS, MatchStatus),
        (TOURNAMENT_TRANSITIONS, TournamentStatus),
        (VERSION_TRANSITIONS, VersionStatus),
    ],
)
def test_tables_name_every_status(table, words) -> None:
    assert set(table) == set(words.values)
    assert set().union(*table.values()) <= set(words.values)
