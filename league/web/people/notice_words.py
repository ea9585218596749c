"""Notices in words: a sentence and an address for each text of `league.domain.notices.kinds`."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from league.models import Notice
from league.web.common.game_lines import game_title
from league.web.common.talk import address_of
from league.web.common.words import fault_name

Words = dict[str, Any]
MOST_GAMES = 3  # Games that a notice names; the page of the version has all.


def _version(words: Words) -> str:
    return reverse("version", args=[words["bot"], words["version"]])


def _bot(words: Words) -> str:
    return reverse("bot", args=[words["bot"]])


def _match(words: Words) -> str:
    return reverse("match", args=[words["match"]])


def _contest(words: Words) -> str:
    return reverse(words["kind"], args=[words["slug"]])


def _board(words: Words) -> str:
    return f"{reverse('game', args=[words['game']])}?pool={words['pool']}"


def _webhooks(_words: Words) -> str:
    return reverse("webhooks")


def _volunteers(_words: Words) -> str:
    return reverse("operator-volunteers")


def _requests(_words: Words) -> str:
    return reverse("requests")


def _teams(_words: Words) -> str:
    return reverse("teams")


def _assignment(words: Words) -> str:
    return reverse("class-assignment", args=[words["class"], words["number"]])


def _lobby(_words: Words) -> str:
    return reverse("lobby")


def _table(words: Words) -> str:
    return reverse("table", args=[words["table"]])


def _puzzle(words: Words) -> str:
    return reverse("puzzle-of-day", args=[words["day"]])


def _talk(words: Words) -> str:
    return address_of(words["place"], words.get("step", ""))


def _comment(words: Words) -> str:
    return reverse("comment", args=[words["comment"]])


SENTENCES: dict[str, tuple[Promise | str, Callable[[Words], str]]] = {
    "refused": (_("%(bot)s v%(version)s was refused: %(fault)s."), _version),
    "not_rebuilt": (
        _("%(bot)s v%(version)s does not work with the new Python of the league. Submit it again."),
        _version,
    ),
    "partly_refused": (_("%(bot)s v%(version)s was accepted, but not for: %(games)s."), _version),
    "faulty": (_("%(bot)s v%(version)s failed in a match: %(fault)s."), _match),
    "paused": (_("The league has paused %(bot)s because it failed in its last matches."), _bot),
    "stopped": (_("An operator has suspended %(bot)s."), _bot),
    "webhook_off": (_("Your webhook %(url)s is off, because nothing arrived there any more."), _webhooks),
    "volunteer_out": (_("The volunteer key %(key)s of %(player)s is shut out: a result was wrong."), _volunteers),
    "overtaken": (_("%(bot)s was overtaken by %(rival)s in %(game)s: place %(place)s now."), _board),
    "requested": (_("%(player)s asks to enter %(bot)s in %(tournament)s."), _requests),
    "invited": (_("%(player)s invites you to the team %(team)s."), _teams),
    "offered": (_("%(player)s wants to hand %(bot)s on to you."), _teams),
    "challenged": (_("%(player)s challenged %(bot)s."), _match),
    "table_challenge": (_("%(player)s challenges you to a table of %(game)s."), _lobby),
    "table_waits": (_("Your table of %(game)s waits for you."), _table),
    "starts_soon": (_("%(tournament)s starts soon: %(at)s UTC."), _contest),
    "arena_soon": (_("The arena of %(game)s starts soon: %(at)s UTC."), _contest),
    "arena_placed": (_("The arena of %(game)s has ended: you are in place %(place)s."), _contest),
    "started": (_("%(tournament)s has started."), _contest),
    "placed": (_("%(tournament)s has ended: %(bot)s is in place %(place)s."), _contest),
    "ended": (_("%(tournament)s has ended."), _contest),
    "assignment_due": (_("%(title)s is due at %(at)s UTC."), _assignment),
    "new_version": (_("%(bot)s has a new version: v%(version)s."), _version),
    "won": (_("%(bot)s has won %(tournament)s."), _contest),
    "entered": (_("%(player)s entered %(bot)s in %(tournament)s."), _contest),
    "commented_match": (_("%(player)s commented on a match of %(bot)s."), _talk),
    "commented_puzzle": (_("%(player)s commented on a puzzle from a match of %(bot)s."), _talk),
    "commented": (_("%(player)s commented on %(tournament)s."), _talk),
    "answered": (_("%(player)s answered your comment."), _talk),
    "comment_hidden": (_("An operator hid your comment: %(why)s."), _comment),
    "report_hidden": (_("The comment that you reported is hidden now."), _talk),
    "report_left": (_("An operator looked at the comment that you reported and left it as it is."), _talk),
    "request_granted": (_("%(bot)s plays in %(tournament)s, as you asked."), _contest),
    "request_refused": (_("%(bot)s does not play in %(tournament)s: its owner refused your request."), _contest),
    "puzzle_of_day": (_("Here is the puzzle of the day (%(day)s)."), _puzzle),
    "request_expired": (_("Nobody answered your request to enter %(bot)s in %(tournament)s in time."), _contest),
}


def sentence(notice: Notice) -> str:
    """Return a notice in the reader's language, with its number if it happened more than once."""
    words = dict(notice.words)
    if "game" in words:
        words["game"] = game_title(words["game"])
    if "games" in words:
        games = words["games"]
        words["games"] = ", ".join(map(game_title, games[:MOST_GAMES]))
        if more := len(games[MOST_GAMES:]):
            text = ngettext("%(games)s and %(count)d more", "%(games)s and %(count)d more", more)
            words["games"] = text % {"games": words["games"], "count": more}
    if "fault" in words:
        words["fault"] = fault_name(words["fault"])
    if "at" in words:
        words["at"] = f"{datetime.fromisoformat(words['at']):%Y-%m-%d %H:%M}"
    text = str(SENTENCES[notice.text][0]) % words
    if notice.count > 1:
        times = ngettext("%(count)d time", "%(count)d times", notice.count) % {"count": notice.count}
        return f"{text.removesuffix('.')} ({times})"
    return text


def address(notice: Notice) -> str:
    """Return the path of the page to which a notice leads."""
    return SENTENCES[notice.text][1](notice.words)
