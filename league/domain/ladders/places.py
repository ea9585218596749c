"""Entering the ladders: each accepted version enters the ladders of its games at once, and replaces the version before."""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

import engine
from league.domain.core import clock
from league.domain.ladders import bosses, version_tests
from league.enums import VersionStatus
from league.models import BotVersion, Rung

MOST = 100  # The most versions that enter in one pass.


def enter(*, now: datetime | None = None) -> int:
    """Enter the versions accepted since the last call, newest first; return the number of rungs that they took.

    Repeatable, also by two processes at once. One query if no version waits, and some more for each version.
    """
    now = clock.now_or(now)
    waiting = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, entered=None).order_by("-pk")
    return sum(_enter(pk, now) for pk in waiting.values_list("pk", flat=True)[:MOST])


def _enter(pk: int, now: datetime) -> int:
    with transaction.atomic():
        rows = BotVersion.objects.filter(pk=pk, entered=None).select_related("bot")
        version = rows.select_for_update(of=("self",), skip_locked=True).first()
        if version is None:
            return 0  # Another process is entering versions.
        games = [game for game in engine.games() if version.plays(game)]
        fresh = {"bot": version.bot, "version": version, "entered": now}
        # This waits for another version of the bot that is being entered at the same time; the next query then sees its rows.
        # The first tables of a house bot are spread over its rest.
        rest = timedelta(seconds=settings.HOUSE_REST_S) / len(games) if version.bot.is_house and games else timedelta()
        rungs = [Rung(game=game, due=now + number * rest, **fresh) for number, game in enumerate(games)]
        Rung.objects.bulk_create(rungs, ignore_conflicts=True)
        replaced = Rung.objects.filter(bot=version.bot, game__in=games, version__number__lt=version.number)
        before = list(replaced.select_for_update(of=("self",)).values_list("game", "version_id"))
        replaced.update(version=version, entered=now, due=now, placed=0, tied=False)
        version_tests.begin(version, before, now=now)
        BotVersion.objects.filter(pk=pk).update(entered=now)
        entered = list(Rung.objects.filter(bot=version.bot, version=version).values_list("game", flat=True))
        bosses.enter(version.bot, entered, now=now)
        return len(entered)
