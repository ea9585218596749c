"""Load a `State` into the kernel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.cards import actions as act
from engine.search.kernel import codes
from engine.search.kernel.announcing import fix_turns
from engine.search.kernel.codes import CHIPS, GAMES, LOSS_MARKS
from engine.search.kernel.state import KernelState, clear

if TYPE_CHECKING:
    from collections.abc import Iterable

    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.match.state import State


# `Phase.name` -> question after the stages
_QUESTIONS = {"window": codes.WINDOW, "capote": codes.PROMISE, "last_ten": codes.LAST_TEN, "accusing": codes.ACCUSING}


def load(t: KernelState, state: State) -> None:
    """Fill a kernel state, except for the legal actions. The program of `t` must be that of the state's game."""
    _match(t, state)
    clear(t)
    _seats(t, state)
    _deal(t, state)
    if state.notes:
        _notes(t, state.notes)
    t.turn = state.turn
    t.stage = state.stage
    phase = state.phase
    if phase is None:
        t.phase = codes.CARD
        if state.in_trick:
            _trick(t, state)
    else:
        t.phase = _QUESTIONS.get(phase.name, -1)
        if t.phase < 0:
            t.phase = t.program.deals.stages[t.stage - 1]
        t.after_draw = state.window == "after_draw"
        t.asking = t.turn
        t.to_ask = len(state.queue)
    if state.window_songs:
        _window(t, state)
    fix_turns(t)


def _copy(into: vec[i64], values: tuple[int, ...]) -> None:
    for place, value in enumerate(values):
        into[place] = value


def _copy_list(into: vec[i64], values: list[int]) -> None:
    for place, value in enumerate(values):
        into[place] = value


def _match(t: KernelState, state: State) -> None:
    """Load the match. Scores that the settlement of the game does not use are zero and not loaded."""
    t.seats = state.seats
    t.sides = len(state.games)
    t.pairs = t.sides < t.seats
    t.deals = state.deals or 0
    t.deal_no = state.deal_no
    t.game_deal = state.game_deal
    t.games_played = state.games_played
    t.clock = state.clock
    t.dealer = state.dealer
    t.pot = state.pot
    t.over = False
    t.gone = 0
    _copy_list(t.side, state.side)
    _copy(t.score, state.score)
    kind = t.program.stakes.settlement
    if kind == GAMES:
        _copy(t.totals, state.totals)
        _copy(t.games, state.games)
        _copy(t.coto_games, state.coto_games)
        _copy(t.cotos, state.cotos)
        _copy(t.reached, state.reached)
        t.n_reached = len(state.reached)
    elif kind == CHIPS:
        _copy(t.chips, state.chips)
    elif kind == LOSS_MARKS:
        _copy(t.marks, state.marks)
        _copy(t.left_at, state.left_at)
        for seat, at in enumerate(state.left_at):
            if at:
                t.gone |= t.program.cards.bit[seat]


def _seats(t: KernelState, state: State) -> None:
    t.mano = state.mano
    t.size = state.size
    _copy(t.active, state.active)
    _copy(t.ring, state.next)
    t.playing = 0
    for seat in state.active:
        t.playing |= t.program.cards.bit[seat]


def _deal(t: KernelState, state: State) -> None:
    bit = t.program.cards.bit
    suits = t.program.pack_size
    for seat, hand in enumerate(state.hands):
        # Put the suits side by side into one number. This is a product, because mypyc shifts wrongly.
        a: i64 = hand[0]
        b: i64 = hand[1]
        c: i64 = hand[2]
        d: i64 = hand[3]
        t.hands[seat] = a + bit[suits] * (b + bit[suits] * (c + bit[suits] * d))
    if t.program.deals.uses_stock:
        _stock(t, state.stock)
    _copy_list(t.cards, state.cards)
    _copy_list(t.songs, state.songs)
    _copy_list(t.tricks, state.tricks)
    t.trump = state.trump
    t.n = state.n
    t.shown = state.shown
    t.holder = state.holder
    t.swapped = state.swapped
    t.sung = state.sung
    t.twenties = state.twenties
    t.last_trick = state.last_trick
    t.capote_by = state.capote_by
    t.left = state.left
    t.winner = state.winner
    t.revokers = _set(t, state.revokers)
    t.pending = state.pending
    for singer, _, _, at_table in state.songs_made:
        if at_table:
            t.table_singers |= bit[singer]
        else:
            t.singers |= bit[singer]
    drawn = state.drawn
    if drawn is not None:
        t.drew = True
        for seat, card in enumerate(drawn):
            t.drawn[seat] = bit[card] if card >= 0 else 0


def _stock(t: KernelState, stock: list[int]) -> None:
    """Load the undealt cards; the next one is the last of the list."""
    t.top = 0
    t.end = len(stock)
    place: i64 = t.end
    for card in stock:
        place -= 1
        t.deck[place] = card


def _set(t: KernelState, seats: Iterable[int]) -> i64:
    seats_mask: i64 = 0
    for seat in seats:
        seats_mask |= t.program.cards.bit[seat]
    return seats_mask


def _notes(t: KernelState, notes: dict[str, Any]) -> None:  # noqa: C901 - a name a line
    """Load the notes of a deal that the kernel needs."""
    for name, value in notes.items():
        if value is None:
            continue
        if name == "soloist":
            t.soloist = value
        elif name == "bid":
            t.bid = value
        elif name == "leader":
            t.leader = value
        elif name == "partner":
            t.partner = value
        elif name == "predictions":
            _predictions(t, value)
        elif name == "passed":
            t.passed = _set(t, value)
        elif name in ("spoken", "asked_to_join"):
            t.spoken = _set(t, value)
        elif name == "playing":
            t.joined = _set(t, value)
        elif name == "thrown":
            t.thrown = _set(t, value)
        elif name == "to_change":
            t.changed = t.size - len(value)
        elif name == "took_shown":
            t.took_shown = value
        elif name == "declined":
            for action in value:
                t.declined |= t.program.cards.bit[action - act.SING]
        elif name == "pending_card":
            t.pending_card = t.program.cards.bit[value]
        elif name == "table_song":
            t.table_song = value
        elif name == "table_pairs":
            t.table_pairs = value


def _predictions(t: KernelState, predictions: dict[int, int]) -> None:
    for seat, tricks in predictions.items():
        t.predicted[seat] = tricks
        t.spoken |= t.program.cards.bit[seat]


def _trick(t: KernelState, state: State) -> None:
    cards, bit = t.program.cards, t.program.cards.bit
    t.in_trick = state.in_trick
    t.lead = state.lead
    t.best = bit[state.best]
    t.table_points = state.table_points
    active = state.active
    turn = active.index(state.turn)
    for place, card in enumerate(state.table):
        t.table |= cards.bit[card]
        t.played[place] = bit[card]
        t.played_by[place] = active[(turn - len(state.table) + place) % len(active)]


def _window(t: KernelState, state: State) -> None:
    t.in_window = True
    for seat, points in state.window_songs:
        t.window[seat] = t.window[seat] + 1
        if points == t.program.songs.other:
            t.window_others |= t.program.cards.bit[seat]
