"""Pools: what is rated together. One game, its options, its seats, its kind of team, one revision of its rules."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from django.db.models import Q

import engine
from league.domain.core.errors import Refused
from league.models import Pool

MIXED = "mixed"  # kind of team: four versions, partners sit opposite
SINGLE = "single"  # nobody has a partner


def load(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> engine.Game:
    """The engine's game, or Refused with what is wrong about the name, the players or an option."""
    if game not in engine.games():
        raise Refused("unknown game {game!r}; the games are {games}", game=game, games=", ".join(engine.games()))
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
    """The engine's game that `pool` is about."""
    return load(pool.game, pool.players, pool.options)


def parties(pool: Pool) -> int:
    """How many bot versions sit at one table: one per side, or one per seat where partners are mixed."""
    game = game_of(pool)
    return game.players if pool.team == MIXED else len(game.sides)


def revisions() -> dict[str, int]:
    """The revision of the rules of each game, as this process plays it."""
    return {game: engine.load(game).revision for game in engine.games()}


def by_rules(rules: Mapping[str, int], prefix: str = "") -> Q:
    """Which pools (of rows that have theirs as `prefix`) are played by rules of these revisions."""
    games: dict[int, list[str]] = {}
    for game, revision in rules.items():
        games.setdefault(revision, []).append(game)
    found = Q(pk__in=[])
    for revision, keys in sorted(games.items()):
        found |= Q(**{f"{prefix}revision": revision, f"{prefix}game__in": keys})
    return found


def is_known(pool: Pool) -> bool:
    """Whether this process plays by the rules of `pool`: their revision, and options that another release may have added."""
    try:
        return game_of(pool).revision == pool.revision
    except Refused:
        return False


def have_partners(pool: Pool) -> bool:
    """Whether more than one seat wins and loses together at a table of the pool."""
    return pool.team != SINGLE


def sides(pool: Pool) -> tuple[tuple[int, ...], ...] | None:
    """Which parties play together, by their numbers, where several versions make a side; None where each is on its own."""
    return ((0, 2), (1, 3)) if pool.team == MIXED else None


def pool_key(game: str, players: int, options: dict[str, Any], team: str, revision: int) -> str:
    """The identity of a pool: SHA-256 of its fields as canonical JSON."""
    fields = {"game": game, "players": players, "options": options, "team": team, "revision": revision}
    text = json.dumps(fields, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def pool(game: str, players: int | None = None, options: dict[str, Any] | None = None, *, mixed: bool = False) -> Pool:
    """The pool of a game with these players and options; made where it does not exist. Default options are the same as none."""
    fields = _fields(game, players, options, mixed=mixed)
    return Pool.objects.get_or_create(key=pool_key(**fields), defaults=fields)[0]


def make_ready(games: Iterable[str]) -> None:
    """Make the pools of these games as they are by default, where they do not exist: the role of the workers makes none. One query."""
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
    """`name=value` texts as options: numbers, true, false and null are read as such, everything else is text."""
    found: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or not name:
            raise Refused("the option {pair!r} is not of the form name=value", pair=pair)
        try:
            value = json.loads(text)
        except ValueError:
            value = text
        found[name] = value
    return found
