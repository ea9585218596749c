"""The house bot `deep`: it tries its cards out like `counting`, but in more deals of the hidden cards and, in some games, with open hands.

1. It deals the hidden cards by `view.deals`: every deal that agrees with everything shown or proved is equally likely. It adds one proof: a seat
   that wins a trick and leads without singing holds no pair that it could have sung.
2. In each of many deals it plays each of its cards out (`engine.search.foresight`), by the habits of an ordinary player, which are those of
   `counting`. Its `Plan` for the game may let players see all hands in the first tricks: then everybody chooses each card by trying it out. While
   there is a stock the rest may be estimated. In cabrero, where points may hurt, each card is tried out with both aims: to take points and to avoid
   them.
3. After half of its budget only the better half of the cards goes on. It plays the card that does best on average.
4. If two seats play and the stock is gone, both hands are known and the deal is solved to its end.
5. Its calls, and its play in other games, are those of `counting`: that bot's modules lie beside this one, as links.

Its budget is a count of cards, not a time, so the same questions with the same seed get the same answers on any machine. If the rules are not
compiled (`make fast`) a card costs a hundred times as much: then all tricks go by habit, in few deals, and it plays games that are not in `plain`
like `counting`. `champion` is this bot with other plans, and with learned weights.
"""

from typing import NamedTuple

from calls import Calls
from counting import CountingBot
from tute_bot import Bot, View, plays, run
from tute_sense import LOSERS, announce

import engine
from engine.search.deals import Deals
from engine.search.foresight import ALL, Foresight, knows
from engine.search.solving import judge

# most cards in hand with which the end is solved, if two seats know both hands
SOLVED = 8 if engine.COMPILED else 6
FEWEST = 6  # least number of deals in each half of the budget
TRIES = 6  # number of deals to try in search of one that is not barred


class Plan(NamedTuple):
    """The way to try out the cards of a game."""

    # tricks with open hands, the present one included: while there is a stock, and without one
    stocked: int = 0
    empty: int = 0
    # number of further tricks after which the rest is estimated, while there is a stock
    ahead: int = ALL
    # most cards left in a stock that counts as open
    late: int = 0
    # the budget of a decision: cards of playouts, 20 to 30 nanoseconds each; most deals of the hidden cards
    cards: int = 6_000_000
    deals: int = 800


class DeepBot(Bot):
    """Many deals, playouts by habit."""

    name = "deep"
    # The key is the game and its number of seats.
    plans = {
        ("partnership", 4): Plan(deals=200),
        ("variable_trump", 4): Plan(deals=200),
        ("individual", 2): Plan(ahead=2),
        ("two_player", 2): Plan(stocked=1, empty=1, ahead=2, deals=120),
        ("brisca", 2): Plan(stocked=1, empty=4, ahead=2, late=8, deals=80),
        ("cabrero", 4): Plan(stocked=3, empty=3, cards=1_000_000, deals=30),
        ("corriente", 2): Plan(stocked=1, empty=4, ahead=2, late=8, deals=200),
        ("guinote", 4): Plan(deals=60),
        ("subastado", 3): Plan(stocked=4, empty=4, deals=36),
    }
    # without compiled rules: the games in which it makes playouts, and its budget; a card takes some microseconds
    plain = ("partnership", "individual", "two_player")
    plain_plan = Plan(ahead=2, cards=3200, deals=80)

    def start(self, view: View) -> None:
        """Start a board: no seat is known to lack a pair yet."""
        self.game = game = engine.load(view.game, players=view.seats, **view.options)
        plan = self.plans.get((view.game, view.seats))
        thinks = plan is not None if engine.COMPILED else view.game in self.plain
        self.thinks = thinks and knows(game)  # playouts do not cover some options
        self.plan = plan or self.plain_plan
        if not engine.COMPILED:
            self.plan = self.plain_plan._replace(ahead=self.plan.ahead, late=self.plan.late)
        self.tables: dict[tuple[str, int], Foresight | None] = {}
        self.counting = CountingBot()
        self.counting.seed = self.seed
        self.counting.start(view)
        self.dice = engine.Dice(view.seed)
        self.number = {text: card for card, text in enumerate(game.pack.texts)}
        self.suits = {text[1]: card // 10 for text, card in self.number.items()}
        self.silent: list[bool] = [False] * view.seats
        self.winner = -1

    def seen(self, view: View, event: dict) -> None:
        """Record that a seat that won a trick and led without singing holds no pair that it could have sung."""
        self.counting.seen(view, event)
        kind = event["e"]
        if kind == "deal":
            self.silent = [False] * view.seats
            self.winner = -1
        elif kind == "trick":
            self.winner = event["seat"]
        elif kind == "play":
            if event["seat"] == self.winner and self.counting.would_sing(view, self.winner):
                self.silent[self.winner] = True
            self.winner = -1
        elif kind in ("song", "tute"):
            self.winner = -1
        elif kind in ("draw", "exchange", "return"):
            self.silent[event["seat"]] = False  # the seat may hold back a pair that it has just drawn

    def act(self, view: View, legal: list[str]) -> str:
        """Return the call of `counting` if one is due, else the card that does best."""
        counting = self.counting
        # If a game goes on after the deal, `counting` solves its end, because it knows the worth of a lead in the next one.
        solves = view.rule("target") is not None and counting.is_known(view)
        if not self.thinks or solves:
            return counting.act(view, legal)
        word = Calls(view, counting.cards, counting.random).answer(legal) or announce(view, legal)
        if word is not None:
            return word
        cards = plays(legal)
        if len(cards) == 1:
            return "play " + cards[0]
        first = view.deals().deal(self.dice)
        state = view.to_state(first)
        table = self.table_of(state.game)
        if table is None:
            return counting.act(view, legal)
        if view.seats == 2 and not view.stock and len(view.hand) <= SOLVED and view.rule("target") is None:
            return "play " + self.solve(state, cards)
        if view.stock <= self.plan.late:
            table.begin(state, self.plan.empty, ALL)
        else:
            table.begin(state, self.plan.stocked, self.plan.ahead)
        table.put(first)
        return "play " + self.best(view, table, cards)

    def table_of(self, game: engine.Game) -> Foresight | None:
        """Return the tables for all decisions of a game, which eliminations change; None if it is a game without a plan, or not covered."""
        key = (game.key, game.players)
        if key not in self.tables:
            self.tables[key] = self.new_table(game) if game.key == self.game.key and knows(game) else None
        return self.tables[key]

    def new_table(self, game: engine.Game) -> Foresight:
        """Return the tables of a game; estimates are those of `counting`."""
        return Foresight(game)

    def solve(self, state: engine.State, cards: list[str]) -> str:
        """Return the best card when both hands are known."""
        sign = 1 if state.turn == 0 else -1
        worths = {
            state.game.action_text(action): sign * (solution.low + solution.high)
            for action, solution in judge(state).items()
        }
        return max(cards, key=lambda card: worths["play " + card])

    def best(self, view: View, table: Foresight, cards: list[str]) -> str:
        """Return the card that does best over many deals; after half of the budget only the better half of the cards goes on."""
        deals = view.deals()
        self.refuse(view, table)
        candidates = table.different([self.number[text] for text in cards])
        # If points may hurt, each card is tried out with both aims: to take points and to avoid them.
        aims = self.counting.plans(view) if view.rule("result") in LOSERS else [[1] * view.seats]
        scores = {card: [0] * len(aims) for card in candidates}
        for _ in range(2):
            end = table.played + self.plan.cards // 2
            for number_done in range(self.plan.deals // 2):
                if number_done >= FEWEST and table.played >= end:
                    break
                self.lay(table, deals)
                weight = self.weight(view, table)
                for number, aim in enumerate(aims):
                    for seat in range(view.seats):
                        table.aim(seat, aim[seat] > 0)
                    for card in candidates:
                        scores[card][number] += weight * table.worth(card)
            candidates.sort(key=lambda card: -max(scores[card]))
            candidates = candidates[: max(2, (len(candidates) + 1) // 2)]
        best = max(candidates, key=lambda card: max(scores[card]))
        return next(text for text in cards if self.number[text] == best)

    def refuse(self, view: View, table: Foresight) -> None:
        """Bar deals in which a seat would have sung, but did not."""
        unsung = 15 & ~sum(1 << self.suits[suit] for _, suit, _ in view.songs)
        for seat in range(view.seats):
            table.bar(seat, unsung if self.silent[seat] and seat != view.seat else 0)

    def lay(self, table: Foresight, deals: Deals) -> None:
        """Lay out a deal of the hidden cards; take one that is not barred if a few tries find one."""
        for _ in range(TRIES):
            if table.put(deals.deal(self.dice)):
                break

    def weight(self, view: View, table: Foresight) -> int:
        """Return the weight of a deal: 1, because all are equally likely."""
        return 1


if __name__ == "__main__":
    run(DeepBot())
