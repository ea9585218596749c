"""Puts a `State` on the table."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.batch.table import Table, clear
from engine.parts import auctions, exchanging

if TYPE_CHECKING:
    from librt.vecs import vec
    from mypy_extensions import i64

    from engine.state import State

ASKED_BEFORE_THE_LEAD = (
    *(exchanging.PHASE, auctions.POINTS, auctions.PLAY_OR_PASS, auctions.PLAY_THEN_JOIN, auctions.CHANGE),
    *(auctions.PREDICT, auctions.CENSOR, auctions.NAME_TRUMP, auctions.CALL_CARD),
)


def can_load(state: State) -> bool:
    """Whether this moment can be put on a table: a card is to be played or something before the first lead to be said.

    What was announced in an open window, and whom a seat has accused, stay with the State.
    """
    if state.revoker >= 0:
        return False
    return state.phase is None or state.phase in ASKED_BEFORE_THE_LEAD


def load(t: Table, state: State) -> None:
    """Fills a table whose plan is that of the state's game."""
    clear(t)
    _match(t, state)
    _seats(t, state)
    _deal(t, state)
    notes = state.notes
    if notes:
        _notes(t, state)
    phase = state.phase
    t.turn = state.turn
    t.stage = state.stage
    if phase is None:
        t.leading = True
        if state.in_trick:
            _trick(t, state)
        if state.window_songs:
            _window(t, state)
    else:
        t.stage -= 1
        t.asked = state.turn


def _fill(into: vec[i64], values: list[int] | tuple[int, ...]) -> None:
    for place, value in enumerate(values):
        into[place] = value


def _match(t: Table, state: State) -> None:
    t.seats = state.seats
    t.sides = len(state.games)
    t.pairs = len(state.games) < state.seats
    t.deals = state.deals or 0
    t.deal_no = state.deal_no
    t.game_deal = state.game_deal
    t.games_played = state.games_played
    t.dealer = state.dealer
    t.pot = state.pot
    t.over = False
    t.gone = 0
    _fill(t.side, state.side)
    _fill(t.totals, state.totals)
    _fill(t.games, state.games)
    _fill(t.coto_games, state.coto_games)
    _fill(t.cotos, state.cotos)
    _fill(t.marks, state.marks)
    _fill(t.chips, state.chips)
    _fill(t.score, state.score)
    _fill(t.left_at, state.left_at)
    _fill(t.reached, state.reached)
    t.n_reached = len(state.reached)
    bit = t.plan.cards.bit
    seat: i64 = 0
    while seat < t.seats:
        if t.left_at[seat]:
            t.gone |= bit[seat]
        seat += 1


def _seats(t: Table, state: State) -> None:
    t.mano = state.mano
    t.size = state.size
    _fill(t.active, state.active)
    _fill(t.ring, state.next)
    t.playing = 0
    for seat in state.active:
        t.playing |= t.plan.cards.bit[seat]


def _deal(t: Table, state: State) -> None:
    bit = t.plan.cards.bit
    suits = t.plan.pack_size
    for seat, hand in enumerate(state.hands):
        # suits lie one above the other; a product, as mypyc shifts wrongly
        a: i64 = hand[0]
        b: i64 = hand[1]
        c: i64 = hand[2]
        d: i64 = hand[3]
        t.hands[seat] = a + bit[suits] * (b + bit[suits] * (c + bit[suits] * d))
    t.end = len(state.stock)
    t.top = 0
    for place, card in enumerate(reversed(state.stock)):  # the next card is the last of the list
        t.deck[place] = card
    _fill(t.cards, state.cards)
    _fill(t.songs, state.songs)
    _fill(t.tricks, state.tricks)
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
    t.pending = state.pending
    if state.pending >= 0:
        t.pending_card = bit[state.notes["pending_card"]]
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


def _set(t: Table, seats: tuple[int, ...]) -> i64:
    found: i64 = 0
    for seat in seats:
        found |= t.plan.cards.bit[seat]
    return found


def _seat(number: int | None) -> int:
    return -1 if number is None else number


def _notes(t: Table, state: State) -> None:
    notes = state.notes
    t.leader = notes.get("leader", -1)
    t.soloist = _seat(notes.get("soloist"))
    t.partner = notes.get("partner", -1)
    t.bid = notes.get("bid", 0)
    t.passed = _set(t, notes.get("passed", ()))
    t.joined = _set(t, notes.get("playing", ()))
    t.spoken = _set(t, notes.get("spoken", ())) | _set(t, notes.get("asked_to_join", ()))
    t.thrown = _set(t, notes.get("thrown", ()))
    t.took_shown = notes.get("took_shown", -1)
    t.changed = t.size - len(notes.get("to_change", state.active))
    t.table_song = notes.get("table_song", False)
    t.table_pairs = notes.get("table_pairs", 0)
    for action in notes.get("declined", ()):
        t.declined |= 128 if action < 64 else 256
    for seat, said in notes.get("predictions", {}).items():
        t.said[seat] = said
        t.spoken |= t.plan.cards.bit[seat]


def _trick(t: Table, state: State) -> None:
    cards, bit = t.plan.cards, t.plan.cards.bit
    t.in_trick = state.in_trick
    t.lead = state.lead
    t.best = bit[state.best]
    t.winner = state.winner
    t.table_points = state.table_points
    active = state.active
    turn = active.index(state.turn)
    for place, card in enumerate(state.table):
        t.table |= cards.bit[card]
        t.played[place] = bit[card]
        t.played_by[place] = active[(turn - len(state.table) + place) % len(active)]


def _window(t: Table, state: State) -> None:
    t.in_window = True
    for seat, points in state.window_songs:
        t.window[seat] = t.window[seat] + 1
        if points == t.plan.songs.other:
            t.window_others |= t.plan.cards.bit[seat]
