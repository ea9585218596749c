"""Who is on the ladders: each accepted version enters those of all its games at once, in the place of the one before."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

import engine
from league.domain.core import clock
from league.domain.ladders import succession
from league.enums import VersionStatus
from league.models import BotVersion, Rung

MOST = 100  # versions that enter in one pass


def enter(*, now: datetime | None = None) -> int:
    """Let the versions enter that were accepted since the last call, the newest first; the number of places that they took.

    Harmless to repeat, and to run twice at once. One query where nobody waits, and some more for each version.
    """
    now = clock.now_or(now)
    waiting = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, entered=None).order_by("-pk")
    return sum(_enter(pk, now) for pk in waiting.values_list("pk", flat=True)[:MOST])


def _enter(pk: int, now: datetime) -> int:
    with transaction.atomic():
        mine = BotVersion.objects.filter(pk=pk, entered=None).select_related("bot")
        version = mine.select_for_update(of=("self",), skip_locked=True).first()
        if version is None:
            return 0  # another process does
        games = [game for game in engine.games() if version.plays(game)]
        fresh = {"bot": version.bot, "version": version, "entered": now, "due": now}
        # What another version of the bot takes at this moment is waited for, then looked at
        Rung.objects.bulk_create((Rung(game=game, **fresh) for game in games), ignore_conflicts=True)
        taken = Rung.objects.filter(bot=version.bot, game__in=games, version__number__lt=version.number)
        before = list(taken.select_for_update(of=("self",)).values_list("game", "version_id"))
        taken.update(version=version, entered=now, due=now, placed=0, tied=False)
        succession.begin(version, before, now=now)
        BotVersion.objects.filter(pk=pk).update(entered=now)
        return Rung.objects.filter(bot=version.bot, version=version).count()
