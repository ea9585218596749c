"""Who may enter a tournament of a game, and tournaments with those who have."""

from __future__ import annotations

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Prefetch
from django.http import HttpRequest
from django.utils.translation import gettext as _

from league.domain.bots import consent
from league.domain.bots.consent import Word
from league.domain.matches import sight
from league.enums import BotState, VersionStatus
from league.models import Bot, BotVersion, Entry, Player, Tournament
from league.service import marks
from league.service.remembered import Remembered


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


_shown: Remembered[str, list[tuple[str, BotVersion]]] = Remembered(8_000, len)


def entrants_to_show(game: str) -> list[tuple[str, BotVersion]]:
    """The same for who is only shown them: remembered while no bot changes, and nobody may change them. One query, two for what is new."""
    return _shown.of(game, marks.BOTS, lambda _: entrants(game))


def choices(versions: list[tuple[str, BotVersion]], by: Player) -> tuple[list[tuple[str, str]], set[str]]:
    """Slug and label of the bots that `by` may choose for something new, whose label says where the owner is asked first; and those who need not be.

    One query.
    """
    words = consent.outlook([version.bot for _, version in versions], by)
    open_to = [(slug, version) for slug, version in versions if words[version.bot_id] in (Word.YES, Word.ASK)]
    willing = {slug for slug, version in open_to if words[version.bot_id] == Word.YES}
    asked = _("%(version)s (its owner is asked first)")
    labels = [(slug, str(one) if slug in willing else asked % {"version": one}) for slug, one in open_to]
    return labels, willing


def tell_entered(request: HttpRequest, bot: Bot, *, asked: bool) -> None:
    """Say to who has entered another's bot what came of it."""
    if asked:
        text = _("The owner of %(bot)s, %(owner)s, wants to be asked first, and reads your request now.")
        messages.info(request, text % {"bot": bot.slug, "owner": bot.owner.name})
    else:
        messages.success(request, _("%(bot)s has entered.") % {"bot": bot.slug})


def tournaments_with_entries(viewer: User | None) -> Prefetch[str]:
    """The tournaments of an event or a season that `viewer` may see, each with its entries by place. Two queries more."""
    entries = Entry.objects.select_related("version__bot").order_by("place", "seed", "number")
    rows = (
        sight.tournaments(Tournament.objects.select_related("pool"), viewer).defer("secret").order_by("stage", "group")
    )
    return Prefetch("tournaments", rows.prefetch_related(Prefetch("entries", entries)))
