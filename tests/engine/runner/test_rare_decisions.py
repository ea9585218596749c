"""The boards on which rare decisions come up, and that they still do."""

import pytest

import engine
from engine.game import declared, games
from engine.runner import rare_decisions

# Every word of docs/protocol.md but `accuse`, which only an option of the games brings up.
WORDS = {*"play sing tute exchange claim capote take decline pass bid join out trump call predict discard".split()}  # noqa: SIM905


def test_every_kind_of_decision_is_known_in_some_game() -> None:
    kinds = {name for key in games() for name in rare_decisions.known_boards(engine.load(key))}

    assert kinds == WORDS | {rare_decisions.WINDOW, rare_decisions.LAST, rare_decisions.OUT, rare_decisions.BOTH}


def test_every_table_of_every_game_was_searched() -> None:
    tables = {f"{key} {players}" for key in games() for players in declared(key).players}

    assert rare_decisions._stored().keys() == tables


@pytest.mark.parametrize("key", games())
def test_boards_that_were_found_still_lead_to_their_situations(key: str) -> None:
    """If this fails because a game's rules have changed, run `make texts`, which searches again."""
    assert rare_decisions.stale(engine.load(key)) == []


def test_what_is_kept_is_what_a_search_finds() -> None:
    game = engine.load("bato", players=3)

    by_kind = rare_decisions.search(game)

    first_boards = {
        name: {seat: boards[: rare_decisions.MOST_BOARDS] for seat, boards in seats.items()}
        for name, seats in by_kind.items()
    }
    assert rare_decisions.known_boards(game) == first_boards
