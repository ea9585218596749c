"""Emails with notices: their text, the confirmation of an address, and the two links that need no login."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial

from django.conf import settings
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.translation import get_language, ngettext, override
from django.utils.translation import gettext as _
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt

from league.domain.bots.digests import Against, Digest, DigestLine
from league.domain.notices import ways
from league.domain.notices.letters import Letter, Mailing
from league.domain.people import links, subscriptions
from league.enums import NoticeKind
from league.models import Player, Subscription
from league.service import mail
from league.web.common.game_lines import pool_label
from league.web.common.words import signed
from league.web.people import digests, notice_words


def site_of(request: HttpRequest) -> str:
    """Return the base address for links in emails: that of the request, whose host Django has checked against ALLOWED_HOSTS."""
    return f"{request.scheme}://{request.get_host()}"


def write(row: Subscription, mailing: Mailing) -> Letter:
    """Write notices as an email, in the reader's language. A digest also has the results of the reader's bots."""
    with override(row.language):
        stop = f"{row.site}{reverse('mail-stop', args=[subscriptions.stop_word(row, mailing.kind or '')])}"
        lines = [
            f"{notice_words.sentence(notice)}\n{row.site}{notice_words.address(notice)}" for notice in mailing.notices
        ]
        if mailing.more:
            lines.append(_("There are more:") + f"\n{row.site}{reverse('notices')}")
        if mailing.digest is None:
            title = notice_words.sentence(mailing.notices[0])
            parts = lines
        else:
            title = f"{digests.title_of(row.player)}: {digests.span(mailing.digest)}"
            parts = [f"{title} (UTC)", *lines, *_results(row, mailing.digest)]
        parts += [
            _("Notice settings:") + f"\n{row.site}{reverse('notice-ways')}",
            "-- \n" + _("You get this email because you subscribed to it. Unsubscribe:") + f"\n{stop}",
        ]
        return Letter(title, "\n\n".join(parts) + "\n", stop)


def _results(row: Subscription, digest: Digest) -> Iterable[str]:
    """Yield the paragraphs about the bots' matches of a period."""
    if not digest.lines:
        return
    yield from ("\n".join(_paragraph(line, row.site)) for line in digest.lines)
    if digest.more:
        yield _("Includes only the latest 300 matches of this period.")
    page = f"{row.site}{reverse('digest', args=[row.player.name, row.period])}?of={digest.since:%Y-%m-%d}"
    yield _("View online:") + f"\n{page}"


def _paragraph(line: DigestLine, site: str) -> Iterable[str]:
    yield f"{line.version.bot.slug} v{line.version.number}, {pool_label(line.pool)}"
    counts = [
        f"{signed(line.elo)} Elo",
        ngettext("%(boards)s board", "%(boards)s boards", line.boards) % {"boards": line.boards},
        ngettext("%(matches)s match", "%(matches)s matches", line.matches) % {"matches": line.matches},
    ]
    if line.faults:
        counts.append(
            ngettext("failed in %(matches)s", "failed in %(matches)s", line.faults) % {"matches": line.faults}
        )
    yield " · ".join(counts)
    yield from _against(_("Lost most to"), line.worst, line, site)
    yield from _against(_("Won most from"), line.best, line, site)


def _against(words: str, met: Against | None, line: DigestLine, site: str) -> Iterable[str]:
    if met is None:
        return
    yield f"{words} {met.bot} {signed(met.lead, line.digits)}:"
    for board in met.boards:
        yield f"  {signed(board.lead, line.digits)}  {site}{reverse('board', args=[board.match, board.number])}"


def ask_to_confirm(request: HttpRequest, owner: Player) -> None:
    """Send the link that confirms the address of an account. Raise Refused like `subscriptions.ask`."""
    site = site_of(request)
    word = subscriptions.ask(owner, language=get_language() or settings.LANGUAGE_CODE, site=site)
    link = f"{site}{reverse('mail-confirm', args=[word])}"
    text = _(
        "The Tute League account {name} wants to use this email address. Confirm it within three "
        "days:\n\n{link}\n\nIf this was not you, ignore this email. We will not send any more to this address."
    ).format(name=owner.name, link=link)
    title = _("Confirm your email address for the Tute League")
    mail.send(owner.user.email, title, text, failed=partial(links.note_unsent, owner))


@never_cache
def confirm(request: HttpRequest, word: str) -> HttpResponse:
    """Show the page of a confirmation link. Only its button confirms, because mail scanners open links as well."""
    row = subscriptions.to_confirm(word)
    if row is None:
        return render(request, "people/link_of_no_use.html", status=404)
    if request.method != "POST":
        return render(request, "people/confirm.html", {"player": row.player})
    subscriptions.confirm(word)
    messages.success(request, _("Your email address is confirmed."))
    return redirect("mail" if request.user.is_authenticated else "home")


@never_cache
@csrf_exempt  # The link works without a session, because mail programs unsubscribe with a single request.
def stop(request: HttpRequest, word: str) -> HttpResponse:
    """Unsubscribe the reader of this link from the digest or one kind of notices: by a request of a mail program (RFC 8058), or by a button."""
    row = subscriptions.to_stop(word)
    if row is None:
        return render(request, "people/link_of_no_use.html", status=404)
    if request.method == "POST":
        ways.stop(word)
    kind = subscriptions.kind_in(word)
    context = {
        "player": row.player,
        "stopped": request.method == "POST",
        "kind": NoticeKind(kind).label if kind else "",
    }
    return render(request, "people/stop.html", context)
