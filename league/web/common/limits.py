"""Rate limits of pages. The rates are in the settings (LIMITS); the API has its own limits."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from django.conf import settings
from django.contrib.auth.signals import user_logged_in
from django.core.cache import cache
from django.http import HttpRequest, HttpResponse

from league.service import limits
from league.web.common import errors

DOWNLOADS = frozenset(
    {
        *(
            "game-ratings",
            "game-boards",
            "standings-csv",
            "tournament-matches-csv",
            "crosstable-csv",
            "event-marks",
            "class-marks",
            "match-replay",
            "match-log",
            "match-text",
            "calendar-file",
            "calendar-files",
            "calendar-own",
        ),
        *("version-source", "version-package", "kit", "own-data", "data-file", "puzzles-file"),
    }
)
# Pages with much computation, or whose cost grows with the number of matches.
HEAVY = frozenset(
    {
        *(
            "class-alike",
            "version-code",
            "draft",
            "try",
            "match-open",
            "match-sent",
            "preview",
            "home",
            "overall",
            "game",
            "encounter",
            "tournament",
            "event",
            "circuit",
            "arena",
            "calendar",
            "status",
            "search",
            "metrics",
            "board",
            "tv",
        ),
        *("puzzle-replay", "mistake-replay", "try-replay", "event-show-replay", "compare"),
        *("certificate", "certificate-file"),
        *("sitemap", "sitemap-part", "tournament-forecast", "event-forecast", "crosstable-png"),
    }
)
# Pages for frames on other sites, which read no session.
FRAMED = frozenset({"embed-match", "embed-table", "embed-table-replay", "embed-puzzle", "oembed"})
# Actions of people on contests, classes, comments, teams and on what they follow, which can be repeated at will.
CHANGES = frozenset(
    {
        *("event-enter", "event-do", "tournament-do", "circuit-do", "calendar-link", "arena-do"),
        *("class-do", "class-join", "class-hand-in", "talk", "comment", "follow"),
        *("teams", "team-do", "bot-hand-on", "bot-git", "bot-tuning", "lobby", "data-licence", "webhooks", "mistakes"),
        *("study", "study-new"),
    }
)
FORMS = {"login": "login", "admin:login": "login", "forgotten": "login", "signup": "signup"}
FORMS |= dict.fromkeys(
    ("password", "mail", "mail-confirm", "reset", "close-account", "passkeys", "passkey-login"), "password"
)
KNOWN_S = 30 * 24 * 3600  # For this many seconds after a successful log-in an address has its own count of attempts.


class RateLimits:
    """Middleware that returns 429 for too many requests, before the page does anything."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass the request on; `process_view` counts it once the view is known."""
        return self.get_response(request)

    def process_view(self, request: HttpRequest, view: Any, args: Any, kwargs: Any) -> HttpResponse | None:
        """Return the refusal, if there is one."""
        match = request.resolver_match
        for scope, who in _counted(request, match.view_name if match else ""):
            spent = limits.spend(scope, who, settings.LIMITS[scope])
            if spent.over:
                return errors.too_many(request, spent.seconds)
        return None


def _counted(request: HttpRequest, name: str) -> list[tuple[str, str]]:
    """Return all pairs of scope and client for which a request to this page counts."""
    where = limits.address(request)
    if name in FRAMED:
        return [("heavy", f"a{where}")]
    if name in DOWNLOADS or name in HEAVY:
        who = f"u{request.user.pk}" if request.user.is_authenticated else f"a{where}"
        return [("download" if name in DOWNLOADS else "heavy", who)]
    if name in CHANGES and request.method == "POST" and request.user.is_authenticated:
        return [("change", f"u{request.user.pk}")]
    if name == "play" and request.method == "POST" and not request.user.is_authenticated:
        if request.POST.get("do") == "refresh":  # Choosing another game on the form opens no table.
            return []
        return [("guest", f"a{where}")]
    if name == "table-do" and request.POST.get("do") == "sit" and not request.user.is_authenticated:
        return [("guest", f"a{where}")]
    if name not in FORMS or request.method != "POST":
        return []
    scope = FORMS[name]
    counts = [(scope, f"a{where}")]
    if scope == "login":
        counts.append(("account", _tries(request.POST.get("username", ""), where)))
    elif request.user.is_authenticated:
        counts.append(("account", f"u{request.user.pk}"))
    return counts


def _tries(name: str, where: str) -> str:
    """Return the key under which log-ins to an account are counted.

    An address that has logged in before has its own, so strangers cannot lock it out.
    """
    account = _digest(name)
    return f"{account}@{where}" if cache.get(f"known:{account}:{where}") else account


def _digest(name: str) -> str:
    return hashlib.sha256(name.strip().casefold().encode("utf-8", "replace")).hexdigest()[:24]


def _remember(sender: Any, request: HttpRequest | None, user: Any, **_: Any) -> None:
    if request is not None:
        cache.set(f"known:{_digest(user.get_username())}:{limits.address(request)}", 1, KNOWN_S)


user_logged_in.connect(_remember, dispatch_uid="league.web.limits")
