"""A bot for games with an auction, such as subastado: it bids what its hand promises, less a margin of safety."""

from tute_bot import Bot, View, parse, plays, run
from tute_sense import announce, promise

SAFETY = 5  # Points that the hand must promise beyond the bid.


class Bidder(Bot):
    """Bids by its own rule; wins tricks cheaply."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of `legal`."""
        return self.bid(view, legal) or announce(view, legal) or "play " + self.choose_card(view, plays(legal))

    def bid(self, view: View, legal: list[str]) -> str | None:
        """Return the lowest bid if the best trump suit promises enough, else "pass"; None outside the auction."""
        bids = [action for action in legal if action.startswith("bid ")]
        if not bids or "pass" not in legal:
            return None
        lowest = min(bids, key=lambda action: int(parse(action)[1]))
        promised = max(promise(view.hand, suit, view) for suit in "oceb")
        return lowest if promised >= int(parse(lowest)[1]) + SAFETY else "pass"

    def choose_card(self, view: View, cards: list[str]) -> str:
        """Return the cheapest card that wins, otherwise the cheapest card."""
        winners = [card for card in cards if view.would_win(card)]
        return min(winners or cards, key=lambda card: (view.value(card), view.strength(card)))


if __name__ == "__main__":
    run(Bidder())
