"""A game at one table: its resolved terms, and its matches."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any

from engine.cards import chance
from engine.errors import OptionError, meant
from engine.match import flow, steps
from engine.match.opening.stages import stages
from engine.match.scoring.results import most_points_wins
from engine.match.state import State
from engine.rules.parameters import Rules
from engine.rules.resolving import choices, chosen
from engine.rules.terms import Terms

ORDINARY = Rules(result=most_points_wins)  # Ordinary Tute. The games declare what differs from it.


class Game(Terms):
    """A game as `engine.load` returns it. Immutable; shared by all its matches."""

    def __init__(self, declared: Rules, options: Mapping[str, Any], players: int, origin: Terms | None = None) -> None:
        super().__init__(declared, options, players, origin)
        self.stages = stages(self.rules)
        self._for_seats: dict[int, Game] = {}

    def for_seats(self, seats: int) -> Game:
        """Return the game that `seats` seats continue after eliminations, without the options that mean nothing at that number."""
        game = self._for_seats.get(seats)
        if game is None:
            game = self._for_seats[seats] = _continued(self, seats)
        return game

    def new_match(
        self,
        *,
        seed: bytes | str | int,
        deals: int | None = None,
        record: bool = True,
        suits: str | None = None,
        dice: chance.Dice | None = None,
    ) -> State:
        """Start a match: dealt and ready for its first action.

        seed: fixes every card and every random draw. deals: end the match after this many deals, or later if a game of several deals is unfinished;
        None: end as the rules say. record: False builds no events, for search and training. suits: the letters of the suits that replace coins, cups,
        swords and batons, in this order, in the same shuffle. dice: the dice to shuffle with in a playout. Raise OptionError for bad `deals` or
        `suits`.
        """
        check_deals(deals)
        state = State(self, chance.as_seed(seed), deals, record, self.suit_map(suits))
        state.dice = dice
        if record:
            state.emit(
                "match",
                game=self.key,
                revision=self.revision,
                options=self.options,
                players=self.players,
                sides=[list(seats) for seats in self.sides],
            )
        flow.run(state, steps.DEAL)
        return state


def check_deals(deals: int | None) -> None:
    """Raise OptionError unless `deals` is None or a valid number of deals."""
    if deals is not None and (type(deals) is not int or deals < 1):
        raise OptionError(f"deals must be a whole number, 1 or more, or None, not {deals!r}")


@cache
def _declared() -> dict[str, Rules]:
    # Imported by name, because the attribute `engine.games` is the function below.
    package = importlib.import_module("engine.games")
    games_by_key = {}
    for module in pkgutil.iter_modules(package.__path__):
        rules = importlib.import_module(f"{package.__name__}.{module.name}").GAME
        games_by_key[rules.key] = rules
    return dict(sorted(games_by_key.items()))


def games() -> list[str]:
    """Return the keys of all games in alphabetical order. Every module of `engine.games` is a game."""
    return list(_declared())


def declared(key: str) -> Rules:
    """Return the unresolved declaration of a game. Raise OptionError with the list of games for an unknown key."""
    if key not in _declared():
        raise OptionError(f"unknown game {key!r}{meant(key, _declared())}; games are: {', '.join(_declared())}")
    return _declared()[key]


def load(key: str, /, **options: Any) -> Game:
    """Load a game by its key, with options as named in its rules; `players` is the number of seats.

    Raise OptionError, with the allowed values, for an unknown game or option or a value out of range.
    """
    rules = declared(key)
    players = options.pop("players", rules.players[0])
    if players not in rules.players or type(players) is not int:
        numbers = ", ".join(str(n) for n in rules.players)
        raise OptionError(f"{key} is played by {numbers} players, not {players!r}")
    chosen(rules, options, players)  # Checked before the cache, which takes 1 and True for the same value.
    return _loaded(key, players, tuple(sorted(options.items(), key=lambda item: item[0])))


@lru_cache(maxsize=256)  # Bounded because users can send any options.
def _loaded(key: str, players: int, options: tuple[tuple[str, Any], ...]) -> Game:
    return Game(declared(key), dict(options), players)


def _continued(game: Game, seats_left: int) -> Game:
    rules = game.declared
    options = game.options
    if seats_left == 2 and game.rules.final_duel:
        duel = declared(game.rules.duel_game)
        ending = {
            name: getattr(game.rules, name)
            for name in ("match_end", "max_losses", "final_duel", "duel_game", "next_dealer", "score_unit")
        }
        agreed: dict[str, Any] = {
            name: options[name] for name in ("illegal_move", "no_load", "rank_order") if name in options
        }
        return Game(replace(duel, **ending), agreed, 2, game.origin)
    allowed = choices(rules, seats_left)
    return Game(rules, {name: value for name, value in options.items() if name in allowed}, seats_left, game.origin)
