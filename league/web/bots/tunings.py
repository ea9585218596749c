"""The page of a bot's tunings, for whoever may upload it: start and stop one, its course, its test, and the text for bot.toml."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import QuerySet
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache

import engine
from engine import spsa
from engine.packages.manifest import parameters_toml
from league.domain.bots import tries
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.ladders import version_tests
from league.domain.ladders.version_tests import ShownTest
from league.domain.matches import sight
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.domain.tunings import asking, steps
from league.enums import VersionStatus
from league.models import Bot, BotVersion, Player, Tuning
from league.service import changes, topics
from league.web.bots import charts
from league.web.common import inputs
from league.web.common.viewers import player_of, user_of
from league.web.common.words import format_number


@never_cache
@login_required
def tuning(request: HttpRequest, slug: str) -> HttpResponse:
    """Show the tunings of a bot, the one in `?tuning=` or the latest in full; start or stop one."""
    player = player_of(request)
    running = asking.running(player)
    if running is not None and running.version.bot.slug == slug:
        bot = running.version.bot  # Perhaps it is hidden from them by now.
    else:
        bot = get_object_or_404(sight.bots(Bot.objects.all(), user_of(request)), slug=slug)
    may = ownership.may(player, bot, BotAct.UPLOAD)
    if not may and (running is None or running.version.bot_id != bot.pk):
        raise PermissionDenied
    rows = Tuning.objects.filter(version__bot=bot).select_related("version__bot", "opponent__bot").order_by("-pk")
    if not may:  # Who has left may stop what they began, and sees nothing of it.
        if running is not None and request.method == "POST" and request.POST.get("action") == "stop":
            asking.stop(running, player)
            return redirect("bots")
        return render(request, "bots/tuning.html", {"bot": bot, "running": running})
    version = _version(bot)
    status = 200
    if request.method == "POST":
        try:
            _act(request, version, rows, player)
            return redirect("bot-tuning", slug=slug)
        except Refused as refusal:
            messages.error(request, shown(refusal))
            status = 429 if isinstance(refusal, TooMany) else 422
    tunings = list(rows)
    chosen = inputs.whole_number(request.GET.get("tuning", ""))
    row = next((row for row in tunings if chosen in (None, row.pk)), None)
    if row is None and chosen is not None:
        raise Http404
    topics.follow(request, changes.TUNINGS)
    parameters = asking.declared(version) if version is not None else ()
    context: dict[str, Any] = {
        "bot": bot,
        "version": version,
        "parameters": parameters,
        "games": [key for key in engine.games() if version is not None and version.plays(key)],
        "rivals": [rival.bot.slug for rival in tries.rivals()] if parameters else [],
        "may": True,
        "running": running if request.method == "GET" else asking.running(player),
        "tunings": tunings,
        "least": asking.LEAST,
        "usual": asking.USUAL,
        "most": asking.MOST,
    }
    return render(request, "bots/tuning.html", context | (_shown(row) if row else {}), status=status)


def _version(bot: Bot) -> BotVersion | None:
    """Return the newest accepted version, of which a new tuning is, with bot and package."""
    rows = BotVersion.objects.select_related("bot", "package").filter(bot=bot, status=VersionStatus.ACCEPTED)
    return rows.order_by("-number").first()


def _act(request: HttpRequest, version: BotVersion | None, rows: QuerySet[Tuning], player: Player) -> None:
    """Do what a form asks for. Raise Refused."""
    action = request.POST.get("action", "")
    if action == "stop":
        row = rows.filter(pk=inputs.whole_number(request.POST.get("tuning", "")) or 0).first()
        if row is None:
            raise PermissionDenied
        asking.stop(row, player)
    elif action == "start" and version is not None:
        asking.begin(
            version,
            inputs.short_text(request.POST.get("game", ""), 30),
            player,
            boards=inputs.whole_number(request.POST.get("boards", "")) or 0,
            opponent=inputs.short_text(request.POST.get("opponent", ""), 60).strip(),
        )
    else:
        raise PermissionDenied


def _shown(row: Tuning) -> dict[str, Any]:
    """Return what the page shows of one tuning."""
    parameters = steps.parameters_of(row)
    values = spsa.final_values(parameters, row.values)
    drawn = [
        {
            "name": parameter.name,
            "start": format_number(parameter.start, ".4g"),
            "value": format_number(values[parameter.name], ".4g"),
            "chart": charts.course_curve([(point[0], point[number]) for point in row.course]),
        }
        for number, parameter in enumerate(parameters, 1)
    ]
    return {
        "tuning": row,
        "drawn": drawn,
        "test": ShownTest(row, version_tests.estimate(row)),
        "cap": version_tests.CAP,
        "toml": parameters_toml(parameters, values),
    }
