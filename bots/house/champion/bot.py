"""The house bot `champion`: it tries its cards out against players who see, for some tricks, all hands.

1. It keeps the league's books (`view.deals`): whatever was shown or proved, every deal of the hidden cards that agrees with it is equally likely.
   It adds that who wins a trick and leads on without singing holds no pair that could have been sung, and who leads without
   exchanging lacks the card for it.
2. In each of many deals it plays each of its cards out (`engine.search.foresight`). In the next tricks, four in most games, everybody chooses
   each card by trying it out with open hands, so a mistake is punished there and partners help each other; the rest of the deal goes by
   habit. Where there is a stock only the present trick is played so: the order of the stock is no open card. In brisca and corriente the
   last eight cards of it are taken for open all the same. In two_player and corriente what is left after that is weighed by numbers that
   were learned from self-play (`learned`), and deals in which the other would not have led the card that lies count less.
   In cabrero, where points may hurt, each card is tried out going for points and keeping away from them.
3. After half of its budget only the better half of the cards goes on. The card that does best on average is played.
4. Where two seats play with the stock gone, both hands are known and the deal is solved to its end.
5. What it says, and how it plays in other games, is `counting`'s: that bot's modules lie beside this one, as links.

It thinks by counts of cards and not by the clock, so the same questions with the same seed get the same answers on any machine. Where the rules
are not compiled (`make fast`) a card costs a hundred times as much: then all tricks go by habit, as `counting` has it, and in games of `PLANS`
that are not in `PLAIN` it plays as that bot does.
"""

from calls import Calls
from counting import CountingBot
from learned import LEARNED
from tute_bot import Bot, View, plays, run
from tute_sense import LOSERS, announce

import engine
from engine.search.deals import Deals
from engine.search.foresight import ALL, Foresight, knows
from engine.search.solving import judge

# by game and seats: tricks that are played with open hands while there is a stock, and without one; after how many more of them the rest is
# estimated while there is a stock
PLANS = {
    ("partnership", 4): (4, 4, ALL),
    ("individual", 2): (1, 1, 2),
    ("two_player", 2): (1, 1, 2),
    ("brisca", 2): (1, 4, 2),
    ("cabrero", 4): (3, 3, ALL),
    ("corriente", 2): (1, 4, 2),
    ("guinote", 4): (1, 4, ALL),
    ("subastado", 3): (6, 6, ALL),
}
LATE = {"brisca": 8, "corriente": 8}  # cards in the stock from which a deal is played out as if there were none
# games in which it thinks where the rules are not compiled; in others it plays as `counting` does then
PLAIN = ("partnership", "individual", "two_player")
SOLVED = 8 if engine.COMPILED else 6  # cards in hand from which the end is solved, where two seats know both hands
CARDS = 6_000_000  # cards played out for a decision: the budget of thought, 20 to 30 nanoseconds each
FEWEST = 6  # deals, at least, before and after that half
DEALS = 800  # most deals of the hidden cards for a decision
BUDGETS = {"cabrero": (1_000_000, 200)}  # both, where a match is long
PLAIN_CARDS = 3200  # the same where the rules are not compiled, some microseconds each
PLAIN_DEALS = 80
AS_USUAL, UNUSUAL = 20, 3  # what a deal counts where the other leads by habit, and where not
TRIES = 6  # deals that are thrown away for a pair that would have been sung


class ChampionBot(Bot):
    """Many deals, open playouts."""

    name = "champion"
    learned = LEARNED  # what hands are worth, by game and seats
    budgets = BUDGETS
    late = LATE

    def start(self, view: View) -> None:
        """Nobody is known to lack a pair yet."""
        game = engine.load(view.game, players=view.seats, **view.options)
        self.weights = self.learned.get((view.game, view.seats), ())
        seated = (view.game, view.seats) in PLANS if engine.COMPILED else view.game in PLAIN
        self.thinks = seated and knows(game)  # it does not know some options
        self.rules = game.rules
        self.plan = PLANS.get((view.game, view.seats), (0, 0, 2))
        self.tables: dict[tuple[str, int], Foresight | None] = {}
        self.counting = CountingBot()
        self.counting.seed = self.seed
        self.counting.start(view)
        self.dice = engine.Dice(view.seed)
        self.number = {text: card for card, text in enumerate(game.pack.texts)}
        self.suits = {text[1]: card // 10 for text, card in self.number.items()}
        self.silent: list[bool] = [False] * view.seats
        self.lacking: list[list[int]] = [[] for _ in range(view.seats)]
        self.winner = -1

    def seen(self, view: View, event: dict) -> None:
        """Who won a trick and led on without singing holds no pair that could have been sung."""
        self.counting.seen(view, event)
        kind = event["e"]
        if kind == "deal":
            self.silent = [False] * view.seats
            self.lacking = [[] for _ in range(view.seats)]
            self.winner = -1
        elif kind == "trick":
            self.winner = event["seat"]
        elif kind == "play":
            if event["seat"] == self.winner and self.counting.would_sing(view, self.winner):
                self.silent[self.winner] = True
            self.lacking[event["seat"]] = self.needed(view) if self.weights else []
            self.winner = -1
        elif kind in ("song", "tute"):
            self.winner = -1
        elif kind in ("draw", "exchange", "return"):
            self.silent[event["seat"]] = False  # what it has drawn it may keep
            self.lacking[event["seat"]] = []

    def needed(self, view: View) -> list[int]:
        """The card that whoever plays now would have given for the shown one."""
        rules = self.rules
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

    def table_of(self, game: engine.Game) -> Foresight | None:
        """The one set of tables that serves all decisions of a game, or None where playouts do not know it: seats that leave change it."""
        key = (game.key, game.players)
        if key not in self.tables:
            self.tables[key] = Foresight(game, self.weights) if knows(game) else None
        return self.tables[key]

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
        tricks, without, ahead = self.plan
        if view.stock <= self.late.get(view.game, 0):
            tricks, ahead = without, ALL
        table.begin(state, tricks if engine.COMPILED else 0, ahead)
        table.put(first)
        return "play " + self.best(view, table, cards)

    def solve(self, state: engine.State, cards: list[str]) -> str:
        """The best card where both hands are known."""
        sign = 1 if state.turn == 0 else -1
        found = {state.game.action_text(action): sign * (one.low + one.high) for action, one in judge(state).items()}
        return max(cards, key=lambda card: found["play " + card])

    def lay(self, table: Foresight, deals: Deals) -> None:
        """Lays one deal of the hidden cards, one that is not barred if some are soon found."""
        for _ in range(TRIES):
            if table.put(deals.deal(self.dice)):
                break

    def best(self, view: View, table: Foresight, cards: list[str]) -> str:
        """The card that does best over many deals; after half of the budget only the better half of the cards goes on."""
        deals = view.deals()
        unsung = 15 & ~sum(1 << self.suits[suit] for _, suit, _ in view.songs)
        for seat in range(view.seats):
            table.bar(seat, unsung if self.silent[seat] and seat != view.seat else 0)
            table.lack(seat, self.lacking[seat] if seat != view.seat else [])
        weighs = bool(self.weights and view.table and view.stock)
        budget, most = PLAIN_CARDS, PLAIN_DEALS
        if engine.COMPILED:
            budget, most = self.budgets.get(view.game, (CARDS, DEALS))
        left = table.different([self.number[text] for text in cards])
        # where points may hurt, each card is tried out going for them and keeping away
        plans = self.counting.plans(view) if view.rule("result") in LOSERS else [[1] * view.seats]
        scores = {card: [0] * len(plans) for card in left}
        for _ in range(2):
            end = table.played + budget // 2
            for done in range(most // 2):
                if done >= FEWEST and table.played >= end:
                    break
                self.lay(table, deals)
                counts = UNUSUAL if weighs and not table.led_by_habit() else AS_USUAL
                for number, plan in enumerate(plans):
                    for seat in range(view.seats):
                        table.aim(seat, plan[seat] > 0)
                    for card in left:
                        scores[card][number] += counts * table.worth(card)
            left.sort(key=lambda card: -max(scores[card]))
            left = left[: max(2, (len(left) + 1) // 2)]
        best = max(left, key=lambda card: max(scores[card]))
        return next(text for text in cards if self.number[text] == best)


if __name__ == "__main__":
    run(ChampionBot())
