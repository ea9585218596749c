"""The explorer: what bots call, lead first and sing with each type of hand (`engine.choices`), how often, and what it brings.

The worker that plays a match counts its choices, and `league.domain.bots.totals` adds them here in the transaction that adds the match to the
totals of its bots. So each match counts exactly once, and it is subtracted there when it is voided. A match counts only if everybody may see its
cards when it is added. Rows do not grow with the number of matches: a pool has one for each kind, type of hand, rating band and choice that
occurred.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import product
from math import sqrt
from operator import attrgetter
from typing import Any

from django.db import connection, transaction
from django.db.models import F, Prefetch, QuerySet

from engine import choices
from engine.choices import PartyCounts
from engine.intervals import t95, wilson
from league.domain.core import clock, paging
from league.domain.matches import embargoes, logs, packing, sight
from league.domain.ratings import pools
from league.enums import MatchStatus
from league.models import ChoiceSum, Match, MatchChoices, Party, Pool, Rating, Sitting
from league.pure.portable import ELO_DIGITS, comparable

log = logging.getLogger("league.choices")

EVERY = ""  # The hand or choice of a row that stands for all of them.
EVERY_BOT, NEW_BOTS = 0, 1  # Bands: every bot, and those without a rating or with a provisional one.
EDGES = (1000, 1150, 1300)  # Elo between the other bands, which begin at 2.
BANDS = range(len(EDGES) + 3)
LEAST_MATCHES, LEAST_BOTS = 10, 3  # A choice of fewer matches or bots is not shown.
COLUMNS = ("matches", "number", "worth", "worth_worth", "worth_number", "number_number", "number_all")
KEY = ("kind", "hand", "band", "choice")
# A row has a bit for each bot, by its id modulo this. Two bots may share a bit; a bot whose matches were all subtracted keeps its bit.
BITS = 63
ORDER = paging.Order(("pool_id", "kind", "hand", "band", "-number", "choice"), (int, str, str, int, int, str))
# One statement for a row that may exist: Django would read and write each of some thousand rows.
STORE = (
    f"INSERT INTO league_choicesum (pool_id, {', '.join((*KEY, *COLUMNS, 'bots'))}) "  # noqa: S608 - names of this file
    f"VALUES ({', '.join(['%s'] * (len(KEY) + len(COLUMNS) + 2))}) ON CONFLICT (pool_id, {', '.join(KEY)}) DO UPDATE SET "
    + ", ".join(f"{name} = league_choicesum.{name} + excluded.{name}" for name in COLUMNS)
    + ", bots = league_choicesum.bots | excluded.bots"
)
Key = tuple[str, str, int, str]


# ---- counting


def counted(match: Match, *, now: datetime) -> list[PartyCounts] | None:
    """Return the choices of each party as the worker counted them; None if the cards are not for everybody, or the log is another one now.

    `match` must have been read by `with_cards`.
    """
    row = logs.row_of(match)
    if row is None or row.choices is None or not _is_open(match, now):
        return None
    is_same = logs.digest(match.public_id, bytes(row.data)) == row.digest == row.choices["log"]
    return row.choices["parties"] if is_same else None


def count(match: Match, *, now: datetime) -> list[PartyCounts] | None:
    """Count the choices of each party from the log; None if its cards are not for everybody or it cannot be read. One query.

    `match` must have been read by `with_cards`.
    """
    if not _is_open(match, now):
        return None
    seatings = Sitting.objects.filter(board__match=match).values_list("board__number", "number", "seating")
    try:
        opened = logs.opened(match)
        records = ((opened.record((board, number)), seating) for board, number, seating in seatings)
        return choices.count(records, len(match.parties.all()))
    except (logs.Unopened, packing.OtherRules):
        return None
    except (LookupError, TypeError, ValueError) as error:  # The other matches can still be counted
        log.error("match %s: cannot count its choices", match.public_id, exc_info=error)
        return None


def _is_open(match: Match, now: datetime) -> bool:
    """Return True if everybody may see the cards of a match."""
    if embargoes.in_force(match, now=now) or not sight.is_public(match, now=now):
        return False
    return not any(party.version.bot.in_class for party in match.parties.all())


def add(matches: Iterable[Match], parties: Mapping[int, Sequence[Party]], counted: Mapping[int, list[Any]]) -> None:
    """Add matches that the caller has locked, with their counts (`count`) by id, to the sums of their pools."""
    chosen = [match for match in matches if match.pk in counted]
    bands = _bands({party.version_id for match in chosen for party in parties[match.pk]} if chosen else ())
    rows = []
    for match in chosen:
        of_parties = zip(parties[match.pk], counted[match.pk], strict=True)
        counts = [[bands.get((match.pool_id, party.version_id), NEW_BOTS), own] for party, own in of_parties]
        rows.append(MatchChoices(match=match, counts=counts))
    MatchChoices.objects.bulk_create(rows)
    _change(rows, parties, sign=1)


def subtract(ids: Sequence[int], parties: Mapping[int, Sequence[Party]]) -> None:
    """Subtract those of these matches, which the caller has locked, that were added."""
    rows = list(MatchChoices.objects.filter(match__in=ids).select_related("match"))
    _change(rows, parties, sign=-1)
    MatchChoices.objects.filter(match__in=ids).delete()


def band_of(elo: float) -> int:
    """Return the band of a rating. Rounded, because an anchor may miss its 1000 by the last digit."""
    return 2 + sum(comparable(elo, ELO_DIGITS) >= edge for edge in EDGES)


def _bands(versions: Iterable[int]) -> dict[tuple[int, int], int]:
    """Return the rating band of these versions by pool."""
    rows = Rating.objects.filter(version__in=list(versions), provisional=False) if versions else ()
    return {(row.pool_id, row.version_id): band_of(row.elo) for row in rows}


def _change(rows: Iterable[MatchChoices], parties: Mapping[int, Sequence[Party]], *, sign: int) -> None:
    by_pool: dict[int, dict[Key, list[int]]] = {}
    for row in rows:
        bots = [party.version.bot_id for party in parties[row.match_id]]
        _collect(row.counts, bots, by_pool.setdefault(row.match.pool_id, {}))
    for pool, added in sorted(by_pool.items()):
        _lock(pool)
        _store(pool, added, sign)


def _collect(counts: Sequence[tuple[int, PartyCounts]], bots: Sequence[int], into: dict[Key, list[int]]) -> None:
    """Add a match to the rows of its pool. The choices of the parties in one row are one observation, since they had the same cards."""
    here: dict[Key, list[int]] = {}
    for bot, (band, own) in zip(bots, counts, strict=True):
        for kind, hand, choice, number, worth in own:
            for key in product((kind,), (hand, EVERY), (band, EVERY_BOT), (choice, EVERY)):
                sums = here.setdefault(key, [0, 0, 0])
                sums[0] += number
                sums[1] += worth
                sums[2] |= 1 << bot % BITS
    for key, (n, w, bits) in here.items():
        of_all = here[(*key[:3], EVERY)][0]
        row = into.setdefault(key, [0] * (len(COLUMNS) + 1))
        for place, value in enumerate((1, n, w, w * w, w * n, n * n, n * of_all)):
            row[place] += value
        row[-1] |= bits


def _lock(pool: int) -> None:
    """Let one transaction at a time change the sums of a pool."""
    Pool.objects.select_for_update(no_key=True).only("pk").get(pk=pool)


def _store(pool: int, added: Mapping[Key, Sequence[int]], sign: int) -> None:
    """Add to the rows of a pool, or subtract from them (`sign` -1). A subtraction leaves the bits of bots as they are."""
    rows: list[tuple[int | str, ...]] = [
        (pool, *key, *(sign * value for value in values), bits if sign > 0 else 0)
        for key, (*values, bits) in sorted(added.items())
    ]
    with connection.cursor() as cursor:
        cursor.executemany(STORE, rows)


def with_cards(rows: QuerySet[Match]) -> QuerySet[Match]:
    """Return matches with the related rows that `counted` and `count` need."""
    parties = Party.objects.order_by("number").select_related("version__bot")
    rows = rows.select_related("tournament", "pool", "log").defer("secret", "tournament__secret")
    return rows.prefetch_related(Prefetch("parties", parties))


# ---- recounting


def recount(pool: Pool, *, again: bool, now: datetime | None = None) -> Iterator[int]:
    """Add the matches of a pool that are missing, for example those of an earlier release. Yield the id of each match that was counted.

    again: count all matches from their logs again; those whose log is gone keep what was counted. Repeatable, safe to interrupt, and harmless beside
    the scheduler: each match has a transaction of its own.
    """
    now = clock.now_or(now)
    rows = Match.objects.filter(pool=pool, status=MatchStatus.FINISHED, rated=True, summed=True)
    if not again:
        rows = rows.filter(choices=None)
    for pk in list(rows.order_by("pk").values_list("pk", flat=True)):
        counts = count(with_cards(Match.objects.all()).get(pk=pk), now=now)
        with transaction.atomic():
            match = rows.select_for_update(of=("self",)).filter(pk=pk).first()
            if match is None or counts is None:
                continue
            parties = {pk: list(match.parties.select_related("version").order_by("number"))}
            subtract([pk], parties)
            add([match], parties, {pk: counts})
        yield pk


# ---- figures for pages


@dataclass(frozen=True, slots=True)
class ChoiceFigures:
    """A choice for people: its share of all choices with this kind, hand and band, and what it brought more than the other sides' mean.

    low, high: the 95% interval of the share; mean, margin: in units of the game; margin is half of the 95% interval. Matches are the observations.
    """

    choice: str
    number: int
    matches: int
    share: float
    low: float
    high: float
    mean: float
    margin: float


def is_shown(row: ChoiceSum) -> bool:
    """Return True if enough matches and bots stand behind a row, so that it does not describe one bot."""
    return row.matches >= LEAST_MATCHES and row.bots.bit_count() >= LEAST_BOTS


def figures(row: ChoiceSum, every: ChoiceSum, scale: int) -> ChoiceFigures:
    """Return the figures of a row that is shown. every: the row of all choices beside it; scale: `scale_of` its pool."""
    number, of_all = row.number, every.number
    share = number / of_all
    # Sums of squared residuals, times the square of the denominator, in whole numbers: no digit is lost.
    squares = row.number_number * of_all**2 - 2 * number * of_all * row.number_all + number**2 * every.number_number
    half = _half(every.matches, squares, of_all)
    low, high = (share - half, share + half) if squares > 0 else wilson(share, every.matches)
    worth = row.worth_worth * number**2 - 2 * row.worth * number * row.worth_number + row.worth**2 * row.number_number
    return ChoiceFigures(
        row.choice,
        number,
        row.matches,
        share,
        max(0.0, low),
        min(1.0, high),
        row.worth / number / scale,
        _half(row.matches, worth, number) / scale,
    )


def _half(matches: int, squares: int, total: int) -> float:
    """Return half of the 95% interval of a ratio over `total`; squares: sum of squared residuals times total²."""
    return t95(matches - 1) * sqrt(matches / (matches - 1) * max(0, squares) / total**2) / total


def shown(rows: QuerySet[ChoiceSum]) -> QuerySet[ChoiceSum]:
    """Select those of these rows that are shown: single choices of which `is_shown` is true."""
    bots: Any = F("bots")
    for _ in range(LEAST_BOTS - 1):
        bots = bots.bitand(bots - 1)  # Without its lowest bit.
    return rows.annotate(others=bots).filter(matches__gte=LEAST_MATCHES, others__gt=0).exclude(choice=EVERY)


def with_figures(rows: Sequence[ChoiceSum]) -> list[tuple[ChoiceSum, ChoiceFigures]]:
    """Return rows that are shown, read with their pools, with their figures. One query."""
    names = ("pool_id", "kind", "hand", "band")
    beside = {name: {getattr(row, name) for row in rows} for name in names}
    sums_of = ChoiceSum.objects.filter(choice=EVERY, **{f"{name}__in": values for name, values in beside.items()})
    every = {attrgetter(*names)(row): row for row in sums_of}
    scales = {row.pool_id: scale_of(row.pool) for row in rows}
    return [(row, figures(row, every[attrgetter(*names)(row)], scales[row.pool_id])) for row in rows]


def scale_of(pool: Pool) -> int:
    """Return the stored worth that is one unit of the game."""
    game = pools.game_of(pool)
    return game.score_size * (len(game.sides) - 1)


def sums(pool: Pool, **conditions: Any) -> QuerySet[ChoiceSum]:
    """Select sums of a pool that belong to at least one match, the most frequent first."""
    rows = ChoiceSum.objects.filter(pool=pool, matches__gt=0, **conditions)
    return rows.order_by(F("number").desc(), "kind", "hand", "choice")
