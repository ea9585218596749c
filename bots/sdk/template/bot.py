"""A bot for the Tute League. Change `choose_card`."""

from tute_bot import Bot, View, plays, run
from tute_sense import announce


class MyBot(Bot):
    """Wins a trick cheaply or discards the cheapest card."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of `legal`: songs, claims and bids by the rules of thumb of tute_sense, cards by our own choice."""
        return announce(view, legal) or "play " + self.choose_card(view, plays(legal))

    def choose_card(self, view: View, cards: list[str]) -> str:
        """Return the cheapest card that wins, otherwise the cheapest card."""
        winners = [card for card in cards if view.would_win(card)]
        return min(winners or cards, key=lambda card: (view.value(card), view.strength(card)))


if __name__ == "__main__":
    run(MyBot())
