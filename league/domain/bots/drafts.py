"""Drafts: texts that an author is writing in the editor, one for each of their bots, and for a new bot, in each language.

Only its author can read a draft; not even operators can. Submitting the text or discarding the draft removes it. A player has at most `MOST`
drafts, each no longer than the text of a try; a further one replaces the one that was changed longest ago.
"""

from __future__ import annotations

from datetime import datetime

from django.db import transaction

from league.domain.bots import tries
from league.domain.bots.languages import PYTHON, Language
from league.domain.core import clock
from league.domain.core.errors import Refused
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.models import Bot, Draft, Player

MOST = 40  # More than the bots that a player may have by default.
NEW = ""  # The key of the draft of a new bot, which has no name yet.


def save(player: Player, bot: str, text: str, *, language: Language = PYTHON, now: datetime | None = None) -> Draft:
    """Store the text as the draft of the player's own bot `bot` (NEW: a new bot). Raise Refused for a text that could not be tried."""
    now = clock.now_or(now)
    tries.checked(text)
    with transaction.atomic():
        players.lock(player.pk)
        if bot != NEW and not Bot.objects.filter(ownership.owned(player, BotAct.UPLOAD), slug=bot).exists():
            raise Refused("you have no bot {bot!r}, so it has no draft; choose one of yours", bot=bot)
        draft, _ = Draft.objects.update_or_create(
            player=player, bot=bot, language=language.key, defaults={"text": text, "updated": now}
        )
        spare = player.drafts.order_by("-updated", "-pk").values_list("pk", flat=True)[MOST:]
        Draft.objects.filter(pk__in=list(spare)).delete()
    return draft


def of_player(player: Player) -> list[Draft]:
    """Return the player's drafts without their texts, the last changed first. One query."""
    return list(player.drafts.defer("text").order_by("-updated", "-pk"))


def find(player: Player, bot: str, language: Language | None = None) -> Draft | None:
    """Return the player's draft of one bot (NEW: a new bot) in a language; without `language`, the draft changed last; or None. One query."""
    rows = player.drafts.filter(bot=bot, **({"language": language.key} if language else {}))
    return rows.order_by("-updated", "-pk").first()


def discard(player: Player, bot: str, language: Language) -> bool:
    """Remove the player's draft of one bot in a language. Return False if there is none."""
    return bool(player.drafts.filter(bot=bot, language=language.key).delete()[0])
