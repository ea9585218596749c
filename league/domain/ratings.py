"""Ratings of a pool: always the fit of all its finished, rated boards, whatever way the rows got there."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime
from itertools import pairwise

from django.conf import settings
from django.db import transaction
from django.db.models import Count, QuerySet

from league.domain import clock, pools
from league.enums import MatchStatus
from league.models import Board, BotVersion, Match, Party, Pool, Rating, RatingPoint
from league.pure import ratings as pure
from league.pure.tallies import Tallies

MOST_FITS = 60  # fits of one run, which holds the pool locked; when more matches came in, only every so many of them gets a point in the history
COLUMNS = [field.name for field in Rating._meta.fields if field.name not in ("id", "pool", "version")]
Played = tuple[Sequence[int], list[Sequence[int]]]  # versions at the table, and the scores of each board


def rated(pool: Pool) -> QuerySet[Match]:
    """The matches that count in `pool`."""
    return Match.objects.filter(pool=pool, rated=True, status=MatchStatus.FINISHED)


def stale_pools() -> list[Pool]:
    """Pools with finished matches that were not counted, or counted matches that were struck out since."""
    waiting = Match.objects.filter(rated=True, status=MatchStatus.FINISHED, counted=None)
    struck = Match.objects.filter(status=MatchStatus.VOID).exclude(counted=None)
    ids = {*waiting.values_list("pool_id", flat=True).distinct(), *struck.values_list("pool_id", flat=True).distinct()}
    return list(Pool.objects.filter(pk__in=ids).order_by("pk"))


def refresh(pool: Pool, *, rebuild: bool = False, now: datetime | None = None) -> bool:
    """Take the results that are new in `pool` into its ratings and their history; whether anything changed.

    1. The pool's row is locked: two refreshes wait for each other, and the second one finds nothing new.
    2. Matches struck out since the last time (or `rebuild`) discard the history; everything counts as new.
    3. New matches are added in the order in which they finished, each with the points of its bots, before and after.
    4. The table of all boards replaces the rows of `Rating`.
    """
    now = clock.given(now)
    with transaction.atomic():
        Pool.objects.select_for_update().get(pk=pool.pk)
        struck = Match.objects.filter(pool=pool, status=MatchStatus.VOID).exclude(counted=None)
        if struck.update(counted=None) or rebuild:
            RatingPoint.objects.filter(pool=pool).delete()
            rated(pool).update(counted=None)
            rebuild = True
        fresh = list(rated(pool).filter(counted=None).order_by("finished", "id"))
        if not fresh and not rebuild:
            return False
        played = _played(pool)
        new = {match.pk for match in fresh}
        tallies = Tallies()
        for match_id, match in played.items():
            if match_id not in new:
                _add(tallies, match)
        anchor = _anchor(played)
        table = pure.table(tallies, anchor=anchor)
        step = -(-len(fresh) // MOST_FITS)
        for place, match in enumerate(fresh, 1):
            _add(tallies, played[match.pk])
            if place % step == 0 or place == len(fresh):
                before, table = table, pure.table(tallies, anchor=anchor, start=table.strengths())
                _add_points(pool, match, played[match.pk][0], before, table)
        rated(pool).filter(pk__in=new).update(counted=now)
        _write(pool, table, now)
    return True


def _played(pool: Pool) -> dict[int, Played]:
    """Every match that counts, with its versions and boards. Two queries."""
    counts = {"match__pool": pool, "match__rated": True, "match__status": MatchStatus.FINISHED}
    versions: dict[int, list[int]] = defaultdict(list)
    seated = Party.objects.filter(**counts).order_by("match_id", "number")
    for match_id, version_id in seated.values_list("match_id", "version_id"):
        versions[match_id].append(version_id)
    boards: dict[int, list[Sequence[int]]] = defaultdict(list)
    for match_id, scores in (
        Board.objects.filter(**counts).order_by("match_id", "number").values_list("match_id", "scores")
    ):
        boards[match_id].append(scores)
    return {match_id: (versions[match_id], boards[match_id]) for match_id in versions}


def _add(tallies: Tallies, match: Played) -> None:
    for scores in match[1]:
        tallies.add(match[0], scores)


def _anchor(played: dict[int, Played]) -> int | None:
    """The first version of the anchor bot that has played here: versions never change, so its strength is a fixed mark."""
    there = {version for versions, _ in played.values() for version in versions}
    found = BotVersion.objects.filter(bot__is_house=True, bot__slug=settings.ANCHOR_BOT, pk__in=there).order_by(
        "number"
    )
    return found.values_list("pk", flat=True).first()


def _add_points(pool: Pool, match: Match, versions: Sequence[int], before: pure.Table, after: pure.Table) -> None:
    was = {row.bot: row.elo for row in before.rows}
    now = {row.bot: row for row in after.rows}
    RatingPoint.objects.bulk_create(
        RatingPoint(
            pool=pool,
            version_id=version,
            match=match,
            elo=now[version].elo,
            margin=now[version].margin,
            change=now[version].elo - was.get(version, pure.BASE),
            at=match.finished,
        )
        for version in versions
    )


def _write(pool: Pool, table: pure.Table, now: datetime) -> None:
    """Replace the rating rows of `pool` by `table`, with ranks among the versions that stand for their bots."""
    ids = [row.bot for row in table.rows]
    listed = _listed(table)
    shown = [place for place, row in enumerate(table.rows) if row.bot in listed]
    following = dict(pairwise(shown))
    counts = {"match__pool": pool, "match__rated": True, "match__status": MatchStatus.FINISHED}
    score_size = pools.game_of(pool).score_size
    faulty = Party.objects.filter(**counts).exclude(fault="").values_list("version_id").annotate(times=Count("id"))
    faults = dict(faulty.order_by())
    rows = []
    for place, row in enumerate(table.rows):
        others = [other for other in shown if other != place]
        follower = following.get(place)
        rows.append(
            Rating(
                pool=pool,
                version_id=row.bot,
                elo=row.elo,
                margin=row.margin,
                boards=row.boards,
                opponents=row.opponents,
                score=row.score,
                points_per_board=row.points_per_board / score_size,
                faults=faults.get(row.bot, 0),
                rank_best=1 + sum(bool(table.los[other, place] > pure.SURE) for other in others),
                rank_worst=1 + sum(not table.los[place, other] > pure.SURE for other in others),
                los_next=float(table.los[place, follower]) if follower is not None else None,
                provisional=row.provisional,
                listed=row.bot in listed,
                updated=now,
            )
        )
    Rating.objects.filter(pool=pool).exclude(version_id__in=ids).delete()
    Rating.objects.bulk_create(rows, update_conflicts=True, unique_fields=["pool", "version"], update_fields=COLUMNS)


def _listed(table: pure.Table) -> set[int]:
    """For each bot its newest version that is not provisional, else its newest."""
    provisional = {row.bot: row.provisional for row in table.rows}
    best: dict[int, tuple[tuple[bool, int], int]] = {}
    for pk, bot_id, number in BotVersion.objects.filter(pk__in=provisional).values_list("pk", "bot_id", "number"):
        claim = (not provisional[pk], number)
        if bot_id not in best or claim > best[bot_id][0]:
            best[bot_id] = (claim, pk)
    return {pk for _, pk in best.values()}
