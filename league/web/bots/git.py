"""The page of a bot's Git repository: its address, the secret of the webhook, and the last fetches."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db.models import Q
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.bots import fetches
from league.domain.core.errors import Refused, shown
from league.domain.people.ownership import BotAct
from league.models import Bot, Fetch, GitLink, Player
from league.service import changes, topics
from league.web.common import errors, inputs
from league.web.common.viewers import own_bot

MOST = 20  # The most fetches on the page.


@never_cache
@login_required
def repository(request: HttpRequest, slug: str) -> HttpResponse:
    """Show and change the repository of the player's own bot. A new secret is shown once, in the response that created it."""
    bot, player = own_bot(request, slug, BotAct.MANAGE)
    secret, status = "", 200
    if request.method == "POST":
        try:
            secret = _act(request, bot, player)
        except Refused as refusal:
            messages.error(request, shown(refusal))
            status = errors.status_of(refusal)
        else:
            if not secret:
                return redirect("bot-git", slug=slug)
    # Before the bot existed, anybody could ask for its name.
    own = Q(version__bot=bot) | Q(version=None, created__gte=bot.created)
    rows = Fetch.objects.filter(own, bot_name=slug).select_related("version").defer("result").order_by("-pk")[:MOST]
    if not secret and any(row.version is None and not row.why for row in rows):
        topics.follow(request, changes.BOTS)
    context = {
        "bot": bot,
        "link": GitLink.objects.select_related("player").filter(bot=bot).first(),
        "fetches": rows,
        "hosts": fetches.hosts(),
        "secret": secret,
        "address": request.build_absolute_uri(reverse("api:bot-push", args=[slug])),
    }
    return render(request, "bots/git.html", context, status=status)


def _act(request: HttpRequest, bot: Bot, player: Player) -> str:
    """Do what a form asks for. Return the new secret, if it asks for one. Raise Refused."""
    action = request.POST.get("action", "")
    link = GitLink.objects.filter(bot=bot).first()
    if action == "link":
        url, folder = (inputs.short_text(request.POST.get(name, ""), 300) for name in ("url", "folder"))
        fetches.link(bot, url, folder, player=player)
        messages.success(request, _("Saved."))
    elif action == "unlink":
        fetches.unlink(bot, player=player)
    elif action == "secret" and link is not None:
        return fetches.new_secret(link, player=player)
    elif action == "fetch" and link is not None:
        fetches.ask(
            player, bot.slug, link.url, inputs.short_text(request.POST.get("tag", ""), 100).strip(), link.folder
        )
    else:
        raise PermissionDenied
    return ""
