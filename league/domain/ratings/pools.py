"""Rating pools: one game, its options, its number of players, its kind of team, one revision of its rules, sandboxed or remote bots."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

import engine
from engine.game import declared
from league.domain.core.errors import Refused
from league.models import Pool

MIXED = "mixed"  # Kind of team: four versions, partners sit opposite.
SINGLE = "single"  # Kind of team: nobody has a partner.


def load(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> engine.Game:
    """Load a game of the engine. Raise Refused if the name, the players or an option is wrong."""
    if game not in engine.games():
        raise Refused("unknown game {game!r}; choose one of {games}", game=game, games=", ".join(engine.games()))
    chosen = dict(options or {})
    for name, value in chosen.items():
        if not isinstance(name, str) or not isinstance(value, str | int | float | bool | None):
            raise Refused(
                "option {name!r} must be a text, a number or true/false, not {value!r}", name=name, value=value
            )
    if players is not None:
        chosen["players"] = players
    try:
        return engine.load(game, **chosen)
    except engine.OptionError as error:
        raise Refused.from_error(error) from error


def game_of(pool: Pool) -> engine.Game:
    """Return the engine's game of `pool`."""
    return load(pool.game, pool.players, pool.options)


def parties(pool: Pool) -> int:
    """Return the number of bot versions at a table: one per side, or one per seat if partners are mixed."""
    game = game_of(pool)
    return game.players if pool.team == MIXED else len(game.sides)


def is_single(game: str) -> bool:
    """Return True if nobody has a partner in the default rules of a game."""
    return max(map(len, load(game).sides)) == 1


def single_games() -> list[str]:
    """Return the games in which nobody has a partner: those of remote bots."""
    return [game for game in engine.games() if is_single(game)]


def revisions() -> dict[str, int]:
    """Return the latest revision of the rules of each game that this process plays by."""
    return {game: declared(game).revision + len(declared(game).revised) for game in engine.games()}


def with_rules(rules: Mapping[str, int], prefix: str = "") -> Q:
    """Return the condition that a pool (at `prefix` of the rows) may have the rules of a release with these latest revisions.

    The latest ones may belong to some options only, so `is_known` decides.
    """
    games: dict[tuple[int, int], list[str]] = {}
    for game, latest in rules.items():
        of_some_options = len(declared(game).revised) if game in engine.games() else 0
        games.setdefault((latest - of_some_options, latest), []).append(game)
    condition = Q(pk__in=[])
    for span, keys in sorted(games.items()):
        condition |= Q(**{f"{prefix}revision__range": span, f"{prefix}game__in": keys})
    return condition


def is_known(pool: Pool) -> bool:
    """Return True if this process knows the rules of `pool`: their revision, and options that another release may have added."""
    try:
        return game_of(pool).revision == pool.revision
    except Refused:
        return False


def sides(pool: Pool) -> tuple[tuple[int, ...], ...] | None:
    """Return the parties (by number) of each side if a side has several versions; None otherwise."""
    return ((0, 2), (1, 3)) if pool.team == MIXED else None


def pool_key(
    game: str, players: int, options: dict[str, Any], team: str, revision: int, *, remote: bool = False
) -> str:
    """Return the identity of a pool: the SHA-256 of its fields as canonical JSON."""
    fields = {"game": game, "players": players, "options": options, "team": team, "revision": revision}
    fields |= {"remote": True} if remote else {}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def pool(
    game: str,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    *,
    mixed: bool = False,
    remote: bool = False,
) -> Pool:
    """Return the pool of a game with these players and options; create it if it does not exist. Giving an option its default changes nothing."""
    fields = _fields(game, players, options, mixed=mixed) | {"remote": remote}
    return Pool.objects.get_or_create(key=pool_key(**fields), defaults=fields)[0]


def ensure_default_pools(games: Iterable[str]) -> None:
    """Create the default pools of these games if they do not exist, because the role of the workers may not. One query."""
    rows = (Pool(key=pool_key(**fields), **fields) for fields in map(_fields, games))
    Pool.objects.bulk_create(rows, ignore_conflicts=True)


def _fields(
    game: str, players: int | None = None, options: dict[str, Any] | None = None, *, mixed: bool = False
) -> dict[str, Any]:
    loaded = load(game, players, options)
    team = MIXED if mixed else "clones" if max(map(len, loaded.sides)) > 1 else SINGLE
    return {
        "game": loaded.key,
        "players": loaded.players,
        "options": loaded.options,
        "team": team,
        "revision": loaded.revision,
    }


def parse_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Parse `name=value` texts as options: numbers, true, false and null as such, everything else as text."""
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Refused("the option {pair!r} must be written as name=value", pair=pair)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        options[name] = value
    return options
