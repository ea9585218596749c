"""A bot that counts: it takes a trick when nobody can beat its card, and gives its partner points."""

from tute_bot import Bot, View, plays, run
from tute_sense import announce


class Careful(Bot):
    """Wins for certain, or throws the cheapest card."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of `legal`."""
        return announce(view, legal) or "play " + self.choose_card(view, plays(legal))

    def choose_card(self, view: View, cards: list[str]) -> str:
        """Return the dearest card if our side takes the trick for certain, else the cheapest."""
        if view.table and self.partner_wins(view) and not view.to_follow():
            return max(cards, key=view.value)
        certain = [card for card in cards if view.is_safe(card)]
        if view.table and certain and view.trick_points + max(map(view.value, certain)) > 0:
            return max(certain, key=lambda card: (card[1] != view.trump, view.value(card)))
        return min(cards, key=lambda card: self.cost(view, card))

    def cost(self, view: View, card: str) -> tuple[bool, int, int]:
        """Return what a card is worth to us later: trumps most, then points, then strength."""
        return (card[1] == view.trump, view.value(card), view.strength(card))

    def partner_wins(self, view: View) -> bool:
        """Return True if the winning card of the trick is our partner's."""
        return view.best is not None and view.best[0] in view.partners


if __name__ == "__main__":
    run(Careful())
