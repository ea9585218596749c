"""A bot for games in which points may hurt, such as cabrero: it decides each time whether it wants the trick."""

from tute_bot import Bot, View, plays, run
from tute_sense import aim, announce


class Avoider(Bot):
    """Takes points or avoids them, depending on the score."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of `legal`."""
        return announce(view, legal) or "play " + self.choose_card(view, plays(legal))

    def choose_card(self, view: View, cards: list[str]) -> str:
        """Return a cheap winner if points are welcome, otherwise the dearest card that loses."""
        winners = [card for card in cards if view.would_win(card)]
        if aim(view) > 0:
            return min(winners or cards, key=lambda card: (view.value(card), view.strength(card)))
        losers = [card for card in cards if card not in winners]
        if losers:
            return max(losers, key=lambda card: (view.value(card), view.strength(card)))
        return min(cards, key=lambda card: (view.value(card), view.strength(card)))


if __name__ == "__main__":
    run(Avoider())
