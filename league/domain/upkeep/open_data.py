"""Open data: for each month and game a file of replays, for everybody, under a licence that the owners of all bots in it have accepted.

A file has the matches that became visible in its month, so a match that was withheld is in the file of the month of its release. A file is written
once and never changes: who withdraws the acceptance, or closes the account, is left out of later files.

A match in which a bot played before it was handed to another owner is left out: its former owner has accepted nothing for it.

Files are stored in the database in parts, because web and scheduler may run on different machines. A file is visible when it is complete. Its
writer renews the row; the row of a writer that was killed is removed, and the file is written again.
"""

from __future__ import annotations

import hashlib
from array import array
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, date, datetime, time, timedelta

import zstandard
from django.db import transaction
from django.db.models import Exists, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.matches import sight
from league.domain.people import ownership
from league.domain.upkeep.dumping import replay_lines
from league.enums import MatchKind, MatchStatus
from league.models import DataFile, DataPart, LeagueEvent, Match, Party, Player, Pool

LICENCE = "CC BY 4.0"
LICENCE_URL = "https://creativecommons.org/licenses/by/4.0/"
AT_ONCE = 50  # Matches of one query.
PART = 1 << 20  # The most bytes of a part.
LEVEL = 12  # Of the compression: a tenth smaller than the default, and still faster than the database.
GIVEN_UP = timedelta(minutes=10)  # A writer that was not seen for this time was killed.
FIRST_MONTH = date(2000, 1, 1)
ANSWERS = ("player.data_licensed", "player.data_withdrawn", "player.data_declined")  # Kinds of the journal's lines.


class _Lost(Exception):
    """The error for a file whose row another writer has removed."""


def accept(player: Player, accepts: bool, *, now: datetime | None = None) -> None:
    """Store that the player accepts the licence for the matches of all their bots, declines it, or withdraws it for later files. Repeatable."""
    now = clock.now_or(now)
    licensed, withdrawn, declined = ANSWERS
    with transaction.atomic():
        row = Player.objects.select_for_update().get(pk=player.pk)
        if (row.open_data is None) == accepts or not has_answered(row):
            Player.objects.filter(pk=row.pk).update(open_data=now if accepts else None)
            kind = licensed if accepts else withdrawn if row.open_data else declined
            data = {"licence": LICENCE} if accepts else {}
            journal.append(kind, f"player:{row.name}", now=now, actor=row.name, **data)
    player.refresh_from_db(fields=["open_data"])


def has_answered(player: Player) -> bool:
    """Return True if the player has ever accepted or declined the licence. One query at most."""
    return player.open_data is not None or bool(journal.latest(f"player:{player.name}", ANSWERS, 1))


def files() -> QuerySet[DataFile]:
    """Select the complete files."""
    return DataFile.objects.filter(written__isnull=False)


def find(name: str) -> DataFile | None:
    """Return the complete file with this name, or None. One query."""
    stem = name.removeprefix("tute-").partition(".")[0]
    game, month = stem[:-8], stem[-7:]
    try:
        first = date.fromisoformat(f"{month}-01")
    except ValueError:
        return None
    row = files().filter(game=game, month=first).first()
    return row if row and str(row) == name else None


def content(file: DataFile) -> Iterator[bytes]:
    """Yield the bytes of a complete file; a query for each part."""
    number = 0
    while data := file.parts.filter(number=number).values_list("data", flat=True).first():
        yield bytes(data)
        number += 1


def write_missing(
    month: date | None = None, *, alive: Callable[[], object] = lambda: None, now: datetime | None = None
) -> Iterator[DataFile]:
    """Write the missing files of a month (default: the last one), and yield each. Repeatable, and safe to interrupt.

    alive: called every few seconds. Raise Refused for a month that has not ended.
    """
    now = clock.now_or(now)
    this_month = now.astimezone(UTC).date().replace(day=1)
    first = (month or this_month - timedelta(days=1)).replace(day=1)
    if not FIRST_MONTH <= first < this_month:
        raise Refused("the month {month} has not ended; choose an earlier one", month=f"{first:%Y-%m}")
    complete = set(files().filter(month=first).values_list("game", flat=True))
    for game in Pool.objects.order_by("game").values_list("game", flat=True).distinct():
        if game in complete:
            continue
        pools = Pool.objects.filter(game=game).values_list("pk", flat=True)
        rows = _visible_in(first, now).filter(pool__in=list(pools))
        keys = array("Q", rows.order_by("pk").values_list("pk", flat=True).iterator())
        file = _claim(game, first) if keys else None
        if file is not None and _write(file, rows, keys, alive, now):
            yield file


def _visible_in(month: date, now: datetime) -> QuerySet[Match]:
    """Select the finished public matches that may have become visible in a month, and whose owners accept the licence."""
    first, end = _span(month)
    not_open = Q(version__bot__is_house=False, version__bot__owner__open_data=None) | Q(version__bot__in_class=True)
    parties = Party.objects.filter(not_open, match=OuterRef("pk"))
    subject = Concat(Value("bot:"), OuterRef("version__bot__slug"))
    moves = LeagueEvent.objects.filter(subject=subject, kind=ownership.HANDED_ON, at__gte=OuterRef("match__started"))
    moved = Party.objects.filter(Exists(moves), match=OuterRef("pk"))
    released = Q()
    for column in ("embargo", "tournament__embargo", "tournament__opens"):
        released |= Q(**{f"{column}__gte": first, f"{column}__lt": end})
    rows = Match.objects.filter(status=MatchStatus.FINISHED, finished__lt=end).exclude(kind=MatchKind.VALIDATION)
    return (
        sight.matches(rows, None, now=now)
        .filter(Q(finished__gte=first) | released)
        .exclude(Exists(parties))
        .exclude(Exists(moved))
    )


def _span(month: date) -> tuple[datetime, datetime]:
    first = datetime.combine(month, time(), UTC)
    return first, (first + timedelta(days=31)).replace(day=1)


def _visible_since(match: Match) -> datetime:
    """Return since when everybody can see the replays of a finished match, which was read with its tournament."""
    times = [match.finished, match.embargo]
    if match.tournament is not None:
        times += [match.tournament.embargo, match.tournament.opens]
    return max(filter(None, times))


def _claim(game: str, month: date) -> DataFile | None:
    """Insert the row of a file; return None if another process writes it."""
    now = clock.present()
    with transaction.atomic():
        DataFile.objects.filter(game=game, month=month, written=None, renewed__lt=now - GIVEN_UP).delete()
        file, is_new = DataFile.objects.get_or_create(game=game, month=month, defaults={"renewed": now})
    return file if is_new else None


def _write(
    file: DataFile, rows: QuerySet[Match], keys: Sequence[int], alive: Callable[[], object], now: datetime
) -> bool:
    """Write the parts of a file, then complete it. Return True if it has matches; otherwise remove the row."""
    first, end = _span(file.month)
    digest, zstd = hashlib.sha256(), zstandard.ZstdCompressor(level=LEVEL, write_checksum=True).compressobj()
    buffer, parts = bytearray(), 0

    def store(data: bytes, least: int) -> None:
        nonlocal buffer, parts
        buffer += data
        while len(buffer) >= least and buffer:
            part, buffer = bytes(buffer[:PART]), buffer[PART:]
            _store(file, parts, part)
            digest.update(part)
            file.bytes += len(part)
            parts += 1

    try:
        for start in range(0, len(keys), AT_ONCE):
            # The conditions are checked again: an owner may have withdrawn since the keys were read.
            chosen = rows.filter(pk__in=keys[start : start + AT_ONCE]).select_related("tournament__event", "pool")
            for match in chosen.order_by("pk"):
                lines = replay_lines(match)[1] if first <= _visible_since(match) < end else []
                file.matches += bool(lines)
                file.replays += len(lines)
                for line in lines:
                    store(zstd.compress(line), PART)
            _renew(file)
            alive()
        if file.matches == 0:
            DataFile.objects.filter(pk=file.pk, written=None).delete()
            return False
        store(zstd.flush(), 1)
        file.sha256, file.written = digest.hexdigest(), now
        _renew(file, matches=file.matches, replays=file.replays, bytes=file.bytes, sha256=file.sha256, written=now)
    except _Lost:
        return False
    return True


def _renew(file: DataFile, **values: object) -> None:
    values = {"renewed": clock.present(), **values}
    if not DataFile.objects.filter(pk=file.pk, written=None).update(**values):
        raise _Lost


def _store(file: DataFile, number: int, data: bytes) -> None:
    with transaction.atomic():  # The row stays locked, so the part has a file.
        _renew(file)
        DataPart.objects.create(file=file, number=number, data=data)
