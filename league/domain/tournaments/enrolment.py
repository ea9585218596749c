"""Who plays in a tournament: bots enter and withdraw while they may, and the start freezes the list with its seeds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.conf import settings
from django.db import transaction

from league.domain.bots import bots, consent
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.people import players
from league.domain.tournaments import booking, formats
from league.enums import Seeding, TournamentStatus
from league.models import Bot, BotVersion, Entry, EntryRequest, Player, Rating, Tournament
from league.pure import formats as pure
from league.pure.portable import ELO_DIGITS, comparable


def enter(
    tournament: Tournament,
    entrant: BotVersion | Bot,
    *,
    by: Player | None = None,
    message: str = "",
    now: datetime | None = None,
) -> Entry | EntryRequest:
    """Enter a version, or the one that a bot sends; into a ladder also while it runs. Where its owner wants to be asked, ask them, with `message`.

    By the owner of the tournament (None) or of the bot. Entering or asking again changes nothing. Refused where it cannot be.
    """
    now, by = clock.now_or(now), by or tournament.owner
    bot = entrant if isinstance(entrant, Bot) else entrant.bot
    version = bots.version_of(entrant, tournament.pool.game)
    with transaction.atomic():
        row = _lock_changeable(tournament)
        there = row.entries.filter(version=version, withdrawn=None).first()
        if there is not None:
            return there
        if by.pk not in (row.owner_id, bot.owner_id):
            raise Refused(
                "only the owners of {bot!r} and of {tournament!r} can enter it", bot=bot.slug, tournament=row.name
            )
        if by.pk != bot.owner_id and not bot.is_house:
            players.lock(by.pk)
            consent.hold([bot], by)
        if consent.is_willing(bot, by, row):
            return _place(row, version, actor=by.name, now=now)
        _check_entrant(_fresh(version), row)
        return consent.ask(row, entrant, by, message, now=now)


def place(tournament: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    """Enter a version whose owner has agreed: to this, or to the event or circuit that the tournament is a part of."""
    with transaction.atomic():
        row = _lock_changeable(tournament)
        return _place(row, version, actor=actor, now=now)


def _place(row: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    present = list(row.entries.order_by("number"))
    for entry in present:
        if entry.version_id == version.pk:
            return entry if entry.withdrawn is None else _return_entry(entry, row, version, actor=actor, now=now)
    version = _fresh(version)
    _check_entrant(version, row)
    most = min(settings.MAX_ENTRIES, formats.format_named(row.format).most or settings.MAX_ENTRIES)
    if len(present) >= most:
        raise Refused("the tournament {tournament!r} is full: it takes {most} entries", tournament=row.name, most=most)
    number = 1 + max((entry.number for entry in present), default=-1)
    entry = Entry.objects.create(tournament=row, version=version, number=number)
    booking.book_more(row, now=now)
    journal.append("tournament.entered", transitions.subject(row), now=now, actor=actor, version=str(version))
    return entry


def _fresh(version: BotVersion) -> BotVersion:
    """As it is now, not as the caller read it."""
    return BotVersion.objects.select_related("bot").get(pk=version.pk)


def _return_entry(entry: Entry, row: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    """A version that had left a ladder goes on where it was."""
    entry.withdrawn = None
    entry.save(update_fields=["withdrawn"])
    journal.append("tournament.entered", transitions.subject(row), now=now, actor=actor, version=str(version))
    return entry


def _check_entrant(version: BotVersion, tournament: Tournament) -> None:
    # The league itself has chosen who plays a later stage or a season. What becomes of one of these bots at this moment, by its owner's hand
    # or another's, ends nobody's event and closes nobody's season: its matches wait there, or are played all the same
    if tournament.season_id is not None or (tournament.stage or 1) > 1:
        return
    bots.check_playable(version, tournament.pool.game)
    if version.bot.stopped or version.bot.owner_banned:
        raise Refused("the bot {bot!r} is held back by an operator, so it enters nothing", bot=version.bot.slug)
    if tournament.sealed and not version.sealable:
        raise Refused(
            "{version} cannot be sealed off from the clocks of the host, which this tournament asks for: it runs in Node.js, or its package "
            "says sealable = false",
            version=version,
        )


def withdraw(
    tournament: Tournament, version: BotVersion, *, by: Player | None = None, now: datetime | None = None
) -> None:
    """Take an entry back, at any time before the end.

    Before the start it is out. In a running ladder it gets no new match. In any other tournament that runs its matches are played all the same and
    its place stands, so that nobody escapes a loss and nobody's table changes; it goes on to no further stage.
    By the owner of the bot (None); by that of the tournament before the start and in a ladder. Doing it again changes nothing.
    """
    now, by = clock.now_or(now), by or version.bot.owner
    with transaction.atomic():
        row = _lock(tournament)
        grows = formats.format_named(row.format).grows
        if row.status not in (TournamentStatus.OPEN, TournamentStatus.RUNNING):
            raise Refused(
                "the tournament {tournament!r} is {status}; nobody leaves it any more",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        if by.pk != version.bot.owner_id and (
            by.pk != row.owner_id or (row.status == TournamentStatus.RUNNING and not grows)
        ):
            raise Refused("only the owner of {bot!r} can withdraw it now", bot=version.bot.slug)
        mine = row.entries.filter(version=version, withdrawn=None)
        gone = mine.delete()[0] if row.status == TournamentStatus.OPEN else mine.update(withdrawn=now)
        if gone:
            subject = transitions.subject(row)
            journal.append("tournament.withdrawn", subject, now=now, actor=by.name, version=str(version))
            consent.take_out(row, version.bot, by, now=now)


def _lock(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_for_update(of=("self",)).select_related("pool", "owner").get(pk=tournament.pk)


def _lock_changeable(tournament: Tournament) -> Tournament:
    """The row, locked, if its entries may change."""
    row = _lock(tournament)
    grows = row.status == TournamentStatus.RUNNING and formats.format_named(row.format).grows
    if row.status != TournamentStatus.OPEN and not grows:
        raise Refused(
            "the tournament {tournament!r} is {status}; entries change only while it is open",
            tournament=row.name,
            status=TournamentStatus(row.status).label,
        )
    return row


def freeze_entries(tournament: Tournament) -> None:
    """Number the entries by version and give them their seeds. Refused where they cannot be played in the format."""
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
        _check_entrant(entry.version, tournament)
    seeds = _seed_entries(tournament, entries)
    # Two steps, since numbers are unique at every moment.
    for shift in (len(entries) + max(entry.number for entry in entries), 0):
        for number, entry in enumerate(entries):
            entry.number, entry.seed = number + shift, seeds[entry.pk]
        Entry.objects.bulk_update(entries, ["number", "seed"])


def _seed_entries(tournament: Tournament, entries: Sequence[Entry]) -> dict[int, int]:
    """Seed by entry: rated ones by Elo, then all others; equals, and everybody where it is so chosen, in the order of entry."""
    elo: dict[int, float] = {}
    if tournament.seeding == Seeding.RATING:
        rated = Rating.objects.filter(pool=tournament.pool, version__in=[entry.version_id for entry in entries])
        elo = dict(rated.values_list("version_id", "elo"))
    line = sorted(
        entries,
        key=lambda entry: (-comparable(elo.get(entry.version_id, float("-inf")), ELO_DIGITS), entry.number),
    )
    return {entry.pk: seed for seed, entry in enumerate(line, 1)}
