"""Enrolment: bots enter and withdraw; at the start the list of entries is fixed, with seeds."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction
from django.db.models import Max

from league.domain.bots import bots, consent
from league.domain.bots.willing import AWAY
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.domain.tournaments import booking, formats, rule, shares
from league.enums import Entrance, Seeding, TournamentStatus
from league.models import Bot, BotVersion, Entry, EntryRequest, Player, Rating, Tournament
from league.pure import formats as pure
from league.pure.portable import ELO_DIGITS, comparable


def enter(
    tournament: Tournament,
    entrant: BotVersion | Bot,
    *,
    player: Player | None = None,
    message: str = "",
    now: datetime | None = None,
) -> Entry | EntryRequest:
    """Enter a version, or the version that a bot sends; a ladder takes entries while it runs.

    If its owner wants to be asked, create a request with `message`. `player` (default: the owner of the tournament) must own the tournament or the
    bot. Repeatable. Raise Refused if the bot cannot enter.
    """
    now, player = clock.now_or(now), player or tournament.owner
    bot = entrant if isinstance(entrant, Bot) else entrant.bot
    version = bots.version_of(entrant, tournament.pool.game)
    with transaction.atomic():
        row = _lock_changeable(tournament)
        existing = row.entries.filter(version=version, withdrawn=None).first()
        if existing is not None:
            return existing
        is_own = ownership.may(player, bot, BotAct.ENTER)
        if not is_own and player.pk != row.owner_id:
            raise Refused(
                "only the owners of {bot!r} and {tournament!r} can enter the bot", bot=bot.slug, tournament=row.name
            )
        if row.entrance == Entrance.OWNER and player.pk != row.owner_id:
            raise Refused("The owner of {tournament!r} chooses its bots.", tournament=row.name)
        entered = row.entries.filter(withdrawn=None) if is_flexible(row) else row.entries.all()
        shares.check(row, player, bot, entered, "version__bot", now=now)
        shares.check_left(row, version, player, now=now)
        if player.pk == row.owner_id:
            consent.welcome(row, bot)
        if not is_own and not bot.is_house:
            players.lock(player.pk)
            consent.hold([bot], player)
        if consent.is_willing(bot, player, row):
            return _place(row, version, actor=player.name, now=now)
        _check_entrant(_fresh(version), row)
        return consent.ask(row, entrant, player, message, now=now)


def place(tournament: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    """Enter a version whose owner has agreed to this tournament, or to its event or circuit."""
    with transaction.atomic():
        row = _lock_changeable(tournament)
        return _place(row, version, actor=actor, now=now)


def _place(row: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    present = list(row.entries.select_related("version").order_by("number"))
    for entry in present:
        if entry.version_id == version.pk and (entry.withdrawn is None or is_flexible(row)):
            return entry if entry.withdrawn is None else _return_entry(entry, row, version, actor=actor, now=now)
        if entry.version.bot_id == version.bot_id and not is_flexible(row):
            raise Refused(
                "{bot!r} has entered {tournament!r} before; a bot enters a running tournament once",
                bot=version.bot.slug,
                tournament=row.name,
            )
    version = _fresh(version)
    _check_entrant(version, row)
    most = booking.room(row, whole=actor != row.owner.name)
    if len(present) >= most:
        raise Refused("{tournament!r} is full; it takes {most} bots", tournament=row.name, most=most)
    number = 1 + max((entry.number for entry in present), default=-1)
    late = {} if is_flexible(row) else {"since": late_round(row), "seed": 1 + len(present)}
    entry = Entry.objects.create(tournament=row, version=version, number=number, **late)
    rule.note_entry(row, version)
    booking.book_more(row, now=now)
    consent.note_entry(row, version.bot, actor=actor, now=now)
    journal.append("tournament.entered", transitions.subject(row), now=now, actor=actor, version=str(version))
    return entry


def _fresh(version: BotVersion) -> BotVersion:
    """Read the version again, because it may have changed since the caller read it."""
    return BotVersion.objects.select_related("bot").get(pk=version.pk)


def _return_entry(entry: Entry, row: Tournament, version: BotVersion, *, actor: str, now: datetime) -> Entry:
    """Let a version that had left a ladder continue with its earlier results, but not before AWAY: nobody leaves to wait for the right opponent."""
    again = now if entry.withdrawn is None else entry.withdrawn + AWAY
    if again > now:
        raise Refused(
            "{version} has left {tournament!r} lately; it can return at {at} UTC",
            version=version,
            tournament=row.name,
            at=f"{again:%Y-%m-%d %H:%M}",
        )
    entry.withdrawn = None
    entry.save(update_fields=["withdrawn"])
    journal.append("tournament.entered", transitions.subject(row), now=now, actor=actor, version=str(version))
    return entry


def _check_entrant(version: BotVersion, tournament: Tournament) -> None:
    # The league itself chose the entries of later stages and seasons. If one of these bots has just been paused or retired, that must not end the
    # event or the season: its matches wait, or are played all the same.
    if tournament.season_id is not None or (tournament.stage or 1) > 1:
        return
    consent.check_shown(version.bot, tournament)
    check_version(version, tournament.pool.game, sealed=tournament.sealed)


def is_shut_out(bot: Bot) -> bool:
    """Return True if an operator has stopped the bot or banned its owner."""
    return bot.stopped is not None or bot.owner_banned


def check_version(version: BotVersion, game: str, *, sealed: bool) -> None:
    """Raise Refused if a version may not enter a contest of this game. No query if it was read with its bot."""
    bots.check_playable(version, game)
    if is_shut_out(version.bot):
        raise Refused("an operator has paused the bot {bot!r}, so it cannot enter", bot=version.bot.slug)
    if sealed and not version.sealable:
        raise Refused(
            "{version} cannot be sealed off from the clocks of the host, as this tournament requires: it runs in Java or Node.js, or its package "
            "says sealable = false",
            version=version,
        )


def withdraw(
    tournament: Tournament, version: BotVersion, *, player: Player | None = None, now: datetime | None = None
) -> None:
    """Withdraw an entry, at any time before the end.

    Before the start the entry is removed; in a running ladder it gets no new matches. In any other running tournament its matches are still played
    and count, so that nobody escapes a loss; but it does not advance to a later stage. `player` (default: the owner of the bot) may also be the
    owner of the tournament, but only before the start and in a ladder. Repeatable.
    """
    now, player = clock.now_or(now), player or version.bot.owner
    with transaction.atomic():
        row = _lock(tournament)
        grows = formats.format_named(row.format).grows
        if row.status not in (TournamentStatus.OPEN, TournamentStatus.RUNNING):
            raise Refused(
                "the tournament {tournament!r} is {status}, so no bot can be withdrawn",
                tournament=row.name,
                status=TournamentStatus(row.status).label,
            )
        if not ownership.may(player, version.bot, BotAct.ENTER) and (
            player.pk != row.owner_id or (row.status == TournamentStatus.RUNNING and not grows)
        ):
            raise Refused("only the owner of {bot!r} can withdraw it now", bot=version.bot.slug)
        rows = row.entries.filter(version=version, withdrawn=None)
        gone = rows.delete()[0] if row.status == TournamentStatus.OPEN else rows.update(withdrawn=now)
        if gone:
            subject = transitions.subject(row)
            journal.append("tournament.withdrawn", subject, now=now, actor=player.name, version=str(version))
            consent.take_out(row, version.bot, player, now=now)


def _lock(tournament: Tournament) -> Tournament:
    return Tournament.objects.select_for_update(of=("self",)).select_related("pool", "owner").get(pk=tournament.pk)


def _lock_changeable(tournament: Tournament) -> Tournament:
    """Lock the tournament; raise Refused if its entries may no longer change."""
    row = _lock(tournament)
    if not is_flexible(row) and not late_round(row):
        raise Refused(
            "the tournament {tournament!r} is {status}; entries change only while it is open",
            tournament=row.name,
            status=TournamentStatus(row.status).label,
        )
    return row


def is_flexible(tournament: Tournament) -> bool:
    """Return True if bots may enter and leave: the tournament is open, or a running ladder."""
    running = tournament.status == TournamentStatus.RUNNING
    return tournament.status == TournamentStatus.OPEN or (running and formats.format_named(tournament.format).grows)


def late_round(tournament: Tournament) -> int:
    """Return the first round of a bot that would enter a running tournament now; 0 if none may. At most two queries.

    A bot enters late once, and stays, so that nobody can leave a bad start behind.
    """
    row = tournament
    if row.status != TournamentStatus.RUNNING or row.event_id or row.season_id or row.paused or row.stopped:
        return 0
    form = formats.format_named(row.format)
    if not form.complete(row.parameters).get("late"):
        return 0
    number = 1 + (row.rounds.aggregate(last=Max("number"))["last"] or 0)
    return number if number <= form.late(formats.field_of_tournament(row)[1]) else 0


def freeze_entries(tournament: Tournament) -> None:
    """Number the entries by version and set their seeds. Raise Refused if the format cannot be played with these entries."""
    entries = list(tournament.entries.select_related("version__bot").order_by("version_id"))
    form, field = formats.field_of_tournament(tournament)
    if len(entries) < field.table:
        raise Refused(
            "the tournament {tournament!r} has {count} entries, and a table needs {seats}; enter more bots",
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
    # Two steps, because the numbers must be unique after each row.
    for shift in (len(entries) + max(entry.number for entry in entries), 0):
        for number, entry in enumerate(entries):
            entry.number, entry.seed = number + shift, seeds[entry.pk]
        Entry.objects.bulk_update(entries, ["number", "seed"])


def _seed_entries(tournament: Tournament, entries: Sequence[Entry]) -> dict[int, int]:
    """Return the seed of each entry: rated entries by Elo, then the others in the order of entry; all in the order of entry if that was chosen."""
    elo: dict[int, float] = {}
    if tournament.seeding == Seeding.RATING:
        rated = Rating.objects.filter(pool=tournament.pool, version__in=[entry.version_id for entry in entries])
        elo = dict(rated.values_list("version_id", "elo"))
    ranked = sorted(
        entries,
        key=lambda entry: (-comparable(elo.get(entry.version_id, float("-inf")), ELO_DIGITS), entry.number),
    )
    return {entry.pk: seed for seed, entry in enumerate(ranked, 1)}
