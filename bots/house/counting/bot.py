"""The house bot `counting`: it knows where every card can be, and tries its cards out.

1. It keeps books: cards played, cards shown, what each seat's play proves that it cannot hold, pairs that were not sung.
2. It deals the hidden cards many times over, in agreement with its books (`deals`).
3. It plays each deal out once for each of its own cards (`playout`, by the `habits` of an ordinary player) and takes the card that
   does best on average (`worth`). While there is a stock it looks two tricks ahead and weighs the hands that are left.
4. Where two seats play with the stock gone, both hands are known and it searches to the end (`endgame`).
5. It bids, names trumps, predicts and joins in the same way: by playing the hand out (`calls`, `staying`).

It thinks by counts and not by the clock, so that the same questions with the same seed get the same answers on any machine.
"""

from calls import Calls
from deals import Dealer, Numbering
from endgame import Endgame
from playout import END, Model
from tute_bot import Bot, View, plays, run
from tute_sense import LOSERS, aim, announce
from worth import Worth, target_worth, worth_of

CARDS = 1600  # cards played out per round of a decision: the budget of thought, about 2 microseconds each
DEALS = 40  # most deals of the hidden cards per round of a decision, of two rounds
FEWEST = 6
AHEAD = 2  # tricks that are played out while there is a stock; what follows is estimated
DEALING = 5  # what dealing the hidden cards costs beside playing a card
SEARCH = 6  # cards in hand from which the endgame is searched


class CountingBot(Bot):
    """Perfect books and a little lookahead."""

    name = "counting"

    def start(self, view: View) -> None:
        """Numbers the cards of the table; nobody is known to lack a pair yet."""
        self.cards = Numbering(view)
        self.barred: list[set[int]] = [set() for _ in range(view.seats)]
        self.winner = -1

    def seen(self, view: View, event: dict) -> None:
        """Who won a trick and led on without singing holds no pair that could have been sung."""
        kind = event["e"]
        if kind == "deal":
            self.barred = [set() for _ in range(view.seats)]
            self.winner = -1
        elif kind == "trick":
            self.winner = event["seat"]
        elif kind == "play":
            if event["seat"] == self.winner and self.would_sing(view, self.winner):
                self.barred[self.winner] = {0, 1, 2, 3}
            self.winner = -1
        elif kind in ("song", "tute"):
            self.winner = -1
        elif kind in ("draw", "exchange", "return"):
            self.barred[event["seat"]] = set()

    def would_sing(self, view: View, seat: int) -> bool:
        """Whether a seat that has just won a trick would sing a pair if it held one: nobody who wants points keeps a song back."""
        who = view.rule("hand_songs")
        return (
            (who in ("trick_winner", "winning_side") or (who == "soloist" and seat == view.soloist))
            and view.stock >= view.rule("song_min_stock")
            and view.rule("result") not in LOSERS
        )

    def act(self, view: View, legal: list[str]) -> str:
        """A call or announcement where one is due, else the card that does best."""
        word = Calls(view, self.cards, self.random).answer(legal) or announce(view, legal)
        if word is not None:
            return word
        cards = self.different(view, [self.cards.number[card] for card in plays(legal)])
        if len(cards) == 1:
            best = cards[0]
        elif self.is_known(view):
            best = self.search(view, cards)
        else:
            best = self.try_out(view, cards)
        return "play " + self.cards.text[best]

    def different(self, view: View, cards: list[int]) -> list[int]:
        """Of neighbours worth the same, with no card of the others between them, only the lowest."""
        out = self.cards.masks([*view.unseen, *(card for known in view.known for card in known)])
        pair = {rank + suit for suit in "oceb" for rank in view.rule("pair_ranks")}
        kept: list[int] = []
        for card in sorted(cards):
            text = self.cards.text[card]
            if kept and kept[-1] >> 4 == card >> 4 and text not in pair:
                below = kept[-1]
                between = (1 << (card & 15)) - (2 << (below & 15))
                lying = [self.cards.number[laid] for _, laid in view.table]
                if (
                    view.value(text) == view.value(self.cards.text[below])
                    and not out[card >> 4] & between
                    and not any(below < played < card for played in lying)
                ):
                    continue
            kept.append(card)
        return kept

    # -- trying out ---------------------------------------------------------------------------------------------------

    def try_out(self, view: View, cards: list[int]) -> int:
        """The card that does best over many deals; after half of them only the better half of the cards goes on."""
        dealer = Dealer(view, self.cards, self.random, self.barred)
        worth = worth_of(view)
        size = view.seats - len(view.out)
        ahead = END if view.stock <= AHEAD * size else AHEAD
        length = sum(view.counts) + view.stock if ahead == END else size * ahead + DEALING
        plans = self.plans(view) if view.rule("result") in LOSERS else [[1] * view.seats]
        deals = max(FEWEST, min(DEALS, CARDS // (length * len(cards) * len(plans))))
        model = Model(view, self.cards.suit, plans[0])
        scores = {card: [0.0] * len(plans) for card in cards}
        left = list(cards)
        for _ in range(2):
            for _ in range(deals):
                hands, stock = dealer.deal(size * ahead)
                if model.soloist is not None:
                    model.pair_up(hands, self.cards.number[view.called])
                for number, plan in enumerate(plans):
                    model.aims = plan
                    for card in left:
                        scores[card][number] += self.outcome(view, model, worth, hands, stock, card, ahead)
            left.sort(key=lambda card: -max(scores[card]))
            left = left[: max(2, (len(left) + 1) // 2)]
        return max(left, key=lambda card: max(scores[card]))

    def outcome(
        self, view: View, model: Model, worth: Worth, hands: list[list[int]], stock: list[int], card: int, ahead: int
    ) -> float:
        """What playing the card comes to in one deal of the hidden cards, `ahead` tricks on."""
        mine = [hand[:] for hand in hands]
        mine[view.seat][card >> 4] ^= 1 << (card & 15)
        trick = [(seat, self.cards.number[played]) for seat, played in view.table]
        trick.append((view.seat, card))
        return worth(model.play(mine, stock[:], model.next[view.seat], trick, ahead))

    def plans(self, view: View) -> list[list[int]]:
        """Where points may hurt: we go for the top, or stay away; of the others the one ahead goes for the top."""
        ahead = max((seat for seat in range(view.seats) if seat != view.seat), key=view.points)
        others = [1 if seat == ahead and view.points(ahead) >= 15 else -1 for seat in range(view.seats)]
        plans = []
        first = aim(view)
        only = first < 0 and view.rule("result") == "most_points_loses_unless_101"  # 101 points are out of reach
        for direction in (first,) if only else (first, -first):
            plan = others[:]
            plan[view.seat] = direction
            plans.append(plan)
        return plans

    # -- the end of a deal for two --------------------------------------------------------------------------------------

    def is_known(self, view: View) -> bool:
        """Whether two seats play the last cards and each knows the other's hand."""
        return (
            view.seats - len(view.out) == 2
            and not view.stock
            and view.capote is None
            and len(view.hand) <= SEARCH
            and view.rule("obligation_stock_empty") == "strict"
            and view.rule("trump_dynamics") == "static"
            and self.hidden(view) == view.counts[self.other(view)]
        )

    def other(self, view: View) -> int:
        """The seat that is left beside ours."""
        return next(seat for seat in range(view.seats) if seat != view.seat and seat not in view.out)

    def hidden(self, view: View) -> int:
        """How many cards the other seat may hold."""
        return len(view.unseen) + len(view.known[self.other(view)])

    def search(self, view: View, cards: list[int]) -> int:
        """The card with the best result against the best answers."""
        other = self.other(view)
        hands = [self.cards.masks(view.hand), self.cards.masks(view.unseen | view.known[other])]
        model = Model(view, self.cards.suit, [1] * view.seats)
        sings = view.rule("hand_songs") != "none" and not view.rule("song_min_stock")
        songs = model.song if sings else [0, 0, 0, 0]
        carried = view.totals if model.target is not None else [0] * len(view.sides)
        mine = carried[view.side] + view.points(view.seat)
        theirs = carried[view._side_of[other]] + view.points(other)
        target = model.target

        def worth(ours: int, others: int) -> float:
            return float(ours - others) if target is None else target_worth(ours, others, target, -1, 0)

        claims = target if view.rule("claim_mode") != "none" else None
        end = Endgame(model.values, model.trump, model.pair, songs, model.bonus, claims, worth)
        unsung = model.unsung if sings else 0
        best, best_value = cards[0], -1e9
        for card in cards:
            if view.table:
                led = self.cards.number[view.table[0][1]]
                value = end.after_trick(hands, 1, led, card, mine, theirs, unsung, best_value, 1e9)
            else:
                value = end.after_lead(hands, 0, card, mine, theirs, unsung, best_value, 1e9)
            if value > best_value:
                best, best_value = card, value
        return best


if __name__ == "__main__":
    run(CountingBot())
