"""Ownership of bots: who may do what with a bot, and which bots belong to the same people.

A bot has one owner, who may do everything and is responsible for it. If it is in a team, the members may do what their roles allow.

For the rules of fairness (who meets whom, what counts, how many bots enter), all members of its team count as owners of a bot, too. Somebody who
leaves the team, and an owner who hands the bot on, still count for the time COUNTS, so that nobody gains by leaving.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime, timedelta
from enum import Enum

from django.db.models import Q, QuerySet

from league.domain.core import clock, names
from league.enums import TeamRole
from league.models import Bot, CoOwner, LeagueEvent, Player, TeamMember

COUNTS = timedelta(days=90)
HANDED_ON = "bot.handed_on"  # The kind of the journal's lines that name the former owner (`was`).
MOST_NAMED = 500  # The most bots that a query names.


class BotAct(Enum):
    """A kind of act on a bot."""

    LOOK = "look"  # Read logs, faults, notes and history; operators may, too.
    CODE = "code"  # Read the source; operators may not.
    UPLOAD = "upload"
    ENTER = "enter"  # Enter and withdraw the bot, and challenge with it.
    MANAGE = "manage"  # Describe, pause and retire it, answer requests for it, take it out of its team.
    MOVE = "move"  # Hand it on, or put it in a team: only its owner may.


READS = frozenset({BotAct.LOOK, BotAct.CODE})
USES = READS | {BotAct.UPLOAD, BotAct.ENTER}
ALLOWED = {TeamRole.READER: READS, TeamRole.UPLOADER: USES, TeamRole.OWNER: USES | {BotAct.MANAGE}}


def may(player: Player | None, bot: Bot, act: BotAct) -> bool:
    """Return True if a player (None: an anonymous client) may do this with a bot. One query at most, only for a bot in a team."""
    return act in acts_of(player, bot)


def acts_of(player: Player | None, bot: Bot) -> frozenset[BotAct]:
    """Return all that a player may do with a bot. One query for somebody else's bot in a team, unless the player's memberships are read."""
    if player is None:
        return frozenset()
    if bot.owner_id == player.pk:
        return frozenset(BotAct)
    acts: frozenset[BotAct] = frozenset()
    if bot.team_id is not None:
        rows = [row for row in player.memberships.all() if row.team_id == bot.team_id and row.since is not None]
        acts = acts.union(*(ALLOWED[TeamRole(row.role)] for row in rows))
    return acts | {BotAct.LOOK} if player.user.is_staff else acts


def may_stop(player: Player | None, bot: Bot, act: BotAct, starter: int) -> bool:
    """Return True if a player may stop what `starter` began with a bot by an act of this kind.

    Whoever may do the same with the bot takes it over. Who has left may still stop what they began, and no more, because it costs them their limit.
    """
    return (player is not None and player.pk == starter) or may(player, bot, act)


def allowed_bots(player: Player | None, bots: Iterable[Bot], act: BotAct) -> set[int]:
    """Return the ids of those of these bots that are the player's own, or in whose team they may do this. One query if some are in teams."""
    if player is None:
        return set()
    bots = list(bots)
    own = {bot.pk for bot in bots if bot.owner_id == player.pk}
    teams = {bot.team_id for bot in bots if bot.team_id is not None and bot.pk not in own}
    if teams:
        teams &= set(_teams(player, act).filter(team__in=teams).values_list("team", flat=True))
    return own | {bot.pk for bot in bots if bot.team_id in teams}


def owned(player: Player | None, act: BotAct, path: str = "") -> Q:
    """Return the condition that the bot at `path` ("version__bot__") is the player's own, or in a team in which they may do this. No query."""
    if player is None:
        return Q(pk__in=[])
    return Q(**{f"{path}owner": player}) | Q(**{f"{path}team__in": _teams(player, act).values("team")})


def _teams(player: Player, act: BotAct) -> QuerySet[TeamMember]:
    roles = [role for role, acts in ALLOWED.items() if act in acts]
    return TeamMember.objects.filter(player=player, since__isnull=False, role__in=roles)


def people_of(bots: Iterable[Bot], *, now: datetime | None = None) -> dict[int, frozenset[int]]:
    """Return the players who count as owners of each bot, by its id. One query.

    House bots may meet each other, so each counts as owned by itself.
    """
    people = {bot.pk: {-bot.pk} if bot.is_house else {bot.owner_id} for bot in bots}
    rows = CoOwner.objects.filter(counting(clock.now_or(now)))
    if len(people) <= MOST_NAMED:
        rows = rows.filter(bot__in=people)
    for bot, player in rows.values_list("bot", "player"):
        if bot in people:
            people[bot].add(player)
    return {bot: frozenset(players) for bot, players in people.items()}


def are_apart(people: Sequence[frozenset[int]]) -> bool:
    """Return True if nobody is among the owners of two bots, given the people of each."""
    return len(frozenset().union(*people)) == sum(map(len, people))


def bots_of_people(players: Collection[int], *, now: datetime | None = None) -> QuerySet[Bot]:
    """Select the bots of which one of these players counts as an owner. No query."""
    co_owned = CoOwner.objects.filter(counting(clock.now_or(now)), player__in=players).values("bot")
    return Bot.objects.filter(Q(owner__in=players) | Q(pk__in=co_owned), is_house=False)


def related_bots(bot: Bot, *, now: datetime | None = None) -> QuerySet[Bot]:
    """Select the bots that belong to the same people as this one, itself included. One query."""
    return bots_of_people(people_of([bot], now=now)[bot.pk], now=now)


def counting(now: datetime) -> Q:
    """Return the condition that a co-owner counts."""
    return Q(until=None) | Q(until__gt=now)


def note_people(bots: Iterable[Bot], *, now: datetime) -> None:
    """Record who counts as an owner of these bots, within the transaction that changed their team, its members, or their owner. Repeatable.

    Whoever does not any more counts until COUNTS have passed; `count_former` notes an owner who has handed a bot on.
    """
    for bot in bots:
        members = set()
        if bot.team_id is not None:
            rows = TeamMember.objects.filter(team=bot.team_id, since__isnull=False).exclude(player=bot.owner_id)
            members = set(rows.values_list("player", flat=True))
        CoOwner.objects.filter(bot=bot, until=None).exclude(player__in=members).update(until=now + COUNTS)
        CoOwner.objects.bulk_create(
            [CoOwner(bot=bot, player_id=member) for member in sorted(members)],
            update_conflicts=True,
            unique_fields=["bot", "player"],
            update_fields=["until"],
        )


def count_former(bot: Bot, owner: int, *, now: datetime) -> None:
    """Record that somebody owned a bot until now."""
    CoOwner.objects.update_or_create(bot=bot, player_id=owner, defaults={"until": now + COUNTS})


def former_owners(since: datetime) -> dict[int, list[tuple[datetime, int]]]:
    """Return who owned the bots that were handed on since then: by bot, the time of each hand-over and its former owner, oldest first.

    A query, and three for each MOST_NAMED of these bots.
    """
    moved = dict(Bot.objects.filter(co_owners__until__gt=since + COUNTS).values_list("slug", "pk"))
    slugs = sorted(moved)
    owners: defaultdict[int, list[tuple[datetime, int]]] = defaultdict(list)
    for start in range(0, len(slugs), MOST_NAMED):
        subjects = {f"bot:{slug}": moved[slug] for slug in slugs[start : start + MOST_NAMED]}
        lines = LeagueEvent.objects.filter(subject__in=subjects, kind=HANDED_ON, at__gt=since).order_by("at", "id")
        rows = list(lines.values_list("subject", "at", "data"))
        ids = _ids_of({data["was"] for *_, data in rows})
        for subject, at, data in rows:
            if data["was"] in ids:
                owners[subjects[subject]].append((at, ids[data["was"]]))
    return owners


def _ids_of(old_names: Collection[str]) -> dict[str, int]:
    """Return the players who have or had these names, closed accounts included. Two queries."""
    holders = names.holders(names.PLAYER, old_names)
    rows = Player.objects.filter(name__in={holder.partition(":")[2] for holder in holders.values()})
    ids = {f"player:{name}": pk for name, pk in rows.values_list("name", "pk")}
    return {name: ids[holder] for name, holder in holders.items() if holder in ids}
