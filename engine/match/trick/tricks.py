"""The end of a trick, up to the next lead: winner, table songs, windows, draw (README of the rules book, section 3)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.match.data import Data
from engine.match.hands import give
from engine.match.record import DREW, SEAT
from engine.match.scoring import claims
from engine.match.trick import exchanges, legality, songs, turns, windows

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.redaction import EventRecord


def lead(state: Data) -> None:
    """Ask the seat on turn for the first lead of a deal, or of a position set up by hand."""
    game = state.game
    state.phase = None
    legality.enforce(state, game.open_rule if state.n > 0 else game.empty_rule)
    turns.fix_turns(state)
    next_lead(state)
    if state.last_trick < 0 and game.claims_after_trick:
        offer(state)


def next_lead(state: Data) -> None:
    """Ask the winner of the last trick for a lead: any card, or an announcement first."""
    state.table = []
    state.hand = hand = state.hands[state.turn]
    a, b, c, d, _ = hand
    coins, cups, swords, batons = state.held
    legal = coins[a] + cups[b] + swords[c] + batons[d]
    game = state.game
    if game.speaks:
        paired = game.paired
        # Most hands hold nothing that may be announced; `lead_extra` is right for all of them.
        if (
            paired[a]
            or paired[b]
            or paired[c]
            or paired[d]
            or a & b & c & d & game.tute_mask
            or hand[state.trump] & state.lead_swap
            or game.accuses
        ):
            extra = windows.before_card(state)
        else:
            extra = state.lead_extra
        state.extra = extra
        legal += extra
    state.legal = legal


def offer(state: Data) -> None:
    """Offer the seat on turn the announcements it may make before its card."""
    state.extra = windows.before_card(state)
    state.legal = None


def act_upon(state: Data, action: int) -> int:
    """Carry out an action that is no card: the answer to a question, or an announcement."""
    state.legal = None
    if state.log is not None:
        state.taken_actions.append(action)
    if state.phase is not None:
        return state.phase.act(state, action)
    return announce(state, action)


def announce(state: Data, action: int) -> int:
    """Carry out an announcement of the seat on turn before its card."""
    if step := windows.carry_out(state, action):
        return step
    offer(state)
    return steps.WAIT


def complete(state: Data) -> int:  # noqa: C901 - the order of what follows a trick, in one place; a call each would slow all playouts
    """Complete the trick after its last card.

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
        state.log.append((trick_event, winner, state.table_points, state.table, not state.left))
    state.table_points = 0
    if game.simple:
        if not state.left:
            return claims.last_trick(state)
        # `next_lead` written out for deals without stock in which only the winner may announce something, and only a pair or a tute
        state.table = []
        state.hand = hand = state.hands[winner]
        a, b, c, d, _ = hand
        coins, cups, swords, batons = state.held
        legal = coins[a] + cups[b] + swords[c] + batons[d]
        paired = game.paired
        if paired[a] or paired[b] or paired[c] or paired[d] or a & b & c & d & game.tute_mask:
            state.extra = extra = windows.before_card(state)
            legal += extra
        state.legal = legal
        return steps.WAIT
    if game.secret_partner and state.notes.get("called") in state.table:
        state.emit("partner", seat=state.notes["partner"], card=state.card_text(state.notes["called"]))
    if game.table_songs:
        songs.table_songs(state)
    if state.capote_by >= 0 and (step := claims.capote_decided(state)):
        return step
    if game.tracks_target and (step := claims.reached_by(state, winner)):
        return step
    if not state.left:
        return claims.last_trick(state)
    if state.n > 0:
        if state.pending >= 0:
            exchanges.trick_won(state)
        if game.window_a:
            hands, trump, swap = state.hands, state.trump, state.window_swap
            # Only seats of the winner's side may exchange in this window.
            for seat in game.side_from[winner]:
                if hands[seat][trump] & swap:
                    return windows.open_window(state, "before_draw")
    return after_window_a(state)


def trick_event(pack: Pack, winner: int, points: int, table: list[int], last: bool) -> EventRecord:
    """Return the event of a completed trick."""
    event: EventRecord = {"e": "trick", "seat": winner, "points": points, "cards": pack.names(table)}
    if last:
        event["last"] = True
    return event


def after_window_a(state: Data) -> int:
    """Draw, then open window B."""
    if state.n > 0:
        draw(state)
        if state.n == 0 and state.rules.capote == "announced":
            return windows.ask_capote(state)
    elif state.drawn is not None:
        state.drawn = None
    if state.game.merged:  # `window_b` written out, to save a call in every trick
        next_lead(state)
        return steps.WAIT
    return windows.open_window(state, "after_draw")


def window_b(state: Data) -> int:
    """Ask for announcements before the next lead: in one turn with it, or seat by seat. The winner of the trick is on turn."""
    if state.game.merged:
        next_lead(state)
        return steps.WAIT
    return windows.open_window(state, "after_draw")


def draw(state: Data) -> None:
    """Let every seat draw a card, the winner of the trick first. The shown card is the last one if it is drawn at all."""
    game, seat, cards = state.game, state.winner, state.size
    if game.batches:
        if any(state.hands[seat]):
            return
        seat, cards = state.mano, min(state.n, cards * int(state.rules.hand_size))
    stock, hands, facts, ring = state.stock, state.hands, state.facts, state.next
    state.n = remaining = state.n - cards
    the_shown = not remaining and len(stock) < cards
    if the_shown:
        cards -= 1
    log = state.log
    if game.minds_draws or log is not None:
        state.drawn = drawn = [-1] * state.seats
        drawer = seat
        for card in stock[: -cards - 1 : -1]:
            drawn[drawer] = card
            if log is not None:
                log.append(DREW | drawer << SEAT | card)
            drawer = ring[drawer]
    for _ in range(cards):
        suit, bit, _ = facts[stock.pop()]
        hands[seat][suit] |= bit
        seat = ring[seat]
    if not remaining:
        _stock_is_empty(state, seat if the_shown else -1)


def _stock_is_empty(state: Data, last: int) -> None:
    """Change to the duties of an empty stock. The seat `last` has drawn the shown card (-1: it is not drawn)."""
    if last >= 0:
        card = state.shown
        give(state, last, card)
        if state.drawn is not None:
            state.drawn[last] = card
        state.emit("draw", seat=last, card=state.card_text(card), shown=True)
        state.shown = -1
    if state.shown < 0 and state.pending >= 0:
        exchanges.take_back(state)
    legality.enforce(state, state.game.empty_rule)
    turns.fix_turns(state)
