"""Write a bot for the Tute League. A bot needs only this file and the standard library (Python 3.11 or newer).

    from tute_bot import Bot, run

    class MyBot(Bot):
        def act(self, view, legal):
            return legal[0]

    run(MyBot())

`legal` is the list of actions to choose from, as text: "play 1o", "sing c", "pass", ... `view` is a `View`: everything your seat knows, updated
from the referee's events. Three features of `run` to know: `print` writes to the author's log instead of the referee; an exception ends the
process, which is the fault `crash` (unless you write `run(bot, rescue=True)`); and `python my_bot.py --replay FILE` sends recorded request lines
to the bot on your own machine. The protocol is described in docs/protocol.md; terms and rules are those of the rules book.

This file is longer than others of this project because it is meant to be copied as one file.
"""

from __future__ import annotations

import json
import sys

TYPE_CHECKING = False  # Imports for types alone would double the start-up time.
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from random import Random
    from typing import Any, BinaryIO

    Event = Mapping[str, Any]

# In the sandbox the referee reads what this process writes to its standard output. From here on that is the conversation alone: what the bot
# prints goes to its log, while it is imported and made, by `logging` and by compiled code, too.
_answers: BinaryIO | None = None
if sys.orig_argv[-2:-1] and sys.orig_argv[-2].endswith("/gate.pyc"):
    from posix import dup, dup2

    _answers = open(dup(1), "wb")  # noqa: SIM115, PTH123 - open until the process ends
    dup2(2, 1)
    sys.stdout = sys.stderr

__version__ = "1.0"
PROTOCOL = 1
NO_LIMIT = 99  # Stronger than any card.
NOTE = 200  # Characters of a note that the league stores.

# --- Cards and actions: plain text, as in the protocol --------------------------------------------------------------


def rank(card: str) -> str:
    """Return '1' for '1o'. Ranks: 1 ace, 3 three, R king, C horse, S jack, 7 6 5 4 2."""
    return card[0]


def suit(card: str) -> str:
    """Return 'o' for '1o'. Suits: o coins, c cups, e swords, b batons."""
    return card[1]


def parse(action: str) -> tuple[str, str]:
    """Split into verb and object: 'play 1o' -> ('play', '1o'), 'pass' -> ('pass', ''), 'discard 4o 2c' -> ('discard', '4o 2c')."""
    verb, _, rest = action.partition(" ")
    return verb, rest


def plays(legal: Iterable[str]) -> list[str]:
    """Return the cards that may be played: the text after 'play ' in the legal actions (codillo's call 'play' has none)."""
    return [action[5:] for action in legal if action.startswith("play ")]


# --- Parameters of each game by the rules book; `options` of the hello message override them ------------------------

# >>> written by `make texts` from engine/games; do not edit
_TUTE: dict[str, Any] = {
    "sides": "single",
    "deck": "es40",
    "rank_order": "13RCS76542",
    "rank_points": {"1": 11, "3": 10, "R": 4, "C": 3, "S": 2},
    "auction": "none",
    "auction_rounds": "single",
    "soloist_partner": "none",
    "passed_may_join": None,
    "first_leader": "mano",
    "obligation_stock_open": "free",
    "obligation_stock_empty": "strict",
    "partner_exempt": "none",
    "undertrump": False,
    "beat_after_trumped": False,
    "no_load": False,
    "trump_dynamics": "static",
    "trump_cycle": None,
    "hand_songs": "trick_winner",
    "pair_ranks": "RC",
    "song_values": {"trump": 40, "other": 20},
    "song_order": "any",
    "song_min_stock": 0,
    "table_songs": "none",
    "tute": "wins",
    "tute_ranks": "RC",
    "tute_first_trick_only": False,
    "capote": "none",
    "last_trick_bonus": 10,
    "result": "most_points_wins",
    "tricks_soloist": None,
    "tricks_joiner": None,
    "target": None,
    "claim_mode": "none",
    "settlement": "games",
    "illegal_move": "reject",
}
_GAMES: dict[str, dict[str, Any]] = {
    "a_dos": {"result": "fewest_points_loses", "settlement": "loss_marks"},
    "americano": {
        "obligation_stock_open": "trump_follow",
        "tute": "none",
        "result": "to_target",
        "target": 121,
        "claim_mode": "claim",
    },
    "arrastrado": {"auction_rounds": "open", "song_order": "forty_first", "settlement": "chips"},
    "bato": {
        "rank_points": {},
        "auction": "play_then_join",
        "passed_may_join": True,
        "first_leader": "first_playing",
        "hand_songs": "none",
        "tute": "none",
        "last_trick_bonus": 0,
        "result": "trick_commitments",
        "tricks_soloist": 2,
        "tricks_joiner": 1,
        "settlement": "chips",
    },
    "brisca": {
        "sides": {2: "single", 3: "single", 4: "pairs"},
        "deck": {2: "es40", 3: "es36", 4: "es40"},
        "obligation_stock_empty": "free",
        "hand_songs": "none",
        "tute": "none",
        "last_trick_bonus": 0,
    },
    "cabrero": {"capote": "swept", "result": "middle_loses", "settlement": "loss_marks"},
    "chancho": {"table_songs": "forced", "capote": "swept", "result": "middle_loses", "settlement": "loss_marks"},
    "codillo": {
        "sides": "soloist_pair_vs_rest",
        "auction": "play_or_pass",
        "soloist_partner": "called_card",
        "first_leader": "soloist",
        "no_load": True,
        "result": "soloist_side_more_points",
        "settlement": "chips",
    },
    "corriente": {"result": "to_target", "target": 101, "claim_mode": "claim"},
    "gana_pierde_3": {
        "deck": "es36",
        "rank_order": "13RCS7654",
        "trump_dynamics": "set_once_next_trick",
        "hand_songs": "none",
        "table_songs": "forced_first_40",
        "tute": "none",
        "result": "middle_of_three_loses",
        "settlement": "loss_marks",
    },
    "gana_pierde_4_5": {
        "song_order": "forty_first",
        "table_songs": "forced",
        "tute": "none",
        "result": "most_points_loses_unless_101",
        "settlement": "loss_marks",
    },
    "guinote": {
        "sides": {2: "single", 3: "single", 4: "pairs"},
        "rank_order": "13RSC76542",
        "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
        "partner_exempt": "all",
        "hand_songs": "winning_side",
        "pair_ranks": "RS",
        "tute_ranks": "RS",
        "result": "to_target",
        "target": 101,
        "claim_mode": "auto",
    },
    "habanero": {
        "song_min_stock": 3,
        "capote": "announced",
        "result": "to_target",
        "target": 101,
        "claim_mode": "claim",
    },
    "havanian": {
        "obligation_stock_open": "trump_follow",
        "song_min_stock": 3,
        "tute": "none",
        "capote": "announced",
        "result": "to_target",
        "target": 101,
        "claim_mode": "claim",
    },
    "individual": {"obligation_stock_open": "strict", "song_order": "forty_first"},
    "partnership": {"sides": "pairs", "song_order": "forty_first"},
    "podrida": {
        "rank_points": {},
        "auction": "trick_prediction",
        "obligation_stock_empty": "follow",
        "hand_songs": "none",
        "tute": "none",
        "last_trick_bonus": 0,
        "result": "exact_prediction",
        "settlement": "points",
    },
    "remate": {
        "sides": "soloist_vs_rest",
        "deck": {3: "es36", 4: "es40", 5: "es40"},
        "auction": "points",
        "auction_rounds": "open",
        "first_leader": "soloist",
        "no_load": True,
        "hand_songs": "soloist",
        "result": "soloist_reaches_bid",
        "settlement": "chips",
    },
    "subastado": {
        "sides": "soloist_vs_rest",
        "deck": "es36",
        "rank_order": "13RCS7654",
        "auction": "points",
        "first_leader": "soloist",
        "hand_songs": "soloist",
        "song_order": "forty_first",
        "tute": "none",
        "result": "soloist_reaches_bid",
        "settlement": "chips",
    },
    "two_player": {"obligation_stock_open": "strict", "song_order": "forty_first_in_window", "song_min_stock": 3},
    "variable_trump": {
        "sides": "pairs",
        "trump_dynamics": "vtt_cycle",
        "trump_cycle": {"o": "c", "c": "b", "b": "e", "e": "o"},
        "hand_songs": "winning_side",
        "song_values": {"trump": 20, "other": 20},
        "tute_first_trick_only": True,
    },
}
_IMPLIED: dict[str, dict[str, dict[str, Any]]] = {
    "a_dos": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "americano": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "arrastrado": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "bato": {
        "no_load=True": {"rank_points": {"1": 11, "3": 10, "R": 4, "C": 3, "S": 2}},
        "match_end=losses": {"settlement": "loss_marks"},
    },
    "brisca": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "cabrero": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "chancho": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "codillo": {
        "match_end=losses": {"settlement": "loss_marks"},
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "corriente": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "gana_pierde_3": {
        "rank_order=13RSC7654": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "gana_pierde_4_5": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "habanero": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "havanian": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "individual": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "partnership": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "podrida": {"preset=podrida52": {"deck": "fr52", "rank_order": "AKQJT98765432"}},
    "remate": {
        "match_end=elimination": {"settlement": "loss_marks"},
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "subastado": {
        "rank_order=13RSC7654": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
    "two_player": {
        "rank_order=13RSC76542": {
            "rank_points": {"1": 11, "3": 10, "R": 4, "S": 3, "C": 2},
            "pair_ranks": "RS",
            "tute_ranks": "RS",
        },
    },
}
# <<< written by `make texts`


def rules(game: str, seats: int, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a table that matter to a bot, by their names in the rules book (section 5 of its README).

    An unknown game counts as ordinary Tute, so that a bot can play it.
    """
    table = {**_TUTE, **_GAMES.get(game, {})}
    further = _IMPLIED.get(game, {})
    for name, value in options.items():
        table.update(further.get(f"{name}={value}", {}))
    table.update(options)
    for name, value in table.items():
        if isinstance(value, dict) and seats in value:  # The value depends on the number of players.
            table[name] = value[seats]
    return table


def pack(deck: str, rank_order: str) -> list[str]:
    """Return all cards of a pack, suit by suit, strongest first."""
    suits = "shdc" if deck == "fr52" else "oceb"
    left_out = {"es36": ("2o", "2c", "2e", "2b"), "es39": ("2c",)}.get(deck, ())
    return [r + s for s in suits for r in rank_order if r + s not in left_out]


_KINDS = (
    *("deal", "reveal", "notice", "exchange", "return", "call", "look", "takeover", "trump", "called", "partner"),
    *("predict", "take", "discard", "play", "trick", "last_ten", "draw", "song", "tute", "capote", "score", "fault"),
)

# --- The table as one seat knows it ---------------------------------------------------------------------------------


class View:
    """Everything that your seat knows. Read it freely; `run` updates it.

    Match: `game` (its key, such as 'partnership'), `options` (the options of this table), `seats` (how many), `seat`
    (yours, from 0), `sides` (seats of each side), `side` (the number of yours), `boards` (how many this match has),
    `limits` (of time and memory), `parameters` (the values of those in your bot.toml), `seed` (of your own chance);
    `bank_s`: seconds of thinking time left beyond the limit per move; `legal`: what you may answer now.

    Deal: `board` (its number, from 1), `deal` (its number within the board), `dealer` (seat), `mano` (seat that leads
    first), `out` (seats not in this deal), `trump` (suit or None), `shown` (the face-up card), `holder` (seat that has
    held the shown card, or None: it lies on the table), `stock` (cards still to be drawn, the shown one included),
    `hand` (your cards, suit by suit, strongest first), `counts` (cards in each hand), `soloist` (seat that plays alone,
    or None), `called` (the card that the soloist called, or None), `partner` (its holder, once known to you),
    `contract` (the soloist's call: 'bid 70', 'play'), `calls` [(seat, call)], `predictions` {seat: tricks}, `capote`
    (seat that announced it).

    Trick: `table` (the cards of this trick: [(seat, card)]), `led` (suit to follow), `leader` (seat that led), `best`
    ((seat, card) that is winning, or None), `trick_points`.

    Record of the deal: `played` (cards, in order), `tricks` (won, per seat), `taken` (card points per seat), `sung`
    (song points per seat), `bonus` (last trick, per seat), `songs` [(seat, suit, points)], `known` (cards that a seat
    certainly holds, a set per seat; not your own), `unseen` (cards whose place you do not know: other hands or the
    stock), `limit` (per seat {suit: strength}: the seat holds no unseen card of that strength or more; 0 is a void),
    `gone` (your discards), `notice` ((seat, card) laid for an exchange, or None).

    Match score: `totals` (points carried into this deal, per side), `score` (the last deal's `score` event or None),
    `marks` (loss marks per seat), `games` (won, per side), `chips` (per seat), `eliminated` (seats that are out of the
    match), `faults` [(seat, fault)].
    """

    def __init__(self, hello: Mapping[str, Any]) -> None:
        """`hello` is the referee's first message."""
        self.game: str = hello.get("game", "")
        self.options: dict[str, Any] = dict(hello.get("options") or {})
        self.seats: int = hello["seats"]
        self.seat: int = hello["seat"]
        self.sides: list[list[int]] = [list(side) for side in hello.get("sides") or [[s] for s in range(self.seats)]]
        self._side_of = {seat: number for number, side in enumerate(self.sides) for seat in side}
        self.side: int = self._side_of.get(self.seat, self.seat)
        self.boards: int = hello.get("boards", 1)
        self.limits: dict[str, Any] = dict(hello.get("limits") or {})
        self.parameters: dict[str, float] = dict(hello.get("parameters") or {})
        self.seed: int = hello.get("seed", 0)
        self.sealed: bool = hello.get("sealed", False)
        self.bank_s: float = float(self.limits.get("bank_s", 0))
        self.rules = rules(self.game, self.seats, self.options)
        self._auctioned: bool = self.rules["sides"].startswith("soloist")
        order: str = self.rules["rank_order"]
        values: Mapping[str, int] = self.rules["rank_points"]
        self.pack: list[str] = pack(self.rules["deck"], order)
        self._strength = {card: len(order) - 1 - order.index(card[0]) for card in self.pack}
        self._value = {card: values.get(card[0], 0) for card in self.pack}
        self._place = {card: i for i, card in enumerate(self.pack)}
        self.board = 0
        self.faults: list[tuple[int, str]] = []
        self.legal: list[str] = []
        self._unfollowed: list[Event] = []  # Events that `_knowledge` has not followed yet.
        self._rules: Any = None
        self._handlers = {name: getattr(self, "_on_" + name) for name in _KINDS}
        self._start_match()
        self._start_deal({})

    # -- Questions ---------------------------------------------------------------------------------------------------

    def rule(self, name: str) -> Any:
        """Return a parameter of this table by its name in the rules book. Raise KeyError if the SDK does not have it."""
        return self.rules[name]

    def value(self, card: str) -> int:
        """Return the card points: 11 for an ace in most games."""
        return self._value[card]

    def strength(self, card: str) -> int:
        """Return the strength within its suit, 0 for the weakest: 9 for an ace."""
        return self._strength[card]

    def sort(self, cards: Iterable[str]) -> list[str]:
        """Return the cards suit by suit, strongest first."""
        return sorted(cards, key=self._place.__getitem__)

    def same_side(self, a: int, b: int) -> bool:
        """Return True if two seats score together in this deal, as far as you know."""
        if self.soloist is not None and self._auctioned:
            return (a in (self.soloist, self.partner)) == (b in (self.soloist, self.partner))
        return self._side_of.get(a, a) == self._side_of.get(b, b)

    @property
    def partners(self) -> list[int]:
        """The other seats in this deal that score with you."""
        return [s for s in range(self.seats) if s != self.seat and s not in self.out and self.same_side(s, self.seat)]

    def camps(self) -> list[list[int]]:
        """Return the seats of this deal by who scores together: the sides, or the soloist's side and the defence."""
        camps: list[list[int]] = []
        for seat in range(self.seats):
            if seat not in self.out:
                camp = next((camp for camp in camps if self.same_side(camp[0], seat)), None)
                if camp is None:
                    camps.append([seat])
                else:
                    camp.append(seat)
        return camps

    def points(self, seat: int) -> int:
        """Return a seat's points in this deal: cards, songs and the bonus of the last trick."""
        return self.taken[seat] + self.sung[seat] + self.bonus[seat]

    def side_points(self, side: int) -> int:
        """Return the points of a whole side."""
        return sum(self.points(seat) for seat in self.sides[side])

    def beats(self, card: str, other: str) -> bool:
        """Return True if `card`, played later, would beat `other` in the trick on the table."""
        if card[1] == other[1]:
            return self._strength[card] > self._strength[other]
        if card[1] == self.trump:
            return True
        return card[1] == self.led and other[1] != self.trump

    def would_win(self, card: str) -> bool:
        """Return True if the card would be winning the trick once played. True for every lead."""
        return self.best is None or self.beats(card, self.best[1])

    def to_follow(self) -> list[int]:
        """Return the seats that play to this trick after you, in order."""
        absent = {*self.out, *(seat for seat, _ in self.table)}
        order = ((self.seat + step) % self.seats for step in range(1, self.seats))
        return [seat for seat in order if seat not in absent]

    def may_hold(self, seat: int, card: str) -> bool:
        """Return True if a seat can hold a card, given the shown cards and what its play has proved."""
        if card in self.known[seat]:
            return True
        return card in self.unseen and self._strength[card] < self.limit[seat].get(card[1], NO_LIMIT)

    def is_void(self, seat: int, suit_: str) -> bool:
        """Return True if a seat's play proves that it holds no card of a suit."""
        return self.limit[seat].get(suit_, NO_LIMIT) == 0

    def voids(self, seat: int) -> str:
        """Return the suits of which a seat is known to hold nothing, e.g. 'ce'."""
        return "".join(s for s in sorted(self.limit[seat]) if self.limit[seat][s] == 0)

    def is_safe(self, card: str) -> bool:
        """Return True if the card would win the trick whatever the seats that still have to play can hold."""
        if not self.would_win(card):
            return False
        led = self.led or card[1]
        for seat in self.to_follow():
            if self.same_side(seat, self.seat):
                continue
            for other in (*self.unseen, *self.known[seat]):
                if not self.may_hold(seat, other):
                    continue
                if other[1] == card[1]:
                    if self._strength[other] > self._strength[card]:
                        return False
                elif other[1] == self.trump or (other[1] == led and card[1] not in (self.trump, led)):
                    return False
        return True

    def is_master(self, card: str) -> bool:
        """Return True if no card of its suit that may be in another hand or in the stock is stronger."""
        strength = self._strength[card]
        others = (*self.unseen, *(c for seat in range(self.seats) if seat != self.seat for c in self.known[seat]))
        return all(c[1] != card[1] or self._strength[c] < strength for c in others)

    @property
    def trick_points(self) -> int:
        """Card points on the table."""
        return sum(self._value[card] for _, card in self.table)

    def __str__(self) -> str:
        """Return a few lines for the log."""
        table = " ".join(f"{seat}:{card}" for seat, card in self.table) or "-"
        lines = [
            f"{self.game} board {self.board} deal {self.deal}: seat {self.seat} of side {self.side}",
            f"trump {self.trump} shown {self.shown} stock {self.stock}",
            f"hand {' '.join(self.hand)} | table {table}",
            f"tricks {self.tricks} points {[self.points(s) for s in range(self.seats)]}",
            f"totals {self.totals} marks {self.marks}",
            "voids "
            + " ".join(f"{s}:{self.voids(s) or '-'}" for s in range(self.seats))
            + f" | unseen {len(self.unseen)}",
        ]
        return "\n".join(lines)

    # -- With the league's rules -----------------------------------------------------------------------------------------

    def deals(self) -> Any:
        """Return all deals of the hidden cards that agree with what you know: `view.deals().deal(dice)` draws one, each equally likely.

        The result is an `engine.search.deals.Deals`; dice are an `engine.Dice(seed)`. Raise ImportError if the rules (`engine`) are not installed;
        the league's runtime for Python has them.
        """
        return self._knowledge().deals()

    def to_state(self, deal: Any) -> Any:
        """Return the match as an `engine.State` with the cards of a deal of `deals`: continue with `apply`, `engine.playout`, or solve it."""
        return self._knowledge().state(deal)

    def _knowledge(self) -> Any:
        if self._rules is None:
            import engine
            from engine.search.knowledge import Knowledge

            self._rules = Knowledge(engine.load(self.game, players=self.seats, **self.options), self.seat)
        if self._unfollowed:
            self._rules.follow(self._unfollowed)
            self._unfollowed = []
        if self.legal:
            self._rules.asked(self.legal)
        return self._rules

    # -- Events ------------------------------------------------------------------------------------------------------

    def see(self, event: Event) -> None:
        """Update the view by one event. Unknown kinds are ignored."""
        if event.get("e") == "deal" and event.get("deal") == 1:
            self._unfollowed = []  # The previous board has ended.
        self._unfollowed.append(event)
        handler = self._handlers.get(event.get("e", ""))
        if handler is not None:
            handler(event)

    def _start_match(self) -> None:
        self.score: dict[str, Any] | None = None
        self.totals: list[int] = [0] * len(self.sides)
        self.marks: list[int] = [0] * self.seats
        self.games: list[int] = [0] * len(self.sides)
        self.chips: list[int] = [0] * self.seats
        self.eliminated: list[int] = []

    def _start_deal(self, event: Event) -> None:
        n = self.seats
        self.board = event.get("board", self.board)
        self.deal: int = event.get("deal", 0)
        self.dealer: int = event.get("dealer", 0)
        self.mano: int = event.get("mano", 0)
        self.out: list[int] = list(event.get("out") or [])
        self.trump: str | None = event.get("trump")
        self.shown: str | None = event.get("shown")
        self.holder: int | None = event.get("holder")
        self.stock: int = event.get("stock") or 0
        self.hand: list[str] = self.sort(event.get("hand") or [])
        self.counts: list[int] = list(event.get("counts") or [0] * n)
        self.soloist: int | None = None
        self.partner: int | None = None
        self.contract: str | None = None
        self.called: str | None = None
        self.capote: int | None = None
        self.calls: list[tuple[int, str]] = []
        self.predictions: dict[int, int] = {}
        self.table: list[tuple[int, str]] = []
        self.led: str | None = None
        self.leader: int | None = None
        self.best: tuple[int, str] | None = None
        self.played: list[str] = []
        self.tricks = [0] * n
        self.taken = [0] * n
        self.sung = [0] * n
        self.bonus = [0] * n
        self.songs: list[tuple[int, str, int]] = []
        self.gone: list[str] = []
        self.notice: tuple[int, str] | None = None
        self.known: list[set[str]] = [set() for _ in range(n)]
        # By seat and suit: the seat holds no unseen card of this strength or more.
        self.limit: list[dict[str, int]] = [{} for _ in range(n)]
        self.unseen: set[str] = set(self.pack).difference(self.hand)
        self._open = self.stock > 0
        if self.shown:
            self.unseen.discard(self.shown)
            if self.holder is not None and self.holder != self.seat:
                self.known[self.holder].add(self.shown)

    def _on_deal(self, event: Event) -> None:
        if event.get("deal") == 1:
            self._start_match()  # Each board is a match of its own.
        self._start_deal(event)
        self._match_score(event)

    def _add(self, seat: int, card: str | None) -> None:
        """Add a card to a hand; None if you may not see it."""
        if seat == self.seat:
            if card is not None:
                self.unseen.discard(card)
                if card not in self.hand:
                    self.hand = self.sort([*self.hand, card])
        elif card is not None:
            self.unseen.discard(card)
            self.known[seat].add(card)
        else:
            self.limit[seat] = {}  # The unknown card may be any, so earlier proofs no longer hold.

    def _remove(self, seat: int, card: str | None) -> None:
        if card is None:
            return
        self.unseen.discard(card)
        if seat == self.seat:
            if card in self.hand:
                self.hand.remove(card)
        else:
            self.known[seat].discard(card)

    def _on_notice(self, event: Event) -> None:
        seat, card = event["seat"], event["card"]
        self.notice = (seat, card)
        self._remove(seat, card)
        self.counts[seat] -= 1

    def _on_return(self, event: Event) -> None:
        seat = event["seat"]
        self.notice = None
        self.counts[seat] += 1
        self._add(seat, event["card"])

    def _on_exchange(self, event: Event) -> None:
        seat, gives = event["seat"], event["gives"]
        if self.notice == (seat, gives):
            self.notice = None
            self.counts[seat] += 1
        if self.shown is None and not self.played:
            self.mano = seat  # The compulsory exchange of a first deal, as in `_on_reveal`.
        self._remove(seat, gives)
        self._add(seat, event.get("takes"))
        self.shown, self.holder = gives, None

    def _on_call(self, event: Event) -> None:
        seat, call = event["seat"], event["call"]
        self.calls.append((seat, call))
        if call.startswith("bid") or (call == "play" and self.soloist is None):
            self.soloist, self.contract = seat, call
        if self.soloist is not None and self.rules["auction"] == "play_then_join":
            last_calls = dict(self.calls)
            if self.rules["passed_may_join"] is False:
                undecided = [s for s in range(self.seats) if s not in last_calls]
            else:
                undecided = [s for s in range(self.seats) if last_calls.get(s) not in ("play", "join", "out")]
            if not [s for s in undecided if s not in self.out]:
                self.out = [s for s in range(self.seats) if last_calls.get(s) not in ("play", "join")]

    def _on_look(self, event: Event) -> None:
        self._show(event["of"], event.get("cards") or [])

    def _on_takeover(self, event: Event) -> None:
        seat, replaced = event["seat"], event["of"]
        if seat == self.seat:
            self.hand = self.sort(self.known[replaced])
        if replaced == self.seat:
            self.known[seat], self.hand = set(self.hand), []
        else:
            self.known[seat] = set()
        self.known[replaced] = set()
        self.counts[seat], self.counts[replaced] = self.counts[replaced], self.counts[seat]
        self.out = sorted({*self.out, replaced} - {seat})
        self.mano = seat if self.mano == replaced else self.mano
        self.soloist, self.contract = seat, f"bid {event['bid']}"

    def _on_take(self, event: Event) -> None:
        self.counts[event["seat"]] += 1
        self._add(event["seat"], event["card"])
        self.shown = None

    def _on_capote(self, event: Event) -> None:
        self.capote = event["seat"]

    def _on_trump(self, event: Event) -> None:
        self.trump = event["suit"]
        if event.get("seat") is not None:
            self.soloist = event["seat"]
        if event.get("lead"):
            self.led = event["lead"]
        if self.table:
            self._find_best()

    def _on_predict(self, event: Event) -> None:
        self.predictions[event["seat"]] = event["tricks"]

    def _on_called(self, event: Event) -> None:
        self.called = event["card"]
        if self.called in self.hand:
            self.partner = self.seat

    def _on_partner(self, event: Event) -> None:
        self.partner = event["seat"]

    def _on_discard(self, event: Event) -> None:
        seat, cards = event["seat"], event.get("cards") or []
        for card in cards:
            self._remove(seat, card)
        self.gone += cards
        self.counts[seat] -= event.get("count", len(cards))

    def _on_play(self, event: Event) -> None:
        seat, card = event["seat"], event["card"]
        self._remove(seat, card)
        self.counts[seat] -= 1
        self.played.append(card)
        if not self.table:
            self.led, self.leader = card[1], seat
            self._open = self.stock > 0
        elif seat != self.seat:
            self._learn(seat, card)
        self.table.append((seat, card))
        if self.best is None or self.beats(card, self.best[1]):
            self.best = (seat, card)

    def _find_best(self) -> None:
        self.best = None
        for seat, card in self.table:
            if self.best is None:
                if card[1] in (self.led, self.trump):
                    self.best = (seat, card)
            elif self.beats(card, self.best[1]):
                self.best = (seat, card)

    def _learn(self, seat: int, card: str) -> None:
        """Learn what a seat's card proves about its hand, by the obligation of the trick (rules book, README section 4)."""
        rule = self.rules["obligation_stock_open" if self._open else "obligation_stock_empty"]
        led, trump = self.led, self.trump
        # If revokes are settled by accusation, a card may be a lie.
        if rule == "free" or led is None or self.rules["illegal_move"] == "accuse":
            return
        followed = card[1] == led
        if not followed and (rule != "trump_follow" or led == trump):
            self._lacks(seat, led, 0)
        if rule == "follow_or_trump" and not followed and trump and card[1] != trump:
            self._lacks(seat, trump, 0)
        if rule == "strict":
            self._learn_strictly(seat, led, card)

    def _learn_strictly(self, seat: int, led: str, card: str) -> None:
        """Learn what a card proves if a seat must beat, or ruff, when it can."""
        exempt, trump, followed = self.rules["partner_exempt"], self.trump, card[1] == led
        if exempt != "none" and self.best and self.same_side(self.best[0], seat) and (exempt == "all" or not followed):
            return
        if followed:
            self._learn_unbeaten(seat, led, self._strength[card])
        elif led != trump and trump:
            self._learn_unruffed(seat, trump, card)

    def _learn_unbeaten(self, seat: int, led: str, strength: int) -> None:
        """Learn that a seat that follows below the best card has no higher one, if it had to beat that card."""
        if led == self.trump or self._best_of(self.trump) < 0 or self.rules["beat_after_trumped"]:
            best = self._best_of(led)
            if strength < best:
                self._lacks(seat, led, best)

    def _learn_unruffed(self, seat: int, trump: str, card: str) -> None:
        """Learn that a seat that cannot follow and does not ruff, or ruffs too low, has no higher trump."""
        best = self._best_of(trump)
        if card[1] != trump:
            self._lacks(seat, trump, 0 if best < 0 or self.rules["undertrump"] else best)
        elif self._strength[card] < best:
            self._lacks(seat, trump, best)

    def _best_of(self, suit_: str | None) -> int:
        """Return the strength of the best card of a suit on the table, -1 if there is none."""
        return max((self._strength[card] for _, card in self.table if card[1] == suit_), default=-1)

    def _lacks(self, seat: int, suit_: str, strength: int) -> None:
        limits = self.limit[seat]
        limits[suit_] = min(strength, limits.get(suit_, NO_LIMIT))

    def _on_trick(self, event: Event) -> None:
        seat = event["seat"]
        self.tricks[seat] += 1
        self.taken[seat] += event["points"]
        if event.get("last"):
            self.bonus[seat] += self.rules["last_trick_bonus"]
        self.table = []
        self.led = self.leader = self.best = None

    def _on_last_ten(self, event: Event) -> None:
        if not event["taken"]:
            self.bonus[event["seat"]] = 0

    def _on_reveal(self, event: Event) -> None:
        self.mano = event["seat"]  # Only the first deal of a cabrero match reveals a card: its holder leads.
        self._show(event["seat"], [event["card"]])
        if event.get("shown"):
            self.shown = event["shown"]
            self.unseen.discard(event["shown"])

    def _on_draw(self, event: Event) -> None:
        seat, card = event["seat"], event.get("card")
        self.counts[seat] += 1
        self.stock = max(0, self.stock - 1)
        self._add(seat, card)
        if card is not None and card == self.shown and self.holder is None:
            self.holder = seat

    def _on_song(self, event: Event) -> None:
        seat, points = event["seat"], event["points"]
        self.sung[seat] += points
        self.songs.append((seat, event.get("suit") or "", points))
        if not event.get("table"):
            self._show(seat, event.get("cards") or [])

    def _on_tute(self, event: Event) -> None:
        self._show(event["seat"], event.get("cards") or [])

    def _show(self, seat: int, cards: Iterable[str]) -> None:
        if seat != self.seat:
            for card in cards:
                self.unseen.discard(card)
                self.known[seat].add(card)

    def _on_score(self, event: Event) -> None:
        self.score = dict(event)
        self.eliminated += event.get("eliminated") or []
        self._match_score(event)

    def _match_score(self, event: Event) -> None:
        self.totals = list(event.get("totals") or self.totals)
        self.marks = list(event.get("marks") or self.marks)
        self.games = list(event.get("games") or self.games)
        self.chips = list(event.get("chips") or self.chips)

    def _on_fault(self, event: Event) -> None:
        self.faults.append((event["seat"], event.get("fault", "")))


# --- A bot and its conversation with the referee --------------------------------------------------------------------


class Bot:
    """The base class of bots. Write `act`; the rest is optional. One object plays all boards of a pass."""

    name = ""  # The bot's name in the log; the class name if empty.
    seed = 0  # From the hello message; unrelated to the deals.
    _note: str | None = None
    _random: Random | None = None

    def start(self, view: View) -> None:
        """Prepare the bot. Called once, after hello and before ready. Limit: 5 seconds of processor time in the league."""

    def act(self, view: View, legal: list[str]) -> str:
        """Return one of `legal`. Called only when there is a choice. Limit: 0.5 s of processor time, then the bank of 3 s."""
        raise NotImplementedError("write act(self, view, legal) in your bot: it returns one of the texts in legal")

    def seen(self, view: View, event: Event) -> None:
        """Observe an event. Called after `view` has been updated, for bots that keep records of their own."""

    def end(self, view: View, result: Any) -> None:
        """Finish. Called when the pass is over. `result` is the referee's summary."""

    def note(self, text: str) -> None:
        """Add a remark to the next answer. It goes into the match record, where you can read it beside the cards."""
        self._note = str(text)

    def log(self, *things: object) -> None:
        """Write to the author's log (stderr; the league stores 16 KiB)."""
        print(*things, file=sys.stderr, flush=True)

    @property
    def random(self) -> Random:
        """A random number generator seeded by the referee, so that a pass can be repeated. Created on first use."""
        if self._random is None:
            from random import Random  # Imported here because not every bot needs it, and start-up time counts.

            self._random = Random(self.seed)  # noqa: S311 - randomness of play, seeded by the referee; no secret
        return self._random


class Session:
    """Turns request lines into answers. `run` reads them from stdin; tests and tools can call it directly."""

    def __init__(self, bot: Bot, rescue: bool = False) -> None:
        """rescue: log an exception in `act` and play the first legal action."""
        self.bot = bot
        self.rescue = rescue
        self.view: View | None = None

    def answer(self, message: Mapping[str, Any]) -> dict[str, Any] | None:
        """Return the answer to one request; None if none is due. Raise what the bot raises, ValueError before a hello."""
        kind = message.get("type")
        if kind == "hello":
            self.view = View(message)
            self.bot.seed = self.view.seed
            self.bot.start(self.view)
            return {"type": "ready", "name": self.bot.name or type(self.bot).__name__}
        if kind not in ("act", "end"):
            self.bot.log(f"tute_bot: ignored a message of unknown type {kind!r}")
            return None
        view = self.view
        if view is None:
            raise ValueError(f"{kind!r} came before hello: a recording starts with the hello line")
        for event in message.get("events") or []:
            view.see(event)
            self.bot.seen(view, event)
        if kind == "end":
            self.bot.end(view, message.get("result"))
            return None
        view.bank_s = float(message.get("bank_s", view.bank_s))
        view.legal = list(message["legal"])
        answer = {"id": message["id"], "do": self._choose(view, view.legal[:])}
        if self.bot._note is not None:
            answer["note"], self.bot._note = self.bot._note[:NOTE], None
        return answer

    def _choose(self, view: View, legal: list[str]) -> str:
        try:
            action = self.bot.act(view, legal)
        except Exception:
            if not self.rescue:
                raise
            import traceback

            traceback.print_exc()
            self.bot.note("rescued from an exception, see the log")
            return legal[0]
        if action not in legal:
            self.bot.log(f"tute_bot: act returned {action!r}, which is not one of {legal}")
        return action


def run(bot: Bot, *, rescue: bool = False) -> None:
    """Play until the referee closes the input; with `--replay FILE` on the command line, answer recorded requests instead.

    `rescue=True` plays the first legal action if `act` raises an exception; the traceback goes to the log.
    """
    if len(sys.argv) > 1:
        sys.exit(_command_line(bot, rescue, sys.argv[1:]))
    requests, answers = sys.stdin.buffer, _answers or sys.stdout.buffer
    sys.stdout = sys.stderr  # print() must not break the conversation.
    try:  # noqa: SIM105 - contextlib is one more import
        _talk(Session(bot, rescue), requests, answers)
    except BrokenPipeError:
        pass  # The referee is gone.


def _talk(session: Session, requests: BinaryIO, answers: BinaryIO) -> None:
    for line in iter(requests.readline, b""):
        answer = session.answer(json.loads(line))
        if answer is not None:
            answers.write(json.dumps(answer).encode() + b"\n")
            answers.flush()


# --- Tools for the author -------------------------------------------------------------------------------------------

_USAGE = """usage: python my_bot.py --replay FILE [--view]

Sends recorded request lines to this bot and prints its answers. FILE has one JSON request per line (hello, act, ..., end),
as `tute repro LOG --lines --pass P --seat S` prints them; '> ' before a line is allowed, and answers ('< ', or with "do")
are compared. --view also prints the view before each answer.
Exit status 1: an answer was not legal or the bot raised an exception."""


def _command_line(bot: Bot, rescue: bool, arguments: Sequence[str]) -> int:
    files = [a for a in arguments if a not in ("--replay", "--view")]
    if "--replay" not in arguments or len(files) != 1:
        print(_USAGE, file=sys.stderr)
        return 0 if "--help" in arguments or "-h" in arguments else 2
    with open(files[0], encoding="utf-8") as lines:  # noqa: PTH123 - pathlib would cost start-up time
        return replay(bot, lines, rescue=rescue, show_view="--view" in arguments)


def replay(bot: Bot, lines: Iterable[str], *, rescue: bool = False, show_view: bool = False) -> int:
    """Send recorded lines to a bot and print a table of its answers. Return 0 if all are legal, 1 if not or if the bot raised an exception."""
    from time import perf_counter

    session = Session(bot, rescue)
    illegal = decisions = 0
    before = ""
    for number, line in enumerate(lines, 1):
        text = line.strip().removeprefix(">").removeprefix("<").strip()
        if not text or text.startswith("#"):
            continue
        message = json.loads(text)
        if "do" in message or message.get("type") == "ready":
            if message.get("do", before) != before:
                print(f"        recorded: {message['do']}")
            continue
        start = perf_counter()
        try:
            answer = session.answer(message)
        except Exception:
            import traceback

            traceback.print_exc()
            print(f"line {number}: the bot raised an exception, see above", file=sys.stderr)
            return 1
        milliseconds = (perf_counter() - start) * 1000
        if answer is None or "do" not in answer:
            continue
        decisions += 1
        before = answer["do"]
        legal = message["legal"]
        if show_view:
            print(session.view)
        mark = "" if before in legal else "  <-- NOT LEGAL"
        illegal += before not in legal
        print(f"{answer['id']:>6}  {before:<12} {milliseconds:7.2f} ms  of {', '.join(legal)}{mark}")
        if "note" in answer:
            print(f"        note: {answer['note']}")
    print(f"{decisions} decisions, {illegal} not legal")
    return 1 if illegal else 0
