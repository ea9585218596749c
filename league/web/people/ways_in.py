"""Another password for who has lost theirs, by a link; and the mail address to which it is sent, which is shown to nobody."""

from __future__ import annotations

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

from league.domain.core.errors import Refused, shown
from league.domain.people import links, passwords
from league.service import mail
from league.web.common.inputs import short_text
from league.web.common.viewers import player_of
from league.web.people.forms import MailForm

BY_LINK = "link"  # who sets a password by one; the account page tells its owner


def forgotten(request: HttpRequest) -> HttpResponse:
    """Send a link to the address of an account. Whether there is one, nobody learns here."""
    if request.method == "POST" and settings.MAIL:
        player = links.by_mail(short_text(request.POST.get("username", ""), 150))
        if player is not None:
            where = request.build_absolute_uri(reverse("reset", args=links.make(player, actor=player.name)))
            text = _(
                "Somebody has asked for another password of {name}. If it was you, set it here within an hour:\n\n{link}\n\n"
                "If it was not you, do nothing: the link is of no use without this letter."
            ).format(name=player.name, link=where)
            mail.send(player.user.email, _("Another password for the Tute League"), text)
        messages.success(request, _("If this account has a mail address, a link is on its way to it."))
        return redirect("login")
    return render(request, "people/forgotten.html", {"mail": settings.MAIL})


class ByLink(PasswordResetConfirmView):
    """The form behind a link. Sessions and keys of the account end."""

    template_name = "people/reset.html"
    success_url = reverse_lazy("login")

    def form_valid(self, form: SetPasswordForm[Any]) -> HttpResponse:
        """Keep it, and say so."""
        passwords.sign(form.user, BY_LINK)
        messages.success(self.request, _("Your password is set. Log in with it."))
        return super().form_valid(form)

    def render_to_response(self, context: dict[str, Any], **kwargs: Any) -> HttpResponse:
        """404 for a link that is of no use."""
        return super().render_to_response(context, **kwargs, **({} if context["validlink"] else {"status": 404}))


@login_required
def address(request: HttpRequest) -> HttpResponse:
    """Keep the mail address, or none. The password is asked for: who has found a browser open must not turn it into an account."""
    owner = player_of(request)
    form = MailForm(request.POST or None, user=owner.user)
    if request.method == "POST" and form.is_valid():
        try:
            links.keep_address(owner, form.cleaned_data["address"])
        except Refused as refusal:
            form.add_error("address", shown(refusal))
        else:
            messages.success(request, _("Kept. Nobody is shown the address."))
            return redirect("account")
    context = {"form": form, "kept": bool(owner.user.email)}
    return render(request, "people/mail.html", context, status=422 if form.errors else 200)
