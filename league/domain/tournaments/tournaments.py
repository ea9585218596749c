"""Tournaments: create, start and extend them."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Mapping, Sequence
from datetime import datetime
from itertools import count, islice
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from engine.runner import Limits
from league.domain.bots import bots, consent
from league.domain.core import clock, journal, names, search_words, transitions
from league.domain.core.errors import IllegalMove, Refused, TooMany
from league.domain.matches import embargoes
from league.domain.people import quotas
from league.domain.ratings import pools
from league.domain.tournaments import booking, enrolment, formats, progress, releases, shares
from league.enums import DEFAULT_FORMAT, Entrance, Seeding, TournamentStatus
from league.models import Bot, BotVersion, Circuit, Event, Player, Tournament
from league.pure import formats as pure
from league.pure.names import without_part
from league.pure.refusal import Message
from league.service import logs

SLUGS_TAKEN = frozenset({"new"})
MOST_ADDRESSES = 20  # The most addresses of deleted rows that a new row passes over before it gets a random one.
MOST_IDLE_NAMES = 20  # The most names that a player has given up, but that are not free yet.

COARSE = ("chips", "marks")  # Score units in which a quarter to a half of the boards between good bots are drawn.


def default_boards(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> int:
    """Return the number of boards per match that suits the table (docs/luck.md derives the sizes from measured luck)."""
    loaded = pools.load(game, players, options)
    if loaded.board_deals is None and len(loaded.sides) > 2:
        return 4  # Each board is a whole elimination match.
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
    description: str = "",
    entrance: str = Entrance.ANYBODY,
    per_player: int = 1,
    limits: dict[str, Any] | None = None,
    secret: bytes | None = None,
    slug: str = "",
    now: datetime | None = None,
    **belongs: Any,
) -> Tournament:
    """Create an open tournament of `owner` with these versions entered (a bot stands for its newest accepted version).

    Its deals are derived from `secret` (by default 32 random bytes), whose SHA-256 is public at once, and the secret itself after the end. `mixed`:
    teams of two different bots. `sealed`: no bot can read a clock of the host, and only bots that can be sealed may enter. `belongs`: the columns
    that tie it to an event or season, to which the bots' owners have already agreed. In other tournaments, owners who want to be asked get a
    request (`enrolment.enter`). Raise Refused for a game, option, format, parameter, number of boards or entry that is not allowed, or beyond a
    limit.
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
            "choose a seeding from {allowed}, not {seeding!r}", allowed=", ".join(Seeding.values), seeding=seeding
        )
    chosen = formats.choose_parameters(format, parameters)
    formats.check_game(format, pools.load(game, players, options), mixed=mixed)
    secret = secret or secrets.token_bytes(32)
    with transaction.atomic():
        if not belongs:
            quotas.ask(owner, quotas.TOURNAMENTS, now=now)
            take_name(owner, name, now=now)
        tournament = Tournament.objects.create(
            slug=slug or free_slug(name),
            name=name,
            owner=owner,
            counts=belongs["event"].counts if "event" in belongs else consent.is_public(owner),
            pool=pools.pool(game, players, options, mixed=mixed),
            format=format,
            parameters=chosen,
            seeding=seeding,
            boards=boards,
            sealed=sealed,
            description=description,
            entrance=entrance,
            per_player=shares.checked(per_player),
            schedule=pure.REVISION,
            secret=secret,
            secret_sha256=hashlib.sha256(secret).hexdigest(),
            limits=_limits(limits),
            created=now,
            **_embargo_of(belongs.get("event")),
            **belongs,
        )
        if not belongs:
            search_words.put(tournament, name, tournament.slug)
        journal.append("tournament.created", transitions.subject(tournament), now=now, actor=owner.name)
        if belongs:
            for version in versions:
                enrolment.place(tournament, bots.version_of(version, game), actor=owner.name, now=now)
        else:
            booking.check_possible(tournament)
            consent.hold([entrant if isinstance(entrant, Bot) else entrant.bot for entrant in versions], owner)
            for version in versions:
                enrolment.enter(tournament, version, player=owner, now=now)
        if tournament.counts:
            tournament.refresh_from_db(fields=["counts"])
    return tournament


def _embargo_of(event: Event | None) -> dict[str, Any]:
    """Return the columns by which an embargo or a release of an event applies to its later stages."""
    if event is None:
        return {}
    columns = {"embargo": event.embargo, "secret_after": event.embargo} if event.embargo else {}
    return columns | {"opens": releases.opening_of_tournaments(event)}


def take_name(owner: Player, name: str, *, now: datetime | None = None) -> None:
    """Reserve `name` and similar names for tournaments, events and circuits of `owner`.

    Raise Refused if somebody else has it, or TooMany if `owner` holds too many names already that nothing of theirs has. Suffixes for stages and
    seasons do not count: "Liga, stage 2" and "Liga 3.1" belong to the name "Liga".
    """
    now, name, holder = clock.now_or(now), without_part(name), f"player:{owner.name}"
    idle = names.given_up(names.EVENT, holder=holder, now=now)
    if len(idle) >= MOST_IDLE_NAMES and not any(names.alike(name, other) for other in idle):
        raise TooMany(
            "you have given up {count} names in the last {days} days; take one of them again, such as {name!r}, or wait until one is free",
            retry_after=int(journal.DAY.total_seconds()),
            count=len(idle),
            days=names.HELD.days,
            name=min(idle),
        )
    names.take(names.EVENT, name, holder=holder, now=now)


def give_up_name(owner: Player, name: str, *, now: datetime) -> None:
    """Give up the name of a row that is renamed or deleted, unless another tournament, event or circuit of `owner` has one like it."""
    alone = Tournament.objects.filter(event=None, season=None)
    for rows in (alone, Event.objects.filter(private=False), Circuit.objects.all()):
        others = rows.filter(owner=owner).values_list("name", flat=True)
        if any(names.alike(without_part(other), without_part(name)) for other in others):
            return
    names.give_up(names.EVENT, without_part(name), holder=f"player:{owner.name}", now=now)


def secret_slug() -> str:
    """Return a random address that reveals nothing about other rows."""
    return secrets.token_hex(8)


def free_slug(name: str, table: type[Tournament] | type[Event] | type[Circuit] = Tournament) -> str:
    """Return an unused address for a row with this name in its table, but not the address of a deleted row, because old links lead there.

    After MOST_ADDRESSES such rows it ends with random digits, because somebody could create and delete rows of one name without end.
    """
    base = slugify(name)[:50].strip("-") or "tournament"
    taken = set(table.objects.filter(slug__startswith=base).values_list("slug", flat=True)) | SLUGS_TAKEN
    kind = table.__name__.lower()
    numbered = (f"{base}-{number}" if number > 1 else base for number in count(1))
    for slug in islice((slug for slug in numbered if slug not in taken), MOST_ADDRESSES):
        if not journal.latest(f"{kind}:{slug}", [f"{kind}.deleted"], 1):
            return slug
    return f"{base}-{secrets.token_hex(4)}"


def _limits(limits: dict[str, Any] | None) -> dict[str, Any]:
    try:
        Limits(**(limits or {}))
    except (TypeError, ValueError) as error:
        raise Refused("limits {limits!r} cannot be used: {error}", limits=limits, error=error) from error
    return dict(limits or {})


def start(tournament: Tournament, *, actor: str = "", now: datetime | None = None) -> None:
    """Fix the entries, sorted by version, with their seeds, and insert the first matches.

    Repeatable: in a running tournament only missing matches are added. Open requests expire, except those to enter a ladder. In a large tournament
    the scheduler inserts the other matches as the earlier ones are played (`progress.schedule`).
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
    """Start a tournament in the transaction that created it.

    Raise Refused if an owner has to be asked, because the request would expire at once.
    """
    bots_asked = consent.names_asked(tournament)
    if bots_asked:
        raise Refused(
            "the owners of {bots} want to be asked; create the tournament without starting it, and start it after their answer, "
            "or leave these bots out",
            bots=bots_asked,
        )
    start(tournament, actor=actor, now=now)


def growing_parameters(tournament: Tournament) -> list[str]:
    """Return the parameters that can be raised while the tournament runs."""
    return [parameter.name for parameter in formats.format_named(tournament.format).parameters if parameter.can_grow]


def extend(tournament: Tournament, parameters: Mapping[str, Any], *, actor: str, now: datetime | None = None) -> int:
    """Raise parameters of a running tournament, such as cycles or budget. Existing matches do not change.

    Return the most matches that this can add. Raise Refused for a smaller value or any other parameter, because results depend on it.
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
                    "a running {format} cannot change {name}; you can raise: {growing}",
                    format=row.format,
                    name=name,
                    growing=", ".join(growing) or Message("nothing"),
                )
            if not isinstance(value, int) or isinstance(value, bool) or value < int(was[name]):
                raise Refused(
                    "{name} is {was}; you can raise it, not change it to {value!r}",
                    name=name,
                    was=was[name],
                    value=value,
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
    """Return the fewest and the most matches of the tournament. Raise Refused if the entries cannot fill a table."""
    form, field = formats.field_of_tournament(tournament)
    try:
        pure.check_field(form, field)
        return form.size(field).matches
    except ValueError as error:
        raise Refused.from_error(error) from error


def published_secret(tournament: Tournament) -> str | None:
    """Return the secret in hexadecimal once all deals have been played and no replay is withheld; else None."""
    if embargoes.hides_secret(tournament):
        return None
    is_over = tournament.status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
    return bytes(tournament.secret).hex() if is_over else None
