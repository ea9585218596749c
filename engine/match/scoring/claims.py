"""The end of a deal: claims, count, what it is worth in the match, and whether the match is over."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match.opening import dealing
from engine.match.phase import Phase
from engine.match.scoring import results, settlement
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.match.state import State


def last_trick(state: State) -> None:
    """All cards are played: the winner of the last trick may have a choice about its bonus; then the deal is counted."""
    if state.rules.last_trick_optional:
        state.ask(state.last_trick, LAST_TEN)
    else:
        end_deal(state)


def _last_ten(state: State, action: int) -> None:
    if action == act.DECLINE:
        state.notes = state.notes | {"bonus_declined": True}
    state.emit("last_ten", seat=state.turn, taken=action == act.TAKE)
    end_deal(state)


LAST_TEN = Phase("last_ten", lambda state: (act.TAKE, act.DECLINE), _last_ten)


def decide(state: State) -> Verdict:
    """How the deal ends by its tute or its count."""
    if state.tute_by >= 0 and not state.rules.sides.startswith("soloist"):
        side = state.side[state.tute_by]
        return Verdict(side, tuple(s for s in state.active if state.side[s] != side), why="tute")
    return state.rules.result(state)


def end_deal(state: State, verdict: Verdict | None = None) -> None:
    """Counts the deal (or takes the verdict that cut it short), settles it, and starts the next one or ends the match."""
    state.phase = None
    settlement.settle(state, verdict or decide(state))
    if not state.is_over:
        settlement.adapt_to_seats(state)
        dealing.start(state)


# ---- games that end in the middle of a deal


def reached_by(state: State, seat: int) -> bool:
    """Notes when the side of a seat has just reached the target; with `claim_mode: auto` that ends the game. True if it did."""
    game = state.game
    target = game.target
    if target is None:
        return False
    side = state.side[seat]
    total = state.totals[side]
    for mate in game.sides[side]:
        total += state.cards[mate] + state.songs[mate]
    # the bonus of the last trick is worth asking for only with its last card; before it the sum above is all there is
    if total < target and (state.left or state.totals_now()[side] < target):
        return False
    if side not in state.reached:
        state.reached += (side,)
    rules = state.rules
    if rules.claim_mode == "auto" and state.game_deal >= rules.claim_from_deal:
        end_deal(state, Verdict(side, why="target"))
        return True
    return False


def claim(state: State) -> None:
    """The seat on turn says that its side has the target. Right wins the game at once, wrong loses it at once."""
    seat = state.turn
    side = state.side[seat]
    total = state.totals_now()[side]
    right = total >= (state.rules.target or 0)
    state.emit("claim", seat=seat, total=total, right=right)
    end_deal(state, Verdict(side if right else best_other(state, seat), why="claim"))


def best_other(state: State, seat: int) -> int:
    """Of the other sides the one with the highest total; level ones by the nearest seat to the right."""
    totals = state.totals_now()
    others = [side for side in state.active_sides() if side != state.side[seat]]
    top = max(totals[side] for side in others)
    level = [s for s in state.active if state.side[s] in others and totals[state.side[s]] == top]
    return state.side[results.nearest_right(state, seat, level)]


def capote_decided(state: State) -> bool:
    """After a trick of an announced capote: lost with the first lost trick, won with the last one. True if the game is over."""
    side = state.side[state.capote_by]
    if state.side[state.last_trick] != side:
        end_deal(state, Verdict(best_other(state, state.capote_by), why="capote"))
        return True
    if not state.left:
        end_deal(state, Verdict(side, why="capote"))
        return True
    return False


# ---- illegal cards where they are let through (`illegal_move`)


def revoke(state: State, action: int) -> None:
    """An illegal card of a held hand: the penalty at once, or, where it takes an accusation, the card stays on the table."""
    seat = state.turn
    penalty = state.rules.illegal_move
    if penalty == "accuse":
        if state.revoker < 0:
            state.revoker = seat
        state.legal = (action,)
        state.apply(action)
        return
    if state.log is not None:
        state.taken_actions.append(action)
    state.emit("revoke", seat=seat, card=state.card_text(action))
    end_deal(state, revoke_verdict(state, seat))


def revoke_verdict(state: State, seat: int) -> Verdict:
    """What a seat's proven revoke decides under `illegal_move`."""
    penalty = state.rules.illegal_move
    if penalty == "lose_game":
        return Verdict(best_other(state, seat), why="revoke")
    return Verdict(None, (seat,), why="revoke", marks=1 if penalty == "one_mark" else 2)


def accuse(state: State) -> None:
    """The seat on turn says that somebody revoked in this deal. Proven: two marks for the offender; not proven: one for the accuser."""
    seat, offender = state.turn, state.revoker
    proven = offender >= 0 and offender != seat
    state.emit("accuse", seat=seat, proven=proven, offender=offender if proven else None)
    end_deal(state, accusation_verdict(seat, offender, proven))


def accusation_verdict(seat: int, offender: int, proven: bool) -> Verdict:
    """Two marks for a proven offender, one for an accuser who proves nothing."""
    return Verdict(None, (offender,), why="revoke", marks=2) if proven else Verdict(None, (seat,), why="accusation")
