"""The rules book taken literally, and slow: README section 4 (legal cards, trick winner) and cabrero.md R1 to R4.

It shares nothing with the engine. Cards are texts, "1o"; `order` is the rank order, high to low.
"""

from __future__ import annotations

from dataclasses import dataclass, field

POINTS = {"1": 11, "3": 10, "R": 4, "C": 3, "S": 2}


@dataclass(frozen=True)
class FollowerChoice:
    """A follower's choice: README section 4, with its names. `partner_wins`: the follower's partner is winning the trick."""

    hand: tuple[str, ...]
    table: tuple[str, ...]
    trump: str | None
    obligation: str = "strict"
    undertrump: bool = False
    beat_after_trumped: bool = False
    no_load: bool = False
    partner_exempt: str = "none"
    partner_wins: bool = False
    order: str = "13RCS76542"
    points: dict[str, int] = field(default_factory=lambda: POINTS)


def outranks(card: str, other: str, order: str) -> bool:
    """Return True if a card is higher than another one of its suit."""
    assert card[1] == other[1]
    return order.index(card[0]) < order.index(other[0])


def highest(cards: list[str], order: str) -> str:
    """Return the highest of these cards of one suit."""
    return min(cards, key=lambda card: order.index(card[0]))


def legal(q: FollowerChoice) -> tuple[str, set[str]]:
    """Return the id of the rule that applies and the cards it allows."""
    rule, cards = _rule(q)
    if q.no_load and q.obligation == "strict" and q.table and not any(_would_win(q, card) for card in cards):
        least = min(q.points.get(card[0], 0) for card in cards)
        cards = {card for card in cards if q.points.get(card[0], 0) == least}
    return rule, cards


def _rule(q: FollowerChoice) -> tuple[str, set[str]]:  # noqa: C901 - the rules book's list, word for word and in its order
    hand = set(q.hand)
    if not q.table:
        return "P1", hand
    lead = q.table[0][1]
    follow = {card for card in hand if card[1] == lead}
    trumps = {card for card in hand if card[1] == q.trump}
    if q.obligation == "free":
        return "Q0", hand
    if q.obligation == "trump_follow":
        return ("QT", follow) if lead == q.trump and follow else ("Q2", hand)
    if q.obligation in ("follow", "follow_or_trump"):
        if follow:
            return "F1", follow
        if q.obligation == "follow_or_trump" and trumps:
            return "F2", trumps
        return "F3", hand
    if q.partner_wins and q.partner_exempt == "all":
        return "PX", follow or hand
    if q.partner_wins and q.partner_exempt == "trump_only" and not follow:
        return "PX", hand
    trumps_on_table = [card for card in q.table if card[1] == q.trump]
    best_of_lead = highest([card for card in q.table if card[1] == lead], q.order)
    best_trump = highest(trumps_on_table, q.order) if trumps_on_table else None
    if lead == q.trump:
        assert best_trump is not None
        if not follow:
            return "P5", hand
        return "P2", {card for card in follow if outranks(card, best_trump, q.order)} or follow
    if follow:
        if best_trump is None or q.beat_after_trumped:
            return "P3", {card for card in follow if outranks(card, best_of_lead, q.order)} or follow
        return "P4", follow
    if best_trump is None:
        return "P6", trumps or hand
    over = {card for card in trumps if outranks(card, best_trump, q.order)}
    if q.undertrump:
        return "P7", over or trumps or hand
    return "P7", over or hand


def winner(table: tuple[str, ...], trump: str | None, order: str) -> int:
    """Return the index in the trick of the winning card: the highest trump, or without trumps the highest card of the suit led."""
    trumps = [card for card in table if card[1] == trump]
    following = [card for card in table if card[1] == table[0][1]]
    return table.index(highest(trumps or following, order))


def _would_win(q: FollowerChoice, card: str) -> bool:
    return winner((*q.table, card), q.trump, q.order) == len(q.table)


def cabrero_losers(
    points: dict[int, int],
    order_of_play: tuple[int, ...],
    *,
    takers: set[int],
    sang: set[int],
    tie: str = "level_lose",
    middle_rule: str = "all_between",
    spoiled: bool = True,
) -> set[int]:
    """Return the losers of a deal of cabrero without a tute: R2 to R4, D9 and variant 25b, case by case."""
    active = set(order_of_play)
    if len(takers) == 1:  # R2
        (taker,) = takers
        return {taker} if spoiled and taker in sang else active - {taker}
    scores = {seat: points[seat] for seat in takers}
    distinct = sorted(set(scores.values()), reverse=True)
    if middle_rule == "second":
        target = distinct[1] if len(distinct) > 1 else distinct[0]
        return {seat for seat in takers if scores[seat] == target}
    if middle_rule == "median" and len(takers) in (3, 5):
        target = sorted(scores.values(), reverse=True)[1 if len(takers) == 3 else 2]
        return {seat for seat in takers if scores[seat] == target}
    if tie == "seat_order":  # The seat after the dealer counts 1/2 more, the next one 1/4, ...: no ties remain.
        refined = {seat: scores[seat] + 0.5 ** (1 + order_of_play.index(seat)) for seat in takers}
        high, low = max(refined.values()), min(refined.values())
        middle = {seat for seat in takers if low < refined[seat] < high}
        return middle or {seat for seat in takers if refined[seat] == low}
    high, low = distinct[0], distinct[-1]
    middle = {seat for seat in takers if low < scores[seat] < high}
    if middle:  # R3a
        return middle
    if len(takers) == 2 and high != low:  # R3b
        return {seat for seat in takers if scores[seat] == low}
    if tie == "all_takers_lose":
        return set(takers)
    return {seat for seat in takers if any(scores[other] == scores[seat] for other in takers - {seat})}  # R3c
