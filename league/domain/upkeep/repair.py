"""Repairs after wrong results: matches are voided, played again and rated again. Each repair is repeatable and has a dry run.

A dry run does the whole work in a transaction, reads the result, and rolls it back.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db import transaction

import engine
from league.domain.core import clock, hints, journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.ratings import pools, ratings
from league.enums import MatchKind, MatchStatus, TournamentStatus
from league.models import Match, Pool, Rating, Tournament


@dataclass
class RatingChange:
    """The rating of a version before and after a repair; None if it has none."""

    pool: str
    version: str
    before: float | None
    after: float | None


@dataclass
class RepairReport:
    """The effects of a repair, or of its dry run."""

    struck: list[str] = field(default_factory=list)  # Public ids of voided matches.
    unrated: list[str] = field(default_factory=list)
    again: list[str] = field(default_factory=list)
    reopened: list[str] = field(default_factory=list)  # Slugs of reopened tournaments.
    changes: list[RatingChange] = field(default_factory=list)

    @property
    def is_empty(self) -> bool:
        """Return True if there was nothing to do."""
        return not (self.struck or self.unrated or self.again)


def strike(
    rows: Sequence[Match],
    *,
    why: str,
    actor: str,
    again: bool = False,
    dry_run: bool = False,
    now: datetime | None = None,
) -> RepairReport:
    """Void matches, play them again if `again`, and rate their pools again. Rows of void matches stay."""
    now = clock.now_or(now)
    report = RepairReport()
    with transaction.atomic():
        touched = {match.pool_id: match.pool for match in rows}
        _lock(rows)
        before = _elo(touched.values())
        for match in rows:
            _strike(match, report, why=why, actor=actor, now=now)
            if again:
                _play_again(match, match.pool, report, why=why, actor=actor, now=now)
        _finish(report, touched.values(), before, now=now, dry_run=dry_run)
    return report


def repair_revisions(
    game: str,
    first: int,
    last: int,
    *,
    why: str,
    actor: str,
    before: datetime | None = None,
    unrate: bool = False,
    dry_run: bool = False,
    now: datetime | None = None,
) -> RepairReport:
    """Void all matches played by wrong revisions of a game's rules, and play them again by the current rules.

    Their tournaments move to the pool of the current revision. With `unrate` the results stay in the tournaments and only leave the ratings.
    `before` limits the repair to older results. It is required if the current revision is among the wrong ones (because something else was fixed);
    otherwise a second run would void the repeated matches of the first.
    """
    now = clock.now_or(now)
    if game not in engine.games():
        raise Refused("unknown game {game!r}; choose one of {games}", game=game, games=", ".join(engine.games()))
    if first > last:
        raise Refused(
            "{first}..{last} is not a range of revisions; write the smaller number first", first=first, last=last
        )
    latest = pools.revisions()[game]
    if first <= latest <= last and before is None:
        raise Refused(
            "the current rules of {game} are revision {revision}, one of {first}..{last}, so a second run would void what the first one "
            "plays again; say until when results are wrong (--before 2026-11-21T12:00:00Z)",
            game=game,
            revision=latest,
            first=first,
            last=last,
        )
    chosen = Match.objects.filter(pool__game=game, pool__revision__range=(first, last), kind=MatchKind.TOURNAMENT)
    rows = chosen.exclude(status=MatchStatus.CANCELLED).select_related("pool", "tournament").order_by("id")
    if before is None:  # Some options may have kept an earlier revision.
        affected = Pool.objects.filter(game=game, revision__range=(first, last))
        rows = rows.exclude(pool__in=[pool.pk for pool in affected if pools.is_known(pool)])
    else:
        rows = rows.filter(created__lt=before).exclude(finished__gte=before)
    report = RepairReport()
    with transaction.atomic():
        wrong = list(rows)
        touched = {match.pool_id: match.pool for match in wrong}
        _lock(wrong)
        elo = _elo(touched.values())
        for match in wrong:
            if unrate:
                _unrate(match, report, why=why, actor=actor, now=now)
                continue
            _strike(match, report, why=why, actor=actor, now=now)
            _play_again(match, _present(match.pool), report, why=why, actor=actor, now=now)
        if not report.is_empty:
            data = {
                "revisions": [first, last],
                "struck": len(report.struck),
                "unrated": len(report.unrated),
                "again": len(report.again),
            }
            journal.append("league.repaired", f"game:{game}", now=now, actor=actor, why=why, **data)
        _finish(report, touched.values(), elo, now=now, dry_run=dry_run)
    return report


def rebuild_pools(chosen: Iterable[Pool], *, dry_run: bool = False, now: datetime | None = None) -> RepairReport:
    """Fit pools again from their boards, history included."""
    now = clock.now_or(now)
    report = RepairReport()
    touched = list(chosen)
    with transaction.atomic():
        before = _elo(touched)
        for pool in touched:
            ratings.refresh(pool, rebuild=True, now=now)
        _finish(report, touched, before, now=now, dry_run=dry_run)
    return report


def _present(pool: Pool) -> Pool:
    """Return the pool with the same table and the current rules."""
    return pools.pool(pool.game, pool.players, pool.options, mixed=pool.team == pools.MIXED, remote=pool.remote)


def _lock(rows: Sequence[Match]) -> None:
    """Lock the tournaments of matches and read them again, then lock the pools, in the same order as everywhere."""
    chosen = {match.tournament_id for match in rows if match.tournament_id is not None}
    cups = {cup.pk: cup for cup in Tournament.objects.select_for_update().filter(pk__in=chosen).order_by("pk")}
    for match in rows:
        if match.tournament_id is not None:
            match.tournament = cups[match.tournament_id]
    rated = Pool.objects.select_for_update(no_key=True).filter(pk__in={match.pool_id for match in rows})
    list(rated.order_by("pk").values_list("pk"))


def _strike(match: Match, report: RepairReport, *, why: str, actor: str, now: datetime) -> None:
    if match.status not in (MatchStatus.VOID, MatchStatus.CANCELLED):
        matches.void(match, actor=actor, why=why, now=now)
        report.struck.append(match.public_id)


def _unrate(match: Match, report: RepairReport, *, why: str, actor: str, now: datetime) -> None:
    if match.rated and match.status == MatchStatus.FINISHED:
        matches.unrate(match, actor=actor, why=why, now=now)
        report.unrated.append(match.public_id)


def _play_again(match: Match, pool: Pool, report: RepairReport, *, why: str, actor: str, now: datetime) -> None:
    if match.tournament is None or match.tournament.status == TournamentStatus.CANCELLED:
        return
    fresh, is_new = matches.play_again(match, pool=pool, actor=actor, why=why, now=now)
    if not is_new:
        return  # An earlier repair has done it.
    report.again.append(fresh.public_id)
    _reopen(match.tournament, pool, report, why=why, actor=actor, now=now)


def _reopen(tournament: Tournament, pool: Pool, report: RepairReport, *, why: str, actor: str, now: datetime) -> None:
    if tournament.slug in report.reopened:
        return
    report.reopened.append(tournament.slug)
    row = Tournament.objects.get(pk=tournament.pk)  # The row is already locked.
    Tournament.objects.filter(pk=row.pk).update(pool=pool, ending="", facts={})
    row.entries.update(place=None)
    if row.status == TournamentStatus.FINISHED:
        transitions.move(row, TournamentStatus.RUNNING, now=now, actor=actor, why=why, finished=None)


def _elo(chosen: Iterable[Pool]) -> dict[tuple[int, str], float]:
    rows = Rating.objects.filter(pool__in=list(chosen)).select_related("version__bot")
    return {(row.pool_id, str(row.version)): row.elo for row in rows}


def _finish(
    report: RepairReport, touched: Iterable[Pool], before: dict[tuple[int, str], float], *, now: datetime, dry_run: bool
) -> None:
    """Rate the pools again, report the changes, and roll everything back in a dry run."""
    chosen = list(touched)
    for pool in chosen:
        ratings.refresh(pool, now=now)
    after = _elo(chosen)
    names = {pool.pk: f"{pool.game} (revision {pool.revision}, pool {pool.pk})" for pool in chosen}
    for pool_id, version in sorted({*before, *after}):
        was, becomes = before.get((pool_id, version)), after.get((pool_id, version))
        if was != becomes:
            report.changes.append(RatingChange(names[pool_id], version, was, becomes))
    if dry_run:
        transaction.set_rollback(True)
    else:
        hints.matches_wait()
