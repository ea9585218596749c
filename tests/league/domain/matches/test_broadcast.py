"""The broadcast follows from rows and the clock, and shows nothing that is withheld."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from league.domain.matches import broadcast, embargoes
from league.domain.matches.broadcast import (
    LEAD_S,
    SETTLED,
    SLOT_S,
    TAIL_S,
    Interest,
    ShownDeal,
    begins,
    choose,
    judge,
    slot_at,
)
from league.models import Board, Match, Party, RatingPoint, Sitting
from tests.support.league import NOW, accepted, later, play, running, started

FIRST = slot_at(NOW + SETTLED) + 1  # the first slot that may show what was over at NOW
BETWEEN = timedelta(seconds=SLOT_S)


def place(slot: int) -> tuple[str, int, int, int] | None:
    choice = choose(slot, now=begins(slot))
    return choice and (choice.match.public_id, choice.sitting.board.number, choice.sitting.number, choice.first)


def test_everybody_sees_the_same_and_only_what_may_be_seen(ana, berto) -> None:
    bots = [accepted(ana, "one"), accepted(berto, "two"), accepted(ana, "three")]
    cup = started(ana, bots, boards=4)
    first, second, third = cup.matches.order_by("pk")
    assert choose(FIRST) is None, "nothing was played"
    running(now=later(1))
    assert choose(FIRST) is None, "nothing is over"
    first, second, third = cup.matches.order_by("status", "pk")  # queued before running
    play(first)
    assert choose(slot_at(NOW)) is None, "it is not over for long enough"
    choice = choose(FIRST)
    assert choice is not None
    assert choice.match.pk == first.pk
    assert choice.first < choice.last
    assert broadcast.LEAD_S + choice.step_s * (choice.last - choice.first) <= SLOT_S
    earlier = place(FIRST)

    # What happens in the slot changes nothing of it; the next one shows what is new, and then both take turns
    play(second, now=begins(FIRST) + timedelta(seconds=1))
    assert place(FIRST) == earlier
    fresh = place(FIRST + 1)
    assert fresh is not None
    assert fresh[0] == second.public_id
    assert {entry[0] for slot in (8, 9) if (entry := place(FIRST + slot))} == {first.public_id, second.public_id}

    # Held back: neither chosen nor, where it was chosen already, shown
    until = begins(FIRST) + timedelta(days=1)
    embargoes.change(first, until, why="a test", actor="operator", now=NOW)
    assert choose(FIRST, now=begins(FIRST)) is None
    assert place(FIRST + 8) == place(FIRST + 9)
    assert {entry[0] for slot in range(2000, 2002) if (entry := place(FIRST + slot))} == {
        first.public_id,
        second.public_id,
    }
    assert Match.objects.get(pk=third.pk).status == "running"


def test_matches_whose_cards_cannot_be_shown_cost_no_queries(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "one"), accepted(berto, "two"), accepted(ana, "three")], boards=2)
    readable, *others = cup.matches.order_by("pk")
    for match in (readable, *others):
        play(match)
    Sitting.objects.filter(board__match__in=others).delete()
    counts = set()
    for slot in (8, 9, 10):  # Each begins with another match.
        with CaptureQueriesContext(connection) as queries:
            choice = choose(FIRST + slot, now=begins(FIRST + slot))
        assert choice is not None
        assert choice.match.pk == readable.pk
        counts.add(len(queries))
    assert len(counts) == 1


@pytest.mark.slow
def test_an_upset_comes_first_and_says_by_how_much(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "one"), accepted(berto, "two"), accepted(ana, "three")], boards=2)
    for number, match in enumerate(cup.matches.order_by("pk")):
        play(match, winner=0)
        low, high = match.parties.order_by("number")
        for party, elo in ((low, 900 + 10 * number), (high, 1000 + 100 * number)):
            RatingPoint.objects.create(
                pool=match.pool, match=match, version_id=party.version_id, elo=elo + 20, change=20, margin=9, at=NOW
            )
    choice = choose(FIRST)
    assert choice is not None
    assert choice.why.kind == "upset"
    assert choice.why.elo == 1200 - 920
    assert choice.winner is not None
    assert choice.winner.number == 0


def test_why_a_board_is_shown() -> None:
    first, second = Party(pk=1, number=0, points=10), Party(pk=2, number=1, points=0)

    def judged(*scores: tuple[int, int], winner: Party | None = first, knock_out: bool = False) -> tuple[int, Interest]:
        rows = [Board(number=number, scores=list(both)) for number, both in enumerate(scores, 5)]
        return judge(rows, winner, [first, second], {1: 1000.0, 2: 1099.0}, knock_out=knock_out)

    assert judged((60, 50), (90, 20), (50, 90)) == (6, Interest("decisive", 1.5))
    assert judged((60, 50), (90, 20), (50, 90), knock_out=True) == (6, Interest("decisive", 2.5))
    assert judged((60, 50), (60, 50), (60, 50), (60, 50), (120, 20)) == (9, Interest("swing", 100 / 28 / 2))
    assert judged((60, 50), (61, 50)) == (6, Interest("latest", 0.0))
    assert judged((60, 50), (20, 50), (80, 60), winner=None) == (6, Interest("latest", 0.0))


EVEN = {1: 1000.0, 2: 1000.0, 3: 1000.0}
JUST_NO_UPSET, UPSET, OF_THE_BEST = {1: 1000.0, 2: 1099.9}, {1: 1000.0, 2: 1100.0}, {1: 1000.0, 2: 900.0, 3: 1250.0}


@pytest.mark.parametrize(
    ("leads", "before", "number", "why"),
    [
        # rated just so much better, or less; of the boards that were won most the first
        ((5, 7, 7, 1), UPSET, 6, Interest("upset", 4.0, 100)),
        ((5, 7, 7, 1), JUST_NO_UPSET, 6, Interest("latest", 0.0)),
        ((5, 7, -9, 1), UPSET, 6, Interest("upset", 4.0, 100)),
        ((5, 7), OF_THE_BEST, 6, Interest("upset", 5.5, 250)),
        ((5, 7), {2: 1500.0}, 6, Interest("latest", 0.0)),
        ((5, 7), {1: 900.0}, 6, Interest("latest", 0.0)),
        # all of the margin, or just not
        ((4, 9, 9, -13), EVEN, 6, Interest("decisive", 1.5)),
        ((4, 9, 9, -12), EVEN, 8, Interest("latest", 0.0)),
        ((1, 9, 9, -18), EVEN, 6, Interest("decisive", 1.5)),
        ((0, 9, 9, -18), EVEN, 8, Interest("swing", 1.0)),
        ((9,), EVEN, 5, Interest("latest", 0.0)),
        # twice the mean, or just not; never more than twice that
        ((2, 2, 2, 2, -8, 8, 4, 4, 4, 4), EVEN, 9, Interest("swing", 1.0)),
        ((2, 2, 2, 3, -8, 8, 4, 4, 4, 4), EVEN, 9, Interest("latest", 0.0)),
        ((1, 1, 1, 1, 1, 1, 1, 60), EVEN, 12, Interest("swing", 2.0)),
        ((0, 0), EVEN, 5, Interest("latest", 0.0)),
    ],
)
def test_a_board_is_judged_by_the_leads_of_the_winner(
    leads: tuple[int, ...], before: dict[int, float], number: int, why: Interest
) -> None:
    """Three sit at the table; the second has what the winner has not, and the third less than both."""
    winner, *others = [Party(pk=place + 1, number=place, points=10 - place) for place in range(3)]
    boards = [Board(number=at, scores=[50 + lead, 50, 20]) for at, lead in enumerate(leads, 5)]

    board_number, interest = judge(boards, winner, [winner, *others], before, knock_out=False)

    assert (board_number, interest.kind, interest.elo) == (number, why.kind, why.elo)
    assert interest.weight == pytest.approx(why.weight)


@pytest.mark.parametrize(
    ("steps", "step_s", "seconds", "in_so_many"),
    [
        (0, 2.0, 1.5, 1.5),
        (1, 2.0, 1.5, 1.5),
        (2, 2.0, 5, 2.0),
        (25, 2.0, 50, 2.0),
        (100, 0.98, 50, 0.5),
        (1000, 0.4, 50, 0.05),
    ],
)
def test_a_long_deal_goes_faster_within_bounds(steps: int, step_s: float, seconds: float, in_so_many: float) -> None:
    choice = ShownDeal(Match(), Sitting(), Interest("latest", 0.0), None, first=7, last=7 + steps)

    assert SLOT_S - LEAD_S - TAIL_S == 98
    assert choice.step_s == pytest.approx(step_s)
    assert choice.step_in(seconds) == pytest.approx(in_so_many)
