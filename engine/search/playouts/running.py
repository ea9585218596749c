"""Random playouts without a driver: `playout` for search, `play_many` for statistics.

Every action but a claim has the same chance (a random claim would end a game at once, mostly wrongly).

The rules have one truth, `State.apply`. What runs here is a twin of it in which a whole match lives in machine words: hands, stock and
trick are bit masks, everything by seat is an array of fixed length, the rules of a game are flattened once to plain numbers (`plan`).
Compiled (`make fast`) no Python object is touched between two deals. Twin and truth throw the same dice for the same choices in the same
order, so they must come to the same scores, and the tests hold them to that at every table: `quick=False` is the truth.
What the twin does not know (a word of the rules that stands in no table of `plan`, a moment in the middle of a window, a revoke that nobody has
accused yet) is played by `legal_actions` and `apply`.

    words       sets of cards as numbers           announcing  songs and exchanges
    codes, plan the rules as numbers               windows     from the end of a trick to the next lead
    table       the state as numbers               verdicts    who wins a deal
    loading     State -> table                     paying      chips
    dealing     the cards                          settling    games, marks, scores, end of the match
    calls       auctions, before the first lead    discarding  the change of cards of bato
    tricks      the legal cards, the trick         running     the match
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards.actions import CLAIM
from engine.cards.chance import Dice
from engine.search.playouts import calls, dealing, tricks
from engine.search.playouts.codes import NotCovered
from engine.search.playouts.loading import can_load, load
from engine.search.playouts.plan import Plan
from engine.search.playouts.settling import settle
from engine.search.playouts.table import Table, clear
from engine.search.playouts.words import INTERPRETED, count

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.game import Game
    from engine.match.state import State
    from engine.rules.terms import Terms

ORDER = (0, 1, 2, 3)


def playout(state: State, rng: int | Dice, *, quick: bool = not INTERPRETED) -> list[int]:
    """Board scores by seat after random play from this state to the end of the match; the state stays as it is.

    `rng` is a seed, or dice, which then go on. Deals to come are shuffled by them: a search must not look at the real ones.
    `quick`: in machine words, else every action by `apply`, to the same result; as Python source the second is the faster way.
    """
    plan = _fitting(state) if quick else None
    if plan is not None:
        return _from(state, plan, rng)
    trial = state.clone()
    trial.dice = dice = rng if isinstance(rng, Dice) else Dice(rng)
    while not trial.is_over:
        step(trial, dice)
        plan = _fitting(trial) if quick else None
        if plan is not None:
            return _from(trial, plan, dice)
    return trial.scores()


def _fitting(state: State) -> Plan | None:
    """The plan for playing on from here, if that can be done in machine words."""
    return plan_of(state.game, state.suit_map) if can_load(state) and not state.is_over else None


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
    plan = plan_of(game, ORDER) if quick else None
    if plan is None:
        for _ in range(matches):
            state = game.new_match(seed=0, deals=deals, record=False, dice=dice)
            while not state.is_over:
                step(state, dice)
            totals = [total + score for total, score in zip(totals, state.scores(), strict=True)]
        return totals
    table = Table(plan, dice)
    for _ in range(matches):
        _open(table, plan, deals or 0)
        dealing.start(table)
        _run(table)
        for seat in range(game.players):
            totals[seat] += table.score[seat]
    return totals


def plan_of(game: Terms, suit_map: tuple[int, ...]) -> Plan | None:
    """The plan of a game, made once; None if it has rules that the kernel does not know."""
    plan = game.plans.get(suit_map)
    if plan is None:
        if suit_map in game.plans:
            return None
        try:
            plan = Plan(game, suit_map)
        except NotCovered:
            plan = None
        game.plans[suit_map] = plan
    return plan


def _from(state: State, plan: Plan, rng: int | Dice) -> list[int]:
    """Plays on at a table that is kept, with its dice, for the next playout."""
    spare = plan.spare
    table = spare.pop() if spare else Table(plan, Dice(0))
    assert isinstance(table, Table)
    table.plan = plan
    dice = table.dice
    if isinstance(rng, Dice):
        dice.x = rng.x
    else:
        dice.start(rng)
    load(table, state)
    _run(table)
    if isinstance(rng, Dice):
        rng.x = dice.x
    scores = [table.score[seat] for seat in range(state.seats)]
    spare.append(table)
    return scores


def _open(t: Table, plan: Plan, deals: i64) -> None:
    """A new match of the game that the table was made for."""
    t.plan = plan
    clear(t)
    seat: i64 = 0
    while seat < t.seats:
        t.left_at[seat] = t.totals[seat] = t.games[seat] = t.coto_games[seat] = t.cotos[seat] = 0
        t.marks[seat] = t.chips[seat] = t.score[seat] = 0
        seat += 1
    t.deals = deals
    t.deal_no = t.game_deal = t.games_played = t.pot = t.gone = t.n_reached = 0
    t.over = False


def _run(t: Table) -> None:
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


def _adapt_to_seats(t: Table) -> None:
    left: i64 = t.seats - count(t.gone)
    if left != t.plan.players:
        plan = plan_of(t.plan.game.for_seats(left), t.plan.suit_map)
        assert plan is not None, "a game whose rules are known goes on as one whose rules are known"
        t.plan = plan
