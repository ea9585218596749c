"""Names that people read: no two bots, players, tournaments, events or circuits may look alike.

`league.pure.names` defines which characters a name may have and which names look alike. A row of TakenName, unique by skeleton, records the holder,
so if two people take similar names at the same time, the database decides.
"""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

from django.db import transaction

from league.domain.core import clock
from league.domain.core.errors import Refused
from league.models import TakenName
from league.pure import names as pure

PLAYER, BOT = "player", "bot"
EVENT = "event"  # Tournaments, events and circuits share a namespace, because the same lists show them.
HELD = timedelta(days=90)  # A name that its holder has given up becomes free after this time.


def checked(name: str) -> str:
    """Return the name in its stored form: composed, with single spaces. Raise Refused if it has a character that is not allowed."""
    try:
        return pure.check(name)
    except pure.BadName as error:
        raise Refused.from_error(error) from error


def alike(name: str, other: str) -> bool:
    """Return True if the two names can pass for each other."""
    return not pure.skeletons(name).isdisjoint(pure.skeletons(other))


def is_free(kind: str, name: str) -> bool:
    """Return True if nobody has a name of this kind that looks like `name`."""
    return not TakenName.objects.filter(kind=kind, skeleton__in=pure.skeletons(name)).exists()


def take(kind: str, name: str, *, holder: str, now: datetime | None = None) -> None:
    """Reserve `name` and all names that look like it for `holder`; repeatable.

    Raise Refused if somebody else has it, or has recently given it up.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        # In a fixed order, so that two transactions cannot deadlock over several skeletons.
        for skeleton in sorted(pure.skeletons(name)):
            fresh = {"name": name, "holder": holder}
            # Locked, so that of two similar names the second one looks for a free address only after the first has its own.
            rows = TakenName.objects.select_for_update()
            row, _ = rows.get_or_create(kind=kind, skeleton=skeleton, defaults=fresh)
            if row.holder != holder and (row.until is None or row.until > now):
                raise Refused(
                    "the name {name!r} looks like {other!r}, which is taken; choose a name that nobody confuses with it",
                    name=name,
                    other=row.name,
                )
            if row.until is not None:
                TakenName.objects.filter(pk=row.pk).update(**fresh, until=None)


def give_up(kind: str, name: str, *, holder: str, now: datetime, after: timedelta = HELD) -> None:
    """Free a name after some time. Until then nobody can pass for its last holder, whose links and results people still know. Repeatable."""
    rows = TakenName.objects.filter(kind=kind, skeleton__in=pure.skeletons(name), holder=holder, until=None)
    rows.update(until=now + after)


def given_up(kind: str, *, holder: str, now: datetime) -> set[str]:
    """Return the names that `holder` has given up, but that are not free yet. One query, using the index."""
    rows = TakenName.objects.filter(kind=kind, holder=holder, until__gt=now)
    return set(rows.values_list("name", flat=True))


def holders(kind: str, read_names: Collection[str]) -> dict[str, str]:
    """Return the holders of these names. One query, using the index."""
    looks = {look for name in read_names for look in pure.skeletons(name)}
    rows = TakenName.objects.filter(kind=kind, skeleton__in=looks)
    return {name: holder for name, holder in rows.values_list("name", "holder") if name in read_names}
