"""System checks of what would make a production league unsafe or unable to play (`manage.py check --deploy`)."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.core.checks import Error, Tags, Warning, register

from engine.sandbox import TIERS


@register(Tags.security)
def sandbox_settings(**kwargs: Any) -> list[Error | Warning]:
    """Check that the settings name existing tiers, and warn each time if there is no sandbox at all."""
    problems: list[Error | Warning] = []
    names = [tier.name for tier in TIERS]
    if settings.SANDBOX_TIER not in (*names, "auto"):
        problems.append(
            Error(
                f"SANDBOX_TIER={settings.SANDBOX_TIER!r} is unknown",
                hint=f"Use auto, {', '.join(names)}.",
                id="league.E001",
            )
        )
    if settings.SANDBOX_MIN_TIER not in names:
        problems.append(
            Error(
                f"SANDBOX_MIN_TIER={settings.SANDBOX_MIN_TIER!r} is unknown",
                hint=f"Use {', '.join(names)}.",
                id="league.E002",
            )
        )
    if any(tier.name in (settings.SANDBOX_TIER, settings.SANDBOX_MIN_TIER) for tier in TIERS if not tier.isolates):
        safe = " or ".join(tier.name for tier in TIERS if tier.isolates)
        hint = f"Anybody who uploads a bot can read and change everything that this user can. Use {safe}."
        problems.append(Warning("bots may be played without a sandbox", hint=hint, id="league.W001"))
    return problems


@register(Tags.security)
def hosts_of_letters(**kwargs: Any) -> list[Error | Warning]:
    """Refuse a league that writes letters and takes every host: whoever asks for a password link would choose where it leads."""
    if not settings.MAIL or "*" not in settings.ALLOWED_HOSTS:
        return []
    hint = "Set ALLOWED_HOSTS to the names of the site."
    return [Error("ALLOWED_HOSTS=* with MAIL_URL lets anybody send links to another site", hint=hint, id="league.E003")]


@register(Tags.security)
def redirect_behind_a_proxy(**kwargs: Any) -> list[Error | Warning]:
    """Warn of a redirect without end: behind a proxy that is not trusted every request looks like plain http."""
    if not settings.HTTPS_REDIRECT or settings.TRUST_PROXY:
        return []
    hint = "Set TRUST_PROXY=1 if a proxy of yours sets X-Forwarded-Proto, or let the proxy redirect."
    return [Warning("HTTPS_REDIRECT without TRUST_PROXY redirects for ever", hint=hint, id="league.W004")]


@register(Tags.database, deploy=True)
def production_services(**kwargs: Any) -> list[Error | Warning]:
    """Warn if a league on more than one machine has no servers for its database and broker."""
    problems: list[Error | Warning] = []
    engine = settings.DATABASES["default"]["ENGINE"]
    if engine.endswith("sqlite3"):
        hint = "Set DATABASE_URL=postgresql://user:password@host/name for a league of more than one machine."
        problems.append(Warning("the database is SQLite: one machine only", hint=hint, id="league.W002"))
    if settings.BROKER_URL.startswith("filesystem:"):
        hint = "Set BROKER_URL=redis://host:6379/0 for workers on more than one machine."
        problems.append(Warning("the broker is a folder: one machine only", hint=hint, id="league.W003"))
    return problems
