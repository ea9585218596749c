"""The house bot `deep`: it tries its cards out as `counting` does, in more deals of the hidden cards, and in some games with open hands.

1. It keeps the league's books (`view.deals`): whatever was shown or proved, every deal of the hidden cards that agrees with it is equally likely.
   It adds that who wins a trick and leads on without singing holds no pair that could have been sung.
2. In each of many deals it plays each of its cards out (`engine.search.foresight`), by the habits of an ordinary player, which are `counting`'s. By
   its `Plan` for the game, players see all hands in the first tricks of that: then everybody chooses each card by trying it out. While there is a
   stock the rest may be estimated. In cabrero, where points may hurt, each card is tried out going for points and keeping away from them.
3. After half of its budget only the better half of the cards goes on. The card that does best on average is played.
4. Where two seats play with the stock gone, both hands are known and the deal is solved to its end.
5. What it says, and how it plays in other games, is `counting`'s: that bot's modules lie beside this one, as links.

It thinks by counts of cards and not by the clock, so the same questions with the same seed get the same answers on any machine. Where the rules
are not compiled (`make fast`) a card costs a hundred times as much: then all tricks go by habit, in few deals, and games that are not in `plain`
are played as `counting` plays them. `champion` is this bot with other plans, and with what it has learned.
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

SOLVED = 8 if engine.COMPILED else 6  # cards in hand from which the end is solved, where two seats know both hands
FEWEST = 6  # deals, at least, before and after half of the budget
TRIES = 6  # deals that are thrown away for one that is not barred


class Plan(NamedTuple):
    """How the cards of a game are tried out."""

    # tricks that are played with open hands while there is a stock, the present one included, and without a stock
    stocked: int = 0
    empty: int = 0
    # after how many more of them the rest is estimated while there is a stock
    ahead: int = ALL
    # cards in the stock from which a deal is played out as if there were none: they are taken for open
    late: int = 0
    # the budget of a decision: cards that are played out, 20 to 30 nanoseconds each, and most deals of the hidden cards
    cards: int = 6_000_000
    deals: int = 800


class DeepBot(Bot):
    """Many deals, playouts by habit."""

    name = "deep"
    # by game and seats
    plans = {
        ("partnership", 4): Plan(deals=200),
        ("individual", 2): Plan(ahead=2),
        ("two_player", 2): Plan(stocked=1, empty=1, ahead=2, deals=120),
        ("brisca", 2): Plan(stocked=1, empty=4, ahead=2, late=8, deals=80),
        ("cabrero", 4): Plan(stocked=3, empty=3, cards=1_000_000, deals=30),
        ("corriente", 2): Plan(stocked=1, empty=4, ahead=2, late=8, deals=200),
        ("guinote", 4): Plan(deals=60),
        ("subastado", 3): Plan(stocked=4, empty=4, deals=36),
    }
    # where the rules are not compiled: games in which it thinks, and its budget, some microseconds a card
    plain = ("partnership", "individual", "two_player")
    plain_plan = Plan(ahead=2, cards=3200, deals=80)

    def start(self, view: View) -> None:
        """Nobody is known to lack a pair yet."""
        self.game = game = engine.load(view.game, players=view.seats, **view.options)
        plan = self.plans.get((view.game, view.seats))
        thinks = plan is not None if engine.COMPILED else view.game in self.plain
        self.thinks = thinks and knows(game)  # it does not know some options
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
        """Who won a trick and led on without singing holds no pair that could have been sung."""
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
            self.silent[event["seat"]] = False  # what it has drawn it may keep

    def act(self, view: View, legal: list[str]) -> str:
        """What `counting` says where a word is due, else the card that does best."""
        counting = self.counting
        # where a game goes on after the deal, `counting` solves its end: it counts what a lead is worth in the next one
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
        """The one set of tables that serves all decisions of a game, or None where playouts do not know it: seats that leave change it."""
        key = (game.key, game.players)
        if key not in self.tables:
            self.tables[key] = self.new_table(game) if knows(game) else None
        return self.tables[key]

    def new_table(self, game: engine.Game) -> Foresight:
        """Tables for a game; estimates are those of `counting`."""
        return Foresight(game)

    def solve(self, state: engine.State, cards: list[str]) -> str:
        """The best card where both hands are known."""
        sign = 1 if state.turn == 0 else -1
        found = {state.game.action_text(action): sign * (one.low + one.high) for action, one in judge(state).items()}
        return max(cards, key=lambda card: found["play " + card])

    def best(self, view: View, table: Foresight, cards: list[str]) -> str:
        """The card that does best over many deals; after half of the budget only the better half of the cards goes on."""
        deals = view.deals()
        self.refuse(view, table)
        left = table.different([self.number[text] for text in cards])
        # where points may hurt, each card is tried out going for them and keeping away
        aims = self.counting.plans(view) if view.rule("result") in LOSERS else [[1] * view.seats]
        scores = {card: [0] * len(aims) for card in left}
        for _ in range(2):
            end = table.played + self.plan.cards // 2
            for done in range(self.plan.deals // 2):
                if done >= FEWEST and table.played >= end:
                    break
                self.lay(table, deals)
                weight = self.weight(view, table)
                for number, aim in enumerate(aims):
                    for seat in range(view.seats):
                        table.aim(seat, aim[seat] > 0)
                    for card in left:
                        scores[card][number] += weight * table.worth(card)
            left.sort(key=lambda card: -max(scores[card]))
            left = left[: max(2, (len(left) + 1) // 2)]
        best = max(left, key=lambda card: max(scores[card]))
        return next(text for text in cards if self.number[text] == best)

    def refuse(self, view: View, table: Foresight) -> None:
        """Bars deals in which a seat would have sung."""
        unsung = 15 & ~sum(1 << self.suits[suit] for _, suit, _ in view.songs)
        for seat in range(view.seats):
            table.bar(seat, unsung if self.silent[seat] and seat != view.seat else 0)

    def lay(self, table: Foresight, deals: Deals) -> None:
        """Lays one deal of the hidden cards, one that is not barred if some are soon found."""
        for _ in range(TRIES):
            if table.put(deals.deal(self.dice)):
                break

    def weight(self, view: View, table: Foresight) -> int:
        """What the deal that lies counts: all are equally likely."""
        return 1


if __name__ == "__main__":
    run(DeepBot())
