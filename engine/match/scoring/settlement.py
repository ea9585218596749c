"""The settlement: the value of a decided deal in the match (`settlement`), and the end of the match (`match_end`)."""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Final

from engine.match.data import Data
from engine.match.places import seats_left
from engine.match.scoring import payments
from engine.rules.sizes import deal_sizes
from engine.rules.terms import CARDS_PER_MINUTE, GAME_SCORE
from engine.rules.verdict import Verdict

if TYPE_CHECKING:
    from engine.cards.pack import Pack
    from engine.match.record import Entry
    from engine.match.redaction import EventRecord

TUTE_SCORE: Final = 130  # board score of a deal won without counting: all card points and the last ten
# A match ends after this many deals, because drawn or thrown-in deals could go on forever.
LONGEST_MATCH: Final = 500


def settle(state: Data, verdict: Verdict) -> None:
    """Book a finished deal: games, marks or chips, the board score, the record, and the end of the match."""
    state.verdict = verdict
    if state.log is not None and verdict.winner is not None and not verdict.losers and verdict.why != "alone":
        verdict.losers = tuple(seat for seat in state.active if state.side[seat] != verdict.winner)
    before = state.left_at
    value = 0
    settlement = state.rules.settlement
    if settlement == "games":
        value = _games(state, verdict)
    elif settlement == "loss_marks":
        book_marks(state, verdict)
    elif settlement == "chips":
        gained = state.rules.payments(state, verdict)
        state.chips = tuple(map(add, state.chips, gained))
    _board_score(state, verdict, value)
    state.clock += sum(state.tricks) * state.size
    over = match_over(state) or state.deal_no >= LONGEST_MATCH
    if not over and state.deals is not None and state.deal_no >= state.deals:
        over = verdict.decided  # a game of several deals is played to its end
    if state.log is not None:
        _record(state, state.log, verdict, value, before)
    if over:
        finish(state)


def game_value(state: Data, verdict: Verdict) -> int:
    """Return the games that a won deal scores: two if `double_at_101` holds and the winner has the points for it."""
    rules = state.rules
    if verdict.winner is None:
        return 0
    if not rules.double_at_101 or verdict.why not in ("points", "target"):
        return 1
    seats = [s for s in state.active if state.side[s] == verdict.winner]
    sang = any(seat in seats for seat, *_ in state.songs_made)
    threshold = rules.double_threshold_with_song if sang else 101
    return 2 if state.side_points()[verdict.winner] >= threshold else 1


def _games(state: Data, verdict: Verdict) -> int:
    if not verdict.decided:
        state.totals = tuple(state.totals_now())
        return 0
    value = game_value(state, verdict)
    book_game(state, verdict.winner, value)
    return value


def book_game(state: Data, winner: int | None, value: int) -> None:
    """Book a finished game for the side that won it (None: nobody). The next game starts from zero."""
    if winner is not None:
        games = list(state.games)
        games[winner] += value
        state.games = tuple(games)
        state.games_played += 1
    elif state.rules.tie != "drawn":
        state.games_played += 1
    if state.rules.match_end == "cotos" and winner is not None:
        _cotos(state, winner, value)
    if state.game.rules.target is not None:
        state.totals = (0,) * len(state.totals)
        state.reached = ()
    state.game_deal = 0


def _cotos(state: Data, side: int, value: int) -> None:
    won = list(state.coto_games)
    won[side] += value
    if won[side] >= (state.rules.games_per_coto or 1):
        cotos = list(state.cotos)
        cotos[side] += 1
        state.cotos = tuple(cotos)
        won = [0] * len(won)
    state.coto_games = tuple(won)


def book_marks(state: Data, verdict: Verdict) -> None:
    """Book the loss marks of a deal, and eliminate the seats that have too many."""
    marks = list(state.marks)
    for seat in verdict.losers:
        marks[seat] += verdict.marks
    state.marks = tuple(marks)
    if state.rules.match_end == "elimination":
        limit = state.rules.max_losses or 1
        duel_lost = state.rules.key == state.rules.duel_game and state.rules.final_duel
        state.left_at = tuple(
            at or (state.deal_no if marks[seat] >= limit or (duel_lost and seat in verdict.losers) else 0)
            for seat, at in enumerate(state.left_at)
        )


def _board_score(state: Data, verdict: Verdict, value: int) -> None:
    unit = state.game.score_unit
    if unit == "chips":
        state.score = state.chips
        return
    if unit == "marks":
        state.score = tuple([-marks for marks in state.marks])
        return
    if unit == "rank":
        return
    why = verdict.why
    if why == "points" or why == "tie" or (why == "target" and unit == "games"):
        by_side = verdict.points or state.side_points()
        state.score = tuple(map(add, state.score, by_side if len(by_side) == state.seats else by_side * 2))
        if unit == "points":
            return
    prize = GAME_SCORE * value if unit == "games" else TUTE_SCORE
    score = list(state.score)
    for seat, side in enumerate(state.side):
        if side == verdict.winner:
            score[seat] += prize
    state.score = tuple(score)


def match_over(state: Data) -> bool:
    """Return True if the match is over by its rules (`match_end`)."""
    rules = state.rules
    kind = rules.match_end
    if kind == "race":
        return _led_by(state, rules.match_games, rules.win_by) is not None
    if kind == "series":
        played = state.games_played >= rules.match_games
        return played and (rules.win_by < 2 or _led_by(state, 0, rules.win_by) is not None)
    if kind == "clock":
        return state.clock >= (rules.match_minutes or 0) * CARDS_PER_MINUTE
    if kind == "cotos":
        return max(state.cotos) >= (rules.cotos_to_win or 1)
    if kind == "deals":
        return state.deal_no >= (rules.match_deals or 1)
    if kind == "losses":
        return max(state.marks) >= (rules.max_losses or 1)
    if kind == "elimination":
        remaining = seats_left(state)
        return len(remaining) < (2 if rules.final_duel else 3)
    return state.deal_no >= len(deal_sizes(rules, state.seats))


def _led_by(state: Data, at_least: int, margin: int) -> int | None:
    games = state.games
    top = max(games)
    if top < at_least:
        return None
    if top - sorted(games)[-2] < margin:
        return None
    return games.index(top)


def match_winners(state: Data) -> tuple[int, ...]:
    """Return the sides that win the finished match; empty for a drawn one."""
    rules = state.rules
    kind = rules.match_end
    if kind in ("race", "series", "clock"):
        side = _led_by(state, 0, 1)
        return () if side is None else (side,)
    if kind == "cotos":
        return tuple(side for side, cotos in enumerate(state.cotos) if cotos == max(state.cotos) and cotos)
    if kind == "elimination":
        remaining = seats_left(state)
        last = max(state.left_at)
        return tuple(remaining) if remaining else tuple(s for s, at in enumerate(state.left_at) if at == last)
    if kind == "losses" and min(state.marks) >= (rules.max_losses or 1):
        return ()  # all of them have lost
    by_score = kind in ("deals", "sequence") and state.game.score_unit != "rank"  # Rank points follow from the marks.
    totals = state.score if by_score else tuple(-marks for marks in state.marks)
    return tuple(sorted({state.side[seat] for seat in range(state.seats) if totals[seat] == max(totals)}))


def finish(state: Data) -> None:
    """End the match."""
    state.is_over = True
    if state.pot:
        payments.share_pot(state)
        state.score = state.chips
    state.winners = match_winners(state)
    if state.game.score_unit == "rank":
        state.score = tuple(ranking(state))
    state.legal = ()
    state.extra = ()
    state.phase = None
    state.emit("over", winners=list(state.winners), scores=list(state.score))


def ranking(state: Data) -> list[int]:
    """Return rank points by seat: two for each seat that finished worse, one for each level one.

    A seat that left later finished better. Those that stayed are level, unless the match ended before its eliminations did: then fewer marks
    rank higher.
    """
    by_marks = state.rules.match_end != "elimination" or not match_over(state)
    stayed = 1 + max(state.left_at) + state.deal_no

    def key(seat: int) -> tuple[int, int]:
        return (state.left_at[seat] or stayed, -state.marks[seat] if by_marks else 0)

    keys = [key(seat) for seat in range(state.seats)]
    return [sum(2 * (own > other) + (own == other) for other in keys) - 1 for own in keys]


def _record(state: Data, log: list[Entry], verdict: Verdict, value: int, before: tuple[int, ...]) -> None:
    log.append(
        (
            score_event,
            state.deal_no,
            (state.cards, state.songs, state.seat_points()),
            verdict,
            value,
            (state.games, state.totals, state.marks, state.chips),
            (before, state.left_at),
            state.score,
        )
    )


def score_event(
    pack: Pack,
    deal: int,
    by_seat: tuple[list[int], ...],
    verdict: Verdict,
    value: int,
    standing: tuple[tuple[int, ...], ...],
    left_at: tuple[tuple[int, ...], tuple[int, ...]],
    scores: tuple[int, ...],
) -> EventRecord:
    """Return the event of a settled deal."""
    cards, songs, points = by_seat
    games, totals, marks, chips = map(list, standing)
    return {
        "e": "score",
        "deal": deal,
        "cards": list(cards),
        "songs": list(songs),
        "bonus": [p - c - s for p, c, s in zip(points, cards, songs, strict=True)],
        "points": points,
        "winner": verdict.winner,
        "losers": list(verdict.losers),
        "why": verdict.why,
        "value": value,
        "games": games,
        "totals": totals,
        "marks": marks,
        "chips": chips,
        "eliminated": [seat for seat, (before, after) in enumerate(zip(*left_at, strict=True)) if after and not before],
        "scores": list(scores),
    }


def adapt_to_seats(state: Data) -> None:
    """Set the rules for the number of seats left after an elimination, or those of the final duel."""
    if not any(state.left_at):
        return
    seats = len(seats_left(state))
    if seats != state.game.players:
        state.write_history()
        state.game = state.game.for_seats(seats)
        state.rules = state.game.rules
