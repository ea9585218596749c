"""News about a player's bots, also as an Atom feed: validations, version tests and places in tournaments."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import User
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from league.domain.matches import sight
from league.enums import TournamentStatus, VersionStatus
from league.models import BotVersion, Entry, Player, Tournament, VersionTest
from league.service import changes
from league.web.common.game_lines import game_title
from league.web.common.viewers import user_of

MOST = 30  # The most entries of the feed, and the most rows of each kind that are read.


@dataclass(frozen=True)
class News:
    """One entry. `key` identifies it among the news of a player; `address` is a path on the site."""

    key: str
    at: datetime
    title: str
    address: str


@require_safe
@changes.kept_until(changes.BOTS, changes.TOURNAMENTS)
def feed(request: HttpRequest, name: str) -> HttpResponse:
    """Return the feed of a player's bots, newest first. Four queries."""
    player = get_object_or_404(Player, name=name)
    page = request.build_absolute_uri(reverse("player", args=[player.name]))
    atom = Atom1Feed(
        title=_("News about %(player)s's bots") % {"player": player.name},
        link=page,
        description="",
        language=get_language() or "es",
        feed_url=request.build_absolute_uri(request.path),
        author_name=player.name,
    )
    for entry in news(player, user_of(request)):
        address = request.build_absolute_uri(entry.address)
        atom.add_item(entry.title, address, "", unique_id=f"{page}#{entry.key}", pubdate=entry.at, updateddate=entry.at)
    return HttpResponse(atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def news(player: Player, viewer: User | None) -> list[News]:
    """Return the news that `viewer` may see, newest first. Three queries."""
    entries = [*_verdicts(player, viewer), *_version_tests(player), *_places(player, viewer)]
    return sorted(entries, key=lambda entry: (entry.at, entry.title), reverse=True)[:MOST]


def _verdicts(player: Player, viewer: User | None) -> list[News]:
    rows = (
        BotVersion.objects.filter(sight.knows_bot(viewer, "bot__"), bot__owner=player)
        .exclude(status=VersionStatus.VALIDATING)
        .select_related("bot")
    )
    return [
        News(
            f"version-{row.pk}",
            row.created,
            _("%(version)s: %(status)s") % {"version": row, "status": row.get_status_display()},
            reverse("version", args=[row.bot.slug, row.number]),
        )
        for row in rows.order_by("-id")[:MOST]
    ]


def _version_tests(player: Player) -> list[News]:
    rows = VersionTest.objects.filter(version__bot__owner=player, decided__isnull=False)
    rows = rows.select_related("version__bot", "before").order_by("-decided")
    return [
        News(
            f"succession-{row.pk}",
            row.decided,
            _("%(version)s against v%(before)s in %(game)s: %(verdict)s")
            % {
                "version": row.version,
                "before": row.before.number,
                "game": game_title(row.game),
                "verdict": row.get_verdict_display(),
            },
            reverse("bot", args=[row.version.bot.slug]),
        )
        for row in rows[:MOST]
        if row.decided
    ]


def _places(player: Player, viewer: User | None) -> list[News]:
    visible = sight.tournaments(Tournament.objects.filter(status=TournamentStatus.FINISHED), viewer)
    rows = Entry.objects.filter(version__bot__owner=player, place__isnull=False, tournament__in=visible)
    rows = rows.select_related("version__bot", "tournament").defer("tournament__secret")
    return [
        News(
            f"entry-{row.pk}",
            row.tournament.finished,
            _("%(version)s: rank %(place)d in %(tournament)s")
            % {"version": row.version, "place": row.place, "tournament": row.tournament.name},
            reverse("tournament", args=[row.tournament.slug]),
        )
        for row in rows.order_by("-tournament__finished")[:MOST]
        if row.tournament.finished
    ]
