"""Closing an account: the name and everything private go, the bots retire, and results stay, because the ratings of others depend on them.

The player gets a name that says nothing. Nobody can ever take the old one, because old lines of the journal, which only operators read, still have
it. The bots retire as if the owner had retired each: they finish their queued matches and enter nothing more, so that closing an account spoils no
tournament and escapes no result.
"""

from __future__ import annotations

import secrets
from collections.abc import Collection
from contextlib import suppress
from datetime import datetime

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Model, Q

from league.domain.bots import bots, sources, teams
from league.domain.core import clock, journal, names, search_words, transitions
from league.domain.core.errors import IllegalMove, Refused
from league.domain.people import players, sessions
from league.enums import BotState, ClassRole, MatchKind, RequestStatus
from league.models import (
    Audit,
    Block,
    Bot,
    BotOffer,
    Case,
    ClassMember,
    Comment,
    Draft,
    EntryRequest,
    Fetch,
    Follow,
    GitLink,
    IdempotencyKey,
    LeagueEvent,
    Match,
    Mistake,
    MistakeSearch,
    Notice,
    NoticeChoice,
    Player,
    PuzzleAnswer,
    Report,
    SchoolClass,
    Solver,
    Study,
    Subscription,
    Table,
    TableChallenge,
    TablePerson,
    TakenName,
    Tuning,
    Webhook,
)
from league.pure.names import skeletons

# Columns with the name of the operator who decided.
DECIDED_BY: tuple[tuple[type[Model], str], ...] = (
    (Audit, "closed_by"),
    (Case, "closed_by"),
    (Comment, "hidden_by"),
    (Report, "decided_by"),
)


def close(player: Player, *, now: datetime | None = None) -> str:
    """Close the account of a player for good, and return the player's new name. Repeatable.

    Raise Refused for the house, for the last owner of a team with other members, and for an operator, whose role must be revoked first.

    A try that a worker is playing is removed when it is old.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        teams.leave_all(player, now=now)  # Teams are locked before players.
        players.lock(player.pk)
        row = Player.objects.select_related("user").get(pk=player.pk)
        _check(row)
        if not row.user.is_active:
            return row.name
        new = f"{players.CLOSED}{secrets.token_hex(5)}"
        row.offers.all().delete()
        for bot in Bot.objects.filter(owner=row).exclude(state=BotState.RETIRED).order_by("pk"):
            bots.set_state(bot, BotState.RETIRED, actor=row.name, now=now)
        BotOffer.objects.filter(bot__owner=row).delete()
        sources.drop_plans(row)
        _remove_private(row, now)
        _rename(row, new, now)
        sessions.end(row.user_id, now=now)
        row.tokens.all().delete()
        row.passkeys.all().delete()
        journal.append("player.closed", f"player:{new}", now=now, actor=new)
    player.refresh_from_db()
    return new


def former(names_read: Collection[str]) -> set[str]:
    """Return those of these names that a closed account had. One query, using the index."""
    looks = {look for name in names_read for look in skeletons(name)}
    rows = TakenName.objects.filter(
        kind=names.PLAYER, skeleton__in=looks, holder__startswith=f"player:{players.CLOSED}"
    )
    return set(rows.values_list("name", flat=True)) & set(names_read)


def _check(player: Player) -> None:
    if player.name == players.HOUSE:
        raise Refused("the house cannot be closed")
    if player.user.is_staff or player.user.is_superuser:
        raise Refused(
            "{name} is an operator; ask another operator to take the role first, then close the account",
            name=player.name,
        )


def _remove_private(player: Player, now: datetime) -> None:
    """Remove everything that only the player could read, and what the player has asked of others."""
    for request in player.requests.filter(status=RequestStatus.ASKED).order_by("pk"):
        with suppress(IllegalMove):  # It has just been answered.
            transitions.move(request, RequestStatus.WITHDRAWN, now=now, actor=player.name, answered=now)
    EntryRequest.objects.filter(asker=player).update(message="")
    Match.work.filter(kind=MatchKind.TRY, owner=player).exclude(status__in=Match.HELD).delete()
    # What others answered stays. Nothing is left to judge about a comment without its text.
    Comment.objects.filter(author=player, deleted=None).update(text="", deleted=now)
    Report.objects.filter(Q(reporter=player, decided=None) | Q(comment__author=player)).delete()
    Block.objects.filter(Q(owner=player) | Q(blocked=player)).delete()
    Notice.objects.filter(actor=player).delete()  # They have the name.
    Follow.objects.filter(person=player).delete()
    TableChallenge.objects.filter(Q(player=player) | Q(challenger=player)).delete()
    Study.objects.filter(player=player).update(player=None)  # Others read them.
    taught = list(player.classes.filter(role=ClassRole.TEACHER).values_list("school_class", flat=True))
    for model in (
        ClassMember,
        Draft,
        Fetch,
        Follow,
        GitLink,
        IdempotencyKey,
        Notice,
        NoticeChoice,
        Mistake,
        MistakeSearch,
        PuzzleAnswer,
        Solver,
        Subscription,
        Tuning,
        Webhook,
    ):
        model._default_manager.filter(player=player).delete()
    with_teacher = ClassMember.objects.filter(school_class__in=taught, role=ClassRole.TEACHER).values("school_class")
    SchoolClass.objects.filter(pk__in=taught).exclude(pk__in=with_teacher).delete()
    Table.objects.filter(people__player=player, shared=False).delete()
    # At a table of several people a bot plays on, and the seat keeps the new name.
    TablePerson.objects.filter(player=player, seated=True).update(seated=False, away=True)


def _rename(player: Player, new: str, now: datetime) -> None:
    TakenName.objects.filter(holder=f"player:{player.name}").update(holder=f"player:{new}")
    names.take(names.PLAYER, new, holder=f"player:{new}", now=now)
    Player.objects.filter(pk=player.pk).update(name=new, calendar_link="", open_data=None)
    search_words.put(player, new)
    if LeagueEvent.objects.filter(actor=player.name, kind="operator.acted").exists():  # As an operator.
        for model, column in DECIDED_BY:
            model._default_manager.filter(**{column: player.name}).update(**{column: new})
    player.user.set_unusable_password()
    blank = dict.fromkeys(("email", "first_name", "last_name"), "")
    User.objects.filter(pk=player.user_id).update(username=new, is_active=False, password=player.user.password, **blank)
