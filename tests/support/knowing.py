"""The cards that each seat may know in a deal, derived from hands, table and actions, never from events."""

from __future__ import annotations

import json
import re
from typing import Any

import engine
from engine.cards import actions as act

CARD = re.compile(r"\b(?:[1-7]|[8-9]|[RCSAKQJT])[ocebshd]\b")


def cards_in(data: Any) -> set[str]:
    """Return the card texts in the JSON of some data, wherever they stand."""
    return set(CARD.findall(json.dumps(data)))


class AllowedCards:
    """The cards that may be known: `public` and `own[seat]` grow during the deal; call `before` and `after` around every action."""

    def __init__(self, state: engine.State) -> None:
        self.state = state
        self.begin()

    def begin(self) -> None:
        """Begin a new deal: all seats see their own hands and the cards that lie face up."""
        state = self.state
        self.deal = state.deal_no
        self.public: set[str] = set()
        self.own: list[set[str]] = [set() for _ in range(state.seats)]
        self._look()
        if state.rules.first_deal == "coins_2o" and state.deal_no == 1:
            self.public |= {"2o", "4o"}  # The holders of these cards are announced; 2o may become the centre card.
        if state.rules.exchange_duty == "must" and state.swapped:
            suit = state.game.pack.suits[state.trump]
            # Compulsory exchanges happen at the deal: their cards lie face up.
            self.public |= {
                "7" + suit,
                "2" + suit,
                next(e for e in reversed(state.events) if e["e"] == "deal")["shown"],
            }

    def allowed(self, seat: int | None) -> set[str]:
        """Return the cards that may be shown to a seat (None: a spectator)."""
        return self.public if seat is None else self.public | self.own[seat]

    def before(self, action: int) -> None:
        """Record what an action makes known, before it is taken."""
        state, pack = self.state, self.state.game.pack
        self._look()
        if action < act.PLAY_END:
            self.public.add(pack.text(action))
        elif action < act.TUTE:
            suit = pack.suits[action - act.SING]
            pair = {rank + suit for rank in state.rules.pair_ranks}
            hidden = state.rules.hide_arrastre_twenty and state.n == 0 and action - act.SING != state.trump
            if not hidden:
                self.public |= pair
        elif action < act.EXCHANGE_SEVEN:
            self.public |= {act.TUTE_RANKS[action - act.TUTE] + suit for suit in pack.suits}
        elif action < act.PASS:
            self.public.add(pack.text(pack.card("7" if action < act.EXCHANGE_TWO else "2", action & 3)))
        elif act.CALL <= action < act.PREDICT:
            self.public.add(pack.text(action - act.CALL))

    def after(self, action: int) -> None:
        """Record what everybody sees after an action."""
        if self.state.deal_no != self.deal:
            self.begin()
        self._look()

    def _look(self) -> None:
        state, pack = self.state, self.state.game.pack
        self.public |= {pack.text(card) for card in state.table}
        if state.shown >= 0:
            self.public.add(pack.text(state.shown))
        for seat in range(state.seats):
            self.own[seat] |= {pack.text(card) for card in state.hand_of(seat)}
        if state.rules.censor and state.notes.get("soloist") is not None:
            # The dealer sees the soloist's hand; the displaced soloist has seen it before.
            self.own[state.dealer] |= {pack.text(card) for card in state.hand_of(state.notes["soloist"])}
