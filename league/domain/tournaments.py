"""Tournaments: created open, entered, started, scheduled by reconciliation, finished."""

from __future__ import annotations

import hashlib
import secrets
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.conf import settings
from django.db import transaction
from django.utils.text import slugify

from engine.runner import Limits
from league.domain import clock, events, hints, matches, pools, state
from league.domain.errors import IllegalMove, Refused
from league.enums import BotState, MatchKind, MatchStatus, TournamentStatus, VersionStatus
from league.models import Bot, BotVersion, Entry, Match, Player, Round, Tournament
from league.pure import schedules

OVER = (MatchStatus.FINISHED, MatchStatus.VOID, MatchStatus.CANCELLED)
SLUGS_TAKEN = frozenset({"new"})


def default_boards(game: str, players: int | None = None, options: dict[str, Any] | None = None) -> int:
    """Boards of one match that suit the table (the sizes follow from measured luck: docs/ratings.md)."""
    loaded = pools.load(game, players, options)
    if loaded.board_deals is None and len(loaded.sides) > 2:
        return 2  # a whole elimination match is a board
    return {2: 16, 3: 8, 4: 6}.get(len(loaded.sides), 4)


def create(
    owner: Player,
    name: str,
    game: str,
    options: dict[str, Any] | None = None,
    boards: int | None = None,
    versions: Sequence[BotVersion | Bot] = (),
    players: int | None = None,
    *,
    limits: dict[str, Any] | None = None,
    secret: bytes | None = None,
    now: datetime | None = None,
) -> Tournament:
    """An open round robin of `owner` with these versions (a bot stands for its newest accepted version) entered.

    Its deals follow from `secret` (32 random bytes where none is given), whose SHA-256 is public from now on and itself when all is over.
    Raises Refused for a game, option, number of boards, limit or entry that cannot be.
    """
    now = clock.given(now)
    name = name.strip()
    if not 1 <= len(name) <= 80:
        raise Refused(f"a tournament needs a name of 1 to 80 characters; this one has {len(name)}")
    boards = default_boards(game, players, options) if boards is None else boards
    if type(boards) is not int or not 1 <= boards <= settings.MAX_BOARDS:
        raise Refused(f"a match has 1 to {settings.MAX_BOARDS} boards, not {boards!r}")
    secret = secret or secrets.token_bytes(32)
    with transaction.atomic():
        tournament = Tournament.objects.create(
            slug=_free_slug(name),
            name=name,
            owner=owner,
            pool=pools.pool(game, players, options),
            boards=boards,
            secret=secret,
            secret_sha256=hashlib.sha256(secret).hexdigest(),
            limits=_limits(limits),
            created=now,
        )
        events.append("tournament.created", state.subject(tournament), now=now, actor=owner.name)
        for version in versions:
            enter(tournament, version, now=now, actor=owner.name)
    return tournament


def _free_slug(name: str) -> str:
    base = slugify(name)[:50].strip("-") or "tournament"
    taken = set(Tournament.objects.filter(slug__startswith=base).values_list("slug", flat=True)) | SLUGS_TAKEN
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
        raise Refused(f"limits {given!r} cannot be used: {error}") from error
    return dict(given or {})


def newest_accepted(bot: Bot, game: str | None = None) -> BotVersion:
    """The version that `bot` sends to a tournament. Refused where it has none that is accepted and plays `game`."""
    accepted = bot.versions.filter(status=VersionStatus.ACCEPTED).order_by("-number")
    for version in accepted:
        if game is None or not version.games or game in version.games:
            return version
    raise Refused(f"the bot {bot.slug!r} has no accepted version" + (f" that plays {game}" if game else ""))


def enter(tournament: Tournament, entrant: BotVersion | Bot, *, actor: str = "", now: datetime | None = None) -> Entry:
    """Enter a version, or the newest accepted one of a bot. Entering it again changes nothing. Refused once the tournament has started."""
    now = clock.given(now)
    game = tournament.pool.game
    version = newest_accepted(entrant, game) if isinstance(entrant, Bot) else entrant
    with transaction.atomic():
        _locked_open(tournament)
        present = list(tournament.entries.order_by("number"))
        for entry in present:
            if entry.version_id == version.pk:
                return entry
        version = BotVersion.objects.select_related("bot").get(pk=version.pk)  # as it is now, not as the caller read it
        _check_entrant(version, game)
        if len(present) >= settings.MAX_ENTRIES:
            raise Refused(f"the tournament {tournament.name!r} is full: it takes {settings.MAX_ENTRIES} entries")
        number = 1 + max((entry.number for entry in present), default=-1)
        entry = Entry.objects.create(tournament=tournament, version=version, number=number)
        events.append("tournament.entered", state.subject(tournament), now=now, actor=actor, version=str(version))
    return entry


def _check_entrant(version: BotVersion, game: str) -> None:
    if version.status != VersionStatus.ACCEPTED:
        raise Refused(f"{version} is {version.status}; only versions that passed their validation match can be entered")
    if version.bot.state != BotState.ACTIVE:
        raise Refused(f"the bot {version.bot.slug!r} is {version.bot.state}; its owner can make it active again")
    if version.games and game not in version.games:
        raise Refused(f"{version} does not play {game}; it plays {', '.join(version.games)}")


def withdraw(tournament: Tournament, version: BotVersion, *, actor: str = "", now: datetime | None = None) -> None:
    """Take an entry back before the start. Doing it again changes nothing."""
    now = clock.given(now)
    with transaction.atomic():
        _locked_open(tournament)
        if tournament.entries.filter(version=version).delete()[0]:
            events.append("tournament.withdrawn", state.subject(tournament), now=now, actor=actor, version=str(version))


def _locked_open(tournament: Tournament) -> None:
    row = Tournament.objects.select_for_update().get(pk=tournament.pk)
    if row.status != TournamentStatus.OPEN:
        raise Refused(f"the tournament {row.name!r} is {row.status}; entries change only while it is open")


def start(tournament: Tournament, *, actor: str = "", now: datetime | None = None) -> None:
    """Freeze the entries, sorted by version, and insert the matches. Starting a running tournament only completes its schedule."""
    now = clock.given(now)
    with transaction.atomic():
        row = Tournament.objects.select_for_update().get(pk=tournament.pk)
        if row.status == TournamentStatus.OPEN:
            _freeze(row)
            state.move(row, TournamentStatus.RUNNING, now=now, actor=actor, started=now)
    tournament.refresh_from_db()
    if tournament.status != TournamentStatus.RUNNING:
        raise IllegalMove(f"the tournament {tournament.name!r} is {tournament.status} and cannot be started")
    schedule(tournament, now=now)


def _freeze(tournament: Tournament) -> None:
    entries = list(tournament.entries.select_related("version__bot").order_by("version_id"))
    seats = pools.parties(tournament.pool)
    if len(entries) < seats:
        raise Refused(
            f"the tournament {tournament.name!r} has {len(entries)} entries; a table takes {seats}, so enter more bots"
        )
    for entry in entries:
        _check_entrant(entry.version, tournament.pool.game)
    # Two steps, since numbers are unique at every moment.
    for shift in (len(entries) + max(entry.number for entry in entries), 0):
        for number, entry in enumerate(entries):
            Entry.objects.filter(pk=entry.pk).update(number=number + shift)


def plans(tournament: Tournament) -> list[matches.Plan]:
    """The matches that ought to exist: a pure function of the entries. Rounds are made where they do not exist."""
    entries = list(tournament.entries.select_related("version__bot").order_by("number"))
    rounds = schedules.round_robin(len(entries), pools.parties(tournament.pool))
    Round.objects.bulk_create(
        (Round(tournament=tournament, number=number) for number in range(1, len(rounds) + 1)), ignore_conflicts=True
    )
    rows = {row.number: row for row in tournament.rounds.all()}
    return [
        matches.Plan(
            key=f"t:{tournament.pk}:{name}",
            kind=MatchKind.TOURNAMENT,
            pool=tournament.pool,
            tournament=tournament,
            round=rows[number],
            table=name,
            secret=bytes(tournament.secret),
            boards=tournament.boards,
            versions=tuple(entries[seat].version for seat in table),
            limits=tournament.limits,
        )
        for number, name, table in _named_tables(rounds)
    ]


def _named_tables(rounds: schedules.Rounds) -> Iterator[tuple[int, str, schedules.TableOfEntries]]:
    """Round from 1, name and entries of each table. A large field may seat the same entries twice: their second table is another one."""
    seen: Counter[str] = Counter()
    for number, tables in enumerate(rounds, 1):
        for table in tables:
            name = "-".join(map(str, sorted(table)))
            seen[name] += 1
            yield number, name if seen[name] == 1 else f"{name}.{seen[name]}", table


def schedule(tournament: Tournament, *, now: datetime | None = None) -> int:
    """Insert the matches of a running tournament that are missing; their number. Running it twice adds nothing."""
    added = matches.insert(plans(tournament), now=now)
    if added:
        hints.matches_wait()
    return added


def planned(tournament: Tournament) -> int:
    """How many matches ought to exist."""
    return schedules.total_tables(tournament.entries.count(), pools.parties(tournament.pool))


def advance(tournament: Tournament, *, now: datetime | None = None) -> bool:
    """Finish a running tournament whose matches all exist and are all over; whether it did."""
    now = clock.given(now)
    if tournament.status != TournamentStatus.RUNNING or tournament.matches.exclude(status__in=OVER).exists():
        return False
    if tournament.matches.count() < planned(tournament):
        return False
    try:
        state.move(tournament, TournamentStatus.FINISHED, now=now, finished=now)
    except IllegalMove:
        return False  # another process did
    return True


def cancel(
    tournament: Tournament, *, actor: str, why: str = "cancelled by its owner", now: datetime | None = None
) -> None:
    """End a tournament that is not over. What is finished stays and counts; what waits or is played now is cancelled."""
    now = clock.given(now)
    with transaction.atomic():
        state.move(tournament, TournamentStatus.CANCELLED, now=now, actor=actor, why=why, finished=now)
    cancel_matches(tournament, actor=actor, why=why, now=now)


def cancel_matches(tournament: Tournament, *, actor: str, why: str, now: datetime) -> int:
    """Take back the matches of a tournament that are not over; their number."""
    cancelled = 0
    for match in Match.objects.filter(tournament=tournament).exclude(status__in=OVER):
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
