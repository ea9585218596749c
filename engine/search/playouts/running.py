"""Random playouts without a driver: `playout` for search, `play_many` for statistics.

Every action but a claim has the same chance (a random claim would end a game at once, mostly wrongly).

The rules have one truth, `State.apply`. What runs here is a twin of it in which a whole match lives in machine words: hands, stock and
trick are bit masks, everything by seat is an array of fixed length, the rules of a game are flattened once to plain numbers (`Program`).
Compiled (`make fast`) no Python object is touched between two deals. Twin and truth throw the same dice for the same choices in the same
order, so they must come to the same scores, and the tests hold them to that at every table: `quick=False` is the truth.
What the twin does not know (a word of the rules that stands in no table of `program`, a moment in the middle of a window, a revoke that nobody has
accused yet) is played by `legal_actions` and `apply`.

    words       sets of cards as numbers           announcing  songs and exchanges
    codes, program the rules as numbers               windows     from the end of a trick to the next lead
    lane        the state as numbers               verdicts    who wins a deal
    loading     State -> lane                      paying      chips
    dealing     the cards                          settling    games, marks, scores, end of the match
    calls       auctions, before the first lead    discarding  the change of cards of bato
    tricks      the legal cards, the trick         running     the match
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.cards.actions import CLAIM
from engine.cards.chance import Dice
from engine.search.playouts import calls, dealing, tricks
from engine.search.playouts.codes import NotCoveredError
from engine.search.playouts.lane import Lane, clear
from engine.search.playouts.loading import can_load, load
from engine.search.playouts.program import Program
from engine.search.playouts.settling import settle
from engine.search.playouts.words import INTERPRETED, count

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.game import Game
    from engine.match.state import State
    from engine.rules.terms import Terms

ORDER = (0, 1, 2, 3)


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
    program = _fitting(state) if quick and policy is None else None
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
        program = _fitting(trial) if quick else None
        if program is not None:
            return _from(trial, program, dice)
    return trial.scores()


def _fitting(state: State) -> Program | None:
    """The program for playing on from here, if that can be done in machine words."""
    return program_of(state.game, state.suit_map) if can_load(state) and not state.is_over else None


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
    program = program_of(game, ORDER) if quick else None
    if program is None:
        for _ in range(matches):
            state = game.new_match(seed=0, deals=deals, record=False, dice=dice)
            while not state.is_over:
                step(state, dice)
            totals = [total + score for total, score in zip(totals, state.scores(), strict=True)]
        return totals
    lane = Lane(program, dice)
    for _ in range(matches):
        _open(lane, program, deals or 0)
        dealing.start(lane)
        _run(lane)
        for seat in range(game.players):
            totals[seat] += lane.score[seat]
    return totals


def program_of(game: Terms, suit_map: tuple[int, ...]) -> Program | None:
    """The program of a game, made once; None if it has rules that the kernel does not know."""
    program = game.programs.get(suit_map)
    if program is None:
        if suit_map in game.programs:
            return None
        try:
            program = Program(game, suit_map)
        except NotCoveredError:
            program = None
        game.programs[suit_map] = program
    return program


def _from(state: State, program: Program, rng: int | Dice) -> list[int]:
    """Plays on in a lane that is kept, with its dice, for the next playout."""
    spare = program.spare
    lane: Lane = spare.pop() if spare else Lane(program, Dice(0))
    lane.program = program
    dice = lane.dice
    if isinstance(rng, Dice):
        dice.x = rng.x
    else:
        dice.start(rng)
    load(lane, state)
    _run(lane)
    if isinstance(rng, Dice):
        rng.x = dice.x
    scores = [lane.score[seat] for seat in range(state.seats)]
    spare.append(lane)
    return scores


def _open(t: Lane, program: Program, deals: i64) -> None:
    """A new match of the game that the lane was made for."""
    t.program = program
    clear(t)
    seat: i64 = 0
    while seat < t.seats:
        t.left_at[seat] = t.totals[seat] = t.games[seat] = t.coto_games[seat] = t.cotos[seat] = 0
        t.marks[seat] = t.chips[seat] = t.score[seat] = 0
        seat += 1
    t.deals = deals
    t.deal_no = t.game_deal = t.games_played = t.pot = t.gone = t.n_reached = 0
    t.over = False


def _run(t: Lane) -> None:
    """Plays on to the end of the match."""
    while True:
        if not t.leading:
            calls.run(t)
        while not t.ended:
            tricks.play(t)
        settle(t)
        if t.over:
            return
        if t.gone:
            _adapt_to_seats(t)
        dealing.start(t)


def _adapt_to_seats(t: Lane) -> None:
    left: i64 = t.seats - count(t.gone)
    if left != t.program.players:
        program = program_of(t.program.game.for_seats(left), t.program.suit_map)
        if program is None:  # never: a game whose words are known goes on as one whose words are known
            raise NotCoveredError(t.program.game.key)
        t.program = program
