"""A bot for the Tute League. Change `choose_card`; docs/first-bot.md takes you on from here."""

from tute_bot import Bot, View, plays, run
from tute_sense import announce


class MyBot(Bot):
    """Wins a trick cheaply or throws the cheapest card."""

    def act(self, view: View, legal: list[str]) -> str:
        """One of `legal`: songs, claims and bids by the rules of thumb of tute_sense, cards by ourselves."""
        return announce(view, legal) or "play " + self.choose_card(view, plays(legal))

    def choose_card(self, view: View, cards: list[str]) -> str:
        """Wins with the cheapest card that wins, otherwise throws the cheapest."""
        winners = [card for card in cards if view.would_win(card)]
        return min(winners or cards, key=lambda card: (view.value(card), view.strength(card)))


if __name__ == "__main__":
    run(MyBot())
