"""The house bot `counting`: it knows where every card can be, and tries its cards out.

1. It remembers the cards played, the cards shown, the cards that a seat's play proves it cannot hold, and the pairs that were not sung.
2. It deals the hidden cards many times over, in agreement with all of this (`deals`).
3. It plays each deal out once for each of its own cards (`playout`, by the `habits` of an ordinary player) and takes the card that
   does best on average (`worth`). While there is a stock it looks two tricks ahead and weighs the hands that are left.
4. If two seats play and the stock is gone, both hands are known and it searches to the end (`endgame`).
5. It bids, names trumps, predicts and joins in the same way: by playing the hand out (`calls`, `staying`).

Its budget is a count of cards, not a time, so that the same questions with the same seed get the same answers on any machine.
"""

from calls import Calls
from deals import Dealer, Numbering
from endgame import Endgame
from playout import END, Model
from tute_bot import Bot, View, plays, run
from tute_sense import LOSERS, aim, announce
from worth import Worth, target_worth, worth_of

CARDS = 1600  # budget for one round of a decision: cards played in playouts, each about 2 microseconds
DEALS = 40  # most deals of the hidden cards in each of the two rounds of a decision
FEWEST = 6
AHEAD = 2  # tricks of a playout while there is a stock; the rest is estimated
DEALING = 5  # cost of dealing the hidden cards, in cards played
SEARCH = 6  # cards in hand at which the search of the endgame starts


class CountingBot(Bot):
    """Perfect memory and a little lookahead."""

    name = "counting"

    def start(self, view: View) -> None:
        """Number the cards of the table. No seat is known to lack a pair yet."""
        self.cards = Numbering(view)
        self.barred: list[set[int]] = [set() for _ in range(view.seats)]
        self.winner = -1

    def seen(self, view: View, event: dict) -> None:
        """Record that a seat that won a trick and led without singing holds no pair that it could have sung."""
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
        """Return True if a seat that has just won a trick would sing a pair if it held one: nobody who wants points withholds a song."""
        who = view.rule("hand_songs")
        return (
            (who in ("trick_winner", "winning_side") or (who == "soloist" and seat == view.soloist))
            and view.stock >= view.rule("song_min_stock")
            and view.rule("result") not in LOSERS
        )

    def act(self, view: View, legal: list[str]) -> str:
        """Return a call or announcement if one is due, else the card that does best."""
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
        """Return the cards without equals: of neighbours worth the same, with no card of the others between them, only the lowest."""
        out = self.cards.masks([*view.unseen, *(card for cards_known in view.known for card in cards_known)])
        pair = {rank + suit for suit in "oceb" for rank in view.rule("pair_ranks")}
        distinct: list[int] = []
        for card in sorted(cards):
            text = self.cards.text[card]
            if distinct and distinct[-1] >> 4 == card >> 4 and text not in pair:
                below = distinct[-1]
                between = (1 << (card & 15)) - (2 << (below & 15))
                lying = [self.cards.number[laid] for _, laid in view.table]
                if (
                    view.value(text) == view.value(self.cards.text[below])
                    and not out[card >> 4] & between
                    and not any(below < played < card for played in lying)
                ):
                    continue
            distinct.append(card)
        return distinct

    # -- trying out ---------------------------------------------------------------------------------------------------

    def try_out(self, view: View, cards: list[int]) -> int:
        """Return the card that does best over many deals; after half of them only the better half of the cards goes on."""
        dealer = Dealer(view, self.cards, self.random, self.barred)
        worth = worth_of(view)
        size = view.seats - len(view.out)
        ahead = END if view.stock <= AHEAD * size else AHEAD
        length = sum(view.counts) + view.stock if ahead == END else size * ahead + DEALING
        plans = self.plans(view) if view.rule("result") in LOSERS else [[1] * view.seats]
        deals = max(FEWEST, min(DEALS, CARDS // (length * len(cards) * len(plans))))
        model = Model(view, self.cards.suit, plans[0])
        scores = {card: [0.0] * len(plans) for card in cards}
        candidates = list(cards)
        for _ in range(2):
            for _ in range(deals):
                hands, stock = dealer.deal(size * ahead)
                if model.soloist is not None:
                    model.pair_up(hands, self.cards.number[view.called])
                for number, plan in enumerate(plans):
                    model.aims = plan
                    for card in candidates:
                        scores[card][number] += self.outcome(view, model, worth, hands, stock, card, ahead)
            candidates.sort(key=lambda card: -max(scores[card]))
            candidates = candidates[: max(2, (len(candidates) + 1) // 2)]
        return max(candidates, key=lambda card: max(scores[card]))

    def outcome(
        self, view: View, model: Model, worth: Worth, hands: list[list[int]], stock: list[int], card: int, ahead: int
    ) -> float:
        """Return the worth of playing the card in one deal of the hidden cards, `ahead` tricks on."""
        own_hands = [hand[:] for hand in hands]
        own_hands[view.seat][card >> 4] ^= 1 << (card & 15)
        trick = [(seat, self.cards.number[played]) for seat, played in view.table]
        trick.append((view.seat, card))
        return worth(model.play(own_hands, stock[:], model.next[view.seat], trick, ahead))

    def plans(self, view: View) -> list[list[int]]:
        """Return the plans for games where points may hurt: we go for the top, or avoid points; of the others only the leader goes for the top."""
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
        """Return True if two seats play the last cards and each knows the other's hand."""
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
        """Return the other seat in the deal."""
        return next(seat for seat in range(view.seats) if seat != view.seat and seat not in view.out)

    def hidden(self, view: View) -> int:
        """Return how many cards the other seat may hold."""
        return len(view.unseen) + len(view.known[self.other(view)])

    def search(self, view: View, cards: list[int]) -> int:
        """Return the card with the best result against the best answers."""
        other = self.other(view)
        hands = [self.cards.masks(view.hand), self.cards.masks(view.unseen | view.known[other])]
        model = Model(view, self.cards.suit, [1] * view.seats)
        sings = view.rule("hand_songs") != "none" and not view.rule("song_min_stock")
        songs = model.song if sings else [0, 0, 0, 0]
        carried = view.totals if model.target is not None else [0] * len(view.sides)
        ours_so_far = carried[view.side] + view.points(view.seat)
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
                value = end.after_trick(hands, 1, led, card, ours_so_far, theirs, unsung, best_value, 1e9)
            else:
                value = end.after_lead(hands, 0, card, ours_so_far, theirs, unsung, best_value, 1e9)
            if value > best_value:
                best, best_value = card, value
        return best


if __name__ == "__main__":
    run(CountingBot())
