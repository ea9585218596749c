"""The inferences of `tute_sense`, in cases small enough to count by hand."""

from __future__ import annotations

import pytest

from tests.bots.harness import tute_bot  # puts the SDK on the path

import tute_sense  # isort: skip


def seated(game: str, hand: str, trump: str | None, seats: int, **options: object) -> tute_bot.View:
    """Return the view of seat 0 that has just been dealt a hand."""
    view = tute_bot.View({"game": game, "options": options, "seats": seats, "seat": 0})
    cards = hand.split()
    view.see({"e": "deal", "deal": 2, "trump": trump, "hand": cards, "counts": [len(cards)] * seats})
    return view


def test_bato_counts_tricks_in_sight() -> None:
    strong = seated("bato", "1o 3o 1c 2b", "o", 4)
    weak = seated("bato", "4c 5c 2b 6e", "o", 4)

    assert tute_sense.tricks_in_sight(strong, strong.hand) == pytest.approx(0.95 + 0.95 + 0.6 + 0.2)  # the 3o is master
    assert tute_sense.announce(strong, ["play", "pass"]) == "play"
    assert tute_sense.announce(weak, ["play", "pass"]) == "pass"


def test_bato_joins_less_readily_in_company() -> None:
    view = seated("bato", "7o 4c 4b 5e", "o", 5)
    view.see({"e": "call", "seat": 1, "call": "play"})

    assert tute_sense.announce(view, ["join", "out"]) == "join"

    for seat in (2, 3, 4):
        view.see({"e": "call", "seat": seat, "call": "join"})

    assert tute_sense.announce(view, ["join", "out"]) == "out"


def test_bato_for_loss_marks_stays_out() -> None:
    """A trick earns nothing there."""
    view = seated("bato", "1o 3o 1c 2b", "o", 4, settlement="loss_marks")

    assert tute_sense.announce(view, ["play", "pass"]) == "pass"


@pytest.mark.parametrize(
    ("game", "trump", "card", "points"),
    [
        ("chancho", "c", "Cc", 40),
        ("chancho", "o", "Cc", 20),
        ("chancho", "o", "Sc", 0),
        ("gana_pierde_3", None, "Cc", 40),
        ("gana_pierde_3", "o", "Cc", 20),
        ("cabrero", "c", "Cc", 0),
    ],
)
def test_pairs_on_the_table(game: str, trump: str | None, card: str, points: int) -> None:
    view = seated(game, "Cc Sc 4o", trump, 3)
    view.see({"e": "play", "seat": 2, "card": "Rc"})

    assert tute_sense.songs_on_table(view, card) == points


def test_who_has_no_trick_wants_one_where_that_loses() -> None:
    view = seated("gana_pierde_3", "4o 4c 4e 4b", None, 3, result="cabron_loses")

    assert tute_sense.aim(view) == 1

    view.tricks[0], view.taken[0] = 4, 70

    assert tute_sense.aim(view) == -1
