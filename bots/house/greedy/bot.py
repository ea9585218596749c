"""The house bot `greedy`: sensible play, one trick at a time.

For each card that it may play it estimates the worth of the trick on the table to its side, less the later worth of the card, and takes the best:

* the chance that the winning card holds, given the unseen cards and what the others' play proves;
* the points on the table, those of the card itself and a guess at those still to come; ten more for the last trick;
* a price for parting with a strong card, so that it wins as cheaply as it can, loads the partner's trick with points and
  discards low, and another price for breaking a pair that it may still sing.

In games where points lose, it decides by its hand whether to go for the top or to avoid tricks, and reverses the sign of these values. Announcements
and auctions are those of `tute_sense`. Nothing here is random.
"""

from tute_bot import Bot, View, run
from tute_sense import aim, announce, chance_to_hold, loose_cards, songs_on_table

COMING = 3.0  # points that each seat still to play adds to a trick, on average
TRICK = 10.0  # worth of a trick in games that count tricks, not points


class GreedyBot(Bot):
    """One-trick play by expected points."""

    name = "greedy"

    def act(self, view: View, legal: list[str]) -> str:
        """Return an announcement if one is due, else the card that gains most: the expected worth of its trick less its price."""
        word = announce(view, legal)
        if word is not None:
            return word
        direction = aim(view)
        cards = loose_cards(view, legal)
        best = max(cards, key=lambda card: direction * (self.trick_value(view, card) - self.price(view, card)))
        return "play " + best

    def trick_value(self, view: View, card: str) -> float:
        """Return the points that the trick is expected to bring our side (minus: theirs) if we play the card."""
        worth = view.trick_points + view.value(card) + songs_on_table(view, card) + COMING * len(view.to_follow())
        if view.rule("result") in ("trick_commitments", "exact_prediction"):
            worth = TRICK
        if len(view.hand) == 1:
            worth += view.rule("last_trick_bonus")
        if view.would_win(card):
            return worth * (2 * chance_to_hold(view, view.seat, card) - 1)
        seat, winning = view.best or (view.seat, card)
        if view.same_side(seat, view.seat):
            return worth * (2 * chance_to_hold(view, seat, winning) - 1)
        holds = chance_to_hold(view, seat, winning) if view.partners else 1.0
        return worth * (1 - 2 * holds)

    def price(self, view: View, card: str) -> float:
        """Return the later worth of the card, in points."""
        power = view.strength(card)
        if card[1] == view.trump:
            return 3 + 1.2 * power
        if view.is_master(card) and view.value(card):
            return 4.0
        return 0.5 * power


if __name__ == "__main__":
    run(GreedyBot())
