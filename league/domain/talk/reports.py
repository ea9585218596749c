"""Reports of comments: players file them, operators decide them (league.domain.operators)."""

from __future__ import annotations

from datetime import datetime

from django.db import transaction
from django.db.models import Count, Min, Prefetch, QuerySet

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import quotas
from league.enums import ReportReason
from league.models import Comment, Player, Report

MOST_LISTED = 50  # The most comments on the page of operators.


def report(player: Player, comment: Comment, reason: str, *, now: datetime | None = None) -> Report:
    """Report a comment that the player sees. Repeatable: the first report of a player counts. Raise Refused."""
    now = clock.now_or(now)
    if reason not in ReportReason.values:
        raise Refused("Choose a reason: one of {reasons}.", reasons=", ".join(ReportReason.values))
    if comment.author_id == player.pk:
        raise Refused("This comment is yours. You can delete it.")
    with transaction.atomic():
        quotas.ask(player, quotas.REPORTS, now=now)
        row, _fresh = Report.objects.get_or_create(
            comment=comment, reporter=player, defaults={"reason": reason, "text": comment.text, "created": now}
        )
    return row


def reported() -> QuerySet[Comment]:
    """Select the comments with open reports, by the number of reports and the time of the first. Those of banned players wait until the ban ends."""
    rows = Comment.objects.filter(reports__decided=None, reports__isnull=False, author__banned=None)
    counted = rows.annotate(count=Count("reports"), first=Min("reports__created"))
    waiting = Prefetch("reports", Report.objects.filter(decided=None).select_related("reporter").order_by("pk"))
    return counted.select_related("author").prefetch_related(waiting).order_by("-count", "first", "pk")
