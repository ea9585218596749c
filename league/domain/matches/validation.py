"""The first match of every upload: may this version sit at a table?"""

from __future__ import annotations

import secrets
from collections.abc import Collection, Iterable
from datetime import datetime

from django.conf import settings
from django.db import transaction

import engine
from league.domain.core import clock, hints, moves
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.ratings import pools
from league.enums import BotState, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Match, Party, Pool

PRIORITY = 10  # an author waits for it
DEFAULT_GAME = "partnership"  # of a bot that says it plays every game


def games(version: BotVersion) -> list[str]:
    """The games in which `version` is tried: every one it names, else the default one."""
    named: list[str] = version.games
    if named:
        return named
    return [DEFAULT_GAME] if DEFAULT_GAME in engine.games() else engine.games()[:1]


def plan_matches(version: BotVersion, *, secret: bytes | None = None, attempt: int = 1) -> list[matches.MatchPlan]:
    """One match per game: the version as party 0 against house bots, or against itself where there is none."""
    found = []
    for game in games(version):
        key, table = f"v:{version.pk}:{game}:{attempt}", f"validation-{version.pk}-{attempt}"
        found.append(plan_against_house(version, key, table, secret or secrets.token_bytes(32), pool=pools.pool(game)))
    return found


def plan_against_house(version: BotVersion, key: str, table: str, secret: bytes, *, pool: Pool) -> matches.MatchPlan:
    """A match that proves a version in `pool`: as party 0 against house bots, or against itself where there is none."""
    able = [rival for rival in _rivals(version) if not rival.games or pool.game in rival.games] or [version]
    others = tuple(able[i % len(able)] for i in range(pools.parties(pool) - 1))
    return matches.MatchPlan(
        key=key,
        kind=MatchKind.VALIDATION,
        pool=pool,
        table=table,
        secret=secret,
        boards=settings.VALIDATION_BOARDS,
        versions=(version, *others),
        priority=PRIORITY,
    )


def _rivals(version: BotVersion) -> Collection[BotVersion]:
    """Accepted versions of active house bots, the oldest bot first (the simplest one), the newest version of each."""
    accepted = BotVersion.objects.filter(bot__is_house=True, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    newest: dict[int, BotVersion] = {}
    for rival in accepted.exclude(bot=version.bot).select_related("bot").order_by("bot_id", "number"):
        newest[rival.bot_id] = rival
    return newest.values()


def begin(version: BotVersion, *, secret: bytes | None = None, now: datetime | None = None) -> int:
    """Insert the validation matches that are missing; their number."""
    attempt = 1 + max((int(key.rsplit(":", 1)[1]) for key in _keys(version)), default=0)
    added = matches.insert(plan_matches(version, secret=secret, attempt=attempt), now=clock.given(now))
    hints.matches_wait()
    return added


def _keys(version: BotVersion) -> Iterable[str]:
    return Match.objects.filter(key__startswith=f"v:{version.pk}:").values_list("key", flat=True)


def validate_again(version: BotVersion, *, now: datetime | None = None) -> int:
    """Try a version once more, after a fault of ours or for a rejected one at the wish of the operator; the number of matches."""
    now = clock.given(now)
    with transaction.atomic():
        live = Match.objects.filter(key__startswith=f"v:{version.pk}:", status__in=("queued", "leased", "running"))
        if live.exists():
            raise Refused("{version} is being validated already; wait for its match to finish", version=version)
        if version.status == VersionStatus.ACCEPTED:
            raise Refused("{version} is accepted already", version=version)
        if version.status == VersionStatus.REJECTED:
            moves.move(version, VersionStatus.VALIDATING, now=now, fault="", fault_detail="")
        return begin(version, now=now)


def settle(match: Match, party: Party, *, now: datetime) -> None:
    """A validation match is over: a fault of the upload rejects it; without one in any of its matches it is accepted."""
    version = BotVersion.objects.select_for_update().select_related("bot").get(pk=party.version_id)
    if version.status != VersionStatus.VALIDATING:
        return
    if party.fault:
        at = party.fault_at or {}
        where = f"{match.pool.game}, board {at.get('board')}, sitting {at.get('sitting')}, step {at.get('step')}"
        detail = f"{party.fault_detail} ({where}; match {match.public_id})"
        moves.move(version, VersionStatus.REJECTED, now=now, why=party.fault, fault=party.fault, fault_detail=detail)
        return
    attempt = match.key.rsplit(":", 1)[1]
    siblings = Match.objects.filter(key__in=[f"v:{version.pk}:{game}:{attempt}" for game in games(version)])
    if all(status == MatchStatus.FINISHED for status in siblings.values_list("status", flat=True)):
        moves.move(version, VersionStatus.ACCEPTED, now=now)
