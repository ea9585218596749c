"""Names that people read: no bot, player, tournament, event or circuit can pass for another.

`league.pure.names` says which characters a name may hold and what it looks like; a row of TakenName, unique by that look, says whose it is.
Two people who take look-alikes at once are told apart by the database.
"""

from __future__ import annotations

from django.db import transaction

from league.domain.core.errors import Refused
from league.models import TakenName
from league.pure import names as pure

PLAYER, BOT = "player", "bot"
EVENT = "event"  # tournaments, events and circuits stand in the same lists


def checked(name: str) -> str:
    """The name as it is kept: composed, one space between words. Refused with the character that it may not hold, and why."""
    try:
        return pure.check(name)
    except pure.BadName as error:
        raise Refused.from_error(error) from error


def alike(name: str, other: str) -> bool:
    """Whether the two names can pass for each other."""
    return not pure.skeletons(name).isdisjoint(pure.skeletons(other))


def is_free(kind: str, name: str) -> bool:
    """Whether nobody has a name of this kind that looks like `name`."""
    return not TakenName.objects.filter(kind=kind, skeleton__in=pure.skeletons(name)).exists()


def take(kind: str, name: str, *, holder: str) -> None:
    """Keep `name` and all that looks like it for `holder`, for good. Taking it again changes nothing. Refused where another has it."""
    with transaction.atomic():
        # Sorted, so that two who take several looks at once cannot wait for each other
        for skeleton in sorted(pure.skeletons(name)):
            fresh = {"name": name, "holder": holder}
            rows = (
                TakenName.objects.select_for_update()
            )  # of two who call something alike, one looks for a free address after the other
            row, _ = rows.get_or_create(kind=kind, skeleton=skeleton, defaults=fresh)
            if row.holder != holder:
                raise Refused(
                    "the name {name!r} looks like {other!r}, which belongs to another; choose a name that nobody takes for it",
                    name=name,
                    other=row.name,
                )
