"""Table sense for bots of the Tute League: announcements, auctions and rough probabilities, for every game of the rules book.

It is optional; it is beside `tute_bot` in the league's runtime and can be copied like it. The house bots build on it. All its advice follows rules
of thumb, meant to be beaten: use them for the parts that your bot does not care about.

    from tute_bot import Bot, run
    from tute_sense import announce

    class MyBot(Bot):
        def act(self, view, legal):
            return announce(view, legal) or my_card(view, legal)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # The type checker knows the module by its place in the project, a bot by its place beside it.
    from collections.abc import Sequence

    from bots.sdk.tute_bot import View, parse, plays
else:
    from tute_bot import parse, plays

LOSERS = ("middle_loses", "middle_of_three_loses", "cabron_loses", "most_points_loses_unless_101")  # Points may hurt.

# --- Announcements ---------------------------------------------------------------------------------------------------


def announce(view: View, legal: Sequence[str]) -> str | None:
    """Return the announcement to make now, or None when it is time to play a card. Answers every question that is not about a card."""
    verbs: dict[str, list[str]] = {}
    for action in legal:
        verbs.setdefault(parse(action)[0] if action != "play" else "enter", []).append(action)
    if "claim" in verbs and claim_is_right(view):
        return "claim"
    if "tute" in verbs:
        return verbs["tute"][0]
    if "exchange" in verbs:
        return verbs["exchange"][0]
    if "sing" in verbs and wants_song(view):
        return max(verbs["sing"], key=lambda action: parse(action)[1] == view.trump)
    for verb, answer in _ANSWERS.items():
        if verb in verbs:
            return answer(view, verbs[verb], legal)
    if "play" in verbs:
        return None
    return "pass" if "pass" in verbs else legal[0]


def claim_is_right(view: View) -> bool:
    """Return True if the exact count gives your side the target."""
    target = view.rule("target")
    return target is not None and view.totals[view.side] + view.side_points(view.side) >= target


def wants_song(view: View) -> bool:
    """Return True if more points are welcome."""
    return aim(view) > 0


def _bid(view: View, bids: list[str], legal: Sequence[str]) -> str:
    """Return the lowest bid, while the best trump suit promises more than that."""
    lowest = min(bids, key=lambda action: int(parse(action)[1]))
    promised = max(promise(view.hand, trump, view) for trump in "oceb")
    return lowest if "pass" not in legal or promised >= int(parse(lowest)[1]) else "pass"


def _enter(view: View, calls: list[str], legal: Sequence[str]) -> str:
    """Decide whether to play. Codillo: with an ordinary hand, because the called card brings a partner. Bato: with two tricks in sight."""
    if view.trump:
        # With loss marks, tricks earn nothing.
        is_good = view.rule("settlement") == "chips" and tricks_in_sight(view, view.hand) >= 1.6
    else:
        is_good = max(promise(view.hand, trump, view) for trump in "oceb") >= 35
    return calls[0] if is_good or "pass" not in legal else "pass"


def _join(view: View, calls: list[str], legal: Sequence[str]) -> str:
    """Decide whether to join in bato: one trick is enough, but each seat that has joined takes some of the four tricks."""
    joined = sum(call == "join" for _, call in view.calls)
    is_good = view.rule("settlement") == "chips" and tricks_in_sight(view, view.hand) >= 0.8 + 0.25 * joined
    return "join" if is_good or "out" not in legal else "out"


def _trump(view: View, suits: list[str], legal: Sequence[str]) -> str:
    return max(suits, key=lambda action: promise(view.hand, parse(action)[1], view))


def _call(view: View, cards: list[str], legal: Sequence[str]) -> str:
    """Return the strongest card that you lack: trumps before plain suits, long plain suits before short ones."""

    def worth(action: str) -> tuple[int, int]:
        card = parse(action)[1]
        length = sum(c[1] == card[1] for c in view.hand)
        return 20 * (card[1] == view.trump) + view.strength(card), length

    return max(cards, key=worth)


def _predict(view: View, numbers: list[str], legal: Sequence[str]) -> str:
    expected = likely_tricks(view, view.hand, view.trump)
    return min(numbers, key=lambda action: abs(int(parse(action)[1]) - expected))


def _discard(view: View, choices: list[str], legal: Sequence[str]) -> str:
    """Keep trumps and aces and exchange the rest."""
    poor = {card for card in view.hand if card[1] != view.trump and view.strength(card) < 8}
    return max(choices, key=lambda action: sum(1 if card in poor else -3 for card in parse(action)[1].split()))


def _last_ten(view: View, answers: list[str], legal: Sequence[str]) -> str:
    """Decide in gana-pierde: take the ten points only if they make 101 or if more points are welcome."""
    return "take" if aim(view) > 0 or view.points(view.seat) >= 101 else "decline"


_ANSWERS = {
    "bid": _bid,
    "enter": _enter,
    "join": _join,
    "trump": _trump,
    "call": _call,
    "predict": _predict,
    "discard": _discard,
    "take": _last_ten,
}

# --- The value of a hand ---------------------------------------------------------------------------------------------

_TRUMP_WORTH = {"1": 16, "3": 14, "R": 9, "C": 8, "S": 7}
_PLAIN_WORTH = {"1": 13, "3": 7, "R": 3, "C": 2, "S": 1}


def promise(hand: Sequence[str], trump: str, view: View) -> float:
    """Return the points that a hand promises its owner with a suit as trump, songs included. An average hand of three has 43."""
    total = 0.0
    for card in hand:
        if card[1] == trump:
            total += _TRUMP_WORTH.get(card[0], 5)
        else:
            total += _PLAIN_WORTH.get(card[0], 0)
    for pair in pairs(view, hand):
        total += view.rule("song_values")["trump" if pair == trump else "other"] * 0.8
    return total * 130 / 152


def likely_tricks(view: View, hand: Sequence[str], trump: str | None) -> float:
    """Return the tricks that a hand can expect, by the probability that nobody holds anything better."""
    others = max(1, view.seats - len(view.out) - 1)
    size = max(1, len(hand))
    # Probability that a given card is in play at all.
    in_play = min(1.0, others * size / max(1, len(view.pack) - size))
    expected = 0.0
    for card in hand:
        higher = [c for c in view.unseen if c[1] == card[1] and view.strength(c) > view.strength(card)]
        chance = (1 - in_play) ** len(higher) if len(higher) < 4 else 0.0
        if card[1] != trump and trump is not None:
            length = sum(c[1] == card[1] for c in hand)
            chance *= max(0.3, 0.9 - 0.12 * length * others / 2)
        elif trump is not None:
            chance = max(chance, 0.35 * in_play if size > 2 else 0.2)
        expected += chance
    return expected


def tricks_in_sight(view: View, hand: Sequence[str]) -> float:
    """Return the tricks that a hand can expect in bato, with poor cards exchanged before play (a new card is worth about 0.2)."""
    expected = 0.0
    for card in hand:
        above = sum(c[1] == card[1] and view.strength(c) > view.strength(card) for c in view.unseen)
        if card[1] == view.trump:
            expected += max(0.3, 0.95 - 0.12 * above)
        else:
            expected += {0: 0.6, 1: 0.35}.get(above, 0.2)
    return expected


def pairs(view: View, hand: Sequence[str]) -> list[str]:
    """Return the suits of which a hand holds a pair that can still be sung."""
    if view.rule("hand_songs") == "none":
        return []
    sung = {suit for _, suit, _ in view.songs}
    ranks = view.rule("pair_ranks")
    hand_cards = set(hand)
    return [suit for suit in "oceb" if suit not in sung and all(rank + suit in hand_cards for rank in ranks)]


# --- The goal ----------------------------------------------------------------------------------------------------------


def aim(view: View) -> int:
    """Return 1 to take points, -1 to avoid them, by the result of the game, the hand and what has been won so far."""
    result = view.rule("result")
    own_points = view.points(view.seat)
    if result == "exact_prediction":
        return 1 if view.tricks[view.seat] < view.predictions.get(view.seat, 0) else -1
    if result not in LOSERS:
        return 1
    others = [view.points(seat) for seat in range(view.seats) if seat != view.seat and seat not in view.out]
    best_other = max(others, default=0)
    if result == "most_points_loses_unless_101":
        return 1 if own_points + 25 * strength_ratio(view) * len(view.hand) / 4 >= 101 else -1
    if result == "cabron_loses" and not view.tricks[view.seat]:
        return 1  # A seat without a trick loses.
    if result == "cabron_loses" and own_points > 60:
        return -1  # A seat with more than a hundred loses, too.
    still = len(view.hand) / max(1, len(view.hand) + sum(view.tricks))
    lead = (own_points - best_other) / 40
    return 1 if lead + (strength_ratio(view) - 1) * still > 0.25 else -1


def strength_ratio(view: View) -> float:
    """Return the strength of your hand relative to an average hand of the cards that you cannot see. Trumps count double."""

    def worth(card: str) -> float:
        return (2 if card[1] == view.trump else 1) * (view.value(card) + view.strength(card) / 2)

    if not view.hand:
        return 1.0
    own_mean = sum(map(worth, view.hand)) / len(view.hand)
    others = [*view.unseen, *(card for known_cards in view.known for card in known_cards)]
    average = sum(map(worth, others)) / max(1, len(others))
    return own_mean / average if average else 1.0


# --- Chances in the trick on the table -----------------------------------------------------------------------------------


def chance_to_hold(view: View, seat: int, card: str) -> float:
    """Return a rough probability that `card`, winning for `seat` once played, is not beaten by the other side in this trick."""
    chance = 1.0
    led = view.led or card[1]
    for other in view.to_follow():
        if not view.same_side(other, seat):
            chance *= 1 - _chance_to_beat(view, other, card, led)
    return chance


def _chance_to_beat(view: View, seat: int, card: str, led: str) -> float:
    trump = view.trump
    unseen = max(1, len(view.unseen))
    # The probability that this seat holds a given unseen card.
    reach = min(1.0, max(0, view.counts[seat] - len(view.known[seat])) / unseen)
    power = view.strength(card)

    def has(cards: list[str]) -> float:
        if view.known[seat].intersection(cards):
            return 1.0
        hidden = sum(1 for c in cards if c not in view.known[seat])
        return 1 - (1 - reach) ** hidden

    candidates = [c for c in (*view.unseen, *view.known[seat]) if view.may_hold(seat, c)]
    higher = [c for c in candidates if c[1] == card[1] and view.strength(c) > power]
    if card[1] == trump:
        if led == trump or view.stock:
            return has(higher)
        return has(higher) * (1 - has([c for c in candidates if c[1] == led]))
    trumps = [c for c in candidates if c[1] == trump]
    if view.stock and view.rule("obligation_stock_open") != "strict":
        eager = min(1.0, (view.trick_points + view.value(card)) / 16)
        return max(has(higher), has(trumps) * eager)
    follows = has([c for c in candidates if c[1] == led])
    ruff = (1 - follows) * has(trumps)
    return ruff + (has(higher) * (1 - ruff) if card[1] == led else 0.0)


def songs_on_table(view: View, card: str) -> int:
    """Return the points of the pairs that the trick would contain with `card`, if the rules let its winner score them."""
    rule = view.rule("table_songs")
    if rule == "none":
        return 0
    laid = {card, *(c for _, c in view.table)}
    suits = [suit for suit in "oceb" if all(rank + suit in laid for rank in view.rule("pair_ranks"))]
    if rule == "forced_first_40":
        return (20 if view.trump else 40) if suits else 0
    return sum(view.rule("song_values")["trump" if suit == view.trump else "other"] for suit in suits)


def loose_cards(view: View, legal: Sequence[str]) -> list[str]:
    """Return the playable cards without those that would break a pair still to be sung, unless no others are left."""
    cards = plays(legal)
    paired = {rank + suit for suit in pairs(view, view.hand) for rank in view.rule("pair_ranks")}
    return [card for card in cards if card not in paired] or cards
