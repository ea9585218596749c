"""The data of one match: every slot, what it means, and how it begins. What a match does with them stands in `engine.match.state`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from engine.cards.pack import NO_SUIT, Table

if TYPE_CHECKING:
    from engine.cards.chance import Dice
    from engine.game import Game
    from engine.match.phase import Phase
    from engine.match.trick.legality import InForce
    from engine.rules.verdict import Verdict

Event = dict[str, Any]


class Slots:
    """Plain data; `State` is the only class made of it. A slot that is added here must be added to `State.clone` too."""

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
        self.in_force: InForce | None = None
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
