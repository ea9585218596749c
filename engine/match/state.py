"""The state of one match: its interface, and the fast path for playing cards.

    state = game.new_match(seed=7)
    while not state.is_over:
        state.apply(random.choice(state.legal_actions()))

Cards are ints (`engine.cards.pack`), actions are ints (`engine.cards.actions`). `engine.match.data` holds the data, `engine.match.flow` the
order of things; this file plays cards. Rules: README of the rules book, 3 and 4.
"""

from __future__ import annotations

from typing import Any

from engine.cards.actions import PLAY_END
from engine.cards.pack import NO_SUIT
from engine.errors import IllegalAction
from engine.match import flow, view
from engine.match.data import Data
from engine.match.record import SEAT
from engine.match.scoring import claims
from engine.match.trick import exchanges, legality, songs, tricks, windows


class State(Data):
    """One match. Build it with `Game.new_match`; read the slots freely, change them only through `apply`."""

    __slots__ = ()

    def legal_actions(self) -> tuple[int, ...]:
        """Return the legal actions of the seat to act, as ints; empty only when the match is over. The tuple is shared: do not change it."""
        legal = self.legal
        if legal is None:
            phase = self.phase
            legal = legality.cards(self) + self.extra if phase is None else phase.legal(self)
            self.legal = legal
        return legal

    def apply(self, action: int) -> None:  # noqa: C901 - the hot path: a call costs more than any line of it
        """Carry out a legal action of the seat to act. Raises IllegalAction, changing nothing, if it is illegal.

        These are the hottest lines of the engine, so everything that most tricks do not need is elsewhere.
        """
        legal = self.legal
        if legal is None:
            legal = self.legal_actions()
        if action not in legal and (step := self._illegal(action)):
            flow.run(self, step)
            return
        if action >= 52:
            if step := tricks.act_upon(self, action):
                flow.run(self, step)
            return
        suit, bit, points = self.facts[action]
        seat = self.turn
        self.hand[suit] ^= bit
        self.table.append(action)
        self.table_points += points
        best_suit = self.best_suit
        if suit == best_suit:
            if action > self.best:
                self.best = action
                self.winner = seat
                if suit == self.lead:
                    self.ftab = self.follow[action]
                else:
                    self.htab = self.over[action]
        elif best_suit == NO_SUIT:
            self.lead = self.best_suit = suit
            self.best = action
            self.winner = self.leader = seat
            self.ftab = self.follow[action]
            self.htab = self.void
            self.extra = ()
        elif suit == self.trump:
            led = self.best
            self.best = action
            self.best_suit = suit
            self.winner = seat
            self.ftab = self.ruffed[led]
            self.htab = self.over[action]
        if self.heard:
            log = self.log
            if log is not None:
                self.taken_actions.append(action)
                log.append(seat << SEAT | action)
            if suit == self.trump and (on_trump := self.rules.on_trump) is not None:
                on_trump(self)
        self.turn = seat = self.next[seat]
        if seat == self.leader:
            if step := tricks.complete(self):
                flow.run(self, step)
            return
        self.hand = hand = self.hands[seat]
        # Looked up here, so that `legal_actions` has nothing to do in most turns.
        mask = hand[self.lead]
        legal = self.ftab[mask] if mask else self.htab[hand[self.trump]]
        if legal:
            pass
        elif self.no_load:
            legal = legality.lightest(self)
        else:
            a, b, c, d, _ = hand
            coins, cups, swords, batons = self.held
            legal = coins[a] + cups[b] + swords[c] + batons[d]
        if self.watched:
            if self.own_turn:
                by_hand = hand[self.trump] & self.swap or self.game.accuses
                self.extra = extra = windows.before_card(self) if by_hand else self.own_extra
                legal += extra
            if self.modified:
                legal = None
        self.legal = legal

    def _illegal(self, action: int) -> int:
        """Refuse an action outside of the legal set, or let it pass as a revoke (`illegal_move`).

        Returns WAIT if the card is to be played like a legal one. Raises IllegalAction.
        """
        if self.is_over:
            raise IllegalAction("the match is over: no action is possible")
        is_held = (
            type(action) is int and 0 <= action < PLAY_END and self.phase is None and action in self.hand_of(self.turn)
        )
        if is_held and self.rules.illegal_move != "reject":
            return claims.revoke(self, action)
        text = self.game.action_text
        try:
            what = text(action)
        except (ValueError, IndexError, TypeError):
            what = repr(action)
        legal = ", ".join(text(a) for a in self.legal_actions())
        raise IllegalAction(f"{what} is not legal for seat {self.turn} now; legal: {legal}")

    # ---- what a state answers

    def declarations(self, seat: int) -> tuple[int, ...]:
        """Return the songs and tutes that a seat may declare after the trick just completed, as actions. Asking changes nothing."""
        return songs.declarations(self, seat)

    def exchanges(self, seat: int, moment: str) -> tuple[int, ...]:
        """Return the exchanges of the shown card open to a seat at a moment: before_first_lead, before_draw, after_draw or own_turn."""
        return exchanges.exchanges(self, seat, moment)

    def observation(self, seat: int) -> dict[str, Any]:
        """Return everything the seat may know now, as plain data (see `engine.match.view`)."""
        snapshot = view.observation(self, seat)
        if self.current_seat == seat:
            snapshot["legal"] = [self.game.action_text(action) for action in self.legal_actions()]
        return snapshot
