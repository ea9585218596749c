"""The house bot `champion`: it tries its cards out against players who see all hands for some tricks.

1. It is `deep` with other plans and three additions. The modules of `deep` and `counting` lie beside this one, as links.
2. Playouts are open longer: in the next tricks, four in most games, everybody chooses each card by trying it out with open hands, so mistakes are
   punished there and partners help each other; the rest of the deal goes by habit. While there is a stock only the present trick is open,
   since nobody knows the order of the stock. Brisca and corriente are an exception: there the last eight cards of the stock count as known.
3. In two_player and corriente the hands after three tricks are valued by weights learned from self-play (`learned`).
4. In those two games a deal counts less if in it the opponent would not have led the card on the table. A seat that leads without exchanging is
   taken to lack the card for the exchange.

If the rules are not compiled (`make fast`) all tricks go by habit, as in `deep`.
"""

from deep import DeepBot, Plan
from learned import LEARNED
from tute_bot import View, run

import engine
from engine.search.foresight import Foresight

# weight of a deal in which the opponent would lead the card that it led, and of one in which it would not
AS_USUAL, UNUSUAL = 20, 3


class ChampionBot(DeepBot):
    """Many deals, open playouts."""

    name = "champion"
    plans = {
        ("partnership", 4): Plan(stocked=4, empty=4),
        ("variable_trump", 4): Plan(empty=4, cards=600_000),
        ("individual", 2): Plan(stocked=1, empty=1, ahead=2),
        ("two_player", 2): Plan(stocked=1, empty=1, ahead=2),
        ("brisca", 2): Plan(stocked=1, empty=4, ahead=2, late=8),
        ("cabrero", 4): Plan(stocked=3, empty=3, cards=1_000_000, deals=200),
        ("corriente", 2): Plan(stocked=1, empty=4, ahead=2, late=8),
        ("guinote", 4): Plan(stocked=1, empty=4),
        ("subastado", 3): Plan(stocked=6, empty=6),
    }
    learned = LEARNED  # weights of the features of a hand, by game and seats

    def start(self, view: View) -> None:
        """Start a board: no seat is known to lack a card yet."""
        self.weights = self.learned.get((view.game, view.seats), ())
        self.lacking: list[list[int]] = [[] for _ in range(view.seats)]
        super().start(view)

    def new_table(self, game: engine.Game) -> Foresight:
        """Return the tables of a game; estimates go by learned weights if there are any."""
        return Foresight(game, self.weights)

    def seen(self, view: View, event: dict) -> None:
        """Record that a seat lacks the card for an exchange if it leads without exchanging."""
        super().seen(view, event)
        kind = event["e"]
        if kind == "deal":
            self.lacking = [[] for _ in range(view.seats)]
        elif kind == "play":
            self.lacking[event["seat"]] = self.needed(view) if self.weights else []
        elif kind in ("draw", "exchange", "return"):
            self.lacking[event["seat"]] = []

    def needed(self, view: View) -> list[int]:
        """Return, in a list, the card that the player to move needs to exchange it for the shown card now; empty if no exchange is possible."""
        rules = self.game.rules
        at_once = (
            rules.exchange == "immediate" and rules.exchange_trigger == "own_turn" and rules.exchange_window == "both"
        )
        at_once |= rules.exchange == "deferred" and view.notice is None
        if not at_once or not view.shown or view.holder is not None or view.stock < rules.exchange_min_stock:
            return []
        for rank, taken in (("7", rules.exchange_seven), ("2", rules.exchange_two)):
            if view.shown[0] in taken:
                return [self.number[rank + view.shown[1]]]
        return []

    def refuse(self, view: View, table: Foresight) -> None:
        """Bar deals in which a seat would have sung or exchanged, but did not."""
        super().refuse(view, table)
        for seat in range(view.seats):
            table.lack(seat, self.lacking[seat] if seat != view.seat else [])

    def weight(self, view: View, table: Foresight) -> int:
        """Return the weight of a deal: less if in it the opponent would not have led its card."""
        weighs = self.weights and view.table and view.stock
        return UNUSUAL if weighs and not table.led_by_habit() else AS_USUAL


if __name__ == "__main__":
    run(ChampionBot())
