"""Entering a bot: three steps on one page, refusals shown in place."""

from __future__ import annotations

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache

from engine.packages import archive
from engine.runner import Limits, PackageRefused
from league.domain.bots import bots
from league.domain.core.errors import Refused, TooMany, shown
from league.domain.people import players
from league.web.common.forms import SubmitForm


@never_cache
@login_required
def submit(request: HttpRequest) -> HttpResponse:
    """Show the form, or take the upload and go to the page of the new version."""
    player = players.player_of_user(request.user)
    form = SubmitForm(request.POST or None, request.FILES or None, initial={"bot": request.GET.get("bot", "")})
    status = 200
    if request.method == "POST":
        status = 422
        if form.is_valid():
            file = form.cleaned_data["file"]
            try:
                data = file.read(archive.MAX_BYTES + 1)  # one byte too many is enough to refuse it
                games = form.cleaned_data["games"] or None
                version = bots.upload(player, form.cleaned_data["bot"].strip(), data, file.name, games)
            except TooMany as refusal:
                form.add_error(None, shown(refusal))
                status = 429
            except (PackageRefused, Refused) as refusal:
                form.add_error("file", shown(refusal))
            else:
                return redirect("version", slug=version.bot.slug, number=version.number)
    context = {
        "form": form,
        "mine": player.bots.order_by("slug"),
        "limits": Limits(),
        "most_bytes": archive.MAX_BYTES,
        "most_files": archive.MAX_FILES,
        "per_hour": settings.UPLOADS_PER_HOUR,
    }
    return render(request, "bots/submit.html", context, status=status)
