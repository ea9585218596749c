"""Random playouts in a single call: `playout` for search, `play_many` for statistics.

Every action has the same chance, but nobody claims or accuses: that would end a game or a deal at once, mostly wrongly. The kernel
(`engine.search.kernel`) plays the matches; `State.apply` does if the rules run as Python source or the kernel does not know the game. Both throw the
same dice for the same choices in the same order, so the scores are the same.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.search.kernel import announcing, asking, codes, running, tricks
from engine.search.kernel.program import Program
from engine.search.kernel.state import KernelState
from engine.search.masks import FOLD, INTERPRETED, count, pick

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.game import Game
    from engine.match.state import State


def playout(
    state: State,
    rng: int | Dice,
    *,
    policy: Callable[[State, Dice], int] | None = None,
    quick: bool = not INTERPRETED,
) -> list[int]:
    """Return board scores by seat after random play from this state to the end of the match. The state does not change.

    `policy` chooses a legal action in a state, for all seats, with these dice; None chooses at random, but neither claims nor accuses. `rng` is a
    seed, or dice to continue with. The dice also shuffle later deals: a search must not look at the real ones. `quick`: True plays in the kernel,
    False by `apply`, with the same result; as Python source the latter is faster.
    """
    program = running.program_of(state.game, state.suit_map) if quick and policy is None and not state.is_over else None
    if program is not None:
        return _from(state, program, rng)
    trial = state.clone()
    trial.dice = dice = rng if isinstance(rng, Dice) else Dice(rng)
    if policy is not None:
        while not trial.is_over:
            legal = trial.legal_actions()
            trial.apply(legal[0] if len(legal) == 1 else policy(trial, dice))
        return trial.scores()
    while not trial.is_over:
        step(trial, dice)
    return trial.scores()


def step(state: State, dice: Dice) -> None:
    """Take one random action."""
    legal = state.legal_actions()
    if state.game.claims or state.game.accuses:
        legal = tuple([action for action in legal if action != act.CLAIM and not act.ACCUSE <= action < act.BID])
    state.apply(legal[dice.below(len(legal))])


def play_many(
    game: Game, matches: int, rng: int | Dice, *, deals: int | None = None, quick: bool = not INTERPRETED
) -> list[int]:
    """Return board scores by seat, summed over this many random matches (of `deals` deals; None: by the rules). `rng` and `quick` as in `playout`."""
    totals = [0] * game.players
    program = running.program_of(game, running.ORDER) if quick else None
    if program is None:
        dice = rng if isinstance(rng, Dice) else Dice(rng)
        for _ in range(matches):
            state = game.new_match(seed=0, deals=deals, record=False, dice=dice)
            while not state.is_over:
                step(state, dice)
            totals = [total + score for total, score in zip(totals, state.scores(), strict=True)]
        return totals
    kernel_state = _kernel_state(program, rng)
    for _ in range(matches):
        running.begin(kernel_state, program, deals or 0)
        play_on(kernel_state)
        for seat in range(game.players):
            totals[seat] += kernel_state.score[seat]
    _store(kernel_state, program, rng)
    return totals


def _from(state: State, program: Program, rng: int | Dice) -> list[int]:
    kernel_state = _kernel_state(program, rng)
    running.begin_at(kernel_state, program, state)
    play_on(kernel_state)
    _store(kernel_state, program, rng)
    return [kernel_state.score[seat] for seat in range(state.seats)]


def _kernel_state(program: Program, rng: int | Dice) -> KernelState:
    """Return a kernel state with these dice: a stored one if there is one, because to build one costs as much as a hundred plays."""
    spare = program.spare
    kernel_state: KernelState = spare.pop() if spare else KernelState(program, Dice(0))
    if isinstance(rng, Dice):
        kernel_state.dice.x = rng.x
    else:
        kernel_state.dice.start(rng)
    return kernel_state


def _store(kernel_state: KernelState, program: Program, rng: int | Dice) -> None:
    """Store a kernel state for the next playout, and tell the caller's dice how far they have gone."""
    if isinstance(rng, Dice):
        rng.x = kernel_state.dice.x
    program.spare.append(kernel_state)


def play_on(t: KernelState) -> None:
    """Play at random to the end of the match."""
    dice = t.dice
    while not t.over:
        if t.phase == codes.CARD and not t.extra & announcing.BY_CHANCE:  # the usual question
            legal: i64 = t.legal
            card: i64 = pick(legal, dice.below(count(legal)))
            step: i64 = tricks.lay(t, t.program.cards.place[card % FOLD])
            if step:
                running.run(t, step)
        else:
            running.apply(t, asking.by_chance(t))
