"""Requests for studies. Everybody may read a study; whoever has an account may start one, or have it go on with more boards.

House bots play all boards, so a study tells nothing about anybody's bot. Nothing of it is rated.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

import engine
from engine.game import Game
from engine.studying import BOARDS, PAIRS, SEED, inputs_of, key_of
from engine.version import VERSION
from league.domain.core import clock
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.people import players
from league.domain.studies import parts
from league.enums import BotState, VersionStatus
from league.models import BotVersion, Player, Study

LEAST, USUAL, MOST = 64, 960, 10_000  # Boards of a study.
MOST_NEW = 1_000  # The same for a new account.
OPEN = 2  # Running studies of a player; the usual rules beside a variant are one of them.
KEPT = 50  # Studies of a player that are stored; those with the fewest boards are removed.


def begin(game: Game, player: Player, *, boards: int = USUAL, better: str = "", now: datetime | None = None) -> Study:
    """Start the study of these rules, and of the usual rules of the game beside it. Raise Refused or TooMany.

    A study that exists goes on until it has `boards`; if it has them, or runs for another player, it is returned as it is. One that an operator has
    stopped goes on for operators only. better: the stronger bot of a pair of `PAIRS`; empty: the strongest pair that plays the game.
    """
    now = clock.now_or(now)
    _check_boards(player, boards, now)
    boards = -(-boards // BOARDS) * BOARDS
    bots = _bots(game.key, better)
    inputs = inputs_of(VERSION, [(version.bot.slug, version.package_id) for version in bots], SEED)
    usual = engine.load(game.key)
    with transaction.atomic():
        players.lock(player.pk)
        players.refuse_banned(player)
        parent = None
        if key_of(usual, inputs) != key_of(game, inputs):
            parent = _start(usual, inputs, None, player, boards, now)
        row = _start(game, inputs, parent, player, boards, now)
        if refusal := why_ended(row, player, boards):
            raise refusal
        if running(player).count() > OPEN:
            raise TooMany("your last studies are still running; stop one, or wait for its end", retry_after=600)
        before = Study.objects.filter(player=player, decided__isnull=False, variants=None).exclude(pk=row.pk)
        # Whoever lets the study of another go on cannot remove it by starting many small ones.
        before = before.order_by("-played", "-pk")
        Study.objects.filter(pk__in=list(before.values_list("pk", flat=True)[KEPT:])).delete()
    return row


def why_ended(study: Study, player: Player | None, boards: int) -> Refused | None:
    """Return why a study that has ended cannot go on for this player until it has `boards`; None if it can, or runs, or has them."""
    if study.decided is None or (boards <= study.boards and not study.why):
        return None
    if study.why == parts.BY_OPERATOR and not (player is not None and player.user.is_staff):
        return Refused("an operator has stopped this study; ask an operator to let it go on")
    if study.spent_s > parts.MOST_S:
        return Refused(
            "this study has used the {hours} hours of workers that it may have", hours=int(parts.MOST_S // 3600)
        )
    return None


def running(player: Player) -> QuerySet[Study]:
    """Select the running studies that a player has started."""
    return Study.objects.filter(player=player, decided=None)


def _check_boards(player: Player, boards: int, now: datetime) -> None:
    if not LEAST <= boards <= MOST:
        raise Refused("a study has {least} to {most} boards, not {boards}", least=LEAST, most=MOST, boards=boards)
    hours = settings.TALK_AFTER_HOURS
    if boards > MOST_NEW and now - player.created < timedelta(hours=hours) and not player.user.is_staff:
        raise Refused(
            "in its first {hours} hours an account may study {most} boards; start with them, and add more later",
            hours=hours,
            most=MOST_NEW,
        )


def pairs(game: str) -> list[tuple[BotVersion, BotVersion]]:
    """Return the pairs of house bots that play a game, the stronger one first, the strongest pair first. One query."""
    names = {name for pair in PAIRS for name in pair}
    rows = BotVersion.objects.filter(
        bot__is_house=True, bot__slug__in=names, bot__state=BotState.ACTIVE, bot__stopped=None,
        status=VersionStatus.ACCEPTED,
    )  # fmt: skip
    newest: dict[str, BotVersion] = {}
    for version in rows.select_related("bot").order_by("number"):
        if version.plays(game):
            newest[version.bot.slug] = version
    return [(newest[better], newest[worse]) for better, worse in PAIRS if better in newest and worse in newest]


def _bots(game: str, better: str) -> tuple[BotVersion, BotVersion]:
    for pair in pairs(game):
        if better in ("", pair[0].bot.slug):
            return pair
    raise Refused("no such pair of house bots plays {game} here", game=game)


def _start(
    game: Game, inputs: dict[str, object], parent: Study | None, player: Player, boards: int, now: datetime
) -> Study:
    """Create a study, or let it go on until it has these boards. It stays as it is if it may not, or runs for another player."""
    rules = {"game": game.key, "revision": game.revision, "players": game.players, "options": dict(game.options)}
    first = {**rules, "inputs": inputs, "parent": parent, "player": player, "boards": boards, "begun": now}
    row, is_new = Study.objects.get_or_create(key=key_of(game, inputs), defaults=first)
    if not is_new:
        row = Study.objects.select_for_update(of=("self",)).get(pk=row.pk)
        if boards <= row.boards and not row.why:  # It runs, or has all boards.
            return row
        if row.decided is None and row.player_id != player.pk:  # Further boards would count in the limits of another.
            return row
        if why_ended(row, player, boards) is not None:
            return row
        if row.decided is not None:
            row.player, row.begun, row.why, row.decided = player, now, "", None
            last = row.parts.order_by("first").values_list("first", flat=True).last()
            row.boards = last + BOARDS - 1 if last else 0
        row.boards = max(boards, row.boards)
    parts.plan(row, now=now)
    return row


def may_stop(study: Study, player: Player | None) -> bool:
    """Return True for whoever started a running study, and for operators."""
    return player is not None and study.decided is None and (study.player_id == player.pk or player.user.is_staff)


def stop(study: Study, player: Player, *, now: datetime | None = None) -> bool:
    """Stop a study; its report so far stays, and it can go on later. Return False if it has ended already. Raise Forbidden."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Study.objects.select_for_update(of=("self",)).filter(pk=study.pk).first()
        if row is None:
            return False
        if row.player_id != player.pk and not player.user.is_staff:
            raise Forbidden("another player has started this study, so you cannot stop it")
        if row.decided is not None:
            return False
        parts.end(row, "stopped" if row.player_id == player.pk else parts.BY_OPERATOR, now=now)
    return True
