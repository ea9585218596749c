"""What operators may do: an account of the staff may look at everything, and do what it was given by name (`Right`), as permissions of Django.

A superuser may do everything, also in their own matter; the site needs none. Only commands give and take.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.contrib.auth.models import Permission, User
from django.db import transaction
from django.db.models import Q

from league.domain.core import clock, journal
from league.domain.core.errors import Refused
from league.domain.people import players
from league.enums import Right
from league.models import Player

STAFF, SUPERUSER = "staff", "superuser"  # words of roles beside those of rights
WORDS = (STAFF, *Right.values, SUPERUSER)


@dataclass(frozen=True)
class Operator:
    """Somebody who may more than others, and what was given to them: words of WORDS."""

    name: str
    words: tuple[str, ...]


def may(player: Player | None, right: str) -> bool:
    """Whether a player has a right. Two queries at most."""
    if player is None or not player.user.is_active:
        return False
    return player.user.is_superuser or (player.user.is_staff and player.user.has_perm(f"league.{right}"))


def rights_of(player: Player) -> list[str]:
    """The rights of a player, in one order."""
    return [right.value for right in Right if may(player, right)]


def words_of(player: Player) -> list[str]:
    """What was given to a player, in one order."""
    has = _has(User.objects.get(pk=player.user_id))
    return [word for word in WORDS if word in has]


def everybody() -> list[Operator]:
    """Superusers first, then the staff, by login name: that of the player, where there is one."""
    chosen = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True)).order_by("-is_superuser", "username")
    given = ((user, _has(user)) for user in chosen)
    return [Operator(user.get_username(), tuple(word for word in WORDS if word in has)) for user, has in given]


def change(
    player: Player, words: Iterable[str], *, give: bool, why: str, actor: str, now: datetime | None = None
) -> list[str]:
    """Give a player roles and rights, or take them; those that this changed. The journal has who did it and why.

    Rights are for the staff; whoever leaves the staff has none. A superuser is made by `createsuperuser` and unmade here. Raises Refused.
    """
    wanted = list(dict.fromkeys(words))
    for word in wanted:
        if word not in WORDS:
            raise Refused("there is no right {word!r}; choose some of {words}", word=word, words=", ".join(WORDS))
    if give and SUPERUSER in wanted:
        raise Refused("nobody is made a superuser here, and a league needs none; Django's createsuperuser does it")
    with transaction.atomic():
        players.lock(player.pk)
        user = User.objects.get(pk=player.user_id)
        has = _has(user)
        if give and not user.is_staff and STAFF not in wanted:
            raise Refused(
                "{name} is no operator; give `staff` too, which lets them look at everything", name=player.name
            )
        if not give and STAFF in wanted:
            wanted += [right for right in Right.values if right not in wanted]
        changed = [word for word in WORDS if word in wanted and (word in has) != give]
        if not changed:
            return []
        user.is_staff = give if STAFF in changed else user.is_staff
        user.is_superuser = user.is_superuser and SUPERUSER not in changed
        user.save(update_fields=["is_staff", "is_superuser"])
        rows = [_permission(word) for word in changed if word in Right.values]
        (user.user_permissions.add if give else user.user_permissions.remove)(*rows)
        word = "operator.given" if give else "operator.taken"
        journal.append(word, f"player:{player.name}", now=clock.now_or(now), actor=actor, why=why, words=changed)
    return changed


def _has(user: User) -> set[str]:
    """What is given to this account itself."""
    found = set(user.user_permissions.filter(content_type__app_label="league").values_list("codename", flat=True))
    return found | ({STAFF} if user.is_staff else set()) | ({SUPERUSER} if user.is_superuser else set())


def _permission(right: str) -> Permission:
    """Django makes it after the migration."""
    return Permission.objects.get(content_type__app_label="league", content_type__model="player", codename=right)
