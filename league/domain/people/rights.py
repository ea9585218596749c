"""Rights of operators. Staff may look at everything; each right (`Right`, a Django permission) allows one kind of action.

A superuser may do everything, even where their own bots are concerned; the league needs no superuser. Only commands grant and revoke rights.
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

STAFF, SUPERUSER = "staff", "superuser"  # Roles; all other words are rights.
WORDS = (STAFF, *Right.values, SUPERUSER)


@dataclass(frozen=True)
class Operator:
    """An operator with roles and rights, in the order of WORDS."""

    name: str
    words: tuple[str, ...]


def may(player: Player | None, right: str) -> bool:
    """Return True if a player has a right. At most two queries."""
    if player is None or not player.user.is_active:
        return False
    return player.user.is_superuser or (player.user.is_staff and player.user.has_perm(f"league.{right}"))


def holders(right: str) -> list[Player]:
    """Return the players who have a right. One query, and two at most for each member of staff."""
    staff = Player.objects.filter(Q(user__is_staff=True) | Q(user__is_superuser=True)).select_related("user")
    return [player for player in staff.order_by("pk") if may(player, right)]


def rights_of(player: Player) -> list[str]:
    """Return the rights of a player, in the order of `Right`."""
    return [right.value for right in Right if may(player, right)]


def words_of(player: Player) -> list[str]:
    """Return the roles and rights granted to a player, in the order of WORDS."""
    granted = _granted(User.objects.get(pk=player.user_id))
    return [word for word in WORDS if word in granted]


def operators() -> list[Operator]:
    """Return all operators: superusers, then staff, each sorted by login name (the player's name, if there is a player)."""
    users = User.objects.filter(Q(is_staff=True) | Q(is_superuser=True)).order_by("-is_superuser", "username")
    grants = ((user, _granted(user)) for user in users)
    return [Operator(user.get_username(), tuple(word for word in WORDS if word in granted)) for user, granted in grants]


def change(
    player: Player, words: Iterable[str], *, give: bool, why: str, actor: str, now: datetime | None = None
) -> list[str]:
    """Grant roles and rights to a player, or revoke them; return those that changed. The journal records actor and reason.

    Only staff have rights; revoking "staff" revokes them all. `createsuperuser` makes a superuser, this function can only revoke the role. Raise
    Refused.
    """
    chosen = list(dict.fromkeys(words))
    for word in chosen:
        if word not in WORDS:
            raise Refused("there is no right {word!r}; choose some of {words}", word=word, words=", ".join(WORDS))
    if give and SUPERUSER in chosen:
        raise Refused(
            "this command cannot create a superuser, and a league needs none; Django's createsuperuser creates one"
        )
    with transaction.atomic():
        players.lock(player.pk)
        user = User.objects.get(pk=player.user_id)
        granted = _granted(user)
        if give and not user.is_staff and STAFF not in chosen:
            raise Refused(
                "{name} is not an operator; grant `staff` as well, which lets them look at everything", name=player.name
            )
        if not give and STAFF in chosen:
            chosen += [right for right in Right.values if right not in chosen]
        changed = [word for word in WORDS if word in chosen and (word in granted) != give]
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


def _granted(user: User) -> set[str]:
    """Return the roles and rights that the account itself has."""
    granted = set(user.user_permissions.filter(content_type__app_label="league").values_list("codename", flat=True))
    return granted | ({STAFF} if user.is_staff else set()) | ({SUPERUSER} if user.is_superuser else set())


def _permission(right: str) -> Permission:
    """Return the permission that Django creates after the migration."""
    return Permission.objects.get(content_type__app_label="league", content_type__model="player", codename=right)
