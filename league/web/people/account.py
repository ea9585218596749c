"""Signing up, in and out; keys for the API."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth import login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.http import url_has_allowed_host_and_scheme
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league.domain.core.errors import Refused, shown
from league.domain.people import players, tokens
from league.models import BotVersion
from league.web.common import asked
from league.web.common.forms import LogInForm, SignUpForm


class LogIn(LoginView):
    template_name = "people/login.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True


@never_cache
def signup(request: HttpRequest) -> HttpResponse:
    """Make a player and log them in."""
    form = SignUpForm(request.POST or None)
    after = request.POST.get("next") or request.GET.get("next") or ""
    if request.method == "POST" and form.is_valid():
        try:
            player = players.create(form.cleaned_data["name"], password=form.cleaned_data["password"])
        except Refused as refusal:
            form.add_error("name", shown(refusal))
        else:
            login(request, player.user, backend="django.contrib.auth.backends.ModelBackend")
            safe = url_has_allowed_host_and_scheme(after, allowed_hosts={request.get_host()})
            return redirect(after if safe else "submit")
    return render(request, "people/signup.html", {"form": form, "next": after}, status=422 if form.errors else 200)


class NewPassword(PasswordChangeView):
    """The way to another password; other sessions of the account end."""

    template_name = "people/password.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Keep it, and say so."""
        messages.success(self.request, _("Your password is changed; other browsers are logged out."))
        return super().form_valid(form)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("home")


@never_cache
@login_required
def account(request: HttpRequest) -> HttpResponse:
    """The player's bots and keys. A new key is shown once, in the answer to the form that made it."""
    player = players.player_of_user(request.user)
    key = refusal = None
    if request.method == "POST":
        try:
            if "revoke" in request.POST:
                tokens.revoke(get_object_or_404(player.tokens, pk=asked.number(request.POST["revoke"])))
                messages.success(request, _("The token is revoked; whoever uses it is refused from now on."))
                return redirect("account")
            _token, key = tokens.create(player, request.POST.get("label", ""))
        except Refused as error:
            refusal = shown(error)
    context = {
        "player": player,
        "key": key,
        "refusal": refusal,
        "paused": player.bots.exclude(paused_for="").order_by("slug"),
        "tokens": player.tokens.filter(revoked=None).order_by("-created"),
        "versions": BotVersion.objects.filter(bot__owner=player).select_related("bot").order_by("-created")[:20],
    }
    return render(request, "people/account.html", context, status=422 if refusal else 200)
