"""The data of one match: the slots, their meaning, their first values, and simple queries.

The assignments of `Data.__init__` and `Data.begin_deal` define the slots. `python -m tests.support.slots` generates the code between the marks from
them, and a test checks that it is up to date. `engine.match.flow` has the course of a match.
"""

from __future__ import annotations

from collections.abc import Callable
from operator import add
from typing import TYPE_CHECKING, Any, NamedTuple, Self

from engine.cards.pack import NO_SUIT
from engine.match import record

if TYPE_CHECKING:
    from engine.cards.chance import Dice
    from engine.cards.pack import ByHolding
    from engine.match.record import Entry
    from engine.match.redaction import EventRecord
    from engine.rules.obligations import InForce
    from engine.rules.terms import Terms
    from engine.rules.verdict import Verdict

# Lists that a state changes in place: a clone copies lists of these two types. It shares all others, which never change.
OwnList = list[int]
OwnLists = list[list[int]]


class Phase(NamedTuple):
    """A question other than "which card": the legal answers, and the function that carries one out. It keeps no state of its own."""

    name: str
    legal: Callable[[Data], tuple[int, ...]]
    act: Callable[[Data, int], int]  # returns the next step


class Data:
    """One match as plain data. `engine.match.state.State` is its only subclass in use."""

    # slots: made by tests.support.slots
    __slots__ = (
        "active", "best", "best_suit", "bit_of", "capote_by", "cards", "chips", "clock", "coto_games", "cotos",
        "deal_no", "dealer", "deals", "dice", "drawn", "extra", "facts", "follow", "ftab", "game", "game_deal",
        "games", "games_played", "hand", "hands", "heard", "held", "history", "holder", "htab", "in_force", "is_over",
        "last_trick", "lead", "lead_extra", "lead_swap", "leader", "left", "left_at", "legal", "log", "mano", "marks",
        "modified", "n", "next", "no_load", "notes", "out", "over", "own_extra", "own_turn", "pending", "phase",
        "points_of", "pot", "queue", "reached", "revokers", "ruffed", "rules", "score", "seats", "seed", "shown",
        "side", "size", "songs", "songs_made", "stage", "stock", "suit_map", "suit_of", "sung", "swap", "swapped",
        "table", "table_points", "taken_actions", "totals", "tricks", "trump", "turn", "tute_by", "twenties",
        "verdict", "void", "watched", "window", "window_songs", "window_swap", "winner", "winners",
    )  # fmt: skip
    # slots: end

    def __init__(
        self,
        game: Terms,
        seed: bytes,
        deals: int | None,
        recorded: bool,
        suit_map: tuple[int, ...],
        blank: bool = False,
    ) -> None:
        self.game = game
        self.rules = game.rules
        self.seed = seed
        self.suit_map = suit_map  # suit of the shuffle -> suit played with
        self.log: list[Entry] | None = [] if recorded else None  # entries that are not yet in `history`
        self.history: list[EventRecord] = []
        self.taken_actions: list[int] = []
        self.dice: Dice | None = None  # playouts shuffle with these instead of the seed
        # True if a card on the table is recorded or may move trumps
        self.heard = recorded or game.rules.on_trump is not None
        if blank:
            return  # `clone` fills all other slots; a compiled class cannot skip __init__
        n = game.players
        self.deals = deals  # the match stops after this many deals; None: it ends by its rules
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
        self.clock = 0  # cards played in the finished deals of the match
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
        self.verdict: Verdict | None = None  # the verdict of the last deal

        # the deal: slots that `begin_deal` does not reset
        self.hands: OwnLists = [[0] * (NO_SUIT + 1) for _ in range(n)]
        self.trump = NO_SUIT
        self.stock: OwnList = []  # face-down cards, the next one last
        self.n = 0  # cards still to be drawn, with the shown card if it will be drawn
        self.reached: tuple[int, ...] = ()  # sides in the order in which they reached the target
        self.stage = 0

        # the trick
        self.size = n  # cards in a trick
        self.left = 0  # cards still to be played in the deal
        self.turn = 0
        self.hand = self.hands[0]
        self.leader = 0
        self.best = 0
        self.winner = 0  # seat that is winning the trick, then the one that won it
        self.in_force: InForce | None = None
        self.no_load = False
        self.modified = False  # True if the legal cards of followers take more than a look-up
        self.watched = False  # True if `modified`, or if seats may announce something at every turn
        self.follow: list[ByHolding] = []  # these four form a `rules.obligations.Obligation`
        self.ruffed: list[ByHolding] = []
        self.void: ByHolding = pack.nothing
        self.over: list[ByHolding] = []
        self.ftab: ByHolding = pack.nothing
        self.htab: ByHolding = pack.nothing

        # questions
        self.phase: Phase | None = None  # None: which card
        self.legal: tuple[int, ...] | None = None
        self.own_turn = False  # True if every seat may announce something at its own turn
        # These five come from `trick.turns`: announcements that do not depend on the hand, and trumps that may allow an exchange.
        self.own_extra: tuple[int, ...] = ()  # announcements of a follower
        self.lead_extra: tuple[int, ...] = ()  # announcements of the leader to the trick after one that it has won
        self.swap = 0  # trumps that may allow a follower an exchange, as a bit mask
        self.lead_swap = 0  # the same for the leader
        self.window_swap = 0  # the same before the draw

    def begin_deal(self) -> None:
        """Reset everything that belongs to one deal. `opening.dealing` sets the other slots."""
        self.shown = -1
        self.holder = -1  # seat that holds the shown card in its hand
        self.pending = -1  # seat with a deferred exchange laid down
        self.swapped = False  # True if an exchange put the shown card there
        # Cards drawn after the last trick, by seat, -1 for none. None if nobody drew or nothing needs them (`Terms.minds_draws`, the record).
        self.drawn: list[int] | None = None
        self.cards: OwnList = [0] * self.seats  # captured card points by seat
        self.songs: OwnList = [0] * self.seats  # points of songs, hand and table, by seat
        self.tricks: OwnList = [0] * self.seats  # tricks won by seat
        self.songs_made: tuple[tuple[int, int, int, bool], ...] = ()  # (seat, suit, points, on the table)
        self.sung = 0  # bit mask of suits whose pair has been sung
        self.twenties = 0  # bit mask of seats that have sung a 20 from the hand
        self.last_trick = -1
        self.tute_by = -1
        self.capote_by = -1
        self.revokers: tuple[int, ...] = ()  # seats with an illegal card in this deal that nobody has accused
        self.notes: dict[str, Any] = {}  # facts that only some games need; replaced, never changed in place

        self.table: OwnList = []
        self.lead = NO_SUIT
        self.best_suit = NO_SUIT  # NO_SUIT between tricks; `lead` keeps the suit of the last one
        self.table_points = 0

        self.extra: tuple[int, ...] = ()  # announcements that the seat to play may make before its card
        self.window = ""  # "", "before_draw", "after_draw": the window that is open
        self.queue: tuple[int, ...] = ()  # seats still to be asked in the window
        self.window_songs: tuple[tuple[int, int], ...] = ()  # (seat, points) sung in this window

    # ---- copies

    # clone: made by tests.support.slots
    def clone(self) -> Self:
        """An independent copy that records nothing. Cheap, for search."""
        new = type(self)(self.game, self.seed, None, False, self.suit_map, True)
        new.active = self.active
        new.best = self.best
        new.best_suit = self.best_suit
        new.bit_of = self.bit_of
        new.capote_by = self.capote_by
        new.cards = self.cards[:]
        new.chips = self.chips
        new.clock = self.clock
        new.coto_games = self.coto_games
        new.cotos = self.cotos
        new.deal_no = self.deal_no
        new.dealer = self.dealer
        new.deals = self.deals
        new.drawn = self.drawn
        new.extra = self.extra
        new.facts = self.facts
        new.follow = self.follow
        new.ftab = self.ftab
        new.game_deal = self.game_deal
        new.games = self.games
        new.games_played = self.games_played
        new.hands = [row[:] for row in self.hands]
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
        new.revokers = self.revokers
        new.ruffed = self.ruffed
        new.score = self.score
        new.seats = self.seats
        new.shown = self.shown
        new.side = self.side
        new.size = self.size
        new.songs = self.songs[:]
        new.songs_made = self.songs_made
        new.stage = self.stage
        new.stock = self.stock[:]
        new.suit_of = self.suit_of
        new.sung = self.sung
        new.swap = self.swap
        new.swapped = self.swapped
        new.table = self.table[:]
        new.table_points = self.table_points
        new.totals = self.totals
        new.tricks = self.tricks[:]
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
        new.hand = new.hands[self.turn]
        return new

    # clone: end

    def __deepcopy__(self, memo: object) -> Self:
        return self.clone()

    # ---- what a match answers

    @property
    def current_seat(self) -> int:
        """The seat that must act; -1 when the match is over."""
        return -1 if self.is_over else self.turn

    @property
    def in_trick(self) -> int:
        """Cards played to the current trick; 0 between tricks."""
        return 0 if self.best_suit == NO_SUIT else len(self.table)

    @property
    def events(self) -> list[EventRecord]:
        """The whole record so far. `engine.redact` reduces it to what a seat may see."""
        if self.log is None:
            raise ValueError("this match is not recorded: ask new_match for record=True")
        if self.log:
            self.write_history()
        return self.history

    @property
    def actions(self) -> list[int]:
        """The actions so far, of recorded matches only."""
        if self.log is None:
            raise ValueError("this match is not recorded: ask new_match for record=True")
        return self.taken_actions

    def scores(self) -> list[int]:
        """Return the board score by seat so far, in `game.score_unit`. Boards compare the sums of these scores."""
        return list(self.score)

    def returns(self) -> list[float]:
        """Return the score of each seat less the mean of the table; the sum is zero."""
        mean = sum(self.score) / self.seats
        return [score - mean for score in self.score]

    def hand_of(self, seat: int) -> tuple[int, ...]:
        """Return the cards of a seat, ascending."""
        return self.game.pack.in_hand(self.hands[seat])

    def active_sides(self) -> list[int]:
        """Return the sides with a seat in the deal, ascending."""
        return sorted({self.side[seat] for seat in self.active})

    def card_points(self, side: int) -> int:
        """Return the captured card points of a side in this deal."""
        return sum(self.cards[seat] for seat in self.active if self.side[seat] == side)

    def seat_points(self) -> list[int]:
        """Return the points of this deal by seat: cards, songs, last trick bonus; or, in podrida, the points for predictions."""
        if self.rules.settlement == "points":
            return self.prediction_points()
        points = list(map(add, self.cards, self.songs))
        if self.last_trick >= 0 and not self.left and not self.notes.get("bonus_declined"):
            points[self.last_trick] += self.rules.last_trick_bonus
        return points

    def prediction_points(self) -> list[int]:
        """Return 10 + 3 t for an exact prediction of t tricks, else -3 per trick of difference; 1 or 0 with `hit_or_miss`."""
        points = [0] * self.seats
        for seat, predicted in self.notes["predictions"].items():
            missed = abs(predicted - self.tricks[seat])
            if self.rules.prediction_score == "hit_or_miss":
                points[seat] = 0 if missed else 1
            else:
                points[seat] = -3 * missed if missed else 10 + 3 * predicted
        return points

    def side_points(self) -> list[int]:
        """Return the points of this deal by side."""
        points = self.seat_points()
        return points if len(self.games) == self.seats else [points[0] + points[2], points[1] + points[3]]

    def totals_now(self) -> list[int]:
        """Return the points of the game by side: those carried, plus those of this deal."""
        return [carried + points for carried, points in zip(self.totals, self.side_points(), strict=True)]

    def write_history(self) -> None:
        """Make events of the log. Call it before the pack changes."""
        if self.log is not None:
            self.history += record.events(self.log, self.game.pack)
            self.log.clear()

    def emit(self, kind: str, **fields: Any) -> None:
        """Append an event to the record, if there is one."""
        if self.log is not None:
            self.log.append({"e": kind, **fields})

    def ask(self, seat: int, phase: Phase | None) -> None:
        """Ask a seat for the next action."""
        self.turn = seat
        self.hand = self.hands[seat]
        self.phase = phase
        self.legal = None

    def card_text(self, card: int) -> str | None:
        """Return the text of a card; None for -1."""
        return None if card < 0 else self.game.pack.texts[card]

    def suit_text(self, suit: int) -> str | None:
        """Return the letter of a suit; None for "no suit"."""
        return None if suit == NO_SUIT else self.game.pack.suits[suit]
