"""The formats as the league offers them: their words, and fields made from rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext_lazy as _

from engine import Game
from league.domain.core.errors import Refused
from league.domain.ratings import pools
from league.enums import TournamentFormat
from league.models import Tournament
from league.pure import formats as pure

SENTENCES = {  # what each format is, in one sentence
    "round_robin": _("Everybody meets everybody, as often as there are cycles: the fairest table of a small field."),
    "swiss": _(
        "In every round equal scores meet and nobody meets the same opponent twice: a table of a large field in few rounds."
    ),
    "single_elimination": _(
        "Who loses a match is out: quick, exciting, and much luck. At tables of more than two the best of each go on."
    ),
    "double_elimination": _("Who loses twice is out: a bracket that forgives one unlucky match."),
    "gauntlet": _("The newest entries meet all the others, who do not meet each other: how good is a new version?"),
    "successive_halving": _(
        "All survivors meet, the weaker half goes, and every board counts to the end: finds the best bot most often."
    ),
    "ladder": _("Continuous: some matches are always open, each where it tells most, and bots may come and go."),
    "duel": _("Two bots play until a sequential test can say which is stronger, or until the cap."),
}
PARAMETERS = {  # what each parameter does
    ("round_robin", "cycles"): _(
        "How often each pair meets; two make a double round robin. The most, where it may stop before."
    ),
    ("round_robin", "sure"): _(
        "Stop after the cycle in which one is the best with this probability, such as 0.95. 0: play all cycles."
    ),
    ("gauntlet", "challengers"): _("How many of the newest entries are the challengers."),
    ("gauntlet", "cycles"): _("How often each challenger meets each of the others."),
    ("swiss", "rounds"): _("Rounds. 0: log2 of the field and two more, at most half the field."),
    ("single_elimination", "bronze"): _("The losers of the semifinals play for the third place."),
    ("single_elimination", "extra"): _("Boards added at a time while a match is level."),
    ("single_elimination", "cap"): _("Extra boards at most; then the score decides, then the better seed."),
    ("single_elimination", "advance"): _("How many go on from a table of more than two. 0: half of them."),
    ("double_elimination", "extra"): _("Boards added at a time while a match is level."),
    ("double_elimination", "cap"): _("Extra boards at most; then the score decides, then the better seed."),
    ("successive_halving", "budget"): _(
        "Boards in all, in equal shares to the stages. 0: as many as a round robin takes."
    ),
    ("ladder", "open"): _("Matches that are open at a time. 0: as many as tables can be filled."),
    ("ladder", "budget"): _("Boards of each bot, then it ends. 0: it goes on until you end it."),
    ("ladder", "head"): _("Prefer the head of the table: finds the best sooner, orders the rest later."),
    ("duel", "elo0"): _("At most so much stronger (Elo of a board): the first answer of the test."),
    ("duel", "elo1"): _("At least so much stronger: the second answer."),
    ("duel", "alpha"): _("Share of wrong second answers."),
    ("duel", "beta"): _("Share of wrong first answers."),
    ("duel", "cap"): _("Boards at most; then nobody has been shown to be stronger."),
}


@dataclass(frozen=True)
class DescribedFormat:
    """A format for people and programs: key, sentence, and each parameter with its sentence."""

    key: str
    title: str
    sentence: str
    parameters: list[tuple[pure.Parameter, str]]
    seats: bool  # whether it takes tables of more than two
    mixes: bool  # whether it takes mixed pairs


def describe_formats() -> list[DescribedFormat]:
    """All formats, in the order in which they are offered and in the language of the moment."""
    return [
        DescribedFormat(
            key,
            str(TournamentFormat(key).label),
            str(SENTENCES[key]),
            [(parameter, str(PARAMETERS[key, parameter.name])) for parameter in one.parameters],
            not one.unseated,
            not one.unmixed,
        )
        for key, one in pure.FORMATS.items()
    ]


def format_named(key: str) -> pure.Format:
    """The format of that key, or Refused with those there are."""
    if key not in pure.FORMATS:
        raise Refused("there is no format {key!r}; the formats are {formats}", key=key, formats=", ".join(pure.FORMATS))
    return pure.FORMATS[key]


def choose_parameters(key: str, parameters: Mapping[str, Any] | None) -> dict[str, pure.Value]:
    """The parameters that differ from the defaults of the format. Refused with what is allowed."""
    form = format_named(key)
    try:
        full = form.complete(parameters or {})
    except ValueError as error:
        raise Refused.from_error(error) from error
    if "elo0" in full and float(full["elo0"]) >= float(full["elo1"]):
        raise Refused(
            "elo0 is below elo1: the test asks which of two strengths it is, not {elo0} and {elo1}",
            elo0=full["elo0"],
            elo1=full["elo1"],
        )
    defaults = form.complete({})
    return {name: value for name, value in full.items() if value != defaults[name]}


def check_game(key: str, game: Game, *, mixed: bool) -> None:
    """Refused where the format cannot seat the tables of a game, or its partners cannot be mixed."""
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
    """Entries at one table of a game: one per side, or four where partners are mixed."""
    return 4 if mixed else len(game.sides)


def make_field(key: str, parameters: Mapping[str, Any], **more: Any) -> pure.Field:
    """A field with all parameters of a format."""
    return pure.Field(values=format_named(key).complete(parameters), **more)


def follows_results(tournament: Tournament) -> bool:
    """Whether its tables, and so its order, depend on results. No query."""
    empty = make_field(tournament.format, tournament.parameters, entries=0, boards=tournament.boards)
    return format_named(tournament.format).follows(empty)


def field_of_tournament(tournament: Tournament) -> tuple[pure.Format, pure.Field]:
    """The format of a tournament and its field as it is now. One query."""
    rows = list(tournament.entries.order_by("number").values_list("number", "seed", "withdrawn"))
    seeds = sorted((seed or len(rows) + number, number) for number, seed, _ in rows)
    made = make_field(
        tournament.format,
        tournament.parameters,
        entries=len(rows),
        boards=tournament.boards,
        seats=pools.parties(tournament.pool),
        mixed=tournament.pool.team == pools.MIXED,
        seeds=tuple(number for _, number in seeds),
        withdrawn=frozenset(number for number, _, withdrawn in rows if withdrawn),
        lot=tournament.secret_sha256,
        revision=tournament.schedule,
    )
    return format_named(tournament.format), made
