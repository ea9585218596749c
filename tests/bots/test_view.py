"""The SDK's view, folded from redacted events only, against the engine's own observation."""

from __future__ import annotations

import pytest

import engine
from engine.game import declared, games
from engine.match.trick.windows import WINDOW
from tests.bots.harness import house, play, tute_bot
from tests.support.parts import mostly_slow

TABLES = [
    ("partnership", {}),
    ("partnership", {"hand_songs": "winning_side", "songs_per_trick": "many"}),
    ("partnership", {"undertrump": True, "beat_after_trumped": True}),
    ("corriente", {}),
    ("corriente", {"exchange": "immediate", "match_games": 2}),
    ("corriente", {"hand_size": 8, "claim_mode": "none"}),
    ("cabrero", {"players": 3}),
    ("cabrero", {"players": 4, "trump_source": "rotating"}),
    ("cabrero", {"players": 5, "no_load": True}),
    ("cabrero", {"players": 6}),
    ("podrida", {"players": 7, "preset": "podrida52"}),
    *[(key, {"players": players}) for key in games() for players in declared(key).players],
]


def check(state: engine.State, seats: list) -> None:
    """Send every seat its messages up to a decision and check that it knows what the engine says it may know."""
    for seated in seats:
        for event in seated.tell(state):
            seated.view.see(event)
        if state.phase is WINDOW and state.window == "before_draw" and state.current_seat != seated.seat:
            continue  # the snapshot is then that of a window closed in silence, one draw ahead of the events
        view, observed = seated.view, state.observation(seated.seat)
        assert view.hand == view.sort(observed["hand"])
        assert (view.deal, view.dealer, view.mano, view.out) == (
            observed["deal"],
            observed["dealer"],
            observed["mano"],
            observed["out"],
        )
        assert view.trump == observed["trump"]
        assert view.stock == observed["stock"]
        assert view.counts == observed["counts"]
        # a complete trick is still shown in its window
        trick = observed["trick"] if len(observed["trick"]) < state.size else []
        assert view.table == [(play["seat"], play["card"]) for play in trick]
        assert (view.best[0] if view.best else None) == (observed["winning"] if trick else None)
        assert (view.tricks, view.taken, view.sung) == (observed["tricks"], observed["cards"], observed["songs"])
        assert [list(song) for song in view.songs] == [[s["seat"], s["suit"], s["points"]] for s in observed["sung"]]
        assert (view.totals, view.games, view.marks) == (observed["totals"], observed["games"], observed["marks"])
        pending = observed["pending"]
        assert view.notice == ((pending["seat"], pending["card"]) if pending else None)
        if observed["holder"] is None and observed["shown"] is not None:
            assert view.shown == observed["shown"]
        check_inference(state, view)


def check_inference(state: engine.State, view: tute_bot.View) -> None:
    """Check that everything which the view claims as proved is true."""
    texts = state.game.pack.texts
    hands = [{texts[card] for card in state.hand_of(seat)} for seat in range(view.seats)]
    for seat in range(view.seats):
        if seat == view.seat:
            continue
        assert view.known[seat] <= hands[seat]
        for card in hands[seat]:
            assert view.may_hold(seat, card), f"seat {seat} holds {card}, which the view excludes"
    places = {*view.hand, *view.played, *view.gone, *view.unseen, *(card for proved in view.known for card in proved)}
    assert not view.unseen.intersection(view.hand, view.played)
    if view.shown:
        places.add(view.shown)
    if view.notice:
        places.add(view.notice[1])
    assert places == set(view.pack)


@pytest.mark.parametrize(("key", "options"), mostly_slow(TABLES, lambda table: TABLES.index(table) % 4 == 0))
def test_view_equals_observation(key: str, options: dict) -> None:
    game = engine.load(key, **options)

    play(game, [house("random")] * game.players, 0, watch=check)
    for seed in range(1, 8):
        play(game, [house("random")] * game.players, seed, watch=check, deals=min(2, game.board_deals or 2))


def test_voids_are_proved() -> None:
    """The inference does find voids in ordinary play."""
    game = engine.load("partnership")
    voids = 0

    def count(state: engine.State, seats: list) -> None:
        nonlocal voids
        check(state, seats)
        voids += sum(len(seats[0].view.voids(seat)) for seat in (1, 2, 3))

    play(game, [house("random")] * 4, 1, watch=count)

    assert voids > 20


@pytest.mark.parametrize(
    ("penalty", "proves"), [("reject", True), ("two_marks", True), ("one_mark", True), ("accuse", False)]
)
def test_a_card_proves_something_where_an_illegal_one_ends_the_deal(penalty: str, proves: bool) -> None:
    """If play goes on, the card was legal, unless somebody has to accuse its player first."""
    game = engine.load("cabrero", players=4, illegal_move=penalty)
    proofs = 0

    def count(state: engine.State, seats: list) -> None:
        nonlocal proofs
        check(state, seats)
        proofs += sum(len(seats[0].view.limit[seat]) for seat in (1, 2, 3))

    for seed in range(4):
        play(game, [house("random")] * 4, seed, watch=count, deals=3)

    assert (proofs > 0) == proves
