"""Exchanges of the shown card: at once, by notice, or before the first lead (parameters `exchange*` of the rules book)."""

from __future__ import annotations

from engine.cards import actions as act
from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.match.data import Data, Phase
from engine.match.trick import turns


def exchanges(state: Data, seat: int, moment: str) -> tuple[int, ...]:
    """Return the exchanges that a seat may make at a moment (one of `engine.rules.swapping.MOMENTS`), as actions."""
    game = state.game
    if moment not in game.exchange_moments or state.shown < 0 or state.trump == NO_SUIT or state.capote_by >= 0:
        return ()
    rules = state.rules
    if moment == "before_first_lead":
        if state.deal_no == 1 and rules.first_deal == "coins_2o":
            return ()
    elif (
        not state.hands[seat][state.trump] & game.exchange_mask
        or state.n < max(1, rules.exchange_min_stock)
        or not _may_now(state, seat, moment)
    ):
        return ()
    trumps = state.hands[seat][state.trump]
    actions: tuple[int, ...] = ()
    for bit, code, barred in game.swaps[state.shown]:
        if trumps & bit and not (barred and state.swapped):
            actions += (code + state.trump,)
    return actions


def _may_now(state: Data, seat: int, moment: str) -> bool:
    rules = state.rules
    if rules.exchange == "deferred":
        return state.pending < 0
    if rules.exchange_trigger == "own_turn":
        return moment == "own_turn" or seat == state.winner
    if state.last_trick < 0:
        return False
    if rules.exchange_trigger == "side_just_won":
        return state.side[seat] == state.side[state.last_trick]
    return seat == state.last_trick


def exchange(state: Data, action: int) -> None:
    """Carry out an exchange of the seat on turn: at once, or as a notice under the shown card."""
    seat = state.turn
    suit = action & 3
    card = state.game.pack.card("7" if action < act.EXCHANGE_TWO else "2", suit)
    hand = state.hands[seat]
    hand[suit] &= ~state.bit_of[card]
    if state.rules.exchange == "deferred":
        state.pending = seat
        state.notes = state.notes | {"pending_card": card}
        turns.fix_turns(state)
        state.emit("notice", seat=seat, card=state.card_text(card))
        return
    taken = state.shown
    hand[suit] |= state.bit_of[taken]
    state.shown = card
    state.swapped = True
    turns.fix_turns(state)
    state.emit("exchange", seat=seat, gives=state.card_text(card), takes=state.card_text(taken))


def trick_won(state: Data) -> None:
    """Give the shown card, in window A, to the seat that gave notice if it won the trick. The card laid down becomes the shown one."""
    if state.pending < 0 or state.pending != state.winner:
        return
    seat, card, taken = state.pending, state.notes["pending_card"], state.shown
    state.hands[seat][state.suit_of[taken]] |= state.bit_of[taken]
    state.shown = card
    state.swapped = True
    state.pending = -1
    turns.fix_turns(state)
    state.emit("exchange", seat=seat, gives=state.card_text(card), takes=state.card_text(taken))


def take_back(state: Data) -> None:
    """Return the card laid down to its owner, after the shown card was drawn."""
    seat, card = state.pending, state.notes["pending_card"]
    state.hands[seat][state.suit_of[card]] |= state.bit_of[card]
    state.pending = -1
    state.emit("return", seat=seat, card=state.card_text(card))


# ---- before the first lead


def stage(state: Data) -> int:
    """Ask the holder of the trump 7, then that of the 2, whether it exchanges before the first lead."""
    while (seat := _next_exchanger(state)) >= 0:
        state.ask(seat, PHASE)
        if state.rules.exchange_duty != "must":
            return steps.WAIT
        exchange(state, exchanges(state, seat, "before_first_lead")[0])
    return steps.STAGE


def _next_exchanger(state: Data) -> int:
    holder_of_two = -1
    for seat in state.active:
        for action in _offered_exchange(state, seat):
            if action < act.EXCHANGE_TWO:
                return seat
            holder_of_two = seat
    return holder_of_two


def _offered_exchange(state: Data, seat: int) -> tuple[int, ...]:
    """Return the card that a seat may give before the first lead, unless it has declined: the 7 first, then the 2 of the same seat."""
    declined = state.notes.get("declined", ())
    return tuple([action for action in exchanges(state, seat, "before_first_lead") if action not in declined][:1])


def _legal(state: Data) -> tuple[int, ...]:
    return (*_offered_exchange(state, state.turn), act.PASS)


def _act(state: Data, action: int) -> int:
    if action == act.PASS:
        state.notes = state.notes | {
            "declined": (*state.notes.get("declined", ()), *_offered_exchange(state, state.turn))
        }
    else:
        exchange(state, action)
    return stage(state)


PHASE = Phase("exchange", _legal, _act)
