"""Players and their bots; signing up, in and out; API keys."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import authenticate, login, logout
from django.contrib.auth.decorators import login_required
from django.contrib.auth.forms import PasswordChangeForm
from django.contrib.auth.models import User
from django.contrib.auth.signals import user_logged_in
from django.contrib.auth.views import LoginView, PasswordChangeView
from django.db import transaction
from django.db.models import Count, Max
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse_lazy
from django.utils.text import capfirst
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_POST

from league.domain.bots import totals
from league.domain.core import clock, paging
from league.domain.core.errors import Refused, shown
from league.domain.matches import sight
from league.domain.people import lists as player_rows
from league.domain.people import passkeys, passwords, players, quotas, sessions, tokens
from league.domain.upkeep import open_data
from league.enums import OWN_SCOPES, TokenScope
from league.models import BotVersion, Player, Rating
from league.service import changes
from league.web.common import inputs, lists, words
from league.web.common.once import once
from league.web.common.viewers import player_of, user_of, viewer_of
from league.web.people import news
from league.web.people.forms import LogInForm, SignUpForm

MOST_RATINGS = 100  # The most ratings on the page of a player.
MOST_NEWS = 8
MOST_TOURNAMENTS = 10
MOMENT = timedelta(seconds=30)  # If a sign-up is sent again after this time, it counts as a new one.
LIVES = (30, 90, 365)  # Lifetimes of a key on the form, in days.


@changes.kept_until(changes.BOTS, changes.TOURNAMENTS, changes.MATCHES, changes.POOLS, changes.PLAYED)
def player(request: HttpRequest, name: str) -> HttpResponse:
    """Show a player with bots, ratings, results, news and tournaments. Nine queries."""
    player = get_object_or_404(Player, name=name)
    bots = (
        sight.bots(player.bots.all(), user_of(request))
        .annotate(uploads=Count("versions"), last=Max("versions__created"))
        .order_by("slug")
    )
    tournaments = lists.counted(lists.listed_tournaments(user_of(request)).filter(owner=player)[:MOST_TOURNAMENTS])
    rated = Rating.objects.filter(version__bot__owner=player, listed=True).select_related("pool", "version__bot")
    context = {
        "player": player,
        "viewer": viewer_of(request),
        "bots": bots,
        "ratings": rated.order_by("pool", "-elo", "version")[:MOST_RATINGS],
        "results": totals.results_of_player(player),
        "news": news.news(player, user_of(request))[:MOST_NEWS],
        "tournaments": tournaments,
    }
    return render(request, "people/player.html", context)


class LogIn(LoginView):
    """The log-in form."""

    template_name = "people/login.html"
    authentication_form = LogInForm
    redirect_authenticated_user = True

    def get_redirect_url(self, request: HttpRequest | None = None) -> str:
        """Return the page that led here, by the same check as all forms; "" if there is none."""
        return inputs.next_page(self.request, "")


@never_cache
def sign_up(request: HttpRequest) -> HttpResponse:
    """Create a player and log them in."""
    form = SignUpForm(request.POST or None)
    after = inputs.next_page(request, "")
    if request.method == "POST":
        user = None
        if form.is_valid():
            try:
                with transaction.atomic():
                    owner = players.create(form.cleaned_data["name"], password=form.cleaned_data["password"])
                    open_data.accept(owner, form.cleaned_data["open_data"])
                user = owner.user
            except Refused as refusal:
                form.add_error("name", capfirst(shown(refusal)))
        user = user or _just_created(request)
        if user is not None:
            login(request, user, backend="django.contrib.auth.backends.ModelBackend")
            return redirect(after or "welcome")
    return render(request, "people/signup.html", {"form": form, "next": after}, status=422 if form.errors else 200)


def _just_created(request: HttpRequest) -> User | None:
    """Return the account that the same form, sent a moment ago, has created, because Enter was pressed twice."""
    name, password = request.POST.get("name", ""), request.POST.get("password", "")
    if not name.isprintable() or not Player.objects.filter(name=name, created__gt=clock.present() - MOMENT).exists():
        return None
    user = authenticate(request, username=name, password=password)
    return user if isinstance(user, User) else None


@never_cache
@login_required
def welcome(request: HttpRequest) -> HttpResponse:
    """Show a new player three ways to start: play, build, organise."""
    return render(request, "people/welcome.html")


@changes.kept_until(changes.BOTS)
def player_list(request: HttpRequest) -> HttpResponse:
    """List all players by name, with the number of their bots. One query."""
    page = lists.page_of(request, player_rows.rows(), paging.Order.by("name"))
    return render(request, "people/players.html", {"page": page})


class NewPassword(PasswordChangeView):
    """The form that changes the password and ends other sessions and keys."""

    template_name = "people/password.html"
    success_url = reverse_lazy("account")

    def form_valid(self, form: PasswordChangeForm) -> HttpResponse:
        """Save the password and report it."""
        passwords.sign(form.user, player_of(self.request).name)
        messages.success(
            self.request, _("Password changed. You are logged out on other devices, and your API keys are revoked.")
        )
        return super().form_valid(form)


@require_POST
def log_out(request: HttpRequest) -> HttpResponse:
    """End the session of this browser, and let it forget the pages that it has seen: the next person may press Back."""
    logout(request)
    response = redirect("home")
    response.headers["Clear-Site-Data"] = '"cache"'
    return response


@never_cache
@login_required
@once
def account(request: HttpRequest) -> HttpResponse:
    """Show the player's uploads, limits, keys and sessions. A new key is shown once, in the response that created it."""
    owner = player_of(request)
    key = refused = None
    if request.method == "POST":
        try:
            if "end" in request.POST:
                sessions.end_one(owner.user_id, inputs.short_text(request.POST["end"], 20))
                messages.success(request, _("Logged out there."))
                return redirect("account")
            if "revoke" in request.POST:
                tokens.revoke(get_object_or_404(owner.tokens, pk=inputs.whole_number(request.POST["revoke"])))
                messages.success(request, _("Key revoked. It no longer works."))
                return redirect("account")
            scope = request.POST.get("scope", TokenScope.SUBMIT)
            days = inputs.whole_number(request.POST.get("days"))
            label = request.POST.get("label", "")
            with transaction.atomic():  # A refused form revokes nothing.
                tokens.revoke_unseen(owner, label, scope)
                _token, key = tokens.create(owner, label, scope=scope, days=days)
        except Refused as refusal:
            refused = shown(refusal)
    context = {
        "player": owner,
        "key": key,
        "mail": settings.MAIL,
        "refused": refused,
        "asks_licence": owner.bots.exists() and not open_data.has_answered(owner),
        "password_set": passwords.set_by_another(owner),
        "paused": owner.bots.exclude(paused_for="").order_by("slug"),
        "limits": [(limit, words.limit_name(limit.name)) for limit in quotas.limits(owner)],
        "made_by_others": tokens.made_by_others(owner),
        "tokens": owner.tokens.filter(revoked=None).order_by("-created"),
        "scopes": [(scope.value, scope.label) for scope in OWN_SCOPES],
        "scope": TokenScope.SUBMIT,
        "lives": LIVES,
        "now": clock.present(),
        "passkeys_on": passkeys.is_on(),
        "passkeys": owner.passkeys.order_by("pk"),
        "sessions": sessions.open_sessions(owner.user_id, request.session.session_key),
        "versions": BotVersion.objects.filter(bot__owner=owner).select_related("bot").order_by("-created")[:20],
    }
    return render(request, "people/account.html", context, status=422 if refused else 200)


BROWSERS = (("Edg/", "Edge"), ("OPR/", "Opera"), ("Firefox/", "Firefox"), ("Chrome/", "Chrome"), ("Safari/", "Safari"))
SYSTEMS = ("Android", "iPhone", "iPad", "Windows", "Mac", "Linux")


def browser_name(agent: str) -> str:
    """Return a browser and its system by its User-Agent, such as "Firefox, Linux"; "" if neither is known."""
    browser = next((name for mark, name in BROWSERS if mark in agent), "")
    system = next((name for name in SYSTEMS if name in agent), "")
    return ", ".join(filter(None, (browser, system)))


def _note_session(request: HttpRequest | None, **_: Any) -> None:
    if request is not None:
        request.session.set_expiry(None)  # A visitor's session may have been a short one.
        sessions.note(request.session, browser_name(request.headers.get("User-Agent", "")), now=clock.present())


user_logged_in.connect(_note_session, dispatch_uid="league.web.people")
