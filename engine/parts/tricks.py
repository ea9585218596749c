"""From the last card of a trick to the next lead: winner, table songs, windows, draw (README of the rules book, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine import actions as act
from engine.cards import NO_SUIT
from engine.errors import IllegalAction
from engine.parts import announcing, counting, exchanging, legality

if TYPE_CHECKING:
    from engine.state import State


def lead(state: State) -> None:
    """The seat on turn leads to a trick: fixes the obligations of the trick by the stock, offers what may be announced first."""
    game = state.game
    in_force = game.open_rule if state.n > 0 else game.empty_rule
    if in_force is not state.in_force:
        legality.enforce(state, in_force)
    state.table = []
    state.window = ""
    state.phase = None
    state.hand = state.hands[state.turn]
    state.legal = None
    state.extra = announcing.before_card(state)


def offer(state: State) -> None:
    """Puts before the seat on turn what it may announce before its card."""
    state.extra = announcing.before_card(state)
    state.legal = None


def act_upon(state: State, action: int) -> None:
    """An action that is no card: the answer to a question, or an announcement."""
    state.legal = None
    if state.log is not None:
        state.taken_actions.append(action)
    if state.phase is not None:
        state.phase.act(state, action)
    else:
        announce(state, action)


def announce(state: State, action: int) -> None:
    """An announcement of the seat on turn before its card."""
    announcing.carry_out(state, action)
    if not state.is_over and state.phase is None and state.left:
        offer(state)


def revoke(state: State, action: int) -> None:
    """An action outside of the legal set: refused, or a revoke where illegal cards are let through (`illegal_move`)."""
    if state.is_over:
        raise IllegalAction("the match is over: no action is possible")
    held = (
        type(action) is int
        and 0 <= action < act.PLAY_END
        and state.phase is None
        and action in state.hand_of(state.turn)
    )
    if held and state.rules.illegal_move != "reject":
        counting.revoke(state, action)
        return
    text = state.game.action_text
    try:
        what = text(action)
    except (ValueError, IndexError, TypeError):
        what = repr(action)
    legal = ", ".join(text(a) for a in state.legal_actions())
    raise IllegalAction(f"{what} is not legal for seat {state.turn} now; legal: {legal}")


def complete(state: State) -> None:
    """The last card of a trick is on the table.

    1. The winner takes the cards. 2. Table songs. 3. Window A. Then `after_window_a`: 4. draw, 5. window B, 6. the winner leads.
    """
    game = state.game
    state.turn = state.last_trick = winner = state.winner
    state.cards[winner] += state.table_points
    state.tricks[winner] += 1
    state.left -= state.size
    state.window_songs = ()
    state.best_suit = NO_SUIT
    if state.log is not None:
        state.log.append(_event(state, winner))
    state.table_points = 0
    if game.simple:
        if not state.left:
            counting.last_trick(state)
            return
        # as `lead`, for deals without stock where only the winner may announce something, and only a pair or a tute
        state.legal = None
        state.table = []
        state.hand = hand = state.hands[winner]
        a, b, c, d, _ = hand
        paired = game.paired
        if paired[a] or paired[b] or paired[c] or paired[d] or a & b & c & d & game.tute_mask:
            state.extra = announcing.before_card(state)
        return
    if game.secret_partner and state.notes.get("called") in state.table:
        state.emit("partner", seat=state.notes["partner"], card=state.card_text(state.notes["called"]))
    if game.table_songs:
        announcing.table_songs(state)
    if state.capote_by >= 0 and counting.capote_decided(state):
        return
    if game.tracks_target and counting.reached_by(state, winner):
        return
    if not state.left:
        counting.last_trick(state)
        return
    if state.pending >= 0:
        exchanging.trick_won(state)
    if game.window_a and state.n > 0 and state.shown >= 0:
        swap, trump, hands = game.swap_masks[state.shown], state.trump, state.hands
        for seat in game.side_from[winner]:  # whoever else may speak in a window has nothing to exchange in this one
            if hands[seat][trump] & swap:
                announcing.open_window(state, "before_draw")
                return
    after_window_a(state)


def _event(state: State, winner: int) -> dict[str, Any]:
    texts = state.game.pack.texts
    cards = [texts[card] for card in state.table]
    event: dict[str, Any] = {"e": "trick", "seat": winner, "points": state.table_points, "cards": cards}
    if not state.left:
        event["last"] = True
    return event


def after_window_a(state: State) -> None:
    """Draws, then opens window B."""
    if state.n > 0:
        draw(state)
        if state.n == 0 and state.rules.capote == "announced":
            announcing.ask_capote(state)
            return
    elif state.drawn is not None:
        state.drawn = None
    window_b(state)


def window_b(state: State) -> None:
    """Announcements before the next lead: in one turn with it, or asked one by one. On turn is the winner of the trick."""
    if state.game.merged:
        lead(state)
    else:
        announcing.open_window(state, "after_draw")


def draw(state: State) -> None:
    """One card each, the winner of the trick first; the shown card is the last one where it is drawn at all."""
    seat, cards = state.winner, state.size
    if state.rules.supply == "batches":
        if any(state.hands[seat]):
            return
        seat, cards = state.mano, min(state.n, state.size * int(state.rules.hand_size))
    stock, hands, facts, ring = state.stock, state.hands, state.facts, state.next
    state.drawn = drawn = [-1] * state.seats
    state.n -= cards
    log, texts = state.log, state.game.pack.texts
    the_shown = len(stock) < cards
    for _ in range(cards - the_shown):
        drawn[seat] = card = stock.pop()
        suit, bit, _ = facts[card]
        hands[seat][suit] |= bit
        if log is not None:
            log.append({"e": "draw", "seat": seat, "card": texts[card], "secret": {"card": [seat]}})
        seat = ring[seat]
    if the_shown:
        drawn[seat] = card = state.shown
        give(state, seat, card)
        state.emit("draw", seat=seat, card=state.card_text(card), shown=True)
        state.shown = -1
    if not state.n:
        if state.shown < 0 and state.pending >= 0:
            exchanging.take_back(state)
        announcing.fix_own_turn(state)


def give(state: State, seat: int, card: int) -> None:
    """Puts a card into a hand."""
    state.hands[seat][state.suit_of[card]] |= state.bit_of[card]


def take(state: State, seat: int, card: int) -> None:
    """Takes a card out of a hand."""
    state.hands[seat][state.suit_of[card]] &= ~state.bit_of[card]
