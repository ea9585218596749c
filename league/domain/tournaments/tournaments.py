"""Tournaments: created open, entered, started, scheduled by reconciliation, finished."""

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
from league.domain.bots import bots
from league.domain.core import clock, journal, moves
from league.domain.core.errors import IllegalMove, Refused
from league.domain.matches import matches
from league.domain.ratings import pools
from league.domain.tournaments import fixtures, formats
from league.enums import DEFAULT_FORMAT, BotState, Ending, Seeding, TournamentStatus, VersionStatus
from league.models import Bot, BotVersion, Circuit, Entry, Event, Match, Player, Rating, Tournament
from league.pure import formats as pure
from league.pure.formats import Outcome

SLUGS_TAKEN = frozenset({"new"})

COARSE = ("chips", "marks")  # score units in which a quarter to a half of the boards are drawn between good bots


def default_boards(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> int:
    """Boards of one match that suit the table (the sizes follow from measured luck: docs/ratings.md)."""
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
    limits: dict[str, Any] | None = None,
    secret: bytes | None = None,
    now: datetime | None = None,
    **belongs: Any,
) -> Tournament:
    """An open tournament of `owner` with these versions (a bot stands for its newest accepted version) entered.

    Its deals follow from `secret` (32 random bytes where none is given), whose SHA-256 is public from now on and itself when all is over.
    `mixed` makes teams of two different bots; `belongs` are the columns that tie it to an event or season.
    Raises Refused for a game, option, format, parameter, number of boards, limit or entry that cannot be.
    """
    now = clock.given(now)
    name = name.strip()
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
        tournament = Tournament.objects.create(
            slug=free_slug(name),
            name=name,
            owner=owner,
            pool=pools.pool(game, players, options, mixed=mixed),
            format=format,
            parameters=chosen,
            seeding=seeding,
            boards=boards,
            schedule=pure.REVISION,
            secret=secret,
            secret_sha256=hashlib.sha256(secret).hexdigest(),
            limits=_limits(limits),
            created=now,
            **belongs,
        )
        journal.append("tournament.created", moves.subject(tournament), now=now, actor=owner.name)
        for version in versions:
            enter(tournament, version, now=now, actor=owner.name)
    return tournament


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


def enter(tournament: Tournament, entrant: BotVersion | Bot, *, actor: str = "", now: datetime | None = None) -> Entry:
    """Enter a version, or the newest accepted one of a bot; into a ladder also while it runs. Entering it again changes nothing."""
    now = clock.given(now)
    game = tournament.pool.game
    version = bots.newest_accepted(entrant, game) if isinstance(entrant, Bot) else entrant
    with transaction.atomic():
        row = _locked_open(tournament)
        present = list(tournament.entries.order_by("number"))
        for entry in present:
            if entry.version_id == version.pk:
                return entry if entry.withdrawn is None else _back(entry, row, version, actor=actor, now=now)
        version = BotVersion.objects.select_related("bot").get(pk=version.pk)  # as it is now, not as the caller read it
        _check_entrant(version, game)
        most = min(settings.MAX_ENTRIES, formats.format_named(row.format).most or settings.MAX_ENTRIES)
        if len(present) >= most:
            raise Refused(
                "the tournament {tournament!r} is full: it takes {most} entries", tournament=tournament.name, most=most
            )
        number = 1 + max((entry.number for entry in present), default=-1)
        entry = Entry.objects.create(tournament=tournament, version=version, number=number)
        journal.append("tournament.entered", moves.subject(tournament), now=now, actor=actor, version=str(version))
    return entry


def _back(entry: Entry, row: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    """A version that had left a ladder goes on where it was."""
    entry.withdrawn = None
    entry.save(update_fields=["withdrawn"])
    journal.append("tournament.entered", moves.subject(row), now=now, actor=actor, version=str(version))
    return entry


def _check_entrant(version: BotVersion, game: str) -> None:
    if version.status != VersionStatus.ACCEPTED:
        raise Refused(
            "{version} is {status}; only versions that passed their validation match can be entered",
            version=version,
            status=VersionStatus(version.status).label,
        )
    if version.bot.state != BotState.ACTIVE:
        raise Refused(
            "the bot {bot!r} is {state}; its owner can make it active again",
            bot=version.bot.slug,
            state=BotState(version.bot.state).label,
        )
    if version.games and game not in version.games:
        raise Refused(
            "{version} does not play {game}; it plays {games}",
            version=version,
            game=game,
            games=", ".join(version.games),
        )


def withdraw(tournament: Tournament, version: BotVersion, *, actor: str = "", now: datetime | None = None) -> None:
    """Take an entry back before the start; in a running ladder give it no new match. Doing it again changes nothing."""
    now = clock.given(now)
    with transaction.atomic():
        row = _locked_open(tournament)
        mine = tournament.entries.filter(version=version, withdrawn=None)
        gone = mine.delete()[0] if row.status == TournamentStatus.OPEN else mine.update(withdrawn=now)
        if gone:
            journal.append(
                "tournament.withdrawn", moves.subject(tournament), now=now, actor=actor, version=str(version)
            )


def _locked_open(tournament: Tournament) -> Tournament:
    """The row, locked, if its entries may change."""
    row = Tournament.objects.select_for_update().get(pk=tournament.pk)
    grows = row.status == TournamentStatus.RUNNING and formats.format_named(row.format).grows
    if row.status != TournamentStatus.OPEN and not grows:
        raise Refused(
            "the tournament {tournament!r} is {status}; entries change only while it is open",
            tournament=row.name,
            status=TournamentStatus(row.status).label,
        )
    return row


def start(tournament: Tournament, *, actor: str = "", now: datetime | None = None) -> None:
    """Freeze the entries, sorted by version, with their seeds, and insert the first matches. Starting a running tournament only completes them."""
    now = clock.given(now)
    with transaction.atomic():
        row = Tournament.objects.select_for_update().select_related("pool").get(pk=tournament.pk)
        if row.status == TournamentStatus.OPEN:
            _freeze(row)
            moves.move(row, TournamentStatus.RUNNING, now=now, actor=actor, started=now)
    tournament.refresh_from_db()
    if tournament.status != TournamentStatus.RUNNING:
        raise IllegalMove(
            "the tournament {tournament!r} is {status} and cannot be started",
            tournament=tournament.name,
            status=TournamentStatus(tournament.status).label,
        )
    schedule(tournament, now=now)


def _freeze(tournament: Tournament) -> None:
    entries = list(tournament.entries.select_related("version__bot").order_by("version_id"))
    form, field = formats.field_of_tournament(tournament)
    if len(entries) < field.table:
        raise Refused(
            "the tournament {tournament!r} has {count} entries; a table takes {seats}, so enter more bots",
            tournament=tournament.name,
            count=len(entries),
            seats=field.table,
        )
    try:
        pure.check_field(form, field)
        form.size(field)
    except ValueError as error:
        raise Refused(
            "the tournament {tournament!r} cannot be started: {error}", tournament=tournament.name, error=error
        ) from error
    for entry in entries:
        _check_entrant(entry.version, tournament.pool.game)
    seeds = _seeds(tournament, entries)
    # Two steps, since numbers are unique at every moment.
    for shift in (len(entries) + max(entry.number for entry in entries), 0):
        for number, entry in enumerate(entries):
            entry.number, entry.seed = number + shift, seeds[entry.pk]
        Entry.objects.bulk_update(entries, ["number", "seed"])


def _seeds(tournament: Tournament, entries: Sequence[Entry]) -> dict[int, int]:
    """Seed by entry: rated ones by Elo, then all others; equals, and everybody where it is so chosen, in the order of entry."""
    elo: dict[int, float] = {}
    if tournament.seeding == Seeding.RATING:
        rated = Rating.objects.filter(pool=tournament.pool, version__in=[entry.version_id for entry in entries])
        elo = dict(rated.values_list("version_id", "elo"))
    line = sorted(entries, key=lambda entry: (-elo.get(entry.version_id, float("-inf")), entry.number))
    return {entry.pk: seed for seed, entry in enumerate(line, 1)}


def growing_parameters(tournament: Tournament) -> list[str]:
    """Names of the parameters of which a tournament, while it runs, may get more."""
    return [parameter.name for parameter in formats.format_named(tournament.format).parameters if parameter.can_grow]


def extend(tournament: Tournament, parameters: Mapping[str, Any], *, actor: str, now: datetime | None = None) -> int:
    """Give a running tournament more cycles, rounds, budget or cap; the number of matches added. Nothing that exists is changed.

    Refused for less than there is, and for anything else: what was played follows from it.
    """
    now = clock.given(now)
    with transaction.atomic():
        row = Tournament.objects.select_for_update().select_related("pool").get(pk=tournament.pk)
        if row.status != TournamentStatus.RUNNING:
            raise Refused(
                "the tournament {tournament!r} is {status}; only a running one can be extended",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        was = formats.format_named(row.format).complete(row.parameters)
        for name, value in parameters.items():
            if name not in growing_parameters(row):
                raise Refused(
                    "a running {format} cannot change {name}; cycles, budget and cap can grow where there are any",
                    format=row.format,
                    name=name,
                )
            if not isinstance(value, int) or isinstance(value, bool) or value < int(was[name]):
                raise Refused(
                    "{name} is {was} and can only grow, not become {value!r}", name=name, was=was[name], value=value
                )
        Tournament.objects.filter(pk=row.pk).update(
            parameters=formats.choose_parameters(row.format, {**was, **parameters})
        )
        journal.append("tournament.extended", moves.subject(row), now=now, actor=actor, **parameters)
    tournament.refresh_from_db()
    return schedule(tournament, now=now)


def schedule(tournament: Tournament, *, now: datetime | None = None) -> int:
    """Insert the matches of a running tournament that are missing; their number. Running it twice adds nothing."""
    now = clock.given(now)
    form, field = formats.field_of_tournament(tournament)
    if not formats.follows_results(tournament):
        if tournament.matches.count() >= form.size(field).matches[1]:
            return 0
        return fixtures.insert(tournament, fixtures.play_format(tournament, blank=True).sheet.pairings, now=now)
    if tournament.matches.exists() and not form.eager and fixtures.has_open_matches(tournament):
        return 0
    with transaction.atomic():  # what such a format adds follows from what is there: one process at a time
        row = Tournament.objects.select_for_update().select_related("pool").get(pk=tournament.pk)
        if row.status != TournamentStatus.RUNNING:
            return 0
        there = set(row.matches.values_list("table", "first_board"))
        tables = fixtures.play_format(row).sheet.pairings
        return fixtures.insert(row, [table for table in tables if table.slot not in there], now=now)


def count_planned(tournament: Tournament) -> tuple[int, int]:
    """How many matches there will be: fewest and most. Refused where the entries cannot fill a table."""
    form, field = formats.field_of_tournament(tournament)
    try:
        pure.check_field(form, field)
        return form.size(field).matches
    except ValueError as error:
        raise Refused.from_error(error) from error


def advance(tournament: Tournament, *, now: datetime | None = None) -> bool:
    """Take what was played into a running tournament: insert its next matches, or finish it when it is over. Whether it finished."""
    now = clock.given(now)
    if tournament.status != TournamentStatus.RUNNING:
        return False
    waits = fixtures.has_open_matches(tournament)
    if waits and not formats.format_named(tournament.format).eager:
        return False
    if schedule(tournament, now=now) or fixtures.has_open_matches(tournament):
        return False
    outcome = fixtures.play_format(tournament).outcome
    return outcome.over and _finish(tournament, outcome, now=now)


def close(tournament: Tournament, *, actor: str, now: datetime | None = None) -> None:
    """End a running ladder: what waits is taken back, what is being played is waited for no longer, the order of now is final."""
    now = clock.given(now)
    if not formats.format_named(tournament.format).grows:
        raise Refused("a {format} ends by itself; it can be cancelled", format=tournament.format)
    outcome = fixtures.play_format(tournament).outcome
    if _finish(tournament, outcome, ending=Ending.CLOSED, now=now, actor=actor):
        cancel_matches(tournament, actor=actor, why="its ladder was closed", now=now)


def _finish(tournament: Tournament, outcome: Outcome, *, now: datetime, ending: str = "", actor: str = "") -> bool:
    """Write places and ending, and move to finished; False where another process did."""
    entries = {entry.number: entry for entry in tournament.entries.all()}
    place = 1
    for level in outcome.rank().levels:
        for number in level:
            entries[number].place = place
        place += len(level)
    try:
        with transaction.atomic():
            moves.move(
                tournament,
                TournamentStatus.FINISHED,
                now=now,
                actor=actor,
                finished=now,
                ending=ending or outcome.why,
                facts=dict(outcome.facts),
            )
            Entry.objects.bulk_update(entries.values(), ["place"])
    except IllegalMove:
        return False
    return True


def cancel(
    tournament: Tournament, *, actor: str, why: str = "cancelled by its owner", now: datetime | None = None
) -> None:
    """End a tournament that is not over. What is finished stays and counts; what waits or is played now is cancelled."""
    now = clock.given(now)
    with transaction.atomic():
        moves.move(tournament, TournamentStatus.CANCELLED, now=now, actor=actor, why=why, finished=now)
    cancel_matches(tournament, actor=actor, why=why, now=now)


def cancel_matches(tournament: Tournament, *, actor: str, why: str, now: datetime) -> int:
    """Take back the matches of a tournament that are not over; their number."""
    cancelled = 0
    for match in Match.objects.filter(tournament=tournament).exclude(status__in=fixtures.OVER):
        try:
            matches.cancel(match, actor=actor, why=why, now=now)
        except IllegalMove:
            continue  # it was finished or requeued in this moment; the reconciler looks again
        cancelled += 1
    return cancelled


def published_secret(tournament: Tournament) -> str | None:
    """The secret in hexadecimal once all its deals have been played, else None."""
    over = tournament.status in (TournamentStatus.FINISHED, TournamentStatus.CANCELLED)
    return bytes(tournament.secret).hex() if over else None
