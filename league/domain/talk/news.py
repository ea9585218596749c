"""Notices about comments: to whom a place belongs, to whom a comment answers, and to those whom a decision of operators concerns."""

from __future__ import annotations

from datetime import datetime

from django.db.models import Q, QuerySet

from league.domain.notices import notifying
from league.domain.talk import places
from league.domain.talk.places import Place
from league.enums import ReportOutcome
from league.models import Bot, Comment, FoundPuzzle, Player, Report

MOST = 20  # The most players who are notified of one comment.


def of_comment(row: Comment, place: Place, *, now: datetime) -> None:
    """Notify the author of the answered comment, and the owners of the place, if they may see it. A few queries for each."""
    words = {"place": place.name, "step": row.step, "player": row.author.name}
    repeated = {"now": now, "mark": str(row.pk), "actor": row.author}
    informed = {row.author_id}
    if row.answers is not None and row.answers.author_id not in informed:
        informed.add(row.answers.author_id)
        if places.find(place.name, row.answers.author):
            notifying.notify([row.answers.author], "answered", f"answer:{row.answers_id}", **repeated, **words)
    about = f"talk:{place.name}"[:120]
    if place.contest is not None:
        owner = place.contest.owner
        if owner.pk not in informed:
            notifying.notify([owner], "commented", about, **repeated, **words, tournament=place.contest.name)
        return
    text = "commented_puzzle" if place.puzzle else "commented_match"
    for bot in _bots(place):
        for player in _people(bot).exclude(pk__in=informed)[:MOST]:
            informed.add(player.pk)
            if place.puzzle or places.find(place.name, player):
                notifying.notify([player], text, about, **repeated, **words, bot=bot.slug)


def _bots(place: Place) -> QuerySet[Bot]:
    """Select the bots of the match at a place, or of the match in which its puzzle was found."""
    match = place.match or FoundPuzzle.objects.filter(puzzle=place.puzzle).values("match")
    lookup = "versions__parties__match" if place.match else "versions__parties__match__in"
    return Bot.objects.filter(**{lookup: match}, is_house=False).distinct().order_by("pk")


def _people(bot: Bot) -> QuerySet[Player]:
    """Select the owner of a bot and the members of its team."""
    members = Q(memberships__team=bot.team_id, memberships__since__isnull=False) if bot.team_id else Q()
    return Player.objects.filter(Q(pk=bot.owner_id) | members).select_related("user").distinct().order_by("pk")


def of_hiding(comment: Comment, *, now: datetime) -> None:
    """Notify the author of a comment that was just hidden, with the reason."""
    why = Comment.objects.values_list("hidden_for", flat=True).get(pk=comment.pk).rstrip(".")
    about, mark = f"hidden:{comment.pk}", f"{now}"
    notifying.notify([comment.author], "comment_hidden", about, now=now, mark=mark, why=why, comment=comment.pk)


def of_decision(comment: Comment, reports: QuerySet[Report], outcome: ReportOutcome, *, now: datetime) -> None:
    """Notify the players whose reports of a comment are decided now."""
    reporters = Player.objects.filter(pk__in=reports.values("reporter"))
    words = {"place": places.name_of(comment), "step": comment.step}
    notifying.notify(reporters, f"report_{outcome.value}", f"report:{comment.pk}", now=now, mark=f"{now}", **words)
