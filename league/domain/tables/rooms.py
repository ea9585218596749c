"""The waiting room of a shared table: people take seats by its link, get ready, and bots fill the free seats when it starts."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from league.domain.bots import tries
from league.domain.core import clock, journal, transitions
from league.domain.core.errors import Refused, TooMany
from league.domain.people.guests import lock
from league.domain.ratings import pools
from league.domain.tables import challenges, clocks, deals, levels, lobby, people, seating
from league.domain.tables.levels import Level
from league.domain.tables.people import Sitter
from league.enums import TableStatus, TableWatching
from league.models import Player, Table, TablePerson
from league.service import listening, topics

PATIENCE = timedelta(seconds=20)  # How long somebody in the lobby waits for the others to get ready.


def gather(
    sitter: Sitter,
    game: str,
    level: str = Level.NORMAL,
    boards: int = 1,
    *,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    time: tuple[int, int] = clocks.CLOCK,
    listed: bool = False,
    watching: str = TableWatching.HIDDEN,
    same_deals: bool = False,
    now: datetime | None = None,
) -> Table:
    """Open a table that others reach by its link; its host sits at the first seat. Raise Refused or TooMany, like `seating.sit`.

    time: the clock, one of `clocks.CLOCKS`; listed: the table stands in the lobby; same_deals: others may open tables with the same deals
    (`gather_same`).
    """
    now = clock.now_or(now)
    _check_settings(sitter, game, players, options, level, boards, time, watching, listed=listed)
    if not seating.may_sit(sitter):
        raise Refused("nobody can play at tables in this league, because its operators have switched them off")
    with transaction.atomic():
        seating.check(sitter, now)
        pool = pools.pool(game, players, options)
        columns = {"level": level, "status": TableStatus.RESTING, "watching": watching, "listed": listed}
        columns |= _clock_columns(time)
        row = seating.open_table(sitter, pool, boards, now, rated=False, shared=True, gathering=True, **columns)
        _share_deals(row, same_deals, now)
        listening.notify(topics.LOBBY)
    return row


def _clock_columns(time: tuple[int, int]) -> dict[str, int]:
    return dict(zip(("clock_s", "increment_s"), time, strict=True))


def gather_same(sitter: Sitter, key: str, *, now: datetime | None = None) -> Table:
    """Open another table with the deals and settings of the table `key`. Raise Refused or TooMany, like `gather`."""
    now = clock.now_or(now)
    if not seating.may_sit(sitter):
        raise Refused("nobody can play at tables in this league, because its operators have switched them off")
    with transaction.atomic():
        seating.check(sitter, now)
        rows = list(deals.tables(key).select_related("pool").order_by("pk"))
        if not rows or rows[0].deals_until is None or rows[0].deals_until <= now:
            raise Refused("nobody can play these cards any more, because everybody may see them")
        if len(rows) >= deals.MOST:
            raise TooMany("{most} tables play these cards; that is the limit", retry_after=3600, most=deals.MOST)
        first = rows[0]
        deals.check(sitter, first)
        columns = {
            "level": first.level,
            "clock_s": first.clock_s,
            "increment_s": first.increment_s,
            "status": TableStatus.RESTING,
        }
        columns |= {"watching": first.watching, "deals": key, "deals_until": first.deals_until}
        row = seating.open_table(
            sitter, first.pool, first.boards, now, rated=False, shared=True, gathering=True, **columns
        )
        Table.objects.filter(pk=row.pk).update(secret=Table.objects.values_list("secret", flat=True).get(pk=first.pk))
    return row


def _share_deals(row: Table, same_deals: bool, now: datetime) -> None:
    """Let others play the deals of a table that is gathering, or its people alone. While others may play them, nobody watches."""
    if not (same_deals or row.deals):
        return
    if same_deals:
        row.deals, row.deals_until = row.deals or row.public_id, row.deals_until or now + deals.FOR
        row.watching = TableWatching.NOBODY
    else:
        row.deals, row.deals_until = "", None
    row.save(update_fields=["deals", "deals_until", "watching"])


def _check_settings(
    sitter: Sitter,
    game: str,
    seats: int | None,
    options: dict[str, Any] | None,
    level: str,
    boards: int,
    time: tuple[int, int],
    watching: str,
    *,
    listed: bool,
) -> None:
    if listed and not isinstance(sitter, Player):
        raise Refused("only players with an account open a table to all; sign up or log in")
    if not 1 <= boards <= seating.MOST_BOARDS:
        raise Refused("a table has 1 to {most} boards, not {boards}", most=seating.MOST_BOARDS, boards=boards)
    if level not in Level.values or time not in clocks.CLOCKS:
        raise Refused("choose one of the levels and times")
    if watching not in TableWatching.values:
        raise Refused("choose who may watch")
    if not levels.bot(level, tries.rivals(), pools.load(game, seats, options).key):
        raise Refused("no house bot plays {game} yet; choose another game, or try again in a few minutes", game=game)


def take_seat(sitter: Sitter, public_id: str, number: int | None = None, *, now: datetime | None = None) -> Table:
    """Sit down at a free seat of a table that is gathering, or move to it; by default the first free one. Raise Refused or TooMany."""
    now = clock.now_or(now)
    with transaction.atomic():
        lock()  # Before the row: all who sit down lock in this order.
        row = Table.objects.select_for_update().filter(public_id=public_id, shared=True).first()
        if row is None:
            raise Refused("there is no such table")
        if not row.gathering:
            raise Refused("this table has started, so nobody can sit down any more")
        lobby.check_welcome(row, sitter)
        deals.check(sitter, row)
        taken = set(row.people.values_list("number", flat=True))
        free = [seat for seat in range(row.pool.players) if seat not in taken]
        if number is None and free:
            number = free[0]
        if number not in free:
            raise Refused("this seat is taken")
        moved = people.seats(sitter).filter(table=row).update(number=number, ready=False)
        if not moved:
            seating.check(sitter, now, opens=False)
            TablePerson.objects.create(table=row, number=number, **people.keys(sitter))
            subject = transitions.subject(row)
            journal.append("table.joined", subject, now=now, actor=people.name_of(sitter), seat=number)
            if isinstance(sitter, Player):
                challenges.accept(sitter, row, now)
        _changed(row, now)
    return row


def challenge(player: Player, name: str, game: str, *, now: datetime | None = None) -> Table:
    """Challenge somebody by name to the table at which the player waits, or to a new one with this game. Raise Refused or TooMany."""
    now = clock.now_or(now)
    challenges.find(player, name, now=now)
    with transaction.atomic():
        row = people.present(player) or gather(player, game, now=now)
        challenges.challenge(player, row.public_id, name, now=now)
    return row


def get_ready(sitter: Sitter, public_id: str, *, ready: bool = True, now: datetime | None = None) -> Table:
    """Say that one is ready, or not. The table starts once two people or more sit there and all are ready."""
    now = clock.now_or(now)
    with transaction.atomic():
        row, person = _gathering(sitter, public_id)
        TablePerson.objects.filter(pk=person.pk).update(ready=ready)
        seated = list(row.people.values_list("ready", flat=True))
        if len(seated) > 1 and all(seated):
            _start(row, now)
        _changed(row, now)
    return row


def start(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> Table:
    """Start the table as its host: bots fill the free seats. In the lobby whoever is ready may, after `PATIENCE`. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        row, person = _gathering(sitter, public_id)
        if not (row.listed and person.ready):
            _check_host(row, person)
        elif not is_host(row, person) and now < row.since + PATIENCE:
            raise Refused("give the others {seconds} seconds to get ready", seconds=PATIENCE.seconds)
        _start(row, now)
        _changed(row, now)
    return row


def change(
    sitter: Sitter,
    public_id: str,
    game: str,
    level: str,
    boards: int,
    *,
    players: int | None = None,
    options: dict[str, Any] | None = None,
    time: tuple[int, int] = clocks.CLOCK,
    listed: bool = False,
    watching: str = TableWatching.HIDDEN,
    same_deals: bool = False,
    now: datetime | None = None,
) -> Table:
    """Change the settings of a table that is gathering, as its host. Everybody has to get ready again. Raise Refused."""
    now = clock.now_or(now)
    _check_settings(sitter, game, players, options, level, boards, time, watching, listed=listed)
    with transaction.atomic():
        lock()  # Before the row, as everybody does who sits down or opens a table with its deals.
        row, person = _gathering(sitter, public_id)
        _check_host(row, person)
        if row.deals and deals.tables(row.deals).exclude(pk=row.pk).exists():
            raise Refused("other tables play the same cards, so nothing can be changed here")
        pool = pools.pool(game, players, options)
        seated = list(row.people.order_by("number"))
        if len(seated) > pool.players:
            raise Refused(
                "{people} people sit here, and this game has {seats} seats", people=len(seated), seats=pool.players
            )
        if any(other.number >= pool.players for other in seated):
            _arrange(row, {other.pk: seat for seat, other in enumerate(seated)})
        row.people.update(ready=False)
        columns = {"pool": pool, "level": level, "boards": boards, "listed": listed, "watching": watching}
        Table.objects.filter(pk=row.pk).update(**columns, **_clock_columns(time))
        row.watching = watching
        _share_deals(row, same_deals, now)
        _changed(row, now)
    return row


def swap(sitter: Sitter, public_id: str, number: int | None, *, now: datetime | None = None) -> Table:
    """Exchange the host's seat with that of another person, as the host. Everybody has to get ready again. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        row, person, other = _hosted(sitter, public_id, number)
        _arrange(row, {person.pk: other.number, other.pk: person.number})
        row.people.update(ready=False)
        _changed(row, now)
    return row


def send_away(sitter: Sitter, public_id: str, number: int | None, *, now: datetime | None = None) -> Table:
    """Ask another person to leave a table that is gathering, as the host. They cannot sit down there again. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        row, _person, other = _hosted(sitter, public_id, number)
        Table.objects.filter(pk=row.pk).update(barred=[*row.barred, other.player_id or other.guest])
        name = other.player.name if other.player else people.NAME
        journal.append("table.sent_away", transitions.subject(row), now=now, actor=people.name_of(sitter), person=name)
        other.delete()
        _changed(row, now)
    return row


def _hosted(sitter: Sitter, public_id: str, number: int | None) -> tuple[Table, TablePerson, TablePerson]:
    """Lock a table that is gathering, and return it with its host and the other person at a seat. Raise Refused."""
    row, person = _gathering(sitter, public_id)
    _check_host(row, person)
    other = (
        row.people.filter(number=-1 if number is None else number)
        .exclude(pk=person.pk)
        .select_related("player")
        .first()
    )
    if other is None:
        raise Refused("nobody else sits at this seat")
    return row, person, other


def rematch(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> Table:
    """Let a person go on to the next table of the same people, at the same seat: the first one opens it, the others join. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = people.own(sitter).filter(public_id=public_id, shared=True).select_for_update().first()
        if row is None:
            raise Refused("you have no such table")
        seat = people.seats(sitter).get(table=row).number
        following = Table.objects.filter(public_id=row.rematch, gathering=True).first() if row.rematch else None
        if following is not None:
            if people.present(sitter) == following:
                return following
            is_free = not following.people.filter(number=seat).exists() and seat < following.pool.players
            return take_seat(sitter, following.public_id, seat if is_free else None, now=now)
        rules = {"players": row.pool.players, "options": row.pool.options}
        settings: dict[str, Any] = {"time": (row.clock_s, row.increment_s), "watching": row.watching}
        following = gather(sitter, row.pool.game, row.level, row.boards, **rules, **settings, now=now)
        following.people.update(number=seat)
        Table.objects.filter(pk=row.pk).update(rematch=following.public_id)
        people.tell(row)
        listening.notify(transitions.subject(row))
    return following


def come_back(sitter: Sitter, public_id: str, *, now: datetime | None = None) -> Table:
    """Take the seat back from the bot that has played for the person. Repeatable. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        row, person = seating.locked(sitter, public_id)
        if row.sides.exists():
            raise Refused("you were away for too long, so this hand of the arena is lost")
        if person.away:
            TablePerson.objects.filter(pk=person.pk).update(away=False, left_ms=clocks.least_ms(row, person))
            if person.legal:  # Otherwise the time of another person runs.
                Table.objects.filter(pk=row.pk).update(since=now)
            people.tell(row)
            listening.notify(transitions.subject(row))
    return row


def _gathering(sitter: Sitter, public_id: str) -> tuple[Table, TablePerson]:
    """Lock a table at which the person waits. Raise Refused."""
    row, person = seating.locked(sitter, public_id)
    if not row.gathering:
        raise Refused("this table has started")
    return row, person


def is_host(row: Table, person: TablePerson) -> bool:
    """Return True if the table is this person's."""
    return (row.player_id, row.guest) == (person.player_id, person.guest)


def _check_host(row: Table, person: TablePerson) -> None:
    if not is_host(row, person):
        raise Refused("only the host of the table can do this")


def _arrange(row: Table, seats: dict[int, int]) -> None:
    """Give people other seats; on the way nobody may have the seat of another one."""
    beyond = 1000
    for shift in (beyond, 0):
        for pk, seat in seats.items():
            TablePerson.objects.filter(pk=pk).update(number=seat + shift)


def _start(row: Table, now: datetime) -> None:
    """Seat a bot of the level everywhere: at the free seats to play, behind the people in case they are away."""
    rivals = tries.rivals()
    name = levels.bot(row.level or Level.NORMAL, rivals, row.pool.game)
    version = next((version for version in rivals if version.bot.slug == name), None)
    if version is None:
        raise Refused(
            "no house bot plays {game} yet; choose another game, or try again in a few minutes", game=row.pool.game
        )
    Table.objects.filter(pk=row.pk).update(gathering=False)
    clocks.wind(row)
    transitions.move(row, TableStatus.WAITING, now=now)
    seating.deal_in(row, dict.fromkeys(range(row.pool.players), version), now)


def _changed(row: Table, now: datetime) -> None:
    """Count a change of the room, and wake the pages that show it."""
    Table.objects.filter(pk=row.pk).update(since=now)
    people.tell(row)
    listening.notify(transitions.subject(row))
    listening.notify(topics.LOBBY)
