"""The boards on which rare decisions come up, and that they still do."""

import pytest

import engine
from engine.game import declared, games
from engine.runner import awkward

# Every word of docs/protocol.md but `accuse`, which only an option of the games brings up.
WORDS = {*"play sing tute exchange claim capote take decline pass bid join out trump call predict discard".split()}  # noqa: SIM905


def test_every_kind_of_decision_is_known_in_some_game() -> None:
    found = {name for key in games() for name in awkward.known(engine.load(key))}

    assert found == WORDS | {awkward.WINDOW, awkward.LAST, awkward.OUT, awkward.BOTH}


def test_every_table_of_every_game_was_searched() -> None:
    tables = {f"{key} {players}" for key in games() for players in declared(key).players}

    assert awkward._kept().keys() == tables


@pytest.mark.parametrize("key", games())
def test_boards_that_were_found_still_lead_to_their_situations(key: str) -> None:
    """If this fails because a game's rules have changed, run `make texts`, which searches again."""
    assert awkward.stale(engine.load(key)) == []


def test_what_is_kept_is_what_a_search_finds() -> None:
    game = engine.load("bato", players=3)

    found = awkward.search(game)

    kept = {name: {seat: boards[: awkward.KEPT] for seat, boards in seats.items()} for name, seats in found.items()}
    assert awkward.known(game) == kept
