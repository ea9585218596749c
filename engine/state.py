"""The state of one match: plain data, a fast path for playing cards, and the surface that players of the engine drive.

    state = game.new_match(seed=7)
    while not state.is_over:
        state.apply(random.choice(state.legal_actions()))

Cards are ints (`engine.cards`), actions are ints (`engine.actions`). What happens around the cards (dealing, windows, counting) stands in
`engine.parts`; this file holds the data, the trick itself, and what may be asked of a state. Rules: README of the rules book, 3 and 4.
"""

from __future__ import annotations

from operator import add
from typing import TYPE_CHECKING, Any

from engine.cards import NO_SUIT, Table
from engine.parts import announcing, exchanging, legality, results, tricks
from engine.phase import Phase

if TYPE_CHECKING:
    from engine.chance import Dice
    from engine.game import Game
    from engine.parts.outcome import Verdict

Event = dict[str, Any]


class State:
    """One match. Build it with `Game.new_match`; read the slots freely, change them only through `apply`."""

    __slots__ = (
        "active",
        "asked",
        "best",
        "best_suit",
        "bit_of",
        "capote_by",
        "cards",
        "chips",
        "coto_games",
        "cotos",
        "deal_no",
        "dealer",
        "deals",
        "dice",
        "drawn",
        "extra",
        "facts",
        "follow",
        "ftab",
        "game",
        "game_deal",
        "games",
        "games_played",
        "hand",
        "hands",
        "heard",
        "held",
        "holder",
        "htab",
        "in_force",
        "is_over",
        "last_trick",
        "lead",
        "lead_extra",
        "lead_swap",
        "leader",
        "left",
        "left_at",
        "legal",
        "log",
        "mano",
        "marks",
        "modified",
        "n",
        "next",
        "no_load",
        "notes",
        "out",
        "over",
        "own_extra",
        "own_turn",
        "pending",
        "phase",
        "points_of",
        "pot",
        "queue",
        "reached",
        "revoker",
        "ruffed",
        "rules",
        "score",
        "seats",
        "seed",
        "shown",
        "side",
        "size",
        "songs",
        "songs_made",
        "stage",
        "stock",
        "suit_map",
        "suit_of",
        "sung",
        "swap",
        "swapped",
        "table",
        "table_points",
        "taken_actions",
        "totals",
        "tricks",
        "trump",
        "turn",
        "tute_by",
        "twenties",
        "verdict",
        "void",
        "watched",
        "window",
        "window_songs",
        "window_swap",
        "winner",
        "winners",
    )  # fmt: skip

    def __init__(
        self,
        game: Game,
        seed: bytes,
        deals: int | None,
        record: bool,
        suit_map: tuple[int, ...],
        blank: bool = False,
    ) -> None:
        if blank:
            return  # `clone` fills every slot; compiled classes cannot be made without __init__
        n = game.players
        self.game = game
        self.rules = game.rules
        self.seed = seed
        self.deals = deals  # stop after so many deals; None: the match ends by its rules
        self.log: list[Event] | None = [] if record else None
        self.taken_actions: list[int] = []
        self.dice: Dice | None = None  # playouts shuffle with these instead of the seed
        self.suit_map = suit_map  # suit of the shuffle -> suit played with
        pack = game.pack
        self.suit_of = pack.suit
        self.bit_of = pack.bit
        self.held = pack.all
        self.points_of: list[int] = game.card_points
        self.facts: list[tuple[int, int, int]] = game.facts

        # the match
        self.seats = n
        self.side: list[int] = game.side
        self.active: tuple[int, ...] = tuple(range(n))  # seats in the deal, from mano in order of play
        self.out: tuple[int, ...] = ()  # seats that take no part in the deal
        self.next: tuple[int, ...] = (*range(1, n), 0)
        self.deal_no = 0
        self.game_deal = 0  # number of the deal within the game where a game takes several
        self.games_played = 0
        self.dealer = -1
        self.mano = -1
        sides = len(game.sides)
        self.totals: tuple[int, ...] = (0,) * sides  # points carried from earlier deals of the game, by side
        self.games: tuple[int, ...] = (0,) * sides
        self.coto_games: tuple[int, ...] = (0,) * sides
        self.cotos: tuple[int, ...] = (0,) * sides
        self.marks: tuple[int, ...] = (0,) * n  # loss marks by seat
        self.left_at: tuple[int, ...] = (0,) * n  # number of the deal that eliminated the seat, 0 while it is in
        self.chips: tuple[int, ...] = (0,) * n
        self.pot = 0
        self.score: tuple[int, ...] = (0,) * n  # board score by seat, in the game's score unit
        self.is_over = False
        self.winners: tuple[int, ...] = ()
        self.verdict: Verdict | None = None  # of the last deal

        # the deal
        self.hands: list[list[int]] = [[0] * (NO_SUIT + 1) for _ in range(n)]
        self.trump = NO_SUIT
        self.stock: list[int] = []  # face-down cards, the next one last
        self.n = 0  # cards still to be drawn, the shown card included when it will be drawn
        self.shown = -1
        self.holder = -1  # seat that holds the shown card in its hand
        self.pending = -1  # seat with a deferred exchange laid down
        self.swapped = False  # the shown card has come there by an exchange
        # card drawn after the last trick by seat, -1 for none; None: nobody drew, or it matters to nobody (`Game.minds_draws`, the record)
        self.drawn: list[int] | None = None
        self.cards: list[int] = [0] * n  # captured card points by seat
        self.songs: list[int] = [0] * n  # points of songs, hand and table, by seat
        self.tricks: list[int] = [0] * n  # tricks won by seat
        self.songs_made: tuple[tuple[int, int, int, bool], ...] = ()  # (seat, suit, points, on the table)
        self.sung = 0  # bit mask of suits whose pair has been sung
        self.twenties = 0  # bit mask of seats that have sung a 20 from the hand
        self.reached: tuple[int, ...] = ()  # sides in the order in which they reached the target
        self.last_trick = -1
        self.tute_by = -1
        self.capote_by = -1
        self.revoker = -1
        self.notes: dict[str, Any] = {}  # what a single game needs and no other; replaced, never changed in place
        self.stage = 0

        # the trick
        self.size = n  # cards in a trick
        self.left = 0  # cards still to be played in the deal
        self.turn = 0
        self.hand = self.hands[0]
        self.table: list[int] = []
        self.lead = NO_SUIT
        self.leader = 0
        self.best = 0
        self.best_suit = NO_SUIT  # between tricks; `lead` still is the suit of the last one then
        self.winner = 0  # seat that is winning the trick, then the one that won it
        self.table_points = 0
        self.in_force: legality.InForce | None = None
        self.no_load = False
        self.modified = False  # whether followers' legal cards take more than to look them up
        self.watched = False  # `modified`, or something may be announced at every turn
        self.heard = record  # whether a card on the table is recorded or moves trumps
        self.follow: list[Table] = []  # these four: legality.Tables
        self.ruffed: list[Table] = []
        self.void: Table = pack.nothing
        self.over: list[Table] = []
        self.ftab: Table = pack.nothing
        self.htab: Table = pack.nothing

        # questions
        self.phase: Phase | None = None  # None: which card
        self.legal: tuple[int, ...] | None = None
        self.extra: tuple[int, ...] = ()  # announcements that the seat to play may make before its card
        self.own_turn = False  # whether every seat may announce something at its own turn
        # these five: announcing.fix_turns. What every seat may announce whatever it holds, and the trumps that may be worth an exchange
        self.own_extra: tuple[int, ...] = ()  # when it follows
        self.lead_extra: tuple[int, ...] = ()  # when it leads to the trick after one that it has won
        self.swap = 0  # bit mask of trumps, when it follows
        self.lead_swap = 0  # when it leads
        self.window_swap = 0  # before the draw
        self.window = ""  # "", "before_draw", "after_draw": the window that is open
        self.queue: tuple[int, ...] = ()  # seats still to be asked in the window
        self.asked = -1
        self.window_songs: tuple[tuple[int, int], ...] = ()  # (seat, points) sung in this window

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
        """Everything the seat may know at this moment, as plain data (see `engine.view`)."""
        from engine.view import observation  # a view is built on request only; playouts never load it

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
