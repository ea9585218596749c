"""The house bot `champion`: it tries its cards out against players who see, for some tricks, all hands.

1. It is `deep` (that bot's module and those of `counting` lie beside this one, as links) with other plans and three things more.
2. Playouts are open longer: in the next tricks, four in most games, everybody chooses each card by trying it out with open hands, so a mistake is
   punished there and partners help each other; the rest of the deal goes by habit. Where there is a stock only the present trick is played so: the
   order of the stock is no open card. In brisca and corriente the last eight cards of it are taken for open all the same.
3. In two_player and corriente what is left after three tricks is weighed by numbers that were learned from self-play (`learned`).
4. There deals in which the other would not have led the card that lies count less, and who leads without exchanging is taken to lack the card for it.

Where the rules are not compiled (`make fast`) all tricks go by habit, as in `deep`.
"""

from deep import DeepBot, Plan
from learned import LEARNED
from tute_bot import View, run

import engine
from engine.search.foresight import Foresight

AS_USUAL, UNUSUAL = 20, 3  # what a deal counts where the other leads by habit, and where not


class ChampionBot(DeepBot):
    """Many deals, open playouts."""

    name = "champion"
    plans = {
        ("partnership", 4): Plan(stocked=4, empty=4),
        ("individual", 2): Plan(stocked=1, empty=1, ahead=2),
        ("two_player", 2): Plan(stocked=1, empty=1, ahead=2),
        ("brisca", 2): Plan(stocked=1, empty=4, ahead=2, late=8),
        ("cabrero", 4): Plan(stocked=3, empty=3, cards=1_000_000, deals=200),
        ("corriente", 2): Plan(stocked=1, empty=4, ahead=2, late=8),
        ("guinote", 4): Plan(stocked=1, empty=4),
        ("subastado", 3): Plan(stocked=6, empty=6),
    }
    learned = LEARNED  # what hands are worth, by game and seats

    def start(self, view: View) -> None:
        """Nobody is known to lack a card yet."""
        self.weights = self.learned.get((view.game, view.seats), ())
        self.lacking: list[list[int]] = [[] for _ in range(view.seats)]
        super().start(view)

    def new_table(self, game: engine.Game) -> Foresight:
        """Tables for a game; where something was learned of it, estimates are made by that."""
        return Foresight(game, self.weights)

    def seen(self, view: View, event: dict) -> None:
        """Who leads on without exchanging lacks the card for it."""
        super().seen(view, event)
        kind = event["e"]
        if kind == "deal":
            self.lacking = [[] for _ in range(view.seats)]
        elif kind == "play":
            self.lacking[event["seat"]] = self.needed(view) if self.weights else []
        elif kind in ("draw", "exchange", "return"):
            self.lacking[event["seat"]] = []

    def needed(self, view: View) -> list[int]:
        """The card that whoever plays now would have given for the shown one."""
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
        """Bars deals in which a seat would have sung or exchanged."""
        super().refuse(view, table)
        for seat in range(view.seats):
            table.lack(seat, self.lacking[seat] if seat != view.seat else [])

    def weight(self, view: View, table: Foresight) -> int:
        """What the deal that lies counts: less where the other would not have led its card."""
        weighs = self.weights and view.table and view.stock
        return UNUSUAL if weighs and not table.led_by_habit() else AS_USUAL


if __name__ == "__main__":
    run(ChampionBot())
