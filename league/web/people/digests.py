"""The digest of a player's bots: a page for each completed day and week, and an Atom feed of the latest ones."""

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

FIRST = datetime(2000, 1, 3, tzinfo=UTC)  # A Monday before every league.
LATEST = 4  # Number of periods in the feed.


@require_safe
@changes.kept_until(changes.BOTS, changes.MATCHES, changes.POOLS, changes.TOURNAMENTS)
def digest(request: HttpRequest, name: str, period: str) -> HttpResponse:
    """Show a completed day or week (`?of=` its first day), by default the latest. Four queries."""
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
        "before": max(since - LENGTHS[kind], FIRST),
        "after": until if until < latest[1] else None,
    }
    return render(request, "people/digest.html", context)


@require_safe
@changes.kept_until(changes.BOTS, changes.MATCHES, changes.POOLS, changes.TOURNAMENTS)
def feed(request: HttpRequest, name: str, period: str) -> HttpResponse:
    """Return the latest completed days or weeks with matches as a feed. Three queries per period."""
    player = get_object_or_404(Player, name=name)
    kind = _period(period)
    page = request.build_absolute_uri(reverse("digest", args=[player.name, kind]))
    atom = Atom1Feed(
        title=title_of(player),
        link=page,
        description="",
        language=get_language() or "es",
        feed_url=request.build_absolute_uri(request.path),
        author_name=player.name,
    )
    since, until = digests.last_whole(kind, clock.present())
    for _number in range(LATEST):
        period_digest = digests.build_digest(player, since, until)
        if period_digest.lines:
            address = f"{page}?of={since:%Y-%m-%d}"
            text = "\n".join(sentence for line in period_digest.lines for sentence in texts(line))
            atom.add_item(span(period_digest), address, text, unique_id=address, pubdate=until, updateddate=until)
        since, until = since - LENGTHS[kind], since
    return HttpResponse(atom.writeString("utf-8"), content_type="application/atom+xml; charset=utf-8")


def _period(word: str) -> Period:
    if word not in Period.values:
        raise Http404
    return Period(word)


def _chosen(request: HttpRequest, kind: Period) -> tuple[datetime, datetime]:
    """Return the period that begins on the day in `?of=`; 404 if none begins then or it has not ended."""
    latest = digests.last_whole(kind, clock.present())
    text = request.GET.get("of")
    if text is None:
        return latest
    try:
        since = datetime.strptime(text, "%Y-%m-%d").replace(tzinfo=UTC)
        until = since + LENGTHS[kind]
    except (ValueError, OverflowError):
        raise Http404 from None
    if since < FIRST or until > latest[1] or (kind == Period.WEEK and since.weekday()):
        raise Http404
    return since, until


def title_of(player: Player) -> str:
    """Return the title of a player's digests."""
    return _("Digest of %(player)s's bots") % {"player": player.name}


def span(period_digest: Digest) -> str:
    """Return the days of a digest in words."""
    first, last = period_digest.since, period_digest.until - timedelta(days=1)
    if first == last:
        return date_format(first, "DATE_FORMAT")
    return _("%(first)s to %(last)s") % {
        "first": date_format(first, "DATE_FORMAT"),
        "last": date_format(last, "DATE_FORMAT"),
    }


def texts(line: DigestLine) -> list[str]:
    """Return a line of a digest as sentences."""
    values = {"version": line.version, "pool": pool_label(line.pool), "matches": line.matches, "boards": line.boards}
    sentences = [
        _("%(version)s, %(pool)s: %(elo)s Elo in %(matches)d matches, %(boards)d boards.")
        % (values | {"elo": f"{'−' if line.elo < 0 else '+'}{words.format_number(abs(line.elo), '.0f')}"})
    ]
    if line.worst:
        sentences.append(
            _("It lost most to %(bot)s (%(points)s): %(list)s.")
            % {"points": _number(-line.worst.lead, line), "bot": line.worst.bot, "list": _boards(line.worst.boards)}
        )
    if line.best:
        sentences.append(
            _("It won most from %(bot)s (%(points)s): %(list)s.")
            % {"points": _number(line.best.lead, line), "bot": line.best.bot, "list": _boards(line.best.boards)}
        )
    if line.faults:
        sentences.append(_("It had faults in %(matches)d of them.") % {"matches": line.faults})
    return sentences


def _boards(boards: list[digests.BoardLine]) -> str:
    return ", ".join(f"{board.match} · {board.number}" for board in boards)


def _number(lead: float, line: DigestLine) -> str:
    return words.format_number(lead, f".{line.digits}f")
