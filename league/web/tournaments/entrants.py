"""Bots that may enter a tournament, and tournaments together with their entries."""

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
from league.domain.people import ownership
from league.domain.people.ownership import BotAct
from league.enums import BotState, VersionStatus
from league.models import Bot, BotVersion, Entry, Player, Tournament

FREE = Q(state=BotState.ACTIVE, stopped=None, owner_banned=False)  # Bots that may enter tournaments.
MOST_OFFERED = 100  # The most bots on a form, besides the ticked ones.


def entrants(game: str, which: Q) -> list[tuple[str, BotVersion]]:
    """Return the slug of each active bot that matches `which`, and the version that it sends to a tournament of a game. One query.

    See league.domain.bots.bots.sent_version for the choice of the version.
    """
    rows = BotVersion.objects.filter(status=VersionStatus.ACCEPTED, bot__in=Bot.objects.filter(FREE, which))
    versions_by_slug: dict[str, BotVersion] = {}
    for version in rows.select_related("bot").order_by("bot__slug", "number"):
        chosen = versions_by_slug.get(version.bot.slug)
        if version.plays(game) and (chosen is None or chosen.pk != version.bot.sends_id):
            versions_by_slug[version.bot.slug] = version
    return list(versions_by_slug.items())


class BotChoices(NamedTuple):
    """The bots to choose from on a form."""

    versions: list[tuple[str, BotVersion]]
    more: bool  # True if the league has more bots.


def offer(game: str, player: Player, *, chosen: Collection[str] = (), part: str = "") -> BotChoices:
    """Return the chosen bots and the first ones with `part` in their name: own bots, house bots, then by name. At most five queries.

    Without `part` each query stops at the last bot shown; with it, or in a game that few bots play, the query searches all names.
    """
    versions = BotVersion.objects.filter(bot=OuterRef("pk"), status=VersionStatus.ACCEPTED)
    # Search the JSON as text, because SQLite has no test for list items; `entrants` checks the result.
    plays = (Q(games=[]) | Q(games__icontains=f'"{game}"')) & ~Q(refused__icontains=f'"{game}"')
    bots = Bot.objects.filter(
        FREE, sight.knows_bot(player.user), Exists(versions.filter(plays)), slug__icontains=part
    ).order_by("slug")
    slugs: list[str] = []
    for group in (bots.filter(ownership.owned(player, BotAct.ENTER)), bots.filter(is_house=True), bots):
        if len(slugs) <= MOST_OFFERED:
            # One more than shown, to see if there are others.
            slugs += group.exclude(slug__in=slugs).values_list("slug", flat=True)[: MOST_OFFERED + 1 - len(slugs)]
    offered = {*chosen, *slugs[:MOST_OFFERED]}
    return BotChoices(entrants(game, Q(slug__in=offered)), more=len(slugs) > MOST_OFFERED)


def choices(versions: list[tuple[str, BotVersion]], player: Player) -> tuple[list[tuple[str, str]], set[str]]:
    """Return slug and label of the bots that a player may choose, and the slugs that need no permission of their owners. One query.

    The label says if the owner must agree.
    """
    words = consent.expected_answers([version.bot for _, version in versions], player)
    open_to = [
        (slug, version) for slug, version in versions if words[version.bot_id] in (EntryAnswer.YES, EntryAnswer.ASK)
    ]
    willing = {slug for slug, version in open_to if words[version.bot_id] == EntryAnswer.YES}
    needs_permission = _("%(version)s (needs the owner's permission)")
    labels = [
        (slug, str(version) if slug in willing else needs_permission % {"version": version})
        for slug, version in open_to
    ]
    return labels, willing


def tell_entered(request: HttpRequest, bot: Bot, *, is_request: bool) -> None:
    """Tell the player who entered another player's bot if it has entered, or its owner has been asked."""
    if is_request:
        text = _("Your request was sent to %(owner)s, the owner of %(bot)s. The bot enters once they agree.")
        messages.info(request, text % {"bot": bot.slug, "owner": bot.owner.name})
    else:
        messages.success(request, _("%(bot)s is entered.") % {"bot": bot.slug})


def tournaments_with_entries(viewer: User | None) -> Prefetch[str]:
    """Prefetch the tournaments of an event or season that `viewer` may see, each with its entries by place. Two more queries."""
    entries = Entry.objects.select_related("version__bot").order_by("place", "seed", "number")
    rows = (
        sight.tournaments(Tournament.objects.select_related("pool"), viewer).defer("secret").order_by("stage", "group")
    )
    return Prefetch("tournaments", rows.prefetch_related(Prefetch("entries", entries)))
