"""The terms of a match: the rules resolved for a number of players and options, and all that follows from them before a card is dealt."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final, NamedTuple

from engine.cards import actions
from engine.cards.pack import pack
from engine.errors import OptionError
from engine.rules import obligations, swapping
from engine.rules.options import offers, word
from engine.rules.parameters import Rules
from engine.rules.resolving import at_table, choices

SIDES_OF_PAIRS = ((0, 2), (1, 3))
FORFEIT: Final = 230  # the most points of a deal: forfeiting a sitting is never better than losing it
GAME_SCORE: Final = 1000  # board score of a game that takes several deals; its points only break ties

# The clock of a session counts ten seconds a card, whoever plays it: nobody gains by playing slowly, and a replay takes the same time.
CARDS_PER_MINUTE: Final = 6


class Places(NamedTuple):
    """The seating of a deal: mano, the seats in play from mano in order of play, the others, and the ring of `next`."""

    mano: int
    active: tuple[int, ...]
    out: tuple[int, ...]
    next: tuple[int, ...]


def merged(rules: Rules) -> bool:
    """Return True if window B and the lead of the trick's winner are one turn."""
    return not (
        rules.hand_songs == "winning_side"
        or (rules.exchange == "immediate" and rules.exchange_trigger == "side_just_won")
        or rules.song_trigger == "has_won_any"
        or rules.singing_mandatory
    )


def has_own_turn(rules: Rules) -> bool:
    """Return True if seats may announce something at their own turn, also when they follow."""
    return (
        rules.exchange == "deferred"
        or (rules.exchange == "immediate" and rules.exchange_trigger == "own_turn")
        or (rules.claim_mode == "claim" and rules.claim_window == "own_turn")
        or rules.illegal_move == "accuse"
    )


class Terms:
    """The game as its matches see it. Immutable; shared by all matches of the game. `engine.game.Game` is its only subclass in use."""

    def __init__(self, declared: Rules, options: Mapping[str, Any], players: int, origin: Terms | None = None) -> None:
        self.declared = declared
        # the game that the match began as, before eliminations
        self.origin: Terms = origin or self
        self.players = players
        self.rules = rules = at_table(declared, options, players)
        self.options = self._needed()
        self.key = rules.key
        self.title = rules.title
        self.revision = rules.revision + max([n for n, is_of in enumerate(rules.revised, 1) if is_of(rules)], default=0)
        self.board_deals = rules.board_deals
        self.score_unit = rules.score_unit
        # Board scores are whole numbers; this many make one unit as people read it.
        self.score_size = GAME_SCORE if rules.score_unit == "games" else 1
        self._seat(players)
        self._know_the_pack()
        self._set_announcements()
        # the stages of a deal before the first lead, functions of `engine.match.opening.stages`
        self.stages: tuple[Callable[[Any], int], ...] = ()
        # caches: seats by dealer and absent seats; the pack by suit map; programs of `engine.search.kernel`
        self.places: dict[tuple[int, tuple[int | bool, ...]], Places] = {}
        self.flags: dict[tuple[int, ...], list[int]] = {}
        self.programs: dict[tuple[int, ...], Any] = {}

    def _seat(self, players: int) -> None:
        pairs = self.rules.sides == "pairs"
        self.sides: tuple[tuple[int, ...], ...] = SIDES_OF_PAIRS if pairs else tuple((seat,) for seat in range(players))
        self.side = [next(i for i, seats in enumerate(self.sides) if seat in seats) for seat in range(players)]
        # For each seat the seats of its side, itself first.
        self.side_from = [
            tuple(sorted(self.sides[self.side[seat]], key=lambda other: other != seat)) for seat in range(players)
        ]

    def _know_the_pack(self) -> None:
        rules = self.rules
        self.pack = pack(rules.deck, rules.rank_order)
        self.suits_named = (
            rules.suits_named
            or rules.coins_start
            or rules.trump_source == "rotating"
            or rules.deck == "es39"  # the two of cups is left out
        )
        self.card_points = [rules.rank_points.get(rank, 0) for rank in self.pack.rank]
        # suit, bit, points of a card
        self.facts = list(zip(self.pack.suit, self.pack.bit, self.card_points, strict=True))
        self.pair = self.pack.mask(rules.pair_ranks) if set(rules.pair_ranks) <= set(self.pack.ranks) else 0
        # True if a hand with this bit mask in one suit holds a pair that may be sung.
        sings = self.pair > 0 and rules.hand_songs != "none"
        self.paired = [sings and mask & self.pair == self.pair for mask in range(1 << self.pack.size)]
        self.tute_mask = self.pack.mask(rules.tute_ranks) if rules.tute == "wins" and rules.hand_songs != "none" else 0
        self.worth_masks = self.pack.worth_masks(rules.rank_points)
        self.open_rule = obligations.in_force(rules, rules.obligation_stock_open, self.pack, self.card_points)
        self.empty_rule = obligations.in_force(rules, rules.obligation_stock_empty, self.pack, self.card_points)

    def _set_announcements(self) -> None:
        """Determine which announcements are possible in this game, so that a playout asks only for those."""
        rules = self.rules
        nothing = [0] * len(self.pack.texts)
        self.merged = merged(rules)
        self.has_own_turn = has_own_turn(rules)
        self.exchange_mask = self.pack.mask("72") if rules.exchange in ("immediate", "deferred") else 0
        self.exchange_moments = moments = swapping.moments(rules)
        self.swaps = swapping.swaps(rules, self.pack) if moments else []
        self.swap_masks = [sum(bit for bit, _, _ in allowed) for allowed in self.swaps] or nothing
        self.own_swaps = self.swap_masks if "own_turn" in moments else nothing
        self.lead_swaps = self.swap_masks if {"after_draw", "own_turn"} & moments else nothing
        self.window_b_swaps = "after_draw" in moments
        self.window_a = "before_draw" in moments
        self.accuses = rules.illegal_move == "accuse"
        self.secret_partner = rules.soloist_partner == "called_card"
        self.table_songs = rules.table_songs != "none"
        self.claims = rules.claim_window if rules.claim_mode == "claim" else ""
        self.claims_after_trick = self.claims == "post_trick"
        to_target = word(rules.result) == "to_target"
        # points that end a game
        self.target = rules.target if to_target else None
        self.tracks_target = to_target and (rules.claim_mode == "auto" or rules.both_reach == "first_reached")
        self.batches = rules.supply == "batches"
        # True if the cards drawn after the last trick matter
        self.minds_draws = rules.song_timing == "before_draw"
        # True if a seat may announce something in one turn with a card
        self.speaks = self.merged or self.has_own_turn
        self.all_may_sing = rules.song_trigger == "has_won_any"
        # True if nothing but a song or tute of its winner can follow a trick (see `tricks.complete`)
        self.simple = (
            rules.draw == "none"
            and rules.hand_songs in ("trick_winner", "none", "soloist")
            and rules.table_songs == "none"
            and rules.target is None
            and rules.soloist_partner == "none"
            and self.merged
            and not self.has_own_turn
        )

    def _needed(self) -> dict[str, Any]:
        """Return the fewest options that give these rules: equal rules have equal options, whichever were asked for.

        They are dropped one at a time, in alphabetical order, so of two that imply each other the second one stays.
        """
        ordinary, every = at_table(self.declared, {}, self.players), self.options_all
        needed = {name: value for name, value in every.items() if getattr(self.rules, name) != getattr(ordinary, name)}
        if not self._gives(needed):  # An option has its ordinary value although another one implies a different value.
            needed = every
        for name in sorted(needed):
            fewer = {other: value for other, value in needed.items() if other != name}
            if fewer and self._gives(fewer):  # No option at all would mean the ordinary rules
                needed = fewer
        return needed

    def _gives(self, options: Mapping[str, Any]) -> bool:
        """Return True if these options give the rules of this game."""
        try:
            return at_table(self.declared, options, self.players) == self.rules
        except OptionError:
            return False

    def __repr__(self) -> str:
        return f"Game({self.key!r}, players={self.players}, options={self.options!r})"

    @property
    def options_all(self) -> dict[str, Any]:
        """All options of this game at this table with their values, defaults included; without those whose value follows from another option."""
        return {
            name: value
            for name, choice in choices(self.declared, self.players).items()
            if offers(choice, value := word(getattr(self.rules, name)))
        }

    def for_seats(self, seats: int) -> Terms:
        """Return the terms for the seats that remain after eliminations. Only `Game` implements it: the final duel may be a different game."""
        raise NotImplementedError

    def suit_map(self, suits: str | None) -> tuple[int, ...]:
        """Return, for each suit of the shuffle, the suit that replaces it. `suits`: letters of the new suits. Raises OptionError for bad ones."""
        if suits is None or suits == self.pack.suits:
            return (0, 1, 2, 3)
        if sorted(suits) != sorted(self.pack.suits):
            raise OptionError(f"suits must hold each of {', '.join(self.pack.suits)} once, not {suits!r}")
        if self.suits_named:
            raise OptionError(f"{self.key} names a suit in its rules, so its suits cannot be exchanged for one another")
        return tuple(self.pack.suits.index(letter) for letter in suits)

    # ---- boards

    def sittings(self, parties: int) -> list[tuple[int, ...]]:
        """Return the seatings of one board: party number by seat, each party once in each place.

        With one party a side, a party holds all seats of its side; with one a seat, partners stay partners (mixed pairs). The board is played once
        for each rotation. Raises OptionError for any other number of parties.
        """
        if parties == self.players:
            return [tuple((seat + shift) % parties for seat in range(parties)) for shift in range(parties)]
        if len(self.sides) != parties:
            raise OptionError(
                f"{self.key} for {self.players} players takes {len(self.sides)} parties, not {parties}; one bot may be named more than once"
            )
        return [tuple((self.side[seat] + shift) % parties for seat in range(self.players)) for shift in range(parties)]

    def fault_scores(self, side: int) -> list[int]:
        """Return the scores by seat of a sitting that a side forfeits: the game's worst for its seats, the same good score for all others."""
        worst, best = 0, FORFEIT * (self.board_deals or 1)
        marks = 2 if self.rules.illegal_move in ("two_marks", "accuse") else 1  # the most in one deal
        if self.score_unit == "games":
            games = 1 if self.board_deals else self.rules.match_games
            if self.rules.match_end == "clock":  # at most a game a trick
                games = (self.rules.match_minutes or 0) * CARDS_PER_MINUTE // self.players + 1
            best = GAME_SCORE * games + 2 * FORFEIT
        elif self.score_unit == "rank":
            best = self.players
        elif self.score_unit == "marks":
            worst, best = -(marks if self.board_deals else (self.rules.max_losses or 1) + marks - 1), 0
        elif self.rules.forfeit is not None:
            worst = self.rules.forfeit(self.rules, self.players)
            best = -worst // (len(self.sides) - 1)
        return [worst if self.side[seat] == side else best for seat in range(self.players)]

    # ---- texts

    def action_text(self, action: int) -> str:
        """Return the text of an action, such as 'play 1o'. Raises EngineError for a number that is no action."""
        return actions.text(self.pack, action)

    def parse_action(self, text: str) -> int:
        """Return the action that a text names. Raises EngineError (a ValueError) with the text if it names none."""
        return actions.parse(self.pack, text)
