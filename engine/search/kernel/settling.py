"""The value of a decided deal in the match, and the end of the match: `engine.match.scoring.settlement`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from engine.match.scoring.settlement import LONGEST_MATCH, TUTE_SCORE
from engine.rules.terms import GAME_SCORE
from engine.search.kernel import codes
from engine.search.kernel.paying import pay, share_pot
from engine.search.kernel.points import side_points
from engine.search.kernel.state import COUNTED, TARGET, TIE, KernelState
from engine.search.kernel.verdicts import decide
from engine.search.masks import count

if TYPE_CHECKING:
    from mypy_extensions import i64


def settle(t: KernelState) -> None:
    """Record a finished deal, and end the match if it was the last one."""
    p = t.program.stakes
    if not t.decided:
        decide(t)
    value: i64 = 0
    if p.settlement == codes.GAMES:
        value = _games(t)
    elif p.settlement == codes.LOSS_MARKS:
        _marks(t)
    elif p.settlement == codes.CHIPS:
        pay(t)
    _board_score(t, value)
    if p.match_end == codes.CLOCK:
        _let_time_pass(t)
    over = _match_over(t) or t.deal_no >= LONGEST_MATCH
    if t.deals and t.deal_no >= t.deals and not t.goes_on:
        over = True
    if t.program.stakes.has_target and not t.goes_on and p.settlement == codes.GAMES:
        _new_game(t)
    if over:
        _finish(t)


# ---- games


def _games(t: KernelState) -> i64:
    side: i64 = 0
    if t.goes_on:
        while side < t.sides:
            t.totals[side] = t.totals[side] + side_points(t, side)
            side += 1
        return 0
    p = t.program.stakes
    value: i64 = 0
    if t.victor >= 0:
        value = _game_value(t)
        t.games[t.victor] = t.games[t.victor] + value
        t.games_played += 1
        if p.match_end == codes.COTOS:
            _cotos(t, value)
    elif not p.drawn:
        t.games_played += 1
    t.game_deal = 0
    return value


def _new_game(t: KernelState) -> None:
    side: i64 = 0
    while side < t.sides:
        t.totals[side] = 0
        side += 1
    t.n_reached = 0


def _game_value(t: KernelState) -> i64:
    """Return the games of a won deal: two if `double_at_101` holds and the winner has the points for it."""
    p, bit = t.program.stakes, t.program.cards.bit
    if not p.doubles or (t.why != COUNTED and t.why != TARGET):
        return 1
    seats: i64 = bit[t.victor] | (bit[t.victor + 2] if t.pairs else 0)
    threshold: i64 = p.double_with_song if (t.singers | t.table_singers) & seats else 101
    return 2 if side_points(t, t.victor) >= threshold else 1


def _cotos(t: KernelState, value: i64) -> None:
    won: i64 = t.coto_games[t.victor] + value
    t.coto_games[t.victor] = won
    if won < t.program.stakes.games_per_coto:
        return
    t.cotos[t.victor] = t.cotos[t.victor] + 1
    side: i64 = 0
    while side < t.sides:
        t.coto_games[side] = 0
        side += 1


# ---- marks


def _marks(t: KernelState) -> None:
    p, bit = t.program.stakes, t.program.cards.bit
    seat: i64 = 0
    while seat < t.seats:
        if t.losers & bit[seat]:
            t.marks[seat] = t.marks[seat] + t.lost_marks
        leaves = t.marks[seat] >= p.max_losses or (p.in_duel and t.losers & bit[seat] != 0)
        if p.match_end == codes.ELIMINATION and leaves and not t.gone & bit[seat]:
            t.gone |= bit[seat]
            t.left_at[seat] = t.deal_no
        seat += 1


# ---- board scores


def _board_score(t: KernelState, value: i64) -> None:
    p, score = t.program.stakes, t.score
    if p.unit == codes.IN_RANKS:
        return
    seat: i64 = 0
    while seat < t.seats:
        side: i64 = t.side[seat]
        if p.unit == codes.IN_MARKS:
            score[seat] = -t.marks[seat]
        elif p.unit == codes.IN_CHIPS:
            score[seat] = t.chips[seat]
        elif p.unit == codes.IN_POINTS:
            if t.why == COUNTED or t.why == TIE:
                score[seat] = score[seat] + side_points(t, side)
            elif side == t.victor:
                score[seat] = score[seat] + TUTE_SCORE
        else:
            if t.why == COUNTED or t.why == TARGET or t.why == TIE:
                score[seat] = score[seat] + side_points(t, side)
            if side == t.victor:
                score[seat] = score[seat] + GAME_SCORE * value
        seat += 1


# ---- the end of the match


def _let_time_pass(t: KernelState) -> None:
    place: i64 = 0
    while place < t.size:
        t.clock += t.tricks[t.active[place]] * t.size
        place += 1


def _match_over(t: KernelState) -> bool:
    p = t.program.stakes
    kind: i64 = p.match_end
    if kind == codes.RACE:
        return _led(t, p.match_games, p.win_by)
    if kind == codes.SERIES:
        return t.games_played >= p.match_games and (p.win_by < 2 or _led(t, 0, p.win_by))
    if kind == codes.CLOCK:
        return t.clock >= p.match_cards
    if kind == codes.COTOS:
        return _most(t, False) >= p.cotos_to_win
    if kind == codes.DEALS:
        return t.deal_no >= p.match_deals
    if kind == codes.LOSSES:
        return _most(t, True) >= p.max_losses
    if kind == codes.ELIMINATION:
        return t.seats - count(t.gone) < (2 if p.final_duel else 3)
    return t.deal_no >= t.program.deals.length


def _most(t: KernelState, marks: bool) -> i64:
    top: i64 = 0
    i: i64 = 0
    while i < t.seats:
        here: i64 = t.marks[i] if marks else t.cotos[i]
        top = max(top, here)
        i += 1
    return top


def _led(t: KernelState, at_least: i64, margin: i64) -> bool:
    """Return True if a side has `at_least` games and leads the next one by `margin`."""
    top: i64 = -1
    second: i64 = -1
    side: i64 = 0
    while side < t.sides:
        games: i64 = t.games[side]
        if games > top:
            second = top
            top = games
        elif games > second:
            second = games
        side += 1
    return top >= at_least and top - second >= margin


def _finish(t: KernelState) -> None:
    t.over = True
    seat: i64 = 0
    if t.pot:
        share_pot(t)
        while seat < t.seats:
            t.score[seat] = t.chips[seat]
            seat += 1
    if t.program.stakes.unit == codes.IN_RANKS:
        _ranking(t)


def _ranking(t: KernelState) -> None:
    """Score two points for each seat that finished worse, one for each level one."""
    cut = not _match_over(t)
    seat: i64 = 0
    while seat < t.seats:
        points: i64 = -1
        other: i64 = 0
        while other < t.seats:
            better: i64 = _elimination(t, seat) - _elimination(t, other)
            if not better and cut:
                better = t.marks[other] - t.marks[seat]
            points += 2 if better > 0 else 1 if better == 0 else 0
            other += 1
        t.score[seat] = points
        seat += 1


def _elimination(t: KernelState, seat: i64) -> i64:
    """Return the number of the deal that eliminated a seat; for seats still in the match, a number above all others."""
    at: i64 = t.left_at[seat]
    return at if at else 9999
