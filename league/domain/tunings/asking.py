"""Requests for tunings, and those of a bot.

Whoever may upload a bot may tune it. Nothing of it is rated, no version changes, and no line of a board is stored: its people see values and sums.
The opponent is the version itself, or one whose source they may read, so that a tuning teaches nobody what is closed.
"""

from __future__ import annotations

from dataclasses import asdict
from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

import engine
from engine import spsa
from engine.spsa import BotParameter
from engine.tuning import BOARDS
from league.domain.bots import packages, sources
from league.domain.core import clock
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.domain.tunings import steps
from league.enums import BotState, VersionStatus
from league.models import Bot, BotVersion, Player, Tuning

LEAST, USUAL, MOST = 400, 2000, 10_000  # Boards of a search.
KEPT = 20  # The most tunings of a bot that are stored; older ones are removed.


def declared(version: BotVersion) -> tuple[BotParameter, ...]:
    """Return the parameters that a version declares. Reads the package."""
    return packages.stored(version).manifest.parameters


def newest(bot: Bot) -> BotVersion | None:
    """Return the newest accepted version of a bot, with bot and package; a new tuning is of this one."""
    rows = BotVersion.objects.select_related("bot", "package").filter(bot=bot, status=VersionStatus.ACCEPTED)
    return rows.order_by("-number").first()


def opponents(player: Player) -> QuerySet[BotVersion]:
    """Select the accepted versions whose source a player may read, the house bots among them."""
    rows = BotVersion.objects.filter(sources.is_readable(player), status=VersionStatus.ACCEPTED)
    return rows.select_related("bot").order_by("bot__slug", "-number")


def begin(
    version: BotVersion,
    game: str,
    player: Player,
    *,
    boards: int = USUAL,
    opponent: str = "",
    now: datetime | None = None,
) -> Tuning:
    """Start a tuning of a version. opponent: the name of a bot, such as greedy or rufo/3; empty: the version itself. Raise Refused or TooMany.

    `version` has been read with its bot and package.
    """
    now = clock.now_or(now)
    if not LEAST <= boards <= MOST:
        raise Refused("a tuning has {least} to {most} boards, not {boards}", least=LEAST, most=MOST, boards=boards)
    if version.status != VersionStatus.ACCEPTED or game not in engine.games() or not version.plays(game):
        raise Refused("{version} is not accepted for {game}; choose another game", version=version, game=game)
    parameters = declared(version)
    if not parameters:
        raise Refused("{version} declares no parameters; upload a version whose bot.toml does", version=version)
    rival = _opponent(opponent, game, player) if opponent else None
    values = spsa.start_values(parameters)
    with transaction.atomic():
        players.lock(player.pk)
        version.bot.refresh_from_db()
        players.refuse_banned(player)
        if not ownership.may(player, version.bot, BotAct.UPLOAD):
            raise Refused("{bot!r} is not yours to tune", bot=version.bot.slug)
        if version.bot.stopped is not None or version.bot.state == BotState.RETIRED:
            raise Refused("{bot!r} is stopped or retired, so it cannot be tuned", bot=version.bot.slug)
        if Tuning.objects.filter(player=player, decided=None).exists():
            raise TooMany("your last tuning is still running; stop it, or wait for its end", retry_after=600)
        before = Tuning.objects.filter(version__bot=version.bot, decided__isnull=False).order_by("-pk")
        Tuning.objects.filter(pk__in=list(before.values_list("pk", flat=True)[KEPT - 1 :])).delete()
        row = Tuning.objects.create(
            game=game,
            version=version,
            player=player,
            opponent=rival,
            parameters=[asdict(parameter) for parameter in parameters],
            values=values,
            course=[[0, *values.values()]],
            boards=-(-boards // BOARDS) * BOARDS,
            begun=now,
        )
        steps.plan(row, now=now)
    return row


def _opponent(text: str, game: str, player: Player) -> BotVersion:
    slug, _, number = text.partition("/")
    rows = opponents(player).filter(bot__slug=slug)
    if number:
        rows = (
            rows.filter(number=int(number))
            if number.isascii() and number.isdigit() and len(number) < 10
            else rows.none()
        )
    version = next((row for row in rows if row.plays(game)), None)
    if version is None:
        raise Refused(
            "{bot!r} cannot be the opponent; choose a bot with open source that plays {game}", bot=text, game=game
        )
    return version


def running(player: Player) -> Tuning | None:
    """Return the tuning that a player has started and that has not ended, with its bot."""
    return Tuning.objects.filter(player=player, decided=None).select_related("version__bot").first()


def stop(tuning: Tuning, player: Player, *, now: datetime | None = None) -> bool:
    """Stop a tuning; its values so far stay. Return False if it has ended already. Raise Forbidden."""
    now = clock.now_or(now)
    bot = tuning.version.bot
    if not ownership.may_stop(player, bot, BotAct.UPLOAD, tuning.player_id):
        raise Forbidden("{bot!r} is not yours to tune", bot=bot.slug)
    with transaction.atomic():
        row = Tuning.objects.select_for_update().filter(pk=tuning.pk, decided=None).first()
        if row is not None:
            steps.end(row, "stopped", now=now)
    return row is not None
