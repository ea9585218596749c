"""Windows, in which seats announce something: songs, tutes, exchanges, claims, capotes.

If only the winner of the trick may act in window B, the window and its lead are one turn: announcements, then a card. If another seat may act,
too, the window asks each in turn, and a seat that wants nothing passes. Whether a seat is asked depends only on its own hand and on public
facts, so it learns nothing from being asked; and no event reports it to the others.
"""

from __future__ import annotations

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.match.data import Data, Phase
from engine.match.scoring import claims
from engine.match.trick import exchanges, songs, turns


def before_card(state: Data) -> tuple[int, ...]:
    """Return the announcements of the seat on turn before its card: in window B if it is one turn with the lead, and at its own turn."""
    game = state.game
    seat, swap = state.turn, state.swap
    actions: tuple[int, ...] = ()
    if game.merged and state.best_suit == NO_SUIT and state.last_trick >= 0:
        actions = songs.declarations(state, seat)
        swap = state.lead_swap
        if game.window_b_swaps and state.hand[state.trump] & swap:
            actions += exchanges.exchanges(state, seat, "after_draw")
        if game.claims_after_trick and songs.may_claim(state, seat, "post_trick"):
            actions += turns.CLAIM
    if state.own_turn:
        if state.hand[state.trump] & swap:
            actions += tuple([a for a in exchanges.exchanges(state, seat, "own_turn") if a not in actions])
        actions += state.own_extra
        if game.accuses:
            actions += claims.accusations(state, seat)
    return actions


def carry_out(state: Data, action: int) -> int:
    """Carry out an announcement of the seat on turn. Returns WAIT if the deal goes on, or the step that ends it."""
    seat = state.turn
    if action < act.TUTE:
        return songs.sing(state, seat, action - act.SING)
    if action < act.EXCHANGE_SEVEN:
        state.tute_by = seat
        rank = act.TUTE_RANKS[action - act.TUTE]
        state.emit("tute", seat=seat, rank=rank, cards=[rank + suit for suit in state.game.pack.suits])
        return steps.COUNT
    if action < act.PASS:
        exchanges.exchange(state, action)
        return steps.WAIT
    return claims.claim(state) if action == act.CLAIM else claims.accuse(state, action)


# ---- windows


def open_window(state: Data, moment: str) -> int:
    """Open window A (`before_draw`) or B (`after_draw`): ask the seats that may act in it, the winner of the trick first."""
    game, winner = state.game, state.winner
    state.window = moment
    if game.all_may_sing:
        place = state.active.index(winner)
        state.queue = state.active[place:] + state.active[:place]
    else:
        state.queue = game.side_from[winner]
    return next_in_window(state)


def window_options(state: Data, seat: int) -> tuple[int, ...]:
    """Return the announcements of a seat in the open window."""
    options = exchanges.exchanges(state, seat, state.window)
    if state.window == "after_draw":
        options = songs.declarations(state, seat) + options
        if state.game.claims_after_trick and songs.may_claim(state, seat, "post_trick"):
            options += turns.CLAIM
    return options


def next_in_window(state: Data) -> int:
    """Ask the next seat of the open window that has anything to announce. After the last one the deal goes on."""
    game = state.game
    draws_next = state.window == "before_draw"
    swap, claims, queue = state.window_swap, game.claims_after_trick, state.queue
    hands, trump, paired, tute = state.hands, state.trump, game.paired, game.tute_mask
    for place, seat in enumerate(queue):
        # Most seats have nothing to announce, which is quickly seen: no exchange, no pair, no four of a rank.
        hand = hands[seat]
        if not (claims or hand[trump] & swap):
            if draws_next:
                continue
            a, b, c, d, _ = hand
            if not (paired[a] or paired[b] or paired[c] or paired[d] or a & b & c & d & tute):
                continue
        if window_options(state, seat):
            state.queue = queue[place:]
            state.ask(seat, WINDOW)
            return steps.WAIT
    state.queue = ()
    state.window = ""
    state.phase = None
    state.turn = state.winner
    return steps.DRAW if draws_next else steps.LEAD


def _window_legal(state: Data) -> tuple[int, ...]:
    options = window_options(state, state.turn)
    if state.rules.singing_mandatory and any(a < act.EXCHANGE_SEVEN for a in options):
        return options
    return (*options, act.PASS)


def _window_act(state: Data, action: int) -> int:
    if action == act.PASS:
        state.queue = state.queue[1:]
    elif step := carry_out(state, action):
        return step
    return next_in_window(state)


WINDOW = Phase("window", _window_legal, _window_act)


# ---- capote


def ask_capote(state: Data) -> int:
    """Ask the winner of the trick, then the others, whether they promise all remaining tricks. The stock has just run out."""
    place = state.active.index(state.winner)
    state.queue = state.active[place:] + state.active[:place]
    state.ask(state.winner, CAPOTE)
    return steps.WAIT


def _capote_act(state: Data, action: int) -> int:
    if action == act.CAPOTE:
        state.capote_by = state.turn
        turns.fix_turns(state)
        state.emit("capote", seat=state.turn)
        state.queue = ()
    else:
        state.queue = state.queue[1:]
        if state.queue:
            state.ask(state.queue[0], CAPOTE)
            return steps.WAIT
    state.turn = state.winner
    state.phase = None
    return steps.WINDOW_B


CAPOTE = Phase("capote", lambda state: (act.CAPOTE, act.PASS), _capote_act)
