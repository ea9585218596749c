"""The snapshot of what one seat may know, as plain data."""

from __future__ import annotations

from typing import Any

from engine.cards.pack import NO_SUIT
from engine.match import flow, steps
from engine.match.data import Data
from engine.match.trick import exchanges, windows


def observation(state: Data, seat: int) -> dict[str, Any]:
    """Return everything `seat` may know now.

    Cards are texts, suits letters, points whole numbers; lists go by seat or by side as named. `State.observation` adds `legal` if the seat is to
    act. Whether another seat is asked in a window depends on its cards. So the snapshot always shows the window as if everybody had declined.
    """
    seat_to_act = state.current_seat
    state = quiet(state, seat)
    game, pack = state.game, state.game.pack
    trick = []
    if state.in_trick:  # A completed trick may still lie on the table while a window is open.
        player = state.turn
        for _ in range(len(state.table)):
            player = _previous(state, player)
        for card in state.table:
            trick.append({"seat": player, "card": pack.texts[card]})
            player = state.next[player]
    notes = state.notes
    snapshot: dict[str, Any] = {
        "game": game.key,
        "seat": seat,
        "turn": None if state.current_seat == seat != seat_to_act or in_secret(state, seat) else state.current_seat,
        "deal": state.deal_no,
        "dealer": state.dealer,
        "mano": state.mano,
        "out": list(state.out),
        "trump": state.suit_text(state.trump),
        "shown": state.card_text(state.shown),
        "holder": state.holder if state.holder >= 0 else None,
        "stock": state.n,
        "hand": [pack.texts[card] for card in state.hand_of(seat)],
        "counts": [len(state.hand_of(s)) for s in range(state.seats)],
        "trick": trick,
        "played": [pack.texts[card] for card in played(state)],
        "winning": state.winner if state.in_trick else None,
        "tricks": list(state.tricks),
        "cards": list(state.cards),
        "songs": list(state.songs),
        "sung": [{"seat": s, "suit": pack.suits[suit], "points": p, "table": t} for s, suit, p, t in state.songs_made],
        "totals": list(state.totals),
        "games": list(state.games),
        "marks": list(state.marks),
        "chips": list(state.chips),
        "pending": {"seat": state.pending, "card": pack.texts[state.notes["pending_card"]]}
        if state.pending >= 0
        else None,
        "soloist": notes.get("soloist"),
        "bid": notes.get("bid") or None,
        "called": state.card_text(notes.get("called", -1)),
        "playing": list(notes["playing"]) if "playing" in notes else None,
        "predictions": [notes["predictions"].get(s) for s in range(state.seats)] if "predictions" in notes else None,
        "pot": state.pot,
        "over": state.is_over,
    }
    if seat == state.dealer and "censor_sees" in notes:
        snapshot["censored"] = {"seat": notes["censor_sees"], "hand": notes["censored_hand"]}
    hidden = notes.get("hidden_songs", ())
    for song, (singer, suit, _, _) in zip(snapshot["sung"], state.songs_made, strict=True):
        if singer != seat and suit in hidden:
            song["suit"] = None
    return snapshot


def in_secret(state: Data, seat: int) -> bool:
    """Return True if another seat is being asked because of its cards."""
    return state.current_seat != seat and (state.phase is windows.WINDOW or state.phase is exchanges.PHASE)


def quiet(state: Data, seat: int) -> Data:
    """Return the position as `seat` would see it if nobody were being asked in secret: a copy in which those asked have declined.

    A seat that will itself be asked before the draw does not see the card it is going to draw: it knows anyway that its turn has not come.
    """
    while in_secret(state, seat):
        if state.phase is exchanges.PHASE:
            state = state.clone()
            flow.run(state, steps.STAGE)
            continue
        if seat in state.queue and state.window == "before_draw" and windows.window_options(state, seat):
            break
        state = state.clone()
        state.queue = ()
        flow.run(state, windows.next_in_window(state))
    return state


def played(state: Data) -> list[int]:
    """Return the cards played in this deal, ascending. Everybody saw them."""
    return list(state.game.pack.in_hand(played_masks(state)))


def played_masks(state: Data) -> list[int]:
    """Return the cards played in this deal as bit masks by suit.

    These are the cards in no hand, stock, exchange or pile of hidden discards. So `apply` need not keep a list of them.
    """
    elsewhere = [0] * (NO_SUIT + 1)
    for a, b, c, d, _ in state.hands:
        elsewhere[0] |= a
        elsewhere[1] |= b
        elsewhere[2] |= c
        elsewhere[3] |= d
    face_down = state.stock
    notes = state.notes
    if "put_away" in notes:
        face_down = [*face_down, *notes["put_away"]]
    if state.pending >= 0:
        face_down = [*face_down, notes["pending_card"]]
    if state.shown >= 0 and state.holder < 0:
        face_down = [*face_down, state.shown]
    for card in face_down:
        elsewhere[state.suit_of[card]] |= state.bit_of[card]
    return [whole & ~hidden for whole, hidden in zip(state.game.pack.whole, elsewhere, strict=True)]


def _previous(state: Data, seat: int) -> int:
    return state.active[state.active.index(seat) - 1]
