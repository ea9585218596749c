"""The state of one match: a fast path for playing cards, and the surface that players of the engine drive.

    state = game.new_match(seed=7)
    while not state.is_over:
        state.apply(random.choice(state.legal_actions()))

Cards are ints (`engine.cards.pack`), actions are ints (`engine.cards.actions`). What happens around the cards (dealing, windows, counting) stands in
`engine.match`, the data in `engine.match.data`; this file holds the trick itself and what may be asked of a state. Rules: README of the rules
book, 3 and 4.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any

from engine.cards.pack import NO_SUIT
from engine.match.data import Event, Slots
from engine.match.scoring import results
from engine.match.trick import announcing, legality, tricks
from engine.match.trick import exchanges as exchanging

if TYPE_CHECKING:
    from engine.match.phase import Phase


class State(Slots):
    """One match. Build it with `Game.new_match`; read the slots freely, change them only through `apply`."""

    __slots__ = ()

    # ---- what drives a match

    @property
    def current_seat(self) -> int:
        """The seat that must act; -1 when the match is over."""
        return -1 if self.is_over else self.turn

    @property
    def in_trick(self) -> int:
        """Cards that have been played to the trick that is going on; 0 between tricks."""
        return 0 if self.best_suit == NO_SUIT else len(self.table)

    def legal_actions(self) -> tuple[int, ...]:
        """What the seat to act may do, as action ints; empty only when the match is over. A shared tuple: do not change it."""
        legal = self.legal
        if legal is None:
            phase = self.phase
            legal = legality.cards(self) + self.extra if phase is None else phase.legal(self)
            self.legal = legal
        return legal

    def apply(self, action: int) -> None:
        """Carries out a legal action of the seat to act. Raises IllegalAction, changing nothing, if it is not one.

        The way of a card, the hottest lines of the engine: whatever a trick can do without stands elsewhere.
        """
        legal = self.legal
        if legal is None:
            legal = self.legal_actions()
        if action not in legal:
            tricks.revoke(self, action)
            return
        if action >= 52:
            tricks.act_upon(self, action)
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
            self.best = action
            self.best_suit = suit
            self.winner = seat
            self.ftab = self.ruffed[self.lead]
            self.htab = self.over[action]
        if self.heard:
            log = self.log
            if log is not None:
                self.taken_actions.append(action)
                log.append({"e": "play", "seat": seat, "card": self.game.pack.texts[action]})
            on_play = self.rules.on_play
            if on_play is not None:
                on_play(self)
        self.turn = seat = self.next[seat]
        if seat == self.leader:
            tricks.complete(self)
            return
        self.hand = hand = self.hands[seat]
        # here and not in `legal_actions`, which is asked for nothing else in most turns
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
                self.extra = extra = announcing.before_card(self) if hand[self.trump] & self.swap else self.own_extra
                legal += extra
            if self.modified:
                legal = None
        self.legal = legal

    def clone(self) -> State:
        """An independent copy that records nothing. Cheap, for search: written out, because a loop over the slots takes five times as long."""
        new = State(self.game, self.seed, None, False, self.suit_map, True)
        new.active = self.active
        new.asked = self.asked
        new.best = self.best
        new.best_suit = self.best_suit
        new.bit_of = self.bit_of
        new.capote_by = self.capote_by
        new.chips = self.chips
        new.coto_games = self.coto_games
        new.cotos = self.cotos
        new.deal_no = self.deal_no
        new.dealer = self.dealer
        new.deals = self.deals
        new.dice = None
        new.drawn = self.drawn
        new.extra = self.extra
        new.facts = self.facts
        new.follow = self.follow
        new.ftab = self.ftab
        new.game = self.game
        new.game_deal = self.game_deal
        new.games = self.games
        new.games_played = self.games_played
        new.heard = self.rules.on_play is not None
        new.held = self.held
        new.holder = self.holder
        new.htab = self.htab
        new.in_force = self.in_force
        new.is_over = self.is_over
        new.last_trick = self.last_trick
        new.lead = self.lead
        new.lead_extra = self.lead_extra
        new.lead_swap = self.lead_swap
        new.leader = self.leader
        new.left = self.left
        new.left_at = self.left_at
        new.legal = self.legal
        new.mano = self.mano
        new.marks = self.marks
        new.modified = self.modified
        new.n = self.n
        new.next = self.next
        new.no_load = self.no_load
        new.notes = self.notes
        new.out = self.out
        new.over = self.over
        new.own_extra = self.own_extra
        new.own_turn = self.own_turn
        new.pending = self.pending
        new.phase = self.phase
        new.points_of = self.points_of
        new.pot = self.pot
        new.queue = self.queue
        new.reached = self.reached
        new.revoker = self.revoker
        new.ruffed = self.ruffed
        new.rules = self.rules
        new.score = self.score
        new.seats = self.seats
        new.seed = self.seed
        new.shown = self.shown
        new.side = self.side
        new.size = self.size
        new.songs_made = self.songs_made
        new.stage = self.stage
        new.suit_map = self.suit_map
        new.suit_of = self.suit_of
        new.sung = self.sung
        new.swap = self.swap
        new.swapped = self.swapped
        new.table_points = self.table_points
        new.totals = self.totals
        new.trump = self.trump
        new.turn = self.turn
        new.tute_by = self.tute_by
        new.twenties = self.twenties
        new.verdict = self.verdict
        new.void = self.void
        new.watched = self.watched
        new.window = self.window
        new.window_songs = self.window_songs
        new.window_swap = self.window_swap
        new.winner = self.winner
        new.winners = self.winners
        new.log = None
        new.taken_actions = []
        new.hands = hands = [hand[:] for hand in self.hands]
        new.hand = hands[self.turn]
        new.stock = self.stock[:]
        new.table = self.table[:]
        new.cards = self.cards[:]
        new.songs = self.songs[:]
        new.tricks = self.tricks[:]
        return new

    def __deepcopy__(self, memo: object) -> State:
        return self.clone()

    # ---- what a state answers

    @property
    def events(self) -> list[Event]:
        """The record so far, the whole truth. `engine.redact` makes of it what a seat may see."""
        if self.log is None:
            raise ValueError("this match is not recorded: ask new_match for record=True")
        return self.log

    @property
    def actions(self) -> list[int]:
        """The actions taken so far; recorded matches only."""
        if self.log is None:
            raise ValueError("this match is not recorded: ask new_match for record=True")
        return self.taken_actions

    def scores(self) -> list[int]:
        """Board score by seat so far, in `game.score_unit`: boards are compared by the sums of these."""
        return list(self.score)

    def returns(self) -> list[float]:
        """Score of each seat less the mean of the table: they sum to zero."""
        mean = sum(self.score) / self.seats
        return [score - mean for score in self.score]

    def hand_of(self, seat: int) -> tuple[int, ...]:
        """The cards a seat holds, ascending."""
        return self.game.pack.in_hand(self.hands[seat])

    def active_sides(self) -> list[int]:
        """Sides with a seat in the deal, ascending."""
        return sorted({self.side[seat] for seat in self.active})

    def card_points(self, side: int) -> int:
        """Captured card points of a side in this deal."""
        return sum(self.cards[seat] for seat in self.active if self.side[seat] == side)

    def seat_points(self) -> list[int]:
        """Points of this deal by seat: cards, songs, last trick bonus; or, in podrida, what the prediction is worth."""
        if self.rules.settlement == "points":
            return results.prediction_points(self)
        points = list(map(add, self.cards, self.songs))
        if self.last_trick >= 0 and not self.left and not self.notes.get("bonus_declined"):
            points[self.last_trick] += self.rules.last_trick_bonus
        return points

    def side_points(self) -> list[int]:
        """Points of this deal by side."""
        points = self.seat_points()
        return points if len(self.games) == self.seats else [points[0] + points[2], points[1] + points[3]]

    def totals_now(self) -> list[int]:
        """Points of the game by side: carried ones and those of this deal."""
        return [carried + points for carried, points in zip(self.totals, self.side_points(), strict=True)]

    def declarations(self, seat: int) -> tuple[int, ...]:
        """Songs and tutes that a seat may declare after the trick just completed, as actions; asking changes nothing."""
        return announcing.declarations(self, seat)

    def exchanges(self, seat: int, moment: str) -> tuple[int, ...]:
        """Exchanges of the shown card open to a seat at a moment: before_first_lead, before_draw, after_draw or own_turn."""
        return exchanging.exchanges(self, seat, moment)

    def observation(self, seat: int) -> dict[str, Any]:
        """Everything the seat may know at this moment, as plain data (see `engine.match.view`)."""
        from engine.match.view import observation  # a view is built on request only; playouts never load it

        return observation(self, seat)

    def emit(self, kind: str, **fields: Any) -> None:
        """Appends an event to the record, if there is one."""
        if self.log is not None:
            self.log.append({"e": kind, **fields})

    def ask(self, seat: int, phase: Phase | None) -> None:
        """The next action is this seat's."""
        self.turn = seat
        self.hand = self.hands[seat]
        self.phase = phase
        self.legal = None

    def card_text(self, card: int) -> str | None:
        """Text of a card; None for -1."""
        return None if card < 0 else self.game.pack.texts[card]

    def suit_text(self, suit: int) -> str | None:
        """Letter of a suit; None for "no suit"."""
        return None if suit == NO_SUIT else self.game.pack.suits[suit]
