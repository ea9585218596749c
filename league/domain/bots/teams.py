"""Teams: people who share bots. Members join by an invitation that they accept; `league.domain.people.ownership` says what a role allows.

A team has no bots of its own: each bot in it has an owner among its members, and goes back to that owner when it leaves the team. Every change
locks the team first, then players, then bots.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import F, QuerySet

from league.domain.core import clock, journal, names, search_words
from league.domain.core.errors import Forbidden, Refused, TooMany
from league.domain.people import ownership, players
from league.domain.people.ownership import BotAct
from league.enums import BotState, RequestStatus, TeamRole, TournamentStatus
from league.models import Block, Bot, Circuit, Entry, EntryRequest, LeagueEvent, Player, Team, TeamMember

MOST_MEMBERS = 12  # Invited players included.
MOST_TEAMS = 5  # Teams of one player.
MOST_BOTS = 30  # Bots of one team.
MOST_INVITATIONS = 10  # Invitations by one player in one team in a day.
AGAIN = timedelta(days=30)  # A team cannot invite somebody again before this time after they declined.
MOST_RENAMES = 2  # Renames by one player in one team in a day.
KNOWN_AFTER = timedelta(days=1)  # The name of a team that ends earlier is free at once.
LIVE = (TournamentStatus.OPEN, TournamentStatus.RUNNING)


def subject(team: Team) -> str:
    """Return the name of a team in the journal. It stays when the team is renamed."""
    return f"team:{team.pk}"


def create(player: Player, name: str, *, now: datetime | None = None) -> Team:
    """Create a team with the player as its only member and owner. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        players.lock(player.pk)
        _check_room(player)
        players.check_name(name)
        team, is_new = Team.objects.get_or_create(name=name, defaults={"created": now})
        if not is_new:  # Somebody created it in the meantime.
            raise Refused("the name {name!r} is taken; choose another", name=name)
        names.take(names.PLAYER, name, holder=subject(team), now=now)
        search_words.put(team, name)
        TeamMember.objects.create(team=team, player=player, role=TeamRole.OWNER, invited=now, since=now)
        journal.append("team.created", subject(team), now=now, actor=player.name, name=name)
    return team


def invite(team: Team, name: str, role: str, *, player: Player, now: datetime | None = None) -> TeamMember:
    """Invite another player, as an owner of the team. Raise Refused or TooMany."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        _check_owner(team, player)
        role = _checked(role)
        guest = Player.objects.filter(name=name).exclude(name__startswith=players.CLOSED).first()
        if guest is None or guest.name == players.HOUSE:
            raise Refused("there is no player {name!r}", name=name)
        if team.members.filter(player=guest).exists():
            raise Refused("{name} is in the team or invited already", name=name)
        if Block.objects.filter(owner=guest, blocked=player).exists():
            raise Refused("{name} accepts no requests from you", name=name)
        if team.members.count() >= MOST_MEMBERS:
            raise Refused("a team has at most {most} members", most=MOST_MEMBERS)
        no = journal.latest_by(subject(team), ["team.declined"], name)
        if no is not None and no.at + AGAIN > now:
            raise Refused(
                "{name} declined lately; invite them again after {day}", name=name, day=f"{no.at + AGAIN:%Y-%m-%d}"
            )
        again = journal.again_at(subject(team), ["team.invited"], player.name, MOST_INVITATIONS, now=now)
        if again is not None:
            raise TooMany(
                "You can invite more people tomorrow.", retry_after=max(1, int((again - now).total_seconds()))
            )
        member = TeamMember.objects.create(team=team, player=guest, role=role, invited=now)
        journal.append("team.invited", subject(team), now=now, actor=player.name, player=name, to=role)
    return member


def invitations(player: Player) -> QuerySet[TeamMember]:
    """Select the invitations that a player has not answered, oldest first. No query."""
    return player.memberships.filter(since=None).select_related("team").order_by("invited", "pk")


def accept(team: Team, player: Player, *, is_shown: bool = False, now: datetime | None = None) -> None:
    """Join a team as an invited player; `is_shown`: everybody may read it. Repeatable.

    Raise Refused if a contest would then have bots of the same people that entered as bots of different ones.
    """
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        member = _member(team, player, joined=None)
        if member.since is not None:
            return
        _check_room(player)
        lock_people(team.bots.all(), player)
        bots = list(team.bots.order_by("pk"))
        check_apart(bots, [player.pk], now)
        TeamMember.objects.filter(pk=member.pk).update(since=now, is_public=is_shown)
        ownership.note_people(bots, now=now)
        journal.append("team.joined", subject(team), now=now, actor=player.name)


def decline(team: Team, player: Player, *, now: datetime | None = None) -> None:
    """Decline an invitation. Repeatable."""
    with transaction.atomic():
        if team.members.filter(player=player, since=None).delete()[0]:
            journal.append("team.declined", subject(team), now=clock.now_or(now), actor=player.name)


def show(team: Team, player: Player, *, is_shown: bool, now: datetime | None = None) -> None:
    """Let everybody read, or nobody else, that the player is in the team. Repeatable."""
    member = _member(team, player)
    if member.is_public != is_shown:
        TeamMember.objects.filter(pk=member.pk).update(is_public=is_shown)
        journal.append("team.shown", subject(team), now=clock.now_or(now), actor=player.name, to=is_shown)


def set_role(team: Team, name: str, role: str, *, player: Player, now: datetime | None = None) -> None:
    """Change the role of a member, as an owner of the team. Repeatable. Raise Refused if no owner would remain."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        _check_owner(team, player)
        role = _checked(role)
        member = _named(team, name)
        if member.role == role:
            return
        if role != TeamRole.OWNER:
            _check_other_owner(team, member)
        TeamMember.objects.filter(pk=member.pk).update(role=role)
        journal.append("team.role", subject(team), now=now, actor=player.name, player=name, was=member.role, to=role)


def leave(team: Team, player: Player, *, now: datetime | None = None) -> None:
    """Leave a team with one's own bots. Raise Refused for its last owner, unless nobody else is in it: then the team ends."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        member = _member(team, player)
        if not team.members.filter(since__isnull=False).exclude(pk=member.pk).exists():
            _end(team, player, now)
            return
        _check_other_owner(team, member)
        _part(team, member, now)
        journal.append("team.left", subject(team), now=now, actor=player.name)


def remove(team: Team, name: str, *, player: Player, now: datetime | None = None) -> None:
    """Remove another member with their bots, or withdraw an invitation, as an owner of the team."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        _check_owner(team, player)
        member = _named(team, name)
        if member.player_id == player.pk:
            raise Refused("use “Leave the team” to leave")
        _part(team, member, now)
        journal.append("team.removed", subject(team), now=now, actor=player.name, player=name)


def rename(team: Team, name: str, *, player: Player, now: datetime | None = None) -> None:
    """Rename a team, as one of its owners. Nobody else can take the old name for a time."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = _lock(team)
        _check_owner(team, player)
        if name == row.name:
            return
        again = journal.again_at(subject(team), ["team.renamed"], player.name, MOST_RENAMES, now=now)
        if again is not None:
            raise TooMany(
                "You can rename the team again tomorrow.", retry_after=max(1, int((again - now).total_seconds()))
            )
        if name not in names.given_up(names.PLAYER, holder=subject(team), now=now):
            players.check_name(name)
        names.take(names.PLAYER, name, holder=subject(team), now=now)
        if not names.alike(name, row.name):
            names.give_up(names.PLAYER, row.name, holder=subject(team), now=now)
        Team.objects.filter(pk=team.pk).update(name=name)
        search_words.put(team, name)
        journal.append("team.renamed", subject(team), now=now, actor=player.name, was=row.name, to=name)
    team.name = name


def dissolve(team: Team, *, player: Player, now: datetime | None = None) -> None:
    """End a team, as one of its owners. Its bots go back to their owners."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        _check_owner(team, player)
        _end(team, player, now)


def put_in(team: Team, bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """Put the player's own bot in a team in which they may upload. Repeatable. Raise Refused."""
    now = clock.now_or(now)
    with transaction.atomic():
        _lock(team)
        if _member(team, player).role == TeamRole.READER:
            raise Forbidden("a reader cannot put bots in the team {team!r}", team=team.name)
        people = set(team.members.filter(since__isnull=False).values_list("player", flat=True))
        lock_people([bot], *people)
        row = Bot.objects.select_for_update(of=("self",)).get(pk=bot.pk)
        if not ownership.may(player, row, BotAct.MOVE) or row.is_house:
            raise Forbidden("only the owner of {bot!r} can put it in a team", bot=bot.slug)
        if row.team_id == team.pk:
            return
        if row.team_id is not None:
            raise Refused("{bot!r} is in another team; take it out first", bot=bot.slug)
        if row.state == BotState.RETIRED:
            raise Refused("{bot!r} is retired, so it stays as it is", bot=bot.slug)
        if team.bots.count() >= MOST_BOTS:
            raise Refused("a team has at most {most} bots", most=MOST_BOTS)
        check_apart([row], people - {row.owner_id}, now)
        set_team(row, team, now)
        journal.append("bot.team_joined", f"bot:{bot.slug}", now=now, actor=player.name, team=team.name)
    bot.team = team


def take_out(bot: Bot, *, player: Player, now: datetime | None = None) -> None:
    """Take a bot out of its team, as its owner or an owner of the team. Repeatable."""
    now = clock.now_or(now)
    with transaction.atomic():
        row = Bot.objects.select_for_update(of=("self",)).select_related("team").get(pk=bot.pk)
        if not ownership.may(player, row, BotAct.MANAGE):
            raise Forbidden("only the owner of {bot!r} or of its team can take it out", bot=bot.slug)
        if row.team is not None:
            set_team(row, None, now, former=row.team, actor=player.name)
    bot.team = None


def members(team: Team) -> QuerySet[TeamMember]:
    """Select the members, the oldest first, then the invited players. No query."""
    return team.members.select_related("player").order_by(F("since").asc(nulls_last=True), "pk")


def shown_to(team: Team, viewer: Player | None) -> tuple[TeamMember | None, list[TeamMember]]:
    """Return the viewer's membership or invitation, and the members whom they may read: who agrees to be shown; a member reads all. One query."""
    rows = list(members(team))
    own = next((member for member in rows if viewer is not None and member.player_id == viewer.pk), None)
    if own is None or own.since is None:
        rows = [member for member in rows if member.is_public and member.since is not None]
    return own, rows


def lines(team: Team) -> QuerySet[LeagueEvent]:
    """Select the lines of the journal about a team. No query."""
    return LeagueEvent.objects.filter(subject=subject(team))


def history(bot: Bot) -> QuerySet[LeagueEvent]:
    """Select the lines of the journal about a bot and its present team. No query; uses the index of the subject."""
    subjects = [f"bot:{bot.slug}"]
    if bot.team_id is not None:
        subjects.append(f"team:{bot.team_id}")
    return LeagueEvent.objects.filter(subject__in=subjects)


def leave_all(player: Player, *, now: datetime) -> None:
    """Leave all teams because the account closes. Raise Refused for the last owner of a team with other members."""
    for member in player.memberships.select_related("team").order_by("team"):
        if member.since is None:
            decline(member.team, player, now=now)
        else:
            leave(member.team, player, now=now)


def _lock(team: Team) -> Team:
    row = Team.objects.select_for_update(of=("self",)).filter(pk=team.pk).first()
    if row is None:
        raise Refused("the team {team!r} has been dissolved", team=team.name)
    return row


def lock_people(bots: Iterable[Bot], *others: int | Player) -> None:
    """Lock all owners of some bots and other players, as `shares.check` does, so that nobody enters a contest in between."""
    people = {other.pk if isinstance(other, Player) else other for other in others}
    players.lock(*people.union(*ownership.people_of(bots).values()))


def _member(team: Team, player: Player, *, joined: bool | None = True) -> TeamMember:
    """Return the membership; raise Forbidden if there is none. `joined=None`: or the invitation."""
    member = team.members.filter(player=player).first()
    if member is None or (joined and member.since is None):
        raise Forbidden("you are not in the team {team!r}", team=team.name)
    return member


def _named(team: Team, name: str) -> TeamMember:
    member = team.members.select_related("player").filter(player__name=name).first()
    if member is None:
        raise Refused("{name!r} is not in the team", name=name)
    return member


def _check_owner(team: Team, player: Player) -> None:
    if _member(team, player).role != TeamRole.OWNER:
        raise Forbidden("only an owner of the team {team!r} can do this", team=team.name)


def _check_other_owner(team: Team, member: TeamMember) -> None:
    owners = team.members.filter(role=TeamRole.OWNER, since__isnull=False)
    if member.role == TeamRole.OWNER and member.since is not None and not owners.exclude(pk=member.pk).exists():
        raise Refused("{team!r} needs an owner: make another member its owner first, or dissolve it", team=team.name)


def _check_room(player: Player) -> None:
    if player.memberships.filter(since__isnull=False).count() >= MOST_TEAMS:
        raise Refused("a player is in {most} teams at most; leave one first", most=MOST_TEAMS)


def _checked(role: str) -> str:
    if role not in TeamRole.values:
        raise Refused("choose a role from {allowed}, not {to!r}", allowed=", ".join(TeamRole.values), to=role)
    return role


def set_team(bot: Bot, team: Team | None, now: datetime, *, former: Team | None = None, actor: str = "") -> None:
    """Put a bot in a team, or in none; `former`: the team that it was in, for the journal. The caller has checked everything."""
    Bot.objects.filter(pk=bot.pk).update(team=team)
    bot.team = team
    ownership.note_people([bot], now=now)
    if former is not None:
        journal.append("bot.team_left", f"bot:{bot.slug}", now=now, actor=actor, team=former.name)


def _part(team: Team, member: TeamMember, now: datetime) -> None:
    """Remove a membership. The member's bots leave the team, and the member goes on counting as an owner of the others for a time."""
    for bot in team.bots.filter(owner=member.player_id).order_by("pk"):
        set_team(bot, None, now, former=team)
    member.delete()
    ownership.note_people(team.bots.order_by("pk"), now=now)


def _end(team: Team, player: Player, now: datetime) -> None:
    for bot in team.bots.order_by("pk"):
        set_team(bot, None, now, former=team, actor=player.name)
    journal.append("team.dissolved", subject(team), now=now, actor=player.name, name=team.name)
    is_known = team.created + KNOWN_AFTER <= now  # Otherwise somebody could keep many names from others.
    after = names.HELD if is_known else timedelta(0)
    names.give_up(names.PLAYER, team.name, holder=subject(team), now=now, after=after)
    search_words.remove(team)
    team.delete()


def check_apart(bots: Collection[Bot], people: Collection[int], now: datetime) -> None:
    """Raise Refused if some of these bots, once these people count as their owners, would meet other bots of theirs in a live contest.

    Otherwise people could enter as many bots as they are, and then join. Three queries for each bot.
    """
    before = ownership.people_of(bots, now=now)
    for bot in bots:
        others = ownership.bots_of_people(set(people) - before[bot.pk], now=now).exclude(pk=bot.pk)
        for rows, contest, path in (
            (Entry.objects.filter(tournament__status__in=LIVE, withdrawn=None), "tournament", "version__bot"),
            (EntryRequest.objects.filter(event__status__in=LIVE, status=RequestStatus.GRANTED), "event", "bot"),
            (Circuit.bots.through.objects.filter(circuit__active=True), "circuit", "bot"),
        ):
            here = rows.filter(**{path: bot}).values(contest)
            rival = rows.filter(**{f"{path}__in": others, f"{contest}__in": here}).values_list(f"{path}__slug").first()
            if rival is not None:
                raise Refused(
                    "{bot!r} and {other!r} play in the same tournament, and would belong to the same people; wait until it ends",
                    bot=bot.slug,
                    other=rival[0],
                )
