"""Ends of a deal: by its count, or earlier by a claim, a target, a capote, a revoke. Each function returns the next step."""

from __future__ import annotations

from engine.cards import actions as act
from engine.match import steps
from engine.match.data import Data, Phase
from engine.match.scoring import results
from engine.rules.verdict import Verdict


def last_trick(state: Data) -> int:
    """Ask the winner of the last trick about its bonus if it has a choice; otherwise count the deal."""
    if state.rules.last_trick_optional:
        state.ask(state.last_trick, LAST_TEN)
        return steps.WAIT
    return steps.COUNT


def _last_ten(state: Data, action: int) -> int:
    if action == act.DECLINE:
        state.notes = state.notes | {"bonus_declined": True}
    state.emit("last_ten", seat=state.turn, taken=action == act.TAKE)
    return steps.COUNT


LAST_TEN = Phase("last_ten", lambda state: (act.TAKE, act.DECLINE), _last_ten)


def decide(state: Data) -> Verdict:
    """End the deal by its tute or its count."""
    if state.tute_by >= 0 and not state.rules.sides.startswith("soloist"):
        side = state.side[state.tute_by]
        return Verdict(side, tuple(s for s in state.active if state.side[s] != side), why="tute")
    return state.rules.result(state)


def decided(state: Data, verdict: Verdict) -> int:
    """End the deal with this verdict."""
    state.verdict = verdict
    return steps.DECIDED


# ---- games that end in the middle of a deal


def reached_by(state: Data, seat: int) -> int:
    """Record that the side of a seat has just reached the target. With `claim_mode: auto` that ends the game.

    After an announced capote only the capote decides the game.
    """
    game = state.game
    target = game.target
    if target is None or state.capote_by >= 0:
        return steps.WAIT
    side = state.side[seat]
    total = state.totals[side]
    for mate in game.sides[side]:
        total += state.cards[mate] + state.songs[mate]
    # The bonus of the last trick may be asked for only after the last card; before it `total` is all there is.
    if total < target and (state.left or state.totals_now()[side] < target):
        return steps.WAIT
    if side not in state.reached:
        state.reached += (side,)
    rules = state.rules
    if rules.claim_mode == "auto" and state.game_deal >= rules.claim_from_deal:
        return decided(state, Verdict(side, why="target"))
    return steps.WAIT


def claim(state: Data) -> int:
    """Carry out a claim of the target. A right one wins the game at once, a wrong one loses it."""
    seat = state.turn
    side = state.side[seat]
    total = state.totals_now()[side]
    right = total >= (state.rules.target or 0)
    state.emit("claim", seat=seat, total=total, right=right)
    return decided(state, Verdict(side if right else best_other(state, seat), why="claim"))


def best_other(state: Data, seat: int) -> int:
    """Return the side with the highest total among the others; of level sides, that of the nearest seat to the right."""
    totals = state.totals_now()
    others = [side for side in state.active_sides() if side != state.side[seat]]
    top = max(totals[side] for side in others)
    level = [s for s in state.active if state.side[s] in others and totals[state.side[s]] == top]
    return state.side[results.nearest_right(state, seat, level)]


def capote_decided(state: Data) -> int:
    """Return the step after a trick of an announced capote: the first lost trick loses the game, the last trick wins it."""
    side = state.side[state.capote_by]
    if state.side[state.last_trick] != side:
        return decided(state, Verdict(best_other(state, state.capote_by), why="capote"))
    if not state.left:
        return decided(state, Verdict(side, why="capote"))
    return steps.WAIT


# ---- illegal cards where `illegal_move` allows them


def revoke(state: Data, action: int) -> int:
    """Handle an illegal card that the seat holds: penalise it at once, or let it be played if somebody must accuse (WAIT)."""
    seat = state.turn
    penalty = state.rules.illegal_move
    if penalty == "accuse":
        if seat not in state.revokers:
            state.revokers += (seat,)
        return steps.WAIT
    if state.log is not None:
        state.taken_actions.append(action)
    state.emit("revoke", seat=seat, card=state.card_text(action))
    return decided(state, revoke_verdict(state, seat))


def revoke_verdict(state: Data, seat: int) -> Verdict:
    """Return the verdict for a seat's proven revoke under `illegal_move`."""
    penalty = state.rules.illegal_move
    if penalty == "lose_game":
        return Verdict(best_other(state, seat), why="revoke")
    return _lost_by(state, seat, "revoke", 1 if penalty == "one_mark" else 2)


def _lost_by(state: Data, seat: int, why: str, marks: int) -> Verdict:
    """Return the verdict that this seat alone loses. Of two seats the other one wins, so a revoke never saves a lost board."""
    winner = state.next[seat] if len(state.active) == 2 else None
    return Verdict(winner, (seat,), why=why, marks=marks)


def accusations(state: Data, seat: int) -> tuple[int, ...]:
    """Return the accusations that a seat may make, as actions: any other seat of the deal may have revoked."""
    return tuple([act.ACCUSE + other for other in sorted(state.active) if other != seat])


def accuse(state: Data, action: int) -> int:
    """Carry out an accusation: the named seat has revoked in this deal."""
    accused = action - act.ACCUSE
    proven = accused in state.revokers
    state.emit("accuse", seat=state.turn, accused=accused, proven=proven)
    return decided(state, accusation_verdict(state, state.turn, accused, proven))


def accusation_verdict(state: Data, seat: int, accused: int, proven: bool) -> Verdict:
    """Return the verdict of an accusation: two marks for a proven offender, or one for the accuser."""
    return _lost_by(state, accused, "revoke", 2) if proven else _lost_by(state, seat, "accusation", 1)


def last_accusations(state: Data) -> int:
    """Ask every seat, mano first, whether it accuses another one before the deal is counted. Until then accusations wait for the accuser's turn."""
    state.queue = state.active
    state.ask(state.queue[0], ACCUSING)
    return steps.WAIT


def _accuse_or_pass(state: Data, action: int) -> int:
    if action != act.PASS:
        return accuse(state, action)
    state.queue = state.queue[1:]
    if not state.queue:
        return steps.COUNT
    state.ask(state.queue[0], ACCUSING)
    return steps.WAIT


ACCUSING = Phase("accusing", lambda state: (act.PASS, *accusations(state, state.turn)), _accuse_or_pass)
