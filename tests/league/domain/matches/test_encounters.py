"""Two bots against each other: counted board by board, with intervals that hold."""

from __future__ import annotations

import pytest

from engine import intervals
from league.domain.matches import encounters
from league.domain.matches.encounters import Encounter
from league.domain.people import players
from league.models import Match, Pool
from tests.support import league as made
from tests.support import rows

pytestmark = pytest.mark.django_db


def met(*differences: int) -> Encounter:
    return Encounter(Pool(game="partnership", players=4), [], list(differences), 1)


@pytest.fixture
def trio():
    return rows.once(make_trio)


def make_trio():
    return [made.accepted(players.create(name, now=made.NOW), f"bot-{name}") for name in ("ana", "berto", "cira")]


@pytest.mark.slow
def test_boards_of_all_matches_are_counted_from_both_ends(trio):
    a, b, _ = trio
    for number in (1, 2):
        [match] = made.started(a.bot.owner, [a, b], boards=3, name=f"Cup {number}").matches.all()
        made.play(match)

    [here], [reverse] = encounters.list_encounters(a.bot, b.bot), encounters.list_encounters(b.bot, a.bot)

    assert here.boards == reverse.boards == 6
    assert (here.wins, here.draws, here.losses) == (reverse.losses, reverse.draws, reverse.wins)
    assert here.differences == [-value for value in reverse.differences]
    expected = [
        board.scores[own] - board.scores[1 - own]
        for match in Match.objects.filter(kind="tournament").order_by("finished", "id")
        for own in [match.parties.get(version=a).number]
        for board in match.boards.order_by("number")
    ]
    assert here.differences == expected
    assert here.course[-1] == sum(expected)


def test_at_a_table_of_three_only_the_two_are_compared(trio):
    a, _, c = trio
    cup = made.started(a.bot.owner, trio, game="cabrero", players=3, boards=2)
    match = made.play(cup.matches.get())
    numbers = {party.version_id: party.number for party in match.parties.all()}

    [encounter] = encounters.list_encounters(a.bot, c.bot)

    scores = [board.scores for board in match.boards.order_by("number")]
    assert encounter.differences == [row[numbers[a.pk]] - row[numbers[c.pk]] for row in scores]
    assert encounter.pool == cup.pool
    assert encounter.matches == [match.public_id]


def test_void_unrated_and_waiting_matches_do_not_count(trio):
    a, b, _ = trio
    waiting = made.started(a.bot.owner, [a, b], name="Waits").matches.get()
    assert encounters.list_encounters(a.bot, b.bot) == []
    made.play(waiting)
    assert encounters.list_encounters(a.bot, b.bot)[0].boards == 2
    Match.objects.filter(pk=waiting.pk).update(rated=False)
    assert encounters.list_encounters(a.bot, b.bot) == []


@pytest.mark.slow
def test_queries_do_not_grow_with_matches(trio, django_assert_num_queries):
    a, b, _ = trio
    for number in range(3):
        made.play(made.started(a.bot.owner, [a, b], name=f"Cup {number}").matches.get())
    with django_assert_num_queries(3):
        encounters.list_encounters(a.bot, b.bot)


def test_a_draw_counts_as_half_a_win_in_the_share():
    encounter = met(1, 0, 0, -3)
    assert encounter.share == 0.5
    assert encounter.share_interval == intervals.wilson(0.5, 4)


def test_superiority_counts_wins_and_losses_only():
    assert met(0, 0).superiority == 0.5
    assert met(5, 0, -5).superiority == 0.5
    assert met(1, 1, 1, -1).superiority == pytest.approx(0.841345, abs=1e-6)  # Phi(1)
    assert met(3).margin is None
    assert met(2, 4).margin == pytest.approx(1.959964, abs=1e-6)


@pytest.mark.slow
def test_a_match_against_somebody_else_is_not_named(trio):
    a, b, c = trio
    for field, name in (((a, b), "One"), ((b, c), "Two"), ((a, c), "Three")):
        made.play(made.started(a.bot.owner, field, name=name).matches.get())
    match = Match.objects.get(tournament__name="One")

    [encounter] = encounters.list_encounters(a.bot, b.bot)

    assert encounter.matches == [match.public_id]
    assert encounter.boards == match.boards_planned
