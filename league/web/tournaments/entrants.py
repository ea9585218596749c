"""Who may enter a tournament of a game, and tournaments with those who have."""

from __future__ import annotations

from collections.abc import Collection
from typing import NamedTuple

from django.contrib import messages
from django.contrib.auth.models import User
from django.db.models import Exists, OuterRef, Prefetch, Q
from django.http import HttpRequest
from django.utils.translation import gettext as _

from league.domain.bots import consent
from league.domain.bots.consent import EntryAnswer
from league.domain.matches import sight
from league.enums import BotState, VersionStatus
from league.models import Bot, BotVersion, Entry, Player, Tournament

FREE = Q(state=BotState.ACTIVE, stopped=None, owner_banned=False)  # bots that may enter anything
MOST_OFFERED = 100  # bots on a form at once, beside those that were chosen


def entrants(game: str, which: Q) -> list[tuple[str, BotVersion]]:
    """Slug of every active bot of those that `which` says of its row, and the version that it sends to a tournament of a game. One query.

    Which version that is: league.domain.bots.bots.sent_version.
    """
    rows = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, bot__in=Bot.objects.filter(FREE, which))
    found: dict[str, BotVersion] = {}
    for version in rows.select_related("bot").order_by("bot__slug", "number"):
        chosen = found.get(version.bot.slug)
        if version.plays(game) and (chosen is None or chosen.pk != version.bot.sends_id):
            found[version.bot.slug] = version
    return list(found.items())


class Offer(NamedTuple):
    """The bots among which somebody chooses on a form."""

    versions: list[tuple[str, BotVersion]]
    more: bool  # the league has others


def offer(game: str, by: Player, *, chosen: Collection[str] = (), part: str = "") -> Offer:
    """Those that were chosen, and the first of those with `part` in their name: own ones, those of the house, then by name. Five queries at most.

    Without a part each query ends with the last bot that is shown; a part, or a game that few play, is looked for among the names of all bots.
    """
    versions = BotVersion.objects.filter(bot=OuterRef("pk"), status=VersionStatus.ACCEPTED)
    # JSON as text, since SQLite cannot ask whether a list has an item; `entrants` looks again
    plays = (Q(games=[]) | Q(games__icontains=f'"{game}"')) & ~Q(refused__icontains=f'"{game}"')
    bots = Bot.objects.filter(FREE, Exists(versions.filter(plays)), slug__icontains=part).order_by("slug")
    found: list[str] = []
    for group in (bots.filter(owner=by), bots.filter(is_house=True), bots):
        if len(found) <= MOST_OFFERED:
            # one more than is shown says that there are others
            found += group.exclude(slug__in=found).values_list("slug", flat=True)[: MOST_OFFERED + 1 - len(found)]
    shown = {*chosen, *found[:MOST_OFFERED]}
    return Offer(entrants(game, Q(slug__in=shown)), more=len(found) > MOST_OFFERED)


def choices(versions: list[tuple[str, BotVersion]], by: Player) -> tuple[list[tuple[str, str]], set[str]]:
    """Slug and label of the bots that `by` may choose for something new, whose label says where the owner is asked first; and those who need not be.

    One query.
    """
    words = consent.expected_answers([version.bot for _, version in versions], by)
    open_to = [
        (slug, version) for slug, version in versions if words[version.bot_id] in (EntryAnswer.YES, EntryAnswer.ASK)
    ]
    willing = {slug for slug, version in open_to if words[version.bot_id] == EntryAnswer.YES}
    asked = _("%(version)s (needs the owner's permission)")
    labels = [(slug, str(one) if slug in willing else asked % {"version": one}) for slug, one in open_to]
    return labels, willing


def tell_entered(request: HttpRequest, bot: Bot, *, asked: bool) -> None:
    """Say to who has entered another's bot what came of it."""
    if asked:
        text = _("Your request was sent to %(owner)s, the owner of %(bot)s. The bot enters once they agree.")
        messages.info(request, text % {"bot": bot.slug, "owner": bot.owner.name})
    else:
        messages.success(request, _("%(bot)s is entered.") % {"bot": bot.slug})


def tournaments_with_entries(viewer: User | None) -> Prefetch[str]:
    """The tournaments of an event or a season that `viewer` may see, each with its entries by place. Two queries more."""
    entries = Entry.objects.select_related("version__bot").order_by("place", "seed", "number")
    rows = (
        sight.tournaments(Tournament.objects.select_related("pool"), viewer).defer("secret").order_by("stage", "group")
    )
    return Prefetch("tournaments", rows.prefetch_related(Prefetch("entries", entries)))
