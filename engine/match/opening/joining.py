"""Bato between the deal and the first lead: play or pass, who joins, and the change of cards.

Notes of the deal: soloist, playing, passed, asked_to_join; to_change, took_shown, put_away, thrown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.cards import chance
from engine.cards.pack import NO_SUIT
from engine.match import steps
from engine.match.data import Data, Phase
from engine.match.hands import give
from engine.match.opening.calls import call, note, thrown_in
from engine.match.record import DREW, SEAT
from engine.match.scoring import claims
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.redaction import EventRecord

CALLS = (act.PLAY, act.PASS)
ANSWERS = (act.JOIN, act.OUT)


def play_then_join(state: Data) -> int:
    """Ask each seat from mano to play or pass until one plays; then ask every other seat whether it joins."""
    state.notes = {"soloist": None, "passed": (), "playing": (), "asked_to_join": ()}
    state.ask(state.mano, PLAY_THEN_JOIN)
    return steps.WAIT


def _legal(state: Data) -> tuple[int, ...]:
    return CALLS if state.notes["soloist"] is None else ANSWERS


def _act(state: Data, action: int) -> int:
    call(state, action)
    seat, notes = state.turn, state.notes
    if action == act.PASS:
        passed = (*notes["passed"], seat)
        state.notes = notes | {"passed": passed}
        if len(passed) == len(state.active):
            return thrown_in(state)
        state.ask(state.next[seat], PLAY_THEN_JOIN)
        return steps.WAIT
    if action == act.PLAY:
        state.notes = notes | {"soloist": seat, "playing": (seat,)}
        state.queue = _others(state, seat)
    else:
        asked_to_join = (*notes["asked_to_join"], seat)
        if action == act.JOIN:
            state.notes = notes | {"playing": (*notes["playing"], seat), "asked_to_join": asked_to_join}
        else:
            state.notes = notes | {"asked_to_join": asked_to_join}
        state.queue = state.queue[1:]
    if state.queue:
        state.ask(state.queue[0], PLAY_THEN_JOIN)
        return steps.WAIT
    return _joined(state)


def _others(state: Data, soloist: int) -> tuple[int, ...]:
    """Return the seats that are asked to join, in order from the soloist; without those that passed if `passed_may_join` is false."""
    place = state.active.index(soloist)
    others = state.active[place + 1 :] + state.active[:place]
    if state.rules.passed_may_join is False:
        passed = state.notes["passed"]
        others = tuple(seat for seat in others if seat not in passed)
    return others


def _joined(state: Data) -> int:
    playing, active = state.notes["playing"], state.active
    if len(playing) == 1:
        return claims.decided(state, Verdict(state.side[playing[0]], why="alone"))
    gone: tuple[int, ...] = ()
    if len(playing) < len(active):
        gone = tuple([seat for seat in active if seat not in playing])
        _leave(state, gone)
    first = state.notes["soloist"] if state.rules.first_leader == "soloist" else state.active[0]
    note(state, leader=first, thrown=gone)
    return steps.STAGE


def _leave(state: Data, gone: tuple[int, ...]) -> None:
    """Take these seats out of the deal."""
    state.active = playing = tuple([seat for seat in state.active if seat not in gone])
    state.out = tuple(sorted(state.out + gone))
    ring = state.next
    after = []
    for following in ring:
        while following not in playing:
            following = ring[following]
        after.append(following)
    state.next = tuple(after)
    state.size = len(playing)
    state.left = len(playing) * int(state.rules.hand_size)


PLAY_THEN_JOIN = Phase("auction", _legal, _act)


# ---- change of cards


def change_cards(state: Data) -> int:
    """Ask each seat in play, from mano, for cards to put away; it receives as many undealt cards."""
    note(state, to_change=state.active)
    state.ask(state.active[0], CHANGE)
    return steps.WAIT


def undealt(state: Data) -> int:
    """Return how many cards a change may still give out, including the hands of seats that are out if those are shuffled in."""
    more = 0
    if state.rules.stock_exhausted == "reshuffle_out_hands":
        more = sum(len(state.hand_of(seat)) for seat in state.notes.get("thrown", ()))
    return len(state.stock) + more


def _change_legal(state: Data) -> tuple[int, ...]:
    rules, seat = state.rules, state.turn
    took = 1 if state.notes.get("took_shown") == seat else 0
    most = len(state.stock) + took
    if most < rules.discard_draw_max:
        most = undealt(state) + took
    most = min(rules.discard_draw_max, most)
    actions = act.discards(state.game.pack.in_hand(state.hands[seat]), took, most)
    if rules.dealer_takes_shown and seat == state.dealer and state.shown >= 0 and most > 0 and not took:
        actions.append(act.TAKE)
    return tuple(actions)


def _change_act(state: Data, action: int) -> int:
    seat, notes, log = state.turn, state.notes, state.log
    if action == act.TAKE:
        return _take_shown(state)
    cards = act.discarded(action)
    hand, facts = state.hands[seat], state.facts
    for card in cards:
        suit, bit, _ = facts[card]
        hand[suit] ^= bit
    if log is not None:
        log.append((discard_event, seat, cards))
    due = len(cards)
    if notes.get("took_shown") == seat:
        due -= 1
    for _ in range(due):
        if not state.stock:
            _shuffle_in(state)
        card = state.stock.pop()
        suit, bit, _ = facts[card]
        hand[suit] |= bit
        if log is not None:
            log.append(DREW | seat << SEAT | card)
    waiting = notes["to_change"][1:]
    state.notes = state.notes | {"to_change": waiting, "put_away": notes.get("put_away", ()) + cards}
    if waiting:
        state.ask(waiting[0], CHANGE)
        return steps.WAIT
    return steps.STAGE


def discard_event(pack: Pack, seat: int, cards: tuple[int, ...]) -> EventRecord:
    """Return the event of cards put away."""
    return {"e": "discard", "seat": seat, "count": len(cards), "cards": pack.names(cards), "secret": {"cards": [seat]}}


def _take_shown(state: Data) -> int:
    seat = state.turn
    note(state, took_shown=seat)
    give(state, seat, state.shown)
    state.emit("take", seat=seat, card=state.card_text(state.shown))
    state.shown = -1
    state.ask(seat, CHANGE)
    return steps.WAIT


def _shuffle_in(state: Data) -> None:
    thrown = state.notes["thrown"]
    cards = [card for seat in thrown for card in state.hand_of(seat)]
    size = state.game.pack.size
    # Sort by the suits of the shuffle, so that the same cards come up however the suits are exchanged.
    cards.sort(key=lambda card: (state.suit_map.index(card // size), card % size))
    for seat in thrown:
        state.hands[seat] = [0] * (NO_SUIT + 1)
    dice = state.dice
    state.stock = chance.shuffle(state.seed, -state.deal_no, cards) if dice is None else dice.shuffle(cards)
    note(state, thrown=())
    state.emit("reshuffle", count=len(cards), seats=list(thrown))


CHANGE = Phase("change", _change_legal, _change_act)
