"""Random playouts without a driver: `playout` for search, `play_many` for statistics.

Every action but a claim has the same chance (a random claim would end a game at once, mostly wrongly). Matches are played in machine words
(`engine.search.lanes`) or, as Python source and where a game has rules that the words do not know, by `State.apply`: the same dice are thrown for the
same choices in the same order, so both come to the same scores.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.cards.actions import CLAIM
from engine.cards.chance import Dice
from engine.search.lanes import announcing, asking, codes, running, tricks
from engine.search.lanes.lane import Lane
from engine.search.lanes.program import Program
from engine.search.words import FOLD, INTERPRETED, count, pick

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
    """Board scores by seat after random play from this state to the end of the match; the state stays as it is.

    `policy`: what chooses a legal action in a state, for all seats, with these dice where it wants chance; None: any, a claim never.

    `rng` is a seed, or dice, which then go on. Deals to come are shuffled by them: a search must not look at the real ones.
    `quick`: in machine words, else every action by `apply`, to the same result; as Python source the second is the faster way.
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
    """One random action."""
    legal = state.legal_actions()
    if CLAIM in legal:
        legal = tuple([action for action in legal if action != CLAIM])
    state.apply(legal[dice.below(len(legal))])


def play_many(
    game: Game, matches: int, rng: int | Dice, *, deals: int | None = None, quick: bool = not INTERPRETED
) -> list[int]:
    """Board scores by seat, summed over so many random matches (of so many deals; None: by the rules). `rng` and `quick` as in `playout`."""
    dice = rng if isinstance(rng, Dice) else Dice(rng)
    totals = [0] * game.players
    program = running.program_of(game, running.ORDER) if quick else None
    if program is None:
        for _ in range(matches):
            state = game.new_match(seed=0, deals=deals, record=False, dice=dice)
            while not state.is_over:
                step(state, dice)
            totals = [total + score for total, score in zip(totals, state.scores(), strict=True)]
        return totals
    lane = Lane(program, dice)
    for _ in range(matches):
        running.begin(lane, program, deals or 0)
        play_on(lane)
        for seat in range(game.players):
            totals[seat] += lane.score[seat]
    return totals


def _from(state: State, program: Program, rng: int | Dice) -> list[int]:
    """Plays on in a lane that is kept, with its dice, for the next playout."""
    spare = program.spare
    lane: Lane = spare.pop() if spare else Lane(program, Dice(0))
    dice = lane.dice
    if isinstance(rng, Dice):
        dice.x = rng.x
    else:
        dice.start(rng)
    running.begin_at(lane, program, state)
    play_on(lane)
    if isinstance(rng, Dice):
        rng.x = dice.x
    scores = [lane.score[seat] for seat in range(state.seats)]
    spare.append(lane)
    return scores


def play_on(t: Lane) -> None:
    """Plays by chance to the end of the match."""
    dice = t.dice
    while not t.over:
        if t.phase == codes.CARD and not t.extra & ~announcing.CLAIM:  # most questions
            legal: i64 = t.legal
            card: i64 = pick(legal, dice.below(count(legal)))
            step: i64 = tricks.lay(t, t.program.cards.place[card % FOLD])
            if step:
                running.run(t, step)
        else:
            running.apply(t, asking.by_chance(t))
