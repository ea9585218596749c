"""A game at a table: the rules resolved for a number of players and options, and what follows from them."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from engine.cards import actions, chance
from engine.cards.pack import pack
from engine.errors import OptionError
from engine.match.opening import dealing
from engine.match.scoring import results, settlement
from engine.match.state import State
from engine.match.trick import announcing, exchanges, legality
from engine.rules.parameters import Rules, at_table, choices, chosen, word

SIDES_OF_PAIRS = ((0, 2), (1, 3))
FORFEIT = 230  # the most points that a deal can give one side: no forfeited sitting is better than a lost one


class Game:
    """What `engine.load` returns. Immutable; shared by all its matches."""

    def __init__(self, declared: Rules, options: Mapping[str, Any], players: int, origin: Game | None = None) -> None:
        self.declared = declared
        self.origin = origin or self  # the game that the match began as, before eliminations
        self.players = players
        self.rules = rules = at_table(declared, options, players)
        # those that make a difference: the same rules have one name, whatever way they were asked for
        self.options = {name: value for name, value in options.items() if self._matters(name, options)}
        self.key = rules.key
        self.title = rules.title
        self.revision = rules.revision
        self.board_deals = rules.board_deals
        self.score_unit = rules.score_unit
        # board scores are whole numbers: so many of them make one of the unit that people read
        self.score_size = settlement.GAME_SCORE if rules.score_unit == "games" else 1
        self.suits_named = (
            rules.suits_named
            or rules.coins_start
            or rules.trump_source == "rotating"
            or rules.deck == "es39"  # the two of cups is left out
        )
        if rules.sides == "pairs":
            self.sides: tuple[tuple[int, ...], ...] = SIDES_OF_PAIRS
        else:
            self.sides = tuple((seat,) for seat in range(players))
        self.side = [next(i for i, seats in enumerate(self.sides) if seat in seats) for seat in range(players)]

        # by seat: the seats of its side, it first
        self.side_from = [
            tuple(sorted(self.sides[self.side[seat]], key=lambda other: other != seat)) for seat in range(players)
        ]
        self.pack = pack(rules.deck, rules.rank_order)
        self.card_points = [rules.rank_points.get(rank, 0) for rank in self.pack.rank]
        self.facts = list(
            zip(self.pack.suit, self.pack.bit, self.card_points, strict=True)
        )  # suit, bit, points of a card
        self.pair = self.pack.mask(rules.pair_ranks) if set(rules.pair_ranks) <= set(self.pack.ranks) else 0
        # by the bit mask of one suit of a hand: whether a pair that may be sung is in it
        sings = self.pair > 0 and rules.hand_songs != "none"
        self.paired = [sings and mask & self.pair == self.pair for mask in range(1 << self.pack.size)]
        self.tute_mask = self.pack.mask(rules.tute_ranks) if rules.tute == "wins" and rules.hand_songs != "none" else 0
        self.worth_masks = self.pack.worth_masks(rules.rank_points)
        self.open_rule = legality.in_force(rules, rules.obligation_stock_open, self.pack, self.card_points)
        self.empty_rule = legality.in_force(rules, rules.obligation_stock_empty, self.pack, self.card_points)
        self.exempt = legality.EXEMPTIONS.index(rules.partner_exempt)
        self.merged = announcing.merged(rules)
        self.has_own_turn = announcing.has_own_turn(rules)
        # what can happen after a trick at all, so that a playout asks only for that
        self.exchange_mask = self.pack.mask("72") if rules.exchange in ("immediate", "deferred") else 0
        self.exchange_moments = exchanges.moments(rules)
        self.swaps = exchanges.swaps(self) if self.exchange_moments else []
        self.swap_masks = [sum(bit for bit, _, _ in found) for found in self.swaps] or [0] * len(self.pack.texts)
        self.own_swaps = self.swap_masks if "own_turn" in self.exchange_moments else [0] * len(self.pack.texts)
        self.lead_swaps = (
            self.swap_masks if {"after_draw", "own_turn"} & self.exchange_moments else [0] * len(self.pack.texts)
        )
        self.window_b_swaps = "after_draw" in self.exchange_moments
        self.accuses = rules.illegal_move == "accuse"
        self.window_a = "before_draw" in self.exchange_moments
        self.secret_partner = rules.soloist_partner == "called_card"
        self.table_songs = rules.table_songs != "none"
        self.claims = rules.claim_window if rules.claim_mode == "claim" else ""
        self.claims_after_trick = self.claims == "post_trick"
        self.target = rules.target if rules.result is results.to_target else None  # points that end a game
        self.tracks_target = rules.result is results.to_target and (
            rules.claim_mode == "auto" or rules.both_reach == "first_reached"
        )
        self.batches = rules.supply == "batches"
        self.minds_draws = (
            rules.song_timing == "before_draw"
        )  # whether it matters which cards were drawn after the last trick
        # whether anything may be announced in one turn with a card
        self.speaks = self.merged or self.has_own_turn
        self.all_may_sing = rules.song_trigger == "has_won_any"
        self.places: dict[tuple[int, tuple[int | bool, ...]], dealing.Places] = {}  # filled by dealing.places
        self.flags: dict[tuple[int, ...], list[int]] = {}  # of the pack, by suit map; filled by dealing.deal_cards
        self.stages = dealing.stages(rules)
        self.plans: dict[tuple[int, ...], Any] = {}  # filled by engine.search.playouts
        # whether after a trick nothing can happen but a song or tute of its winner (see tricks.complete)
        self.simple = (
            rules.draw == "none"
            and rules.hand_songs in ("trick_winner", "none", "soloist")
            and rules.table_songs == "none"
            and rules.target is None
            and rules.soloist_partner == "none"
            and self.merged
            and not self.has_own_turn
        )

    def _matters(self, name: str, options: Mapping[str, Any]) -> bool:
        """Whether leaving out one of the options would give other rules, or none."""
        try:
            without = at_table(self.declared, {n: v for n, v in options.items() if n != name}, self.players)
        except OptionError:
            return True
        return without != self.rules

    def __repr__(self) -> str:
        return f"Game({self.key!r}, players={self.players}, options={self.options!r})"

    @property
    def options_all(self) -> dict[str, Any]:
        """Every option of this game at this table with its value, defaults included."""
        return {name: word(getattr(self.rules, name)) for name in choices(self.declared, self.players)}

    def for_seats(self, left: int) -> Game:
        """The game that goes on when so many seats are left after eliminations: options that mean nothing there fall away."""
        return _continued(self, left)

    # ---- matches

    def new_match(
        self,
        *,
        seed: bytes | str | int,
        deals: int | None = None,
        record: bool = True,
        suits: str | None = None,
        dice: chance.Dice | None = None,
    ) -> State:
        """A match, dealt and ready for its first action.

        `seed` fixes every card and every draw of chance; `deals` ends the match after that many deals, a game that takes several being played
        to its end (None: by the rules of the game);
        `record=False` builds no events, for search and training; `suits` plays the shuffle with its suits exchanged: the suit letters in
        the order in which they stand for coins, cups, swords, batons; `dice`, of a playout, shuffle. Raises OptionError for a bad `deals` or `suits`.
        """
        if deals is not None and (type(deals) is not int or deals < 1):
            raise OptionError(f"deals must be a whole number, 1 or more, or None, not {deals!r}")
        state = State(self, chance.as_seed(seed), deals, record, self._suit_map(suits))
        state.dice = dice
        if record:
            state.emit(
            "match", game=self.key, revision=self.revision, options=self.options, players=self.players,
            sides=[list(seats) for seats in self.sides],
        )  # fmt: skip
        dealing.start(state)
        return state

    def _suit_map(self, suits: str | None) -> tuple[int, ...]:
        if suits is None or suits == self.pack.suits:
            return (0, 1, 2, 3)
        if sorted(suits) != sorted(self.pack.suits):
            raise OptionError(f"suits must hold each of {', '.join(self.pack.suits)} once, not {suits!r}")
        if self.suits_named:
            raise OptionError(f"{self.key} names a suit in its rules, so its suits cannot be exchanged for one another")
        return tuple(self.pack.suits.index(letter) for letter in suits)

    def sittings(self, parties: int) -> list[tuple[int, ...]]:
        """The seatings of one board: party number per seat, each party once in each place.

        As many parties as sides hold a side each; as many as seats hold a seat each, and partners stay partners (mixed pairs). The board is
        played once per rotation. Raises OptionError for any other number of parties.
        """
        if parties == self.players:
            return [tuple((seat + shift) % parties for seat in range(parties)) for shift in range(parties)]
        if len(self.sides) != parties:
            raise OptionError(
                f"{self.key} for {self.players} players takes {len(self.sides)} parties, not {parties}; one bot may be named more than once"
            )
        return [tuple((self.side[seat] + shift) % parties for seat in range(self.players)) for shift in range(parties)]

    def fault_scores(self, side: int) -> list[int]:
        """Scores by seat of a sitting that a side forfeits: the worst of the game for it, the same good one for all others."""
        worst, best = 0, FORFEIT * (self.board_deals or 1)
        if self.score_unit == "games":
            best = 1000 * (1 if self.board_deals else self.rules.match_games) + 2 * FORFEIT
        elif self.score_unit == "rank":
            best = self.players
        elif self.score_unit == "marks":
            worst, best = -(1 if self.board_deals else self.rules.max_losses or 1), 0
        elif self.rules.forfeit is not None:
            worst = self.rules.forfeit(self.rules, self.players)
            best = -worst // (len(self.sides) - 1)
        return [worst if self.side[seat] == side else best for seat in range(self.players)]

    # ---- texts

    def action_text(self, action: int) -> str:
        """'play 1o', 'sing c', ...; EngineError for a number that is no action."""
        return actions.text(self.pack, action)

    def parse_action(self, text: str) -> int:
        """The action of a text; EngineError (a ValueError) with the text if it is none."""
        return actions.parse(self.pack, text)


@cache
def _declared() -> dict[str, Rules]:
    package = importlib.import_module("engine.games")  # by name: the attribute `engine.games` is the function below
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        rules = importlib.import_module(f"{package.__name__}.{module.name}").GAME
        found[rules.key] = rules
    return dict(sorted(found.items()))


def games() -> list[str]:
    """Keys of all games, in alphabetical order. Every module of `engine.games` is one."""
    return list(_declared())


def declared(key: str) -> Rules:
    """The declaration of a game, unresolved. OptionError with the list of games for an unknown key."""
    if key not in _declared():
        raise OptionError(f"unknown game {key!r}; games are: {', '.join(_declared())}")
    return _declared()[key]


def load(key: str, /, **options: Any) -> Game:
    """The game of a key with options by the names of its rules file; `players` is the number of seats.

    Raises OptionError for an unknown game or option or a value out of range, with the list of what is allowed.
    """
    rules = declared(key)
    players = options.pop("players", rules.players[0])
    if players not in rules.players or type(players) is not int:
        there = ", ".join(str(n) for n in rules.players)
        raise OptionError(f"{key} is played by {there} players, not {players!r}")
    chosen(rules, options, players)  # before the cache, to which 1 and True are the same
    return _loaded(key, players, tuple(sorted(options.items(), key=lambda item: item[0])))


@lru_cache(maxsize=256)  # options may be anybody's
def _loaded(key: str, players: int, options: tuple[tuple[str, Any], ...]) -> Game:
    return Game(declared(key), dict(options), players)


@cache
def _continued(game: Game, left: int) -> Game:
    rules = game.declared
    if left == 2 and game.rules.final_duel:
        duel = declared(game.rules.duel_game)
        ending = {
            name: getattr(game.rules, name)
            for name in ("match_end", "max_losses", "final_duel", "duel_game", "next_dealer", "score_unit")
        }
        return Game(replace(duel, **ending), {}, 2, game.origin)
    allowed = choices(rules, left)
    kept = {name: value for name, value in game.options.items() if name in allowed}
    return Game(rules, kept, left, game.origin)
