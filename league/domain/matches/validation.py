"""Validations: each upload first plays every game that it declares, and is accepted for the games without a fault.

A validation is one row of the queue, a match of the version's first game with the key `v:VERSION:ATTEMPT`. Its worker plays every game that the
version declares, one after the other (`engine.runner.trial`). The report stores a match of each game, with its log, and a row for each `Check`.
Each game is accepted or refused by itself.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

import engine
from engine.packages.manifest import WASM
from engine.runner import FaultReport, Limits, MatchResult, bounds
from engine.runner.trial import TrialCheck as Checked
from league.domain.core import clock, hints, journal, transitions
from league.domain.core.errors import Refused
from league.domain.matches import matches
from league.domain.ratings import pools
from league.enums import BotState, CheckName, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Build, Check, Match, Pool
from league.service import logs

GAME_S = 3.0  # The expected seconds of one game with a bot that answers quickly
PRIORITY = 10  # High, because an author waits
DEFAULT_GAME = "partnership"  # The first game of a bot that declares all games
RIVAL = "random"  # The opponent: the simplest house bot
# Games that have not begun after these seconds of wall time are refused: the bot used them up in the others
MOST_S = 300.0
# Seconds of wall time, more than all checks of one game together, without its whole boards, may take
CONVERSATIONS_S = 600.0
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
AGAIN = timedelta(minutes=10)  # The pause after a validation that became void; it doubles each time
AT_LAST = timedelta(days=1)  # The longest such pause


def games(version: BotVersion) -> list[str]:
    """Return the games in which `version` is validated: those that it declares, or all if it declares none.

    A house bot that declares none is validated in the default game only, because the project's tests play it in all games.
    """
    if version.games:
        return list(version.games)
    names = sorted(engine.games(), key=lambda game: (game != DEFAULT_GAME, game))
    return names[:1] if version.bot.is_house else names


def is_validation(match: Match) -> bool:
    """Return True if a match is the row of a whole validation, not a test of a paused bot or a further game of a validation."""
    words = match.key.split(":")
    return words[0] == "v" and (len(words) == 3 or not words[2].isdigit())


def most_s(match: Match) -> float:
    """Return the seconds that the bots of a validation may take together; the last game begins within `MOST_S`."""
    version = match.parties.select_related("version__bot").get(number=0).version
    limits, boards, metered = Limits(**match.limits), match.boards_planned, version.runtime == WASM
    longest = max(
        bounds.match_s(limits, game, len(game.sides), boards, metered=metered)
        for game in map(pools.load, {match.pool.game, *games(version)})
    )
    return MOST_S + longest + CONVERSATIONS_S


def _prefix(version: BotVersion) -> str:
    return f"v:{version.pk}:"


def _attempt(key: str) -> int:
    """Return the attempt in a key `v:VERSION:ATTEMPT`, `v:VERSION:ATTEMPT:GAME`, or, from earlier releases, `v:VERSION:GAME:ATTEMPT`."""
    return next(int(word) for word in key.split(":")[2:] if word.isdigit())


def plan_games(version: BotVersion, attempt: int, secret: bytes) -> Iterator[matches.MatchPlan]:
    """Yield a match for each game; the first one is the row of the validation. A few queries each."""
    table = f"validation-{version.pk}-{attempt}"
    for number, game in enumerate(games(version)):
        key = f"v:{version.pk}:{attempt}" + (f":{game}" if number else "")
        yield plan_against_house(version, key, table, secret, pool=pools.pool(game))


def plan_rest(match: Match) -> list[matches.MatchPlan]:
    """Return the matches of the other games, which the worker of a validation plays after `match`."""
    version = match.parties.select_related("version__bot").get(number=0).version
    return [
        plan
        for plan in plan_games(version, _attempt(match.key), bytes(match.secret))
        if plan.pool.game != match.pool.game
    ]


def plan_against_house(version: BotVersion, key: str, table: str, secret: bytes, *, pool: Pool) -> matches.MatchPlan:
    """Return the plan of a match that tries a version in `pool`: as party 0 against house bots, or against itself if there are none."""
    able = [rival for rival in _rivals(version) if rival.plays(pool.game)] or [version]
    able = [rival for rival in able if rival.bot.slug == RIVAL] or able
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
    """Return the newest accepted version of each active house bot, the oldest bot first."""
    accepted = BotVersion.objects.filter(bot__is_house=True, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    newest: dict[int, BotVersion] = {}
    for rival in accepted.exclude(bot=version.bot).select_related("bot").order_by("bot_id", "number"):
        newest[rival.bot_id] = rival
    return newest.values()


def begin(version: BotVersion, *, secret: bytes | None = None, now: datetime | None = None) -> None:
    """Queue the next attempt to validate a version."""
    keys = Match.objects.filter(key__startswith=_prefix(version)).values_list("key", flat=True)
    attempt = 1 + max(map(_attempt, keys), default=0)
    pools.ensure_default_pools(games(version))  # The worker plans the other games, but may not create pools
    first = next(plan_games(version, attempt, secret or secrets.token_bytes(32)))
    matches.insert([replace(first, expected_s=GAME_S * len(games(version)))], now=clock.now_or(now))
    hints.matches_wait()


@dataclass(frozen=True)
class ValidationCourse:
    """The course of a validation: number of checked games and of all, the match whose progress was read, and the estimated seconds that remain."""

    match: Match
    checked: int
    games: int
    left_s: float

    @property
    def minutes(self) -> int:
        """Return the remaining minutes, rounded up."""
        return math.ceil(self.left_s / 60)


def course(version: BotVersion, *, now: datetime | None = None) -> ValidationCourse | None:
    """Return the course of a version's validation, or None if none is queued or running. One query."""
    now = clock.now_or(now)
    rows = Match.objects.filter(key__startswith=_prefix(version), status__in=LIVE).order_by("-pk")
    match = next((row for row in rows if is_validation(row)), None)
    if match is None:
        return None
    count = len(games(version))
    checked = round(match.progress * count / 100) if match.status == MatchStatus.RUNNING else 0
    passed_s = (now - match.started).total_seconds() if match.started is not None and checked else 0.0
    each_s = passed_s / checked if passed_s > 0 else GAME_S
    return ValidationCourse(match, min(checked, count), count, each_s * (count - checked))


def validate_again(version: BotVersion, *, now: datetime | None = None) -> None:
    """Validate a version again, after a fault of ours or at the request of an operator."""
    now = clock.now_or(now)
    with transaction.atomic():
        if Match.objects.filter(key__startswith=_prefix(version), status__in=LIVE).exists():
            raise Refused("{version} is being validated already; wait for its match to finish", version=version)
        if version.status == VersionStatus.ACCEPTED:
            raise Refused("{version} is accepted already", version=version)
        if Build.objects.filter(version=version, version__source=None).exists():
            raise Refused("{version} was not built; upload its source again with a change", version=version)
        if version.status == VersionStatus.REJECTED:
            transitions.move(version, VersionStatus.VALIDATING, now=now, fault="", fault_detail="", refused=[])
        begin(version, now=now)


def repeat_void(*, now: datetime | None = None) -> int:
    """Validate again the versions whose validation became void, each time after a longer pause. Return their number.

    A validation becomes void only by a fault of the league, so no version should have to wait for its author.
    """
    now = clock.now_or(now)
    return sum(
        _repeat(version, now)
        for version in BotVersion.objects.filter(status=VersionStatus.VALIDATING).select_related("bot").order_by("pk")
    )


def _repeat(version: BotVersion, now: datetime) -> bool:
    with transaction.atomic():
        # Another process may be repeating the same validation
        BotVersion.objects.select_for_update().get(pk=version.pk)
        tried = Match.objects.filter(key__startswith=_prefix(version))
        last = tried.order_by("-pk").first()
        if last is None or last.status != MatchStatus.VOID or tried.filter(status__in=LIVE).exists():
            return False
        pause = min(AGAIN * 2 ** min(10, tried.filter(status=MatchStatus.VOID).count() - 1), AT_LAST)
        if last.finished is not None and last.finished + pause > now:
            return False
        with logs.about(request=last.request):  # The log lines refer to the same upload
            begin(version, now=now)
    return True


# ---- the verdict


@dataclass(frozen=True)
class TriedGame:
    """A game of a validation, as its worker reports it.

    `plan`: of the match, None for the first game; `result`: None if the game was not reached.
    """

    game: str
    checks: Sequence[Checked]
    plan: matches.MatchPlan | None = None
    result: MatchResult | None = None


@dataclass(frozen=True)
class PlayedGame:
    """A game of a validation: the match that holds its log, and its checks."""

    match: Match
    game: str
    checks: Sequence[Checked]

    @property
    def faulty(self) -> Checked | None:
        """Return the first check that the version failed."""
        return next((check for check in self.checks if check.fault), None)


def settle(match: Match, played: Sequence[PlayedGame], *, now: datetime) -> None:
    """End a validation: store its checks, and accept the version for the games without a fault, or reject it if there are none."""
    party = match.parties.get(number=0)
    waiting = BotVersion.objects.filter(pk=party.version_id, status=VersionStatus.VALIDATING)
    version = waiting.select_for_update(of=("self",)).select_related("bot").first()
    if version is None:
        return
    Check.objects.bulk_create(_row(version, game, check) for game in played for check in game.checks)
    refused = [game for game in played if game.faulty]
    if len(refused) < len(played):
        names = sorted(game.game for game in refused)
        transitions.move(version, VersionStatus.ACCEPTED, now=now, actor=match.worker, refused=names)
        if names:
            journal.append("version.refused", transitions.subject(version), now=now, actor=match.worker, games=names)
        return
    first = refused[0].faulty
    if first is None or first.fault is None:
        raise ValueError(f"the validation {match.public_id} has no game")
    detail = f"{first.fault.detail} ({_place(refused[0], first, first.fault)}; match {refused[0].match.public_id})"
    kind = first.fault.kind
    transitions.move(
        version, VersionStatus.REJECTED, now=now, actor=match.worker, why=kind, fault=kind, fault_detail=detail
    )


def _place(played: PlayedGame, check: Checked, fault: FaultReport) -> str:
    if check.name == CheckName.BOARDS:
        return f"{played.game}, board {fault.board}, sitting {fault.sitting}, step {fault.step}"
    return f"{played.game}, {check.name}" + (f": {check.at}" if check.at else "")


def _row(version: BotVersion, played: PlayedGame, check: Checked) -> Check:
    fault = check.fault
    return Check(
        version=version,
        match=played.match,
        game=played.game,
        name=check.name,
        fault=fault.kind if fault else "",
        fault_detail=fault.detail.replace("\0", "\ufffd") if fault else "",
        situation=check.at[:200],
        request=fault.request if fault else "",
        answer=fault.answer if fault else "",
        decisions=check.decisions,
        max_cpu_s=check.max_cpu_s,
        seconds=check.seconds,
    )


def last_checks(version: BotVersion) -> list[Check]:
    """Return the checks of the last finished validation, game by game in their order. Two queries."""
    keys = dict(Match.objects.filter(checks__version=version).values_list("pk", "key"))
    last = max(map(_attempt, keys.values()), default=0)
    now = [pk for pk, key in keys.items() if _attempt(key) == last]
    return list(version.checks.filter(match__in=now).select_related("match__pool", "version__bot").order_by("pk"))
