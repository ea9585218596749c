"""A player's own data: the zip with everything, and the form that closes the account."""

from __future__ import annotations

import tempfile

from django.contrib import messages
from django.contrib.auth import logout
from django.contrib.auth.decorators import login_required
from django.http import FileResponse, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league.domain.bots import closing
from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.people import exporting
from league.domain.upkeep import open_data
from league.web.common.viewers import player_of
from league.web.people import letters
from league.web.people.forms import CloseForm

IN_MEMORY = 2 * 1024 * 1024  # Bytes of a zip that need no file.


@never_cache
@login_required
@require_POST
def export(request: HttpRequest) -> FileResponse:
    """Send everything that the league stores about the player, as a zip."""
    owner = player_of(request)
    file = tempfile.SpooledTemporaryFile(IN_MEMORY)  # noqa: SIM115 -- The response closes it.
    exporting.write(owner, file, site=letters.site_of(request))
    file.seek(0)
    return FileResponse(file, as_attachment=True, filename=f"tute-{owner.name}-{clock.present():%Y-%m-%d}.zip")


@login_required
@require_POST
def license_data(request: HttpRequest) -> HttpResponse:
    """Accept the licence of the open data, or withdraw the acceptance."""
    owner = player_of(request)
    open_data.accept(owner, "accept" in request.POST)
    messages.success(
        request,
        _("Thank you. Public matches of your bots will be in the next files.")
        if owner.open_data
        else _("Later files leave your bots out."),
    )
    return redirect("account")


@never_cache
@login_required
def close(request: HttpRequest) -> HttpResponse:
    """Close the account, if the player types its name and the password."""
    owner = player_of(request)
    form = CloseForm(request.POST or None, user=owner.user)
    if request.method == "POST" and form.is_valid():
        try:
            closing.close(owner)
        except Refused as refusal:
            form.add_error(None, shown(refusal))
        else:
            logout(request)
            messages.success(request, _("Your account is closed. Your name is gone; the results of your bots stay."))
            response = redirect("home")
            response.headers["Clear-Site-Data"] = '"cache"'
            return response
    return render(request, "people/close.html", {"form": form}, status=422 if form.errors else 200)
