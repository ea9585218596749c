"""The page on which operators create, watch and end the keys of volunteers."""

from __future__ import annotations

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.core.exceptions import PermissionDenied
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.core.errors import Refused, shown
from league.domain.people import rights, tokens
from league.domain.volunteers import keys
from league.enums import Right, TokenScope
from league.models import Player, Volunteer
from league.web.common import inputs
from league.web.operators.views import operator_of

MOST = 200  # The most keys on the page.


@never_cache
@login_required
def volunteers(request: HttpRequest) -> HttpResponse:
    """List the keys of volunteers, create one, or end one. A key is shown once, in the response that created it."""
    operator = operator_of(request)
    may = rights.may(operator, Right.AUDIT)
    name, label = (
        inputs.short_text(request.POST.get("player", ""), 60),
        inputs.short_text(request.POST.get("label", ""), 60),
    )
    key = refused = None
    if request.method == "POST":
        if not may:
            raise PermissionDenied
        if "end" in request.POST:
            keys.end(get_object_or_404(Volunteer, pk=inputs.whole_number(request.POST["end"])), actor=operator.name)
            messages.success(request, _("The key is removed. It no longer works."))
            return redirect("operator-volunteers")
        try:
            key = _create(name, label, operator)
        except Refused as refusal:
            refused = capfirst(shown(refusal))
    context = {
        "rows": keys.listed()[:MOST],
        "key": key,
        "refused": refused,
        "may": may,
        "checks": settings.VOLUNTEER_CHECKS,
    }
    context |= {"name": name, "label": label} if refused else {}
    return render(request, "operators/volunteers.html", context, status=422 if refused else 200)


def _create(name: str, label: str, operator: Player) -> str:
    """Create a key for the player with this name. Raise Refused."""
    player = Player.objects.filter(name=name).first()
    if player is None:
        raise Refused("there is no player {name!r}", name=name)
    with transaction.atomic():  # If the form was sent twice, the first key is revoked.
        tokens.revoke_unseen(player, label, TokenScope.VOLUNTEER)
        return keys.create(player, label, actor=operator.name)[1]
