"""Who may enter a tournament of a game, and tournaments with those who have."""

from __future__ import annotations

from django.db.models import Prefetch

from league.enums import BotState, VersionStatus
from league.models import BotVersion, Entry, Tournament


def entrants(game: str) -> list[tuple[str, BotVersion]]:
    """Slug of every active bot, and the version that it sends to a tournament of a game (league.domain.bots.bots.sent_version). One query."""
    free = {"bot__state": BotState.ACTIVE, "bot__stopped": None, "bot__owner_banned": False}
    rows = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, **free).select_related("bot")
    found: dict[str, BotVersion] = {}
    for version in rows.order_by("bot__slug", "number"):
        chosen = found.get(version.bot.slug)
        if version.plays(game) and (chosen is None or chosen.pk != version.bot.sends_id):
            found[version.bot.slug] = version
    return list(found.items())


def tournaments_with_entries() -> Prefetch[str]:
    """The tournaments of an event or a season, each with its entries by place. Two queries more."""
    entries = Entry.objects.select_related("version__bot").order_by("place", "seed", "number")
    rows = Tournament.objects.select_related("pool").defer("secret").order_by("stage", "group")
    return Prefetch("tournaments", rows.prefetch_related(Prefetch("entries", entries)))
