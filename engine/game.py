"""A game that can be played: its terms at one table, and the matches they give."""

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

ORDINARY = Rules(result=most_points_wins)  # ordinary Tute, from which the declarations of the games differ


class Game(Terms):
    """What `engine.load` returns. Immutable; shared by all its matches."""

    def __init__(self, declared: Rules, options: Mapping[str, Any], players: int, origin: Terms | None = None) -> None:
        super().__init__(declared, options, players, origin)
        self.stages = stages(self.rules)
        self._for_seats: dict[int, Game] = {}

    def for_seats(self, left: int) -> Game:
        """The game that goes on when so many seats are left after eliminations: options that mean nothing there fall away."""
        found = self._for_seats.get(left)
        if found is None:
            found = self._for_seats[left] = _continued(self, left)
        return found

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
    """Raises OptionError where this is no number of deals for a match."""
    if deals is not None and (type(deals) is not int or deals < 1):
        raise OptionError(f"deals must be a whole number, 1 or more, or None, not {deals!r}")


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
        raise OptionError(f"unknown game {key!r}{meant(key, _declared())}; games are: {', '.join(_declared())}")
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
