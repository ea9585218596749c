"""The tournament of a class: a private event, to which the students of the class are invited (those who join later, too: `classes.join`).

Nobody sees its results before its show, which the class watches on the wall.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.db import transaction

from league.domain.classes import classes
from league.domain.core import clock
from league.domain.ratings import pools
from league.domain.tournaments import events, releases, tournaments
from league.enums import Audience, ClassRole
from league.models import Assignment, ClassMember, Event, SchoolClass

PACE_S = 60  # Of a board in the show.
MOST_MEET_ALL = 12  # Up to this many students all bots meet; of more, bots of like strength.


def create(teacher: ClassMember, assignment: Assignment, *, now: datetime | None = None) -> Event:
    """Create an open private tournament at the table of an assignment. Teachers and students of the class are its guests."""
    now = clock.now_or(now)
    pool = assignment.pool
    with transaction.atomic():
        row = classes.lock(teacher)
        members = list(row.members.values_list("player", "role"))
        students = sum(role == ClassRole.STUDENT for _player, role in members)
        usual = pools.load(pool.game)
        plan: dict[str, Any] = {
            "name": f"{row.name}: {assignment.title}"[:60],
            "game": pool.game,
            "stages": [
                {
                    "format": "round_robin" if students <= MOST_MEET_ALL or len(usual.sides) > 2 else "swiss",
                    "boards": tournaments.default_boards(pool.game, pool.players, pool.options),
                }
            ],
        }
        if pool.options:
            plan["options"] = pool.options
        if pool.players != usual.players:
            plan["players"] = pool.players
        terms = releases.ReleaseTerms(audience=Audience.HIDDEN, private=True, pace_s=PACE_S)
        event = events.create(teacher.player, plan, [], terms=terms, wait=True, now=now)
        releases.add(event, (player for player, _role in members), now=now)
        SchoolClass.objects.filter(pk=row.pk).update(event=event)
    return event
