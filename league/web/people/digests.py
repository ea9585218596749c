"""The digest of the bots of a player: a page for each whole day and week, and a feed (Atom) of the latest ones."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.urls import reverse
from django.utils.feedgenerator import Atom1Feed
from django.utils.formats import date_format
from django.utils.translation import get_language
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from league.domain.bots import digests
from league.domain.bots.digests import LENGTHS, Digest, DigestLine
from league.domain.core import clock
from league.enums import Period
from league.models import Player
from league.service import changes
from league.web.common import words
from league.web.common.game_lines import pool_label

LATEST = 4  # periods of the feed


@require_safe
@changes.kept_until(changes.BOTS, changes.MATCHES, changes.POOLS, changes.TOURNAMENTS)
def digest(request: HttpRequest, name: str, period: str) -> HttpResponse:
    """One whole day or week (`?of=` its first day), the latest where none is named. Four queries."""
    player = get_object_or_404(Player, name=name)
    kind = _period(period)
    since, until = _chosen(request, kind)
    latest = digests.last_whole(kind, clock.present())
    context = {
        "player": player,
        "mail": settings.MAIL,
        "period": kind,
        "periods": Period.choices,
        "digest": digests.build_digest(player, since, until),
        "last": until - timedelta(days=1),
        "before": max(since - LENGTHS[kind], datetime(2000, 1, 3, tzinfo=UTC)),
        "after": until if until < latest[1] else None,
    }
    return render(request, "people/digest.html", context)


@require_safe
@changes.kept_until(changes.BOTS, changes.MATCHES, changes.POOLS, changes.TOURNAMENTS)
def feed(request: HttpRequest, name: str, period: str) -> HttpResponse:
    """The latest whole days or weeks in which something was played, as an entry each. Three queries a period."""
    player = get_object_or_404(Player, name=name)
    kind = _period(period)
    page = request.build_absolute_uri(reverse("digest", args=[player.name, kind]))
    found = Atom1Feed(
        title=title_of(player),
        link=page,
        description="",
        language=get_language() or "es",
        feed_url=request.build_absolute_uri(request.path),
        author_name=player.name,
    )
    since, until = digests.last_whole(kind, clock.present())
    for _number in range(LATEST):
        told = digests.build_digest(player, since, until)
        if told.lines:
            address = f"{page}?of={since:%Y-%m-%d}"
            text = "\n".join(line for one in told.lines for line in texts(one))
            found.add_item(span(told), address, text, unique_id=address, pubdate=until, updateddate=until)
        since, until = since - LENGTHS[kind], since
    return HttpResponse(found.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def _period(word: str) -> Period:
    if word not in Period.values:
        raise Http404
    return Period(word)


def _chosen(request: HttpRequest, kind: Period) -> tuple[datetime, datetime]:
    """The period that begins on the day of `?of=`; 404 for a day on which none begins, or of one that is not over."""
    latest = digests.last_whole(kind, clock.present())
    text = request.GET.get("of")
    if text is None:
        return latest
    try:
        since = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        until = since + LENGTHS[kind]
    except (ValueError, OverflowError):
        raise Http404 from None
    if until > latest[1] or (kind == Period.WEEK and since.weekday()):
        raise Http404
    return since, until


def title_of(player: Player) -> str:
    """What a digest is called."""
    return _("Digest of %(player)s's bots") % {"player": player.name}


def span(told: Digest) -> str:
    """From which day to which, in words."""
    first, last = told.since, told.until - timedelta(days=1)
    if first == last:
        return date_format(first, "DATE_FORMAT")
    return _("%(first)s to %(last)s") % {
        "first": date_format(first, "DATE_FORMAT"),
        "last": date_format(last, "DATE_FORMAT"),
    }


def texts(one: DigestLine) -> list[str]:
    """A line of a digest in sentences."""
    told = {"version": one.version, "pool": pool_label(one.pool), "matches": one.matches, "boards": one.boards}
    found = [
        _("%(version)s, %(pool)s: %(elo)s Elo in %(matches)d matches, %(boards)d boards.")
        % (told | {"elo": f"{'−' if one.elo < 0 else '+'}{words.format_number(abs(one.elo), '.0f')}"})
    ]
    if one.worst:
        found.append(
            _("It lost %(points)s to %(bot)s: %(list)s.")
            % {"points": _number(-one.worst.lead, one), "bot": one.worst.bot, "list": _boards(one.worst.boards)}
        )
    if one.best:
        found.append(
            _("It won %(points)s from %(bot)s: %(list)s.")
            % {"points": _number(one.best.lead, one), "bot": one.best.bot, "list": _boards(one.best.boards)}
        )
    if one.faults:
        found.append(_("It failed in %(matches)d of them.") % {"matches": one.faults})
    return found


def _boards(boards: list[digests.BoardLine]) -> str:
    return ", ".join(f"{one.match} · {one.number}" for one in boards)


def _number(lead: float, one: DigestLine) -> str:
    return words.format_number(lead, f".{one.digits}f")
