"""The page on which players add, test and remove their webhooks, and see what was sent."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.cache import never_cache

from league.domain.core.errors import Refused, shown
from league.domain.notices import webhooks
from league.models import Delivery, Player, Webhook
from league.web.common import inputs
from league.web.common.viewers import player_of

LATEST = 20  # Deliveries on the page.
NAMES = {
    webhooks.VERSION: gettext_lazy("a version of my bots is accepted"),
    webhooks.MATCH: gettext_lazy("a match of my bots has finished"),
    webhooks.TOURNAMENT: gettext_lazy("a tournament of mine or with my bots has finished"),
}


@never_cache
@login_required
def own(request: HttpRequest) -> HttpResponse:
    """Show the webhooks of the player, and carry out one act. The secret is shown once, in the response that created it."""
    owner = player_of(request)
    created = refused = None
    if request.method == "POST":
        try:
            created = _act(request, owner)
        except Refused as refusal:
            refused = capfirst(shown(refusal))
        if created is None and refused is None:
            return redirect("webhooks")
    rows = owner.webhooks.order_by("pk")
    context = {
        "player": owner,
        "webhooks": [(row, [NAMES.get(event, event) for event in row.events]) for row in rows],
        "created": created,
        "refused": refused,
        "events": NAMES.items(),
        "most": webhooks.MOST,
        "url": request.POST.get("url", "")[:500] if refused else "",
        "deliveries": Delivery.objects.filter(webhook__player=owner).select_related("webhook").order_by("-pk")[:LATEST],
    }
    return render(request, "people/webhooks.html", context, status=422 if refused else 200)


def _act(request: HttpRequest, owner: Player) -> Webhook | None:
    """Carry out the act of the form; return the webhook if it was created now. Raise Refused."""
    if "add" in request.POST:
        return webhooks.create(owner, request.POST.get("url", ""), request.POST.getlist("events"))
    for name in ("test", "on", "delete"):
        if name in request.POST:
            row = get_object_or_404(owner.webhooks, pk=inputs.whole_number(request.POST[name]))
            if name == "test":
                webhooks.send_test(row)
                messages.success(
                    request, _("A test is on its way. Reload the page in a few seconds to see the answer.")
                )
            elif name == "on":
                webhooks.switch_on(row)
                messages.success(request, _("The webhook is on."))
            else:
                row.delete()
                messages.success(request, _("The webhook is deleted."))
    return None
