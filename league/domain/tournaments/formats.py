"""The tournament formats of the league: their descriptions in the reader's language, and their fields built from rows."""

from __future__ import annotations

import hmac
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext

from engine import Game
from league.domain.core.errors import Refused
from league.domain.ratings import pools
from league.models import Tournament
from league.pure import formats as pure


@dataclass(frozen=True)
class DescribedFormat:
    """A format described for people and programs: key, sentence, and each parameter with its sentence."""

    key: str
    title: str
    sentence: str
    parameters: list[tuple[pure.Parameter, str]]
    seats: bool  # True if it takes tables of more than two.
    mixes: bool  # True if it takes mixed pairs.


def describe_formats() -> list[DescribedFormat]:
    """Describe all formats in the active language, in the order in which they are offered."""
    return [
        DescribedFormat(
            key,
            gettext(form.title),
            gettext(form.sentence),
            [(parameter, gettext(parameter.help)) for parameter in form.parameters],
            not form.unseated,
            not form.unmixed,
        )
        for key, form in pure.FORMATS.items()
    ]


def format_named(key: str) -> pure.Format:
    """Return the format with this key; raise Refused with the list of formats."""
    if key not in pure.FORMATS:
        raise Refused("there is no format {key!r}; choose one of {formats}", key=key, formats=", ".join(pure.FORMATS))
    return pure.FORMATS[key]


def choose_parameters(key: str, parameters: Mapping[str, Any] | None) -> dict[str, pure.Value]:
    """Return the parameters that differ from the format's defaults. Raise Refused with the allowed values."""
    form = format_named(key)
    try:
        full = form.complete(parameters or {})
    except ValueError as error:
        raise Refused.from_error(error) from error
    defaults = form.complete({})
    return {name: value for name, value in full.items() if value != defaults[name]}


def check_game(key: str, game: Game, *, mixed: bool) -> None:
    """Raise Refused if the format cannot seat the tables of a game, or if the game's partners cannot be mixed."""
    form = format_named(key)
    if mixed and sorted(map(len, game.sides)) != [2, 2]:
        raise Refused(
            "{game} for {players} players has no two sides of two seats, so there are no partners to mix",
            game=game.key,
            players=game.players,
        )
    try:
        pure.check_field(
            form,
            make_field(
                key, {}, entries=form.most or 1000, boards=1, seats=entries_at_table(game, mixed=mixed), mixed=mixed
            ),
        )
    except ValueError as error:
        raise Refused.from_error(error) from error


def entries_at_table(game: Game, *, mixed: bool) -> int:
    """Return the number of entries at a table: one per side, or four if partners are mixed."""
    return 4 if mixed else len(game.sides)


def make_field(key: str, parameters: Mapping[str, Any], **more: Any) -> pure.Field:
    """Build a field with all parameters of a format."""
    return pure.Field(values=format_named(key).complete(parameters), **more)


def follows_results(tournament: Tournament) -> bool:
    """Return True if the tables, and so the order of the entries, depend on results. No query."""
    empty = make_field(tournament.format, tournament.parameters, entries=0, boards=tournament.boards)
    return format_named(tournament.format).follows(empty)


def field_of_tournament(tournament: Tournament) -> tuple[pure.Format, pure.Field]:
    """Return the format of a tournament and its current field. One query."""
    bot = "version__bot__"
    columns = ("number", "seed", "since", "withdrawn", f"{bot}stopped", f"{bot}owner_banned")
    rows = list(tournament.entries.order_by("number").values_list(*columns))
    seeds = sorted((seed or len(rows) + number, number) for number, seed, *_ in rows)
    field = make_field(
        tournament.format,
        tournament.parameters,
        entries=len(rows),
        boards=tournament.boards,
        seats=pools.parties(tournament.pool),
        mixed=tournament.pool.team == pools.MIXED,
        seeds=tuple(number for _, number in seeds),
        withdrawn=frozenset(number for number, _, _, *gone in rows if any(gone)),
        since={number: first for number, _, first, *_ in rows if first > 1},
        lot=_lot(tournament),
        revision=tournament.schedule,
    )
    return format_named(tournament.format), field


def _lot(tournament: Tournament) -> str:
    """Return the seed of the draws. It is public before the start; in an arena only after the end, so that nobody can foresee them."""
    if not format_named(tournament.format).timed:
        return tournament.secret_sha256
    return hmac.new(bytes(tournament.secret), b"draws", "sha256").hexdigest()


def ends_at(tournament: Tournament) -> datetime | None:
    """Return when a started tournament ends by the clock; None in formats without one. No query."""
    form = format_named(tournament.format)
    if not form.timed or tournament.started is None:
        return None
    return tournament.started + timedelta(minutes=int(form.complete(tournament.parameters)["minutes"]))
