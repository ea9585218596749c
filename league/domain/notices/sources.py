"""Reading the journal: who gets which notice about a line.

`SOURCES` has a function for each kind of line that the journal queues for notices (`journal.NOTICED`). A function returns groups of players who get
the same notice, or the time from which the line may be read, if most people may not see yet what happened.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from django.db.models import Q, QuerySet

from league.domain.matches import sight
from league.enums import Audience, ClassRole, NoticeKind, NoticeWay, RequestStatus, TournamentStatus, VersionStatus
from league.models import (
    Arena,
    Assignment,
    Bot,
    BotVersion,
    Circuit,
    ClassMember,
    Entry,
    EntryRequest,
    Event,
    LeagueEvent,
    Match,
    NoticeChoice,
    Party,
    PlaceOfDay,
    Player,
    Table,
    TableOfDay,
    TeamMember,
    Tournament,
)

MOST_PLACED = 10  # Places of an arena of which its people are notified.
NEAR = 30  # Places above a bot among which its rival is looked for.


@dataclass(frozen=True, slots=True)
class Hearers:
    """The players who get one notice, however many they are."""

    players: QuerySet[Player]
    text: str
    about: str
    words: dict[str, Any] = field(default_factory=dict)
    actor: int | None = None


Groups: TypeAlias = "list[Hearers] | datetime"


def _owners(bot: Bot) -> QuerySet[Player]:
    """Select the owner of a bot and the members of its team."""
    if bot.team_id is None:
        return Player.objects.filter(pk=bot.owner_id)
    members = TeamMember.objects.filter(team=bot.team_id, since__isnull=False).values("player")
    return Player.objects.filter(Q(pk=bot.owner_id) | Q(pk__in=members))


def _followers(**target: Any) -> QuerySet[Player]:
    """Select who follows a bot, person, tournament or event."""
    return Player.objects.filter(**{f"follows__{name}": row for name, row in target.items()})


def _version_moved(line: LeagueEvent, now: datetime) -> Groups:
    version = _version(line)
    if version is None:
        return []
    words = {"bot": version.bot.slug, "version": version.number}
    if line.data.get("to") == VersionStatus.REJECTED:
        return [Hearers(_owners(version.bot), "refused", line.subject, {**words, "fault": version.fault})]
    if line.data.get("to") == VersionStatus.ACCEPTED:
        if version.bot.in_class:
            return []
        return [Hearers(_followers(bot=version.bot), "new_version", line.subject, words)]
    return []


def _version_refused(line: LeagueEvent, now: datetime) -> Groups:
    version = _version(line)
    if version is None:
        return []
    words = {"bot": version.bot.slug, "version": version.number, "games": line.data["games"]}
    return [Hearers(_owners(version.bot), "partly_refused", f"{line.subject}:games", words)]


def _version_unbuilt(line: LeagueEvent, now: datetime) -> Groups:
    version = _version(line)
    if version is None:
        return []
    words = {"bot": version.bot.slug, "version": version.number}
    return [Hearers(_owners(version.bot), "not_rebuilt", f"{line.subject}:rebuilt", words)]


def _version(line: LeagueEvent) -> BotVersion | None:
    rows = BotVersion.objects.select_related("bot")
    return rows.filter(pk=line.subject.partition(":")[2]).first()


def _bot(slug: str) -> Bot | None:
    return Bot.objects.filter(slug=slug).first()


def _by_day(line: LeagueEvent) -> str:
    return f"{line.kind}:{line.subject.partition(':')[2]}:{line.at:%Y-%m-%d}"


def _bot_held(line: LeagueEvent, now: datetime) -> Groups:
    bot = _bot(line.subject.partition(":")[2])
    if bot is None:
        return []
    return [Hearers(_owners(bot), line.kind.partition(".")[2], _by_day(line), {"bot": bot.slug})]


def _bot_failed(line: LeagueEvent, now: datetime) -> Groups:
    bot = _bot(line.subject.partition(":")[2])
    match = Match.objects.filter(public_id=line.data["match"]).select_related("tournament__event").first()
    if bot is None or match is None:
        return []
    words = {"bot": bot.slug, **line.data}
    event = match.tournament.event if match.tournament else None
    players = _owners(bot)
    if event is not None:
        if (when := _shown_to_guests(event, now)) is not None:
            return when
        players = _knowing(players, event)
    return [Hearers(players, "faulty", _by_day(line), words)]


def _request_asked(line: LeagueEvent, now: datetime) -> Groups:
    rows = EntryRequest.objects.filter(pk=line.subject.partition(":")[2], status=RequestStatus.ASKED)
    request = rows.select_related("bot", "asker", "tournament", "event", "circuit").first()
    if request is None or request.asker_id == request.bot.owner_id:
        return []
    words = {"bot": request.bot.slug, "player": request.asker.name, "tournament": request.occasion.name}
    return [Hearers(_owners(request.bot), "requested", line.subject, words, request.asker_id)]


ANSWERS = {
    RequestStatus.GRANTED: "request_granted",
    RequestStatus.REFUSED: "request_refused",
    RequestStatus.EXPIRED: "request_expired",
}


def _request_answered(line: LeagueEvent, now: datetime) -> Groups:
    """Notify the player who asked, unless a later answer has a line of its own."""
    text = ANSWERS.get(line.data["to"])
    rows = EntryRequest.objects.filter(pk=line.subject.partition(":")[2], status=line.data["to"])
    request = rows.select_related("bot", "asker", "tournament", "event", "circuit").first()
    if text is None or request is None or request.asker.name == line.actor:
        return []
    place = request.occasion
    words = {
        "bot": request.bot.slug,
        "tournament": place.name,
        "slug": place.slug,
        "kind": type(place).__name__.lower(),
    }
    return [Hearers(Player.objects.filter(pk=request.asker_id), text, f"{line.subject}:{line.data['to']}", words)]


def _invited(line: LeagueEvent, now: datetime) -> Groups:
    member = TeamMember.objects.filter(
        team=int(line.subject.partition(":")[2]), player__name=line.data["player"], since=None
    ).select_related("team")
    players, row = Player.objects.filter(memberships__in=member), member.first()
    inviter = Player.objects.filter(name=line.actor).first()
    if row is None or inviter is None:
        return []
    words = {"player": inviter.name, "team": row.team.name}
    return [Hearers(players, "invited", line.subject, words, inviter.pk)]


def _offered(line: LeagueEvent, now: datetime) -> Groups:
    bot = _bot(line.subject.partition(":")[2])
    if bot is None:
        return []
    players = Player.objects.filter(offers__bot=bot, name=line.data["to"])
    return [Hearers(players, "offered", line.subject, {"player": line.actor, "bot": bot.slug}, bot.owner_id)]


def _challenged(line: LeagueEvent, now: datetime) -> Groups:
    challenger = Player.objects.filter(name=line.actor).first()
    public_id = line.subject.partition(":")[2]
    if challenger is None:
        return []
    parties = Party.objects.filter(match__public_id=public_id, version__bot__is_house=False)
    bots = [party.version.bot for party in parties.select_related("version__bot").order_by("number")]
    return [
        Hearers(
            _owners(bot),
            "challenged",
            line.subject,
            {"bot": bot.slug, "player": challenger.name, "match": public_id},
            challenger.pk,
        )
        for bot in bots
        if bot.owner_id != challenger.pk
    ]


def _table_waits(line: LeagueEvent, now: datetime) -> Groups:
    public_id = line.subject.partition(":")[2]
    row = Table.objects.filter(public_id=public_id, turn=line.data["turn"], player__isnull=False).first()
    if row is None or row.finished is not None:
        return []
    players = Player.objects.filter(tables=row)
    return [Hearers(players, "table_waits", line.subject, {"table": public_id, "game": line.data["game"]})]


def _assignment_due(line: LeagueEvent, now: datetime) -> Groups:
    """Notify the students who have handed in nothing."""
    rows = Assignment.objects.filter(pk=line.subject.partition(":")[2], due__gt=now, school_class__archived=None)
    row = rows.select_related("school_class").defer("secret").first()
    if row is None:
        return []
    words = {"title": row.title, "class": row.school_class.slug, "number": row.number, **line.data}
    students = ClassMember.objects.filter(school_class=row.school_class_id, role=ClassRole.STUDENT)
    idle = students.exclude(hand_ins__assignment=row).values("player")
    return [Hearers(Player.objects.filter(pk__in=idle), "assignment_due", line.subject, words)]


def puzzle_readers() -> QuerySet[Player]:
    """Select who has chosen a way for the puzzle of the day; by default nobody hears of it."""
    choices = NoticeChoice.objects.filter(kind=NoticeKind.PUZZLE).exclude(way=NoticeWay.NEVER)
    return Player.objects.filter(pk__in=choices.values("player"))


def _puzzle_of_day(line: LeagueEvent, now: datetime) -> Groups:
    """Notify its readers, on the same day only: a past day is not made up for."""
    day = line.data["day"]
    if day != f"{now:%Y-%m-%d}":
        return []
    return [Hearers(puzzle_readers(), "puzzle_of_day", f"{line.kind}:{day}", {"day": day})]


def _tournament_moved(line: LeagueEvent, now: datetime) -> Groups:
    rows = Tournament.objects.filter(
        slug=line.subject.partition(":")[2], event=None
    )  # Stages of events have none of their own.
    tournament = rows.select_related("season").defer("secret").first()
    to = line.data.get("to")
    if tournament is None or to not in (TournamentStatus.RUNNING, TournamentStatus.FINISHED):
        return []
    words = {"tournament": tournament.name, "slug": tournament.slug, "kind": "tournament"}
    entrants = Player.objects.filter(bots__versions__entries__tournament=tournament).distinct()
    if to == TournamentStatus.RUNNING:
        about = f"started:{line.subject}"
        return [
            Hearers(entrants, "started", about, words),
            Hearers(_followers(tournament=tournament), "started", about, words),
            *_season_followers(tournament, "started", words),
        ]
    return [
        *_placed(tournament, words, f"ended:{line.subject}"),
        Hearers(_followers(tournament=tournament), "ended", f"ended:{line.subject}", words),
        *_season_followers(tournament, "ended", words),
    ]


def _season_followers(tournament: Tournament, text: str, words: dict[str, Any]) -> list[Hearers]:
    """Return the followers of the recurring league of a season, of which they hear once, by its first division."""
    if tournament.season is None or tournament.group != 1:
        return []
    about = f"{text}:season:{tournament.season_id}"
    return [Hearers(_followers(circuit=tournament.season.circuit_id), text, about, words)]


def _placed(tournament: Tournament, words: dict[str, Any], about: str) -> list[Hearers]:
    """Return a group for each owner of entries, with the best place, and one for the followers of each winner."""
    entries = Entry.objects.filter(tournament=tournament, place__isnull=False, version__bot__is_house=False)
    best: dict[int, Entry] = {}
    for entry in entries.select_related("version__bot").order_by("place", "number"):
        best.setdefault(entry.version.bot.owner_id, entry)
    groups = [
        Hearers(
            Player.objects.filter(pk=owner),
            "placed",
            about,
            {**words, "bot": entry.version.bot.slug, "place": entry.place},
        )
        for owner, entry in best.items()
    ]
    winners = Entry.objects.filter(tournament=tournament, place=1).select_related("version__bot")
    return groups + [
        Hearers(
            _followers(bot=entry.version.bot),
            "won",
            f"won:{entry.version.bot.slug}:{about}",
            {**words, "bot": entry.version.bot.slug},
        )
        for entry in winners
    ]


def _event(line: LeagueEvent) -> Event | None:
    return Event.objects.filter(slug=line.subject.partition(":")[2]).defer("secret").first()


def _knowing(players: QuerySet[Player], event: Event) -> QuerySet[Player]:
    """Select those of these players who may know of an event, or see its results before others."""
    if not event.private and sight.is_open(event):
        return players
    return players.filter(pk__in=event.guests.values("player"))


def _shown_to_guests(event: Event, now: datetime) -> datetime | None:
    """Return from when the participants of an event see its results; None: they do now."""
    if sight.is_open(event, now=now) or event.audience == Audience.ENTRANTS:
        return None
    return event.opens


def _entrants(event: Event) -> QuerySet[Player]:
    bots = EntryRequest.objects.filter(event=event, status=RequestStatus.GRANTED).values("bot__owner")
    return Player.objects.filter(Q(pk__in=bots) | Q(pk__in=event.guests.values("player")))


def _event_begins(line: LeagueEvent, now: datetime) -> Groups:
    event = _event(line)
    if event is None:
        return []
    text = "starts_soon" if line.kind == "event.soon" else "started"
    words = {"tournament": event.name, "slug": event.slug, "kind": "event", **line.data}
    about = f"{text}:{line.subject}"
    followers = _followers(event=event)
    if event.private:
        followers = followers.filter(pk__in=event.guests.values("player"))
    return [Hearers(_entrants(event), text, about, words), Hearers(followers, text, about, words)]


def _season_soon(line: LeagueEvent, now: datetime) -> Groups:
    """Notify the owners of the bots of a recurring league, and its followers, of its next season."""
    circuit = Circuit.objects.filter(slug=line.subject.partition(":")[2], active=True).first()
    if circuit is None:
        return []
    words = {"tournament": circuit.name, "slug": circuit.slug, "kind": "circuit", **line.data}
    about = f"starts_soon:{line.subject}"
    owners = Player.objects.filter(bots__circuits=circuit).distinct()
    return [Hearers(players, "starts_soon", about, words) for players in (owners, _followers(circuit=circuit))]


def _arena(line: LeagueEvent, now: datetime) -> Groups:
    """Notify who has entered an arena of its start, or of their place in it."""
    arena = Arena.objects.select_related("pool").filter(slug=line.subject.partition(":")[2]).first()
    if arena is None:
        return []
    words = {"game": arena.pool.game, "slug": arena.slug, "kind": "arena", **line.data}
    entered = Player.objects.filter(pk__in=arena.entries.filter(player__isnull=False).values("player"))
    if line.kind == "arena.soon":
        return [Hearers(entered, "arena_soon", f"starts_soon:{line.subject}", words)]
    best = arena.entries.filter(player__isnull=False, place__lte=MOST_PLACED).order_by("place", "pk")
    return [
        Hearers(
            Player.objects.filter(pk=row.player_id or 0),
            "arena_placed",
            f"ended:{line.subject}",
            {**words, "place": row.place},
        )
        for row in best[:MOST_PLACED]
    ]


def _event_finished(line: LeagueEvent, now: datetime) -> Groups:
    event = _event(line)
    if event is None:
        return []
    if (when := _shown_to_guests(event, now)) is not None:
        return when
    words = {"tournament": event.name, "slug": event.slug, "kind": "event"}
    about = f"ended:{line.subject}"
    last = list(Tournament.objects.filter(event=event).order_by("-stage").defer("secret")[:2])
    groups = _placed(last[0], words, about) if last and (len(last) == 1 or last[1].stage != last[0].stage) else []
    groups += [
        Hearers(_entrants(event), "ended", about, words),
        Hearers(_followers(event=event), "ended", about, words),
    ]
    return [Hearers(_knowing(group.players, event), group.text, group.about, group.words) for group in groups]


def _entered(line: LeagueEvent, now: datetime) -> Groups:
    """Notify the followers of a player of a bot that the player entered, if everybody may know."""
    word, _, slug = line.subject.partition(":")
    bot = _bot(line.data["bot"] if "bot" in line.data else str(line.data["version"]).rpartition(" v")[0])
    if bot is None or bot.owner.name != line.actor:
        return []
    if word == "event":
        row: Event | Tournament | None = Event.objects.filter(slug=slug, private=False).defer("secret").first()
    else:
        row = Tournament.objects.filter(sight.by_everybody("", now=now), slug=slug).defer("secret").first()
    if row is None:
        return []
    words = {"bot": bot.slug, "player": line.actor, "tournament": row.name, "slug": slug, "kind": word}
    return [
        Hearers(
            _followers(person=bot.owner), "entered", f"entered:{bot.slug}:{line.subject}"[:120], words, bot.owner_id
        )
    ]


SOURCES: dict[str, Callable[[LeagueEvent, datetime], Groups]] = {
    "version.moved": _version_moved,
    "version.refused": _version_refused,
    "version.unbuilt": _version_unbuilt,
    "bot.paused": _bot_held,
    "bot.stopped": _bot_held,
    "bot.failed": _bot_failed,
    "request.asked": _request_asked,
    "request.moved": _request_answered,
    "team.invited": _invited,
    "bot.offered": _offered,
    "match.challenged": _challenged,
    "table.waits": _table_waits,
    "assignment.due": _assignment_due,
    "puzzle.day": _puzzle_of_day,
    "tournament.moved": _tournament_moved,
    "season.soon": _season_soon,
    "arena.soon": _arena,
    "arena.finished": _arena,
    "event.soon": _event_begins,
    "event.started": _event_begins,
    "event.finished": _event_finished,
    "tournament.entered": _entered,
    "event.entered": _entered,
}


@dataclass(frozen=True, slots=True)
class Fall:
    """A bot that lost its place in a daily leaderboard to another bot."""

    bot: Bot
    rival: str
    place: int


def falls(table: TableOfDay, after: int, most: int) -> tuple[list[Fall], int | None]:
    """Return the bots at the next `most` places after `after` that another bot overtook since the day before, and the last place; None at the end.

    The rival is the nearest bot above that stood below the day before. Four queries.
    """
    before = TableOfDay.objects.filter(pool=table.pool_id, day__lt=table.day).order_by("-day").first()
    places = PlaceOfDay.objects.filter(table=table)
    rows = places.filter(place__gt=after - NEAR, place__lte=after + most)
    window = list(rows.select_related("bot").order_by("place"))
    part = [row for row in window if row.place > after]
    if before is None or not part:
        return [], None
    then = dict(
        PlaceOfDay.objects.filter(table=before, bot__in=[row.bot_id for row in window]).values_list("bot", "place")
    )
    lost = []
    for row in part:
        stood = then.get(row.bot_id)
        if stood is None or stood >= row.place or row.provisional or row.bot.is_house:
            continue
        rivals = [
            other
            for other in window
            if row.place - NEAR <= other.place < row.place and then.get(other.bot_id, 0) > stood
        ]
        if rivals:
            lost.append(Fall(row.bot, rivals[-1].bot.slug, row.place))
    return lost, after + most if places.filter(place__gt=after + most).exists() else None
