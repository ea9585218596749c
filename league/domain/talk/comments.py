"""Writing, deleting and hiding comments. Everybody who is allowed to write somewhere is allowed to by `check_writer`, on every way."""

from __future__ import annotations

import re
from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.matches import replays
from league.domain.people import quotas, subscriptions
from league.domain.talk import news, places
from league.domain.talk.places import Place
from league.enums import ReportOutcome
from league.models import Block, Comment, Player, Report, Sitting
from league.models.talk import MOST_TEXT
from league.pure import comments as texts

STEP = re.compile(r"d(0|[1-9][0-9]{0,3})p(0|[1-9][0-9]{0,4})")
SAME_FOR = timedelta(days=1)
UNCONFIRMED = 3  # Factor of that age for an account without a confirmed address.


def check_writer(player: Player, place: Place, *, now: datetime | None = None) -> None:
    """Raise Refused if the player may not write at a place that they see. Two queries at most."""
    now = clock.now_or(now)
    if not place.is_open:
        raise Refused("There are no comments here.")
    wait = timedelta(hours=settings.TALK_AFTER_HOURS)
    age = now - player.created
    if not player.user.is_staff and age < UNCONFIRMED * wait:
        if age < wait:
            raise Refused("New accounts may write comments after {hours} hours.", hours=settings.TALK_AFTER_HOURS)
        if settings.MAIL and not subscriptions.is_confirmed(subscriptions.find(player), player.user.email):
            raise Refused(
                "Without a confirmed email address, new accounts may write comments after {hours} hours.",
                hours=UNCONFIRMED * settings.TALK_AFTER_HOURS,
            )
    if place.contest is not None and Block.objects.filter(owner=place.contest.owner_id, blocked=player).exists():
        raise Refused("The owner of this tournament does not want you to write here.")


def write(
    player: Player,
    place: Place,
    text: str,
    *,
    step: str = "",
    answers: Comment | None = None,
    now: datetime | None = None,
) -> Comment:
    """Write a comment. `step` belongs to the sitting; `answers` is a comment at the same place. Raise Refused."""
    now = clock.now_or(now)
    check_writer(player, place, now=now)
    try:
        text = texts.clean(text, MOST_TEXT)
    except texts.BadText as error:
        raise Refused.from_error(error) from None
    if step:
        _check_step(place, step)
    if answers is not None:
        step = answers.step
        _check_answer(player, place, answers)
    with transaction.atomic():
        quotas.ask(player, quotas.COMMENTS, now=now)
        # A ban, and the closing of the account, lock the player, too.
        if not Player.objects.filter(pk=player.pk, user__is_active=True).exists():
            raise Refused("Your account is banned or closed, so you cannot write.")
        if Comment.objects.filter(author=player, created__gt=now - SAME_FOR, text=text).exists():
            raise Refused("You have written the same comment in the last day. Write something else.")
        row = Comment.objects.create(author=player, **place.columns, step=step, answers=answers, text=text, created=now)
        news.of_comment(row, place, now=now)
    return row


def _check_step(place: Place, step: str) -> None:
    """Raise Refused for a step that the sitting does not have."""
    parts = STEP.fullmatch(step)
    if place.match is None or parts is None or not _has_step(place, int(parts[1]), int(parts[2])):
        raise Refused("This sitting has no such step. Choose one from the list.")


def _has_step(place: Place, deal: int, step: int) -> bool:
    columns = {"board__match": place.match, "board__number": place.board, "number": place.sitting}
    sitting = Sitting.objects.select_related("board__match").get(**columns)
    record = replays.unpack(sitting)
    # The steps of a page: the events of each deal, and the faults after the last one.
    moments = [*record["events"], *({"e": "fault"} for _fault in record.get("faults", ()))]
    at = count = 0
    for moment in moments:
        if moment["e"] == "match":
            continue
        if moment["e"] == "deal":
            at, count = moment["deal"], 0
        if (at, count) == (deal, step):
            return True
        count += 1
    return False


def _check_answer(player: Player, place: Place, answers: Comment) -> None:
    """Raise Refused for an answer to somewhere else, to a comment that the player does not see, or to somebody who has blocked the player."""
    if Block.objects.filter(owner=answers.author_id, blocked=player).exists():
        raise Refused("{name} does not want answers from you.", name=answers.author.name)
    if not places.comments(place, player).filter(pk=answers.pk, hidden=None).exists():
        raise Refused("The comment that you answer is no longer here.")


def delete(player: Player, comment: Comment, *, now: datetime | None = None) -> None:
    """Delete a comment of the player: its text goes, answers stay. Repeatable."""
    if comment.author_id != player.pk:
        raise Refused("Only its author can delete a comment.")
    Comment.objects.filter(pk=comment.pk, deleted=None).update(deleted=clock.now_or(now), text="")


def hide(comment: Comment, *, why: str, actor: str, now: datetime | None = None) -> bool:
    """Hide a comment and decide its reports; return False if it was hidden. Its author still sees it, with the reason."""
    now = clock.now_or(now)
    with transaction.atomic():
        rows = Comment.objects.filter(pk=comment.pk, hidden=None)
        if not rows.update(hidden=now, hidden_for=why, hidden_by=actor):
            return False
        news.of_hiding(comment, now=now)
        _decide(comment, ReportOutcome.HIDDEN, actor=actor, now=now)
    return True


def show(comment: Comment) -> bool:
    """Show a hidden comment again, and open the reports that its hiding closed; return False if it was not hidden."""
    with transaction.atomic():
        rows = Comment.objects.filter(pk=comment.pk, hidden__isnull=False)
        if not rows.update(hidden=None, hidden_for="", hidden_by=""):
            return False
        closed_reports = Report.objects.filter(comment=comment, outcome=ReportOutcome.HIDDEN)
        closed_reports.update(decided=None, decided_by="", outcome="")
    return True


def leave(comment: Comment, *, actor: str, now: datetime | None = None) -> int:
    """Leave a comment as it is, against all open reports of it; return their number."""
    with transaction.atomic():
        return _decide(comment, ReportOutcome.LEFT, actor=actor, now=clock.now_or(now))


def _decide(comment: Comment, outcome: ReportOutcome, *, actor: str, now: datetime) -> int:
    rows = Report.objects.filter(comment=comment, decided=None)
    news.of_decision(comment, rows, outcome, now=now)
    return rows.update(decided=now, decided_by=actor, outcome=outcome)
