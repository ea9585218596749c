"""Random playouts without a driver: `playout` for search, `play_many` for statistics.

Every action but a claim has the same chance (a random claim would end a game at once, mostly wrongly).

The rules have one truth, `State.apply`. What runs here is a twin of it in which a whole match lives in machine words: hands, stock and
trick are bit masks, everything by seat is an array of fixed length, the rules of a game are flattened once to plain numbers (`Program`).
Compiled (`make fast`) no Python object is touched between two deals. Twin and truth throw the same dice for the same choices in the same
order, so they must come to the same scores, and the tests hold them to that at every table: `quick=False` is the truth.
A game with a word of the rules that stands in no table of `program` is played by `legal_actions` and `apply`.

    words       sets of cards as numbers           tricks      the trick, the draw
    codes, program the rules as numbers               legality    the legal cards
    lane        the state as numbers               announcing  songs, exchanges, claims
    loading     State -> lane                      windows     what is announced between tricks
    dealing     the cards                          verdicts    who wins a deal
    calls       auctions, before the first lead    paying      chips
    discarding  the change of cards of bato        settling    games, marks, scores, end of the match
    asking      what the seat on turn may do       running     the match
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.cards.chance import Dice
from engine.match import steps
from engine.search.playouts import announcing, asking, calls, codes, dealing, tricks, windows
from engine.search.playouts.codes import NotCoveredError
from engine.search.playouts.lane import Lane, clear
from engine.search.playouts.loading import load
from engine.search.playouts.program import Program
from engine.search.playouts.settling import settle
from engine.search.playouts.words import FOLD, INTERPRETED, count, pick

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
    program = program_of(state.game, state.suit_map) if quick and policy is None and not state.is_over else None
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
    if act.CLAIM in legal:
        legal = tuple([action for action in legal if action != act.CLAIM])
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
        begin(lane, program, deals or 0)
        play_on(lane)
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
    _offer(lane)
    play_on(lane)
    if isinstance(rng, Dice):
        rng.x = dice.x
    scores = [lane.score[seat] for seat in range(state.seats)]
    spare.append(lane)
    return scores


def begin(t: Lane, program: Program, deals: i64) -> None:
    """A new match of the game that the lane was made for (`deals` 0: by its rules), up to its first question."""
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
    _run(t, steps.DEAL)


def play_on(t: Lane) -> None:
    """Plays by chance to the end of the match."""
    dice = t.dice
    while not t.over:
        if t.phase == codes.CARD and not t.extra & ~announcing.CLAIM:  # most questions
            legal: i64 = t.legal
            card: i64 = pick(legal, dice.below(count(legal)))
            step: i64 = tricks.lay(t, t.program.cards.place[card % FOLD])
            if step:
                _run(t, step)
        else:
            apply(t, asking.by_chance(t))


def apply(t: Lane, action: i64) -> None:
    """Carries out a legal action of the seat on turn, in the numbers of `engine.search.encoding`, up to the next question or the end."""
    phase: i64 = t.phase
    step: i64 = steps.WAIT
    if phase == codes.CARD:
        if action < act.PLAY_END:
            step = tricks.lay(t, action)
        else:
            step = announcing.carry_out(t, action)
            if not step:
                tricks.offer(t)
    elif phase < codes.CARD:
        step = calls.act_upon(t, action)
    elif phase == codes.WINDOW:
        step = windows.in_window(t, action)
    elif phase == codes.PROMISE:
        step = windows.promise(t, action)
    else:
        step = tricks.last_ten(t, action)
    if step:
        _run(t, step)


def _run(t: Lane, step: i64) -> None:
    """Carries out a step and all that follow from it, until a seat must act or the match is over (`engine.match.flow`)."""
    while step:
        if step == steps.LEAD:
            tricks.lead(t)
            return
        if step == steps.STAGE:
            step = calls.next_stage(t)
        elif step == steps.DRAW:
            step = tricks.after_window_a(t)
        elif step == steps.WINDOW_B:
            step = tricks.window_b(t)
        elif step == steps.DEAL:
            dealing.start(t)
            step = steps.STAGE
        else:  # COUNT or DECIDED
            settle(t)
            if t.over:
                return
            if t.gone:
                _adapt_to_seats(t)
            step = steps.DEAL


def _offer(t: Lane) -> None:
    """Works out anew what the seat on turn of a lane just loaded may do."""
    phase: i64 = t.phase
    if phase == codes.CARD:
        tricks.offer(t)
    elif phase < codes.CARD:
        calls.offer(t)
    elif phase == codes.WINDOW:
        windows.next_in_window(t)
    elif phase == codes.PROMISE:
        windows.ask_next(t)
    else:
        tricks.ask_last_ten(t)


def _adapt_to_seats(t: Lane) -> None:
    left: i64 = t.seats - count(t.gone)
    if left != t.program.players:
        program = program_of(t.program.game.for_seats(left), t.program.suit_map)
        if program is None:  # never: a game whose words are known goes on as one whose words are known
            raise NotCoveredError(t.program.game.key)
        t.program = program
