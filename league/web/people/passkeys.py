"""Passkeys: signing in with one, and the page on which their owner adds and removes them."""

from __future__ import annotations

from datetime import datetime

from django.contrib import messages
from django.contrib.auth import login
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.utils.translation import ngettext
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league.domain.core import clock
from league.domain.core.errors import Refused, shown
from league.domain.people import passkeys, sessions
from league.models import Player
from league.web.common.inputs import next_page, whole_number
from league.web.common.viewers import player_of
from league.web.people.forms import PasswordForm

CHALLENGE = "passkey_challenge"  # The key of a session under which its last challenge waits for an answer.
SIGN_IN, ADD = "sign in", "add"


def _ask(request: HttpRequest, purpose: str) -> str:
    """Return a new challenge, which the session keeps; an earlier one is forgotten. A visitor's session lasts as long as the challenge."""
    if not request.user.is_authenticated:
        request.session.set_expiry(int(passkeys.ANSWER_WITHIN.total_seconds()))
        sessions.remove_expired()
    challenge = passkeys.new_challenge()
    until = clock.present() + passkeys.ANSWER_WITHIN
    request.session[CHALLENGE] = [purpose, challenge, until.isoformat()]
    return challenge


def _take(request: HttpRequest, purpose: str) -> str:
    """Return the challenge of the session and forget it, so that it serves once. Raise Refused if it is too old."""
    purpose_then, challenge, until = request.session.pop(CHALLENGE, ("", "", ""))
    if purpose_then != purpose or clock.present() > datetime.fromisoformat(until):
        raise Refused("that took more than five minutes, or was sent twice; try again")
    return str(challenge)


def _refusal(refusal: Refused) -> JsonResponse:
    return JsonResponse({"error": capfirst(shown(refusal))}, status=422)


@never_cache
@require_POST
def log_in(request: HttpRequest) -> HttpResponse:
    """Send a challenge, or log in with the `answer` to it. Whoever is logged in can only show again that they are the same person."""
    if not passkeys.is_on():
        raise Http404
    if "answer" not in request.POST:
        return HttpResponse(passkeys.options_to_sign_in(_ask(request, SIGN_IN)), content_type="application/json")
    try:
        key = passkeys.sign_in(request.POST["answer"], _take(request, SIGN_IN))
        if request.user.is_authenticated and request.user.pk != key.player.user_id:
            raise Refused("this passkey belongs to another account; log out first")
    except Refused as refusal:
        return _refusal(refusal)
    login(request, key.player.user, backend="django.contrib.auth.backends.ModelBackend")
    request.session[sessions.PASSKEY] = key.pk
    return JsonResponse({"next": next_page(request, reverse("home"))})


@never_cache
@login_required
def own(request: HttpRequest) -> HttpResponse:
    """List the player's passkeys; add and remove them, after showing again who they are if the log-in is older than ten minutes."""
    if not passkeys.is_on():
        raise Http404
    owner = player_of(request)
    is_fresh = sessions.is_fresh(request.session, now=clock.present())
    do = request.POST.get("do", "") if request.method == "POST" else ""
    form = PasswordForm(request.POST if do == "confirm" else None, user=owner.user)
    if do == "confirm" and form.is_valid():
        sessions.refresh(request.session, now=clock.present())
        return redirect("passkeys")
    if do in ("add", "remove") and not is_fresh:
        return _stale(do)
    if do == "add":
        return _add(request, owner)
    if do == "remove":
        _remove(request, owner)
        return redirect("passkeys")
    context = {
        "player": owner,
        "passkeys": owner.passkeys.order_by("pk"),
        "most": passkeys.MOST,
        "site": passkeys.site_id(),
        "form": form,
        "is_fresh": is_fresh,
    }
    return render(request, "people/passkeys.html", context, status=422 if form.errors else 200)


def _stale(do: str) -> HttpResponse:
    """Send the player back to show who they are: the script gets the address."""
    return JsonResponse({"next": reverse("passkeys")}) if do == "add" else redirect("passkeys")


def _add(request: HttpRequest, owner: Player) -> HttpResponse:
    """Send a challenge for a new passkey, or store the device's `answer` to it."""
    if "answer" not in request.POST:
        options = passkeys.options_to_add(owner, _ask(request, ADD))
        return HttpResponse(options, content_type="application/json")
    try:
        passkeys.add(owner, request.POST.get("name", ""), request.POST["answer"], _take(request, ADD))
    except Refused as refusal:
        return _refusal(refusal)
    messages.success(request, _("Passkey added. You can log in with it from now on."))
    return JsonResponse({"next": reverse("passkeys")})


def _remove(request: HttpRequest, owner: Player) -> None:
    """Remove a passkey, and end the sessions that it began if the form says so."""
    number = whole_number(request.POST.get("passkey"))
    if number is None or not passkeys.remove(owner, number):
        return
    messages.success(request, _("Passkey removed. It no longer logs you in."))
    if "end" in request.POST:
        ended = sessions.end_by_passkey(owner.user_id, number, spared=request.session.session_key)
        if ended:
            text = ngettext(
                "Ended one session that it had begun.", "Ended %(count)s sessions that it had begun.", ended
            )
            messages.success(request, text % {"count": ended})
