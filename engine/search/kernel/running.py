"""The course of a match (`engine.match.flow`), and the program of a game."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.cards import actions as act
from engine.match import steps
from engine.search.kernel import announcing, calls, codes, dealing, tricks, windows
from engine.search.kernel.codes import NotCoveredError
from engine.search.kernel.loading import load
from engine.search.kernel.program import Program
from engine.search.kernel.settling import settle
from engine.search.kernel.state import KernelState, clear
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64

    from engine.match.state import State
    from engine.rules.terms import Terms

ORDER = (0, 1, 2, 3)  # Every suit stands for itself.


def program_of(game: Terms, suit_map: tuple[int, ...]) -> Program | None:
    """Return the program of a game, built once; None if it has rules that the kernel does not know."""
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


def begin(t: KernelState, program: Program, deals: i64) -> None:
    """Start a new match of the game of `program` and go to its first question. `deals`: its number of deals; 0: it ends by its rules."""
    t.program = program
    t.seats = program.players
    t.sides = program.sides
    t.pairs = t.sides < t.seats
    clear(t)
    seat: i64 = 0
    while seat < t.seats:
        t.left_at[seat] = t.totals[seat] = t.games[seat] = t.coto_games[seat] = t.cotos[seat] = 0
        t.marks[seat] = t.chips[seat] = t.score[seat] = 0
        t.side[seat] = program.side[seat]
        seat += 1
    t.deals = deals
    t.deal_no = t.game_deal = t.games_played = t.clock = t.pot = t.gone = t.n_reached = 0
    t.over = False
    run(t, steps.DEAL)


def begin_at(t: KernelState, program: Program, state: State) -> None:
    """Continue from a State of the program's game and suit map."""
    t.program = program
    load(t, state)
    phase: i64 = t.phase
    if phase == codes.CARD:
        tricks.offer(t)
    elif phase < codes.CARD:
        calls.offer(t)
    elif phase == codes.WINDOW:
        windows.next_in_window(t)
    elif phase == codes.PROMISE:
        windows.ask_next(t)
    elif phase == codes.ACCUSING:
        windows.ask_accuser(t)
    else:
        tricks.ask_last_ten(t)


def apply(t: KernelState, action: i64) -> None:
    """Carry out a legal action of the seat on turn, a number of `engine.search.encoding`, and go on to the next question or the end."""
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
    elif phase == codes.ACCUSING:
        step = windows.last_accusation(t, action)
    else:
        step = tricks.last_ten(t, action)
    if step:
        run(t, step)


def run(t: KernelState, step: i64) -> None:
    """Carry out a step and all that follow, until a seat must act or the match is over (`engine.match.flow`)."""
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
        elif step == steps.COUNT and t.program.accuses and t.phase != codes.ACCUSING:
            step = windows.ask_accusers(t)
        else:  # COUNT or DECIDED
            settle(t)
            if t.over:
                return
            if t.gone:
                _adapt_to_seats(t)
            step = steps.DEAL


def _adapt_to_seats(t: KernelState) -> None:
    seats: i64 = t.seats - count(t.gone)
    if seats != t.program.players:
        program = program_of(t.program.game.for_seats(seats), t.program.suit_map)
        if program is None:  # This cannot happen: a game that the kernel knows continues as one that it knows.
            raise NotCoveredError(t.program.game.key)
        t.program = program
