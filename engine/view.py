"""A snapshot of what one seat may know, as plain data."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.parts import announcing, exchanging

if TYPE_CHECKING:
    from engine.state import State


def observation(state: State, seat: int) -> dict[str, Any]:
    """Everything `seat` may know at this moment.

    Cards are texts, suits letters, points whole numbers; lists by seat or by side as named. `legal` is there when the seat is to act.
    It is meant for the seat to act. Between its turns a seat knows what the redacted events tell it: a snapshot taken while others are asked
    shows, by the cards still to be drawn, that somebody is being asked.
    """
    game, pack = state.game, state.game.pack
    trick = []
    if state.in_trick:  # a completed trick may still lie there while a window is open
        player = state.turn
        for _ in range(len(state.table)):
            player = _previous(state, player)
        for card in state.table:
            trick.append({"seat": player, "card": pack.texts[card]})
            player = state.next[player]
    notes = state.notes
    asked_in_secret = state.phase is announcing.WINDOW or state.phase is exchanging.PHASE
    seen: dict[str, Any] = {
        "game": game.key,
        "seat": seat,
        # in a window only seats that hold something are asked: who, is nobody else's business
        "turn": None if asked_in_secret and state.current_seat != seat else state.current_seat,
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
        seen["censored"] = {"seat": notes["censor_sees"], "hand": notes["censored_hand"]}
    if state.rules.hide_arrastre_twenty:
        for song, (singer, suit, _, _) in zip(seen["sung"], state.songs_made, strict=True):
            if singer != seat and suit != state.trump:
                song["suit"] = None
    if state.current_seat == seat:
        seen["legal"] = [game.action_text(action) for action in state.legal_actions()]
    return seen


def played(state: State) -> list[int]:
    """The cards that have been played in this deal, ascending: public, for everybody saw them.

    Worked out from where the others are, so that playing need not keep it: hands, stock, shown card, a laid exchange, cards put away.
    """
    elsewhere = {card for seat in range(state.seats) for card in state.hand_of(seat)}
    elsewhere.update(state.stock, state.notes.get("put_away", ()))
    if state.shown >= 0 and state.holder < 0:
        elsewhere.add(state.shown)
    if state.pending >= 0:
        elsewhere.add(state.notes["pending_card"])
    return [card for card in state.game.pack.cards if card not in elsewhere]


def _previous(state: State, seat: int) -> int:
    return state.active[state.active.index(seat) - 1]
