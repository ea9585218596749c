"""What is broadcast follows from rows and the clock, and is never what nobody may see."""

from __future__ import annotations

from datetime import timedelta

from league.domain.matches import broadcast, embargoes
from league.domain.matches.broadcast import SETTLED, SLOT_S, Interest, begins, choose, judge, slot_at
from league.models import Board, Match, Party, RatingPoint
from tests.support.league import NOW, accepted, later, play, running, started

FIRST = slot_at(NOW + SETTLED) + 1  # the first slot that may show what was over at NOW
BETWEEN = timedelta(seconds=SLOT_S)


def place(slot: int) -> tuple[str, int, int, int] | None:
    shown = choose(slot, now=begins(slot))
    return shown and (shown.match.public_id, shown.sitting.board.number, shown.sitting.number, shown.first)


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
    shown = choose(FIRST)
    assert shown is not None
    assert shown.match.pk == first.pk
    assert shown.first < shown.last
    assert broadcast.LEAD_S + shown.step_s * (shown.last - shown.first) <= SLOT_S
    told = place(FIRST)

    # What happens in the slot changes nothing of it; the next one shows what is new, and then both take turns
    play(second, now=begins(FIRST) + timedelta(seconds=1))
    assert place(FIRST) == told
    fresh = place(FIRST + 1)
    assert fresh is not None
    assert fresh[0] == second.public_id
    assert {found[0] for slot in (8, 9) if (found := place(FIRST + slot))} == {first.public_id, second.public_id}

    # Held back: neither chosen nor, where it was chosen already, shown
    until = begins(FIRST) + timedelta(days=1)
    embargoes.change(first, until, why="a test", actor="operator", now=NOW)
    assert choose(FIRST, now=begins(FIRST)) is None
    assert place(FIRST + 8) == place(FIRST + 9)
    assert {found[0] for slot in range(2000, 2002) if (found := place(FIRST + slot))} == {
        first.public_id,
        second.public_id,
    }
    assert Match.objects.get(pk=third.pk).status == "running"


def test_an_upset_comes_first_and_says_by_how_much(ana, berto) -> None:
    cup = started(ana, [accepted(ana, "one"), accepted(berto, "two"), accepted(ana, "three")], boards=2)
    for number, match in enumerate(cup.matches.order_by("pk")):
        play(match, winner=0)
        low, high = match.parties.order_by("number")
        for party, elo in ((low, 900 + 10 * number), (high, 1000 + 100 * number)):
            RatingPoint.objects.create(
                pool=match.pool, match=match, version_id=party.version_id, elo=elo + 20, change=20, margin=9, at=NOW
            )
    shown = choose(FIRST)
    assert shown is not None
    assert shown.why.kind == "upset"
    assert shown.why.elo == 1200 - 920
    assert shown.winner is not None
    assert shown.winner.number == 0


def test_why_a_board_is_shown() -> None:
    one, two = Party(pk=1, number=0, points=10), Party(pk=2, number=1, points=0)

    def judged(*scores: tuple[int, int], winner: Party | None = one, knock_out: bool = False) -> tuple[int, Interest]:
        rows = [Board(number=number, scores=list(both)) for number, both in enumerate(scores, 5)]
        return judge(rows, winner, [one, two], {1: 1000.0, 2: 1099.0}, knock_out=knock_out)

    assert judged((60, 50), (90, 20), (50, 90)) == (6, Interest("decisive", 1.5))
    assert judged((60, 50), (90, 20), (50, 90), knock_out=True) == (6, Interest("decisive", 2.5))
    assert judged((60, 50), (60, 50), (60, 50), (60, 50), (120, 20)) == (9, Interest("swing", 100 / 28 / 2))
    assert judged((60, 50), (61, 50)) == (6, Interest("latest", 0.0))
    assert judged((60, 50), (20, 50), (80, 60), winner=None) == (6, Interest("latest", 0.0))
