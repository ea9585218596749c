"""The creation, cancellation and voiding of matches. The modules `leases` and `reports` are about playing them."""

from __future__ import annotations

import hmac
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from league.domain.core import clock, hints, journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import estimates, fairness
from league.domain.people import ownership
from league.domain.ratings import pools
from league.enums import MatchKind, MatchStatus
from league.models import BotVersion, Match, Party, Pool, Round, Tournament
from league.service import logs

ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # No letters that look like others
BATCH = 500  # Rows of one INSERT


@dataclass(frozen=True, kw_only=True)
class MatchPlan:
    """A match that should exist. `key` is its natural key: only one match can have it."""

    key: str
    kind: str
    pool: Pool
    table: str
    secret: bytes
    boards: int
    versions: tuple[BotVersion, ...]  # Read with their bots and owners
    first_board: int = 1
    tournament: Tournament | None = None
    round: Round | None = None
    rated: bool = True
    limits: dict[str, Any] = field(default_factory=dict)
    priority: int = 0
    expected_s: float | None = None  # None: estimated from the tournament or game
    asker_id: int | None = None  # The player who asked for a challenge.

    @property
    def owner_id(self) -> int:
        """Return the player whose turn the match takes: the one who asked for it, the owner of the tournament, else the owner of the first bot."""
        return (
            self.asker_id
            if self.asker_id is not None
            else self.tournament.owner_id
            if self.tournament
            else self.versions[0].bot.owner_id
        )


def public_id(plan: MatchPlan) -> str:
    """Return ten characters derived from the secret and the natural key: nobody can guess them, and a repeated run gives the same ones.

    The bots' random numbers are derived from this id, so two leagues with the same secret, names and bots play the same matches.
    """
    place = plan.tournament.slug if plan.tournament else plan.kind
    words = ("match", place, plan.pool.key, plan.table, *([str(plan.first_board)] if plan.first_board > 1 else []))
    return _name(plan.secret, *words)


def _name(secret: bytes, *words: str) -> str:
    number = int.from_bytes(hmac.digest(secret, "\n".join(words).encode(), "sha256"), "big")
    return "".join(ALPHABET[number // len(ALPHABET) ** i % len(ALPHABET)] for i in range(10))


def insert(plans: Sequence[MatchPlan], *, now: datetime | None = None) -> int:
    """Insert the matches of `plans` that do not exist yet, and return their number. Repeatable, also by several processes at once.

    1. Keys that exist are skipped. 2. The rest is inserted in bulk; the database skips keys that appeared in the meantime.
    3. In the same transaction, parties are added to the rows without any; rows of other processes have theirs already.
    """
    now = clock.now_or(now)
    added = 0
    for start in range(0, len(plans), BATCH):
        part = plans[start : start + BATCH]
        with transaction.atomic():
            present = set(Match.work.filter(key__in=[plan.key for plan in part]).values_list("key", flat=True))
            new_plans = [plan for plan in part if plan.key not in present]
            if not new_plans:
                continue
            bots = {version.bot_id: version.bot for plan in new_plans if _may_count(plan) for version in plan.versions}
            people = ownership.people_of(bots.values(), now=now) if bots else {}
            rows = {plan.key: (plan, _row(plan, now, people)) for plan in new_plans}
            _expect(list(rows.values()))
            fairness.place([row for _, row in rows.values()])
            Match.work.bulk_create([row for _, row in rows.values()], ignore_conflicts=True)
            ids = {row.public_id: plan for plan, row in rows.values()}
            new = list(Match.work.filter(public_id__in=ids, parties=None).values_list("pk", "public_id"))
            Party.objects.bulk_create(
                Party(match_id=pk, number=number, version_id=version.pk)
                for pk, public in new
                for number, version in enumerate(ids[public].versions)
            )
            added += len(new)
    return added


def insert_running(plan: MatchPlan, beside: Match, *, now: datetime) -> Match:
    """Insert the match of `plan` as running, because the worker of `beside` has played it under the same lease, and nobody else may claim it."""
    row = _row(plan, now, None)
    row.status, row.worker, row.token = MatchStatus.RUNNING, beside.worker, beside.token
    row.attempts, row.started, row.created = beside.attempts, beside.started, beside.created
    row.save(force_insert=True)
    Party.objects.bulk_create(
        Party(match=row, number=number, version_id=version.pk) for number, version in enumerate(plan.versions)
    )
    return row


def _expect(rows: Sequence[tuple[MatchPlan, Match]]) -> None:
    """Set the expected seconds of each match. One query or two for each tournament or game."""
    sitting_s: dict[tuple[int | None, str], float] = {}
    for plan, row in rows:
        if plan.expected_s is not None:
            row.expected_s = plan.expected_s
            continue
        here = (row.tournament_id, plan.pool.game)
        if here not in sitting_s:
            cup, game = plan.tournament, plan.pool.game
            sitting_s[here] = (estimates.sitting_time_in(cup) if cup else estimates.sitting_time(game)).seconds
        row.expected_s = sitting_s[here] * plan.boards * pools.parties(plan.pool)


def _may_count(plan: MatchPlan) -> bool:
    return plan.rated and plan.kind != MatchKind.VALIDATION


def _row(plan: MatchPlan, now: datetime, people: Mapping[int, frozenset[int]] | None) -> Match:
    """Build the row; `people`: who owns each bot, None for a match that is never rated."""
    rated = False
    if people is not None and _may_count(plan):
        rated = ownership.are_apart([people[version.bot_id] for version in plan.versions])
    return Match(
        public_id=public_id(plan),
        kind=plan.kind,
        pool=plan.pool,
        tournament=plan.tournament,
        owner_id=plan.owner_id,
        round=plan.round,
        key=plan.key,
        table=plan.table,
        secret=plan.secret,
        first_board=plan.first_board,
        boards_planned=plan.boards,
        in_class=plan.tournament is None and any(version.bot.in_class for version in plan.versions),
        rated=rated,
        limits=plan.limits,
        priority=plan.priority,
        created=now,
        request=logs.asked_by(),
    )


def cancel(match: Match, *, actor: str, why: str, now: datetime | None = None) -> None:
    """Cancel a match that is not finished. If a worker is playing it, the worker notices at its next heartbeat."""
    now = clock.now_or(now)
    transitions.move(match, MatchStatus.CANCELLED, now=now, actor=actor, why=why, reason=why, finished=now)


def void(match: Match, *, actor: str, why: str, now: datetime | None = None) -> None:
    """Void a match, even a finished one: its boards stay readable but no longer count. The next refresh removes them from the ratings."""
    now = clock.now_or(now)
    with transaction.atomic():
        transitions.move(
            match, MatchStatus.VOID, now=now, actor=actor, why=why, reason=why, finished=match.finished or now
        )
        if match.counted:
            journal.append("pool.stale", f"pool:{match.pool_id}", now=now, actor=actor, match=match.public_id)


# The columns that make a match what it is, as against what became of it; the pool is named beside them
IDENTITY = (
    *("kind", "tournament_id", "round_id", "table", "secret", "first_board", "boards_planned", "rated", "limits"),
    "in_class",
    *("owner_id", "priority", "expected_s", "embargo"),
)


# The pauses before a match that became void by itself is played again; the last one repeats
PAUSES = tuple(timedelta(minutes=minutes) for minutes in (1, 10, 60, 360, 1440))


def retry_later(match: Match, *, why: str, now: datetime) -> Match:
    """Queue a match again that became void by a fault of ours, each time after a longer pause: its tournament cannot end without it."""
    fresh, is_new = play_again(match, actor="league", why=why, now=now)
    if is_new:
        times = int(fresh.key.partition("#")[2]) - 1
        fresh.not_before = now + PAUSES[min(times, len(PAUSES)) - 1]
        fresh.reason = f"in place of match {match.public_id}, {match.reason}"
        fresh.save(update_fields=["not_before", "reason"])
        if match.tournament is not None:
            place = f"tournament:{match.tournament.slug}"
            journal.append("tournament.stalled", place, now=now, why=why, match=match.public_id, again=fresh.public_id)
    return fresh


def play_again(
    match: Match, *, pool: Pool | None = None, actor: str, why: str, now: datetime | None = None
) -> tuple[Match, bool]:
    """Return the match that replaces a void one, and True if it is new: the same versions on the same deals, in `pool` if the rules changed.

    Its key is that of the old match with a number appended, so a second call returns the same match. The tournament is locked, because a new
    embargo must reach both matches. A caller that also voids the old match locks the tournament first.
    """
    now = clock.now_or(now)
    if match.status not in (MatchStatus.VOID, MatchStatus.CANCELLED):
        raise Refused(
            "match {match} is {status}; only void and cancelled matches can be played again",
            match=match.public_id,
            status=MatchStatus(match.status).label,
        )
    if match.kind == MatchKind.VALIDATION:
        raise Refused(
            "match {match} validates an upload; validate it again with `manage.py revalidate BOT`",
            match=match.public_id,
        )
    name, _, number = match.key.partition("#")
    key = f"{name}#{int(number or 1) + 1}"
    with transaction.atomic():
        if match.tournament_id is not None:
            Tournament.objects.select_for_update(of=("self",)).get(pk=match.tournament_id)
        identity = Match.objects.filter(pk=match.pk).values(*IDENTITY).get() | {"pool": pool or match.pool}
        fresh, is_new = Match.objects.get_or_create(
            key=key,
            defaults={
                **identity,
                "public_id": _name(bytes(match.secret), "again", (pool or match.pool).key, key),
                "created": now,
                "request": logs.asked_by() or match.request,
            },
        )
        if is_new:
            fairness.place_last(fresh)
            fresh.save(update_fields=["turn", "virtual_s"])
            parties = match.parties.order_by("number").values_list("number", "version_id", "broken_off")
            Party.objects.bulk_create(
                Party(match=fresh, number=number, version_id=pk, broken_off=attempts)
                for number, pk, attempts in parties
            )
            journal.append(
                "match.again", transitions.subject(fresh), now=now, actor=actor, why=why, instead_of=match.public_id
            )
            hints.matches_wait()
    return fresh, is_new


def unrate(match: Match, *, actor: str, why: str, now: datetime | None = None) -> None:
    """Remove a result from the ratings, at their next refresh. The result stays. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        if Match.objects.filter(pk=match.pk, rated=True).update(rated=False):
            journal.append("match.unrated", transitions.subject(match), now=now, actor=actor, why=why)
    match.rated = False
