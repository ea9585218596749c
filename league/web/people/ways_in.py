"""Password resets by a link, and the private email address that receives it."""

from __future__ import annotations

from functools import partial
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import SetPasswordForm
from django.contrib.auth.views import PasswordResetConfirmView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse, reverse_lazy
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache

from league.domain.core.errors import Refused, shown
from league.domain.people import links, passwords, subscriptions
from league.models import Player
from league.service import mail
from league.web.common.inputs import short_text
from league.web.common.viewers import player_of
from league.web.people import letters
from league.web.people.forms import MailForm

BY_LINK = "link"  # The author of a password that was set by a link, as the journal and the account page name it.


def forgotten(request: HttpRequest) -> HttpResponse:
    """Send a link to the address of an account, without revealing if the account has one."""
    if request.method == "POST" and settings.MAIL:
        player = links.find_recipient(short_text(request.POST.get("username", ""), 150))
        if player is not None:
            where = request.build_absolute_uri(reverse("reset", args=links.make(player, actor=player.name)))
            text = _(
                "Someone asked to reset the password of {name}. If this was you, set a new one within an "
                "hour:\n\n{link}\n\nIf this was not you, ignore this email. Your password does not change."
            ).format(name=player.name, link=where)
            title = _("Reset your Tute League password")
            mail.send(player.user.email, title, text, failed=partial(links.note_unsent, player))
        messages.success(request, _("If this account has a confirmed email address, we have sent a link to it."))
        return redirect("login")
    return render(request, "people/forgotten.html", {"mail": settings.MAIL})


class ByLink(PasswordResetConfirmView):
    """The form behind a reset link. It ends the sessions and keys of the account."""

    template_name = "people/reset.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: SetPasswordForm[Any]) -> HttpResponse:
        """Save the password and report it."""
        passwords.sign(form.user, BY_LINK)
        messages.success(self.request, _("Password set. You can now log in."))
        return super().form_valid(form)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        """Return 404 for an invalid link."""
        return super().render_to_response(context, **kwargs, **({} if context["validlink"] else {"status": 404}))


@never_cache
@login_required
def address(request: HttpRequest) -> HttpResponse:
    """Change, remove or confirm the email address.

    A new address requires the password, so that nobody can take over the account at an unattended browser.
    """
    owner = player_of(request)
    what = "ask" if "ask" in request.POST else "address"
    form = MailForm(request.POST if request.method == "POST" and what == "address" else None, user=owner.user)
    refused = None
    if request.method == "POST":
        try:
            if what == "ask":
                letters.ask_to_confirm(request, owner)
                messages.success(request, _("We have sent a link to your address. Open it within three days."))
                return redirect("mail")
            if form.is_valid():
                return _keep(request, owner, form.cleaned_data["address"])
        except Refused as refusal:
            if what == "address":
                form.add_error("address", shown(refusal))
            else:
                refused = shown(refusal)
    row = subscriptions.find(owner)
    context = {
        "form": form,
        "refused": refused,
        "kept": bool(owner.user.email),
        "confirmed": subscriptions.is_confirmed(row, owner.user.email),
        "letters": settings.MAIL,
    }
    return render(request, "people/mail.html", context, status=422 if form.errors or refused else 200)


def _keep(request: HttpRequest, owner: Player, address: str) -> HttpResponse:
    links.keep_address(owner, address)
    owner.user.email = address
    messages.success(request, _("Saved. Nobody else can see your address."))
    if address and settings.MAIL:
        try:
            letters.ask_to_confirm(request, owner)
        except Refused as refusal:  # The address is saved all the same.
            messages.warning(request, shown(refusal))
        else:
            messages.success(request, _("We have sent a link to your address. Open it within three days."))
        return redirect("mail")
    return redirect("account")
