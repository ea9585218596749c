"""Tournaments: created open, started, extended while they run."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from engine.runner import Limits
from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import embargoes
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import booking, enrolment, formats, progress, releases
from league.enums import DEFAULT_FORMAT, Seeding, TournamentStatus
from league.models import Bot, BotVersion, Circuit, Event, Player, Tournament
from league.pure import formats as pure
from league.pure.names import without_part
from league.pure.refusal import Message
from league.service import logs

SLUGS_TAKEN = frozenset({"new"})

COARSE = ("chips", "marks")  # score units in which a quarter to a half of the boards are drawn between good bots


def default_boards(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> int:
    """Boards of one match that suit the table (the sizes follow from measured luck: docs/luck.md)."""
    loaded = pools.load(game, players, options)
    if loaded.board_deals is None and len(loaded.sides) > 2:
        return 4  # a whole elimination match is a board
    boards = {2: 16, 3: 8, 4: 6}.get(len(loaded.sides), 4)
    return 2 * boards if loaded.score_unit in COARSE else boards


def create(
    owner: Player,
    name: str,
    game: str,
    options: dict[str, Any] | None = None,
    boards: int | None = None,
    versions: Sequence[BotVersion | Bot] = (),
    players: int | None = None,
    *,
    format: str = DEFAULT_FORMAT,
    parameters: Mapping[str, Any] | None = None,
    seeding: str = Seeding.RATING,
    mixed: bool = False,
    sealed: bool = False,
    limits: dict[str, Any] | None = None,
    secret: bytes | None = None,
    slug: str = "",
    now: datetime | None = None,
    **belongs: Any,
) -> Tournament:
    """An open tournament of `owner` with these versions (a bot stands for its newest accepted version) entered.

    Its deals follow from `secret` (32 random bytes where none is given), whose SHA-256 is public from now on and itself when all is over.
    `mixed` makes teams of two different bots; `sealed` keeps every clock of the host from all its bots, so that only those enter that can be
    sealed; `belongs` are the columns that tie it to an event or season, for which the owners of all bots have agreed. Else the owners of others' bots
    are asked where they want that (`enrolment.enter`).
    Raises Refused for a game, option, format, parameter, number of boards, limit or entry that cannot be.
    """
    now = clock.now_or(now)
    name = names.checked(name)
    if not 1 <= len(name) <= 80:
        raise Refused("a tournament needs a name of 1 to 80 characters; this one has {length}", length=len(name))
    boards = default_boards(game, players, options) if boards is None else boards
    if type(boards) is not int or not 1 <= boards <= settings.MAX_BOARDS:
        raise Refused("a match has 1 to {most} boards, not {boards!r}", most=settings.MAX_BOARDS, boards=boards)
    if seeding not in Seeding.values:
        raise Refused(
            "seeding is one of {allowed}, not {seeding!r}", allowed=", ".join(Seeding.values), seeding=seeding
        )
    chosen = formats.choose_parameters(format, parameters)
    formats.check_game(format, pools.load(game, players, options), mixed=mixed)
    secret = secret or secrets.token_bytes(32)
    with transaction.atomic():
        if not belongs:
            quotas.ask(owner, quotas.TOURNAMENTS, now=now)
            take_name(owner, name)
        tournament = Tournament.objects.create(
            slug=slug or free_slug(name),
            name=name,
            owner=owner,
            pool=pools.pool(game, players, options, mixed=mixed),
            format=format,
            parameters=chosen,
            seeding=seeding,
            boards=boards,
            sealed=sealed,
            schedule=pure.REVISION,
            secret=secret,
            secret_sha256=hashlib.sha256(secret).hexdigest(),
            limits=_limits(limits),
            created=now,
            **_embargo_of(belongs.get("event")),
            **belongs,
        )
        journal.append("tournament.created", transitions.subject(tournament), now=now, actor=owner.name)
        if belongs:
            for version in versions:
                enrolment.place(tournament, bots.version_of(version, game), actor=owner.name, now=now)
        else:
            consent.hold([one if isinstance(one, Bot) else one.bot for one in versions], owner)
            for version in versions:
                enrolment.enter(tournament, version, by=owner, now=now)
    return tournament


def _embargo_of(event: Event | None) -> dict[str, Any]:
    """What is held back of an event is held back of its later stages, too."""
    if event is None:
        return {}
    held = {"embargo": event.embargo, "secret_after": event.embargo} if event.embargo else {}
    return held | {"opens": releases.of_tournaments(event)}


def take_name(owner: Player, name: str) -> None:
    """Let nobody but `owner` give a tournament, event or circuit a name that looks like `name`. Refused where it is another's already.

    What the league adds to the names of stages and seasons does not count: "Liga, stage 2" and "Liga 3.1" are names of Liga.
    """
    names.take(names.EVENT, without_part(name), holder=f"player:{owner.name}")


def secret_slug() -> str:
    """An address that nobody guesses, and whose lack of a number tells nobody of others."""
    return secrets.token_hex(8)


def free_slug(name: str, table: type[Tournament] | type[Event] | type[Circuit] = Tournament) -> str:
    """An address for a row of that name that no other row of its table has."""
    base = slugify(name)[:50].strip("-") or "tournament"
    taken = set(table.objects.filter(slug__startswith=base).values_list("slug", flat=True)) | SLUGS_TAKEN
    number = 1
    slug = base
    while slug in taken:
        number += 1
        slug = f"{base}-{number}"
    return slug


def _limits(given: dict[str, Any] | None) -> dict[str, Any]:
    try:
        Limits(**(given or {}))
    except (TypeError, ValueError) as error:
        raise Refused("limits {given!r} cannot be used: {error}", given=given, error=error) from error
    return dict(given or {})


def start(tournament: Tournament, *, actor: str = "", now: datetime | None = None) -> None:
    """Freeze the entries, sorted by version, with their seeds, and insert the first matches. Starting a running tournament only completes them.

    Requests that are still open expire, but for those to enter a ladder.
    Of a large one the scheduler inserts the others, as those before them are played (`progress.schedule`).
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Tournament.objects.select_for_update(of=("self",)).select_related("pool", "owner").get(pk=tournament.pk)
        if row.status == TournamentStatus.OPEN:
            enrolment.freeze_entries(row)
            booking.book(row, now=now)
            transitions.move(row, TournamentStatus.RUNNING, now=now, actor=actor, started=now, request=logs.asked_by())
            if not formats.format_named(row.format).grows:
                consent.lapse(row, now=now)
    tournament.refresh_from_db()
    if tournament.status != TournamentStatus.RUNNING:
        raise IllegalMove(
            "the tournament {tournament!r} is {status} and cannot be started",
            tournament=tournament.name,
            status=TournamentStatus(tournament.status).label,
        )
    progress.schedule(tournament, now=now)


def start_at_once(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """Start a tournament in the transaction that has made it. Refused where somebody is asked first: the requests would expire at once."""
    asked = consent.names_asked(tournament)
    if asked:
        raise Refused(
            "the owners of {bots} want to be asked first: create it without starting it, and start it when they have answered; "
            "or leave these bots out",
            bots=asked,
        )
    start(tournament, actor=actor, now=now)


def growing_parameters(tournament: Tournament) -> list[str]:
    """Names of the parameters of which a tournament, while it runs, may get more."""
    return [parameter.name for parameter in formats.format_named(tournament.format).parameters if parameter.can_grow]


def extend(tournament: Tournament, parameters: Mapping[str, Any], *, actor: str, now: datetime | None = None) -> int:
    """Give a running tournament more of what may grow, such as cycles or budget. Nothing that exists is changed.

    Returns the number of matches by which it may grow. Refused for less than there is, and for any other parameter: what was played follows from it.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        row = Tournament.objects.select_for_update(of=("self",)).select_related("pool", "owner").get(pk=tournament.pk)
        if row.status != TournamentStatus.RUNNING:
            raise Refused(
                "the tournament {tournament!r} is {status}; only a running one can be extended",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        was = formats.format_named(row.format).complete(row.parameters)
        growing = growing_parameters(row)
        for name, value in parameters.items():
            if name not in growing:
                raise Refused(
                    "a running {format} cannot change {name}; what can grow: {growing}",
                    format=row.format,
                    name=name,
                    growing=", ".join(growing) or Message("nothing"),
                )
            if not isinstance(value, int) or isinstance(value, bool) or value < int(was[name]):
                raise Refused(
                    "{name} is {was} and can only grow, not become {value!r}", name=name, was=was[name], value=value
                )
        row.parameters = formats.choose_parameters(row.format, {**was, **parameters})
        Tournament.objects.filter(pk=row.pk).update(parameters=row.parameters)
        planned = row.planned_matches
        booking.book_more(row, now=now)
        journal.append("tournament.extended", transitions.subject(row), now=now, actor=actor, **parameters)
    tournament.refresh_from_db()
    progress.schedule(tournament, now=now)
    return row.planned_matches - planned


def count_planned(tournament: Tournament) -> tuple[int, int]:
    """How many matches there will be: fewest and most. Refused where the entries cannot fill a table."""
    form, field = formats.field_of_tournament(tournament)
    try:
        pure.check_field(form, field)
        return form.size(field).matches
    except ValueError as error:
        raise Refused.from_error(error) from error


def published_secret(tournament: Tournament) -> str | None:
    """The secret in hexadecimal once all its deals have been played and none of its replays is held back, else None."""
    if embargoes.hides_secret(tournament):
        return None
    over = tournament.status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
    return bytes(tournament.secret).hex() if over else None
