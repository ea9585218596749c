"""Tries: an author sees how the text of a bot plays before it is uploaded.

In a try the text plays one board against a house bot, or a series of `SERIES` boards, or it decides once in the place of the author's bot in a
finished match. A worker plays the try in the sandbox like a match. No bot or version is created, no name is taken, nothing is rated, paused or
counted, and only the author sees the try. A player has one at a time, and a limited number an hour. After `KEPT` the try is removed with its
result.

A guest without an account may try boards and series. Few tries of guests run at a time, one of them a series, and a number starts an hour, of all
guests together; a series counts as `SERIES_COUNTS` tries. They wait among the tournaments, where all guests take turns as one owner: they delay no
upload, and no try of a player. Whoever signs up takes them along.

A single board or decision has `MOST_S` seconds and waits with the priority of uploads, where owners take turns: its author looks at the screen. A
series has `MOST_SERIES_S` seconds, a limit of its own, and waits among the tournaments: it takes of the workers what a tournament of its owner
could take, and delays no upload. A try may have the cards of an earlier one of the same author, to see what a change of the text does.
"""

from __future__ import annotations

import json
import secrets
import zlib
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q, QuerySet

import engine
from engine.runner.rebuild import Exchange
from league.domain.bots import languages
from league.domain.bots.languages import PYTHON, Language
from league.domain.core import clock, hints
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import conversations, fairness, matches, sight, validation
from league.domain.people import guests, players, quotas
from league.domain.people.guests import HOUR, Person, Visitor
from league.domain.ratings import pools
from league.enums import BotState, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Match, Player, Pool, Try
from league.service import logs

MOST_SOURCE = 64 * 1024  # The most bytes of UTF-8.
MOST_S = 20.0  # Seconds of wall time, including the start of the bots; sittings that ended by then count
EXPECTED_S = 3.0  # Seconds of a try with a bot that answers quickly
SERIES = 20  # Boards of a series.
MOST_SERIES_S = 60.0
EXPECTED_SERIES_S = 15.0
SERIES_COUNTS = (
    5  # Tries for which a series of a guest counts in the limits of an hour: the ratio of the expected times.
)
PRIORITY = validation.PRIORITY  # Priority of a board or decision, whose author waits at the screen
PRIORITY_OF_OTHERS = 0  # Priority of series and of guests' tries: that of tournaments
KEPT = timedelta(days=7)
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
BATCH = 200  # Rows of one DELETE.


def rivals() -> list[BotVersion]:
    """Return the house bots against which a text may be tried: the newest accepted version of each active one, by name. One query."""
    rows = BotVersion.objects.filter(bot__is_house=True, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    newest: dict[str, BotVersion] = {}
    for version in rows.filter(bot__stopped=None).select_related("bot").order_by("bot__slug", "number"):
        newest[version.bot.slug] = version
    return list(newest.values())


@dataclass(frozen=True)
class TryTable:
    """The seats and options of a try; None and {} are the game's defaults."""

    players: int | None = None
    options: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DecisionPoint:
    """A decision of a bot in a match. board: its number; sitting, seat: from 0; step: number of actions of the sitting before the decision."""

    match: str
    board: int
    sitting: int
    seat: int
    step: int

    def until(self, lines: Sequence[Exchange]) -> Sequence[Exchange]:
        """Return the lines that the bot was sent in the pass up to this decision; none if the bot had no decision there."""
        here = (self.board, self.step)
        for place, line in enumerate(lines):
            if (line.board, line.step) == here and line.answer is not None and line.step >= 0:
                return lines[: place + 1]
        return []


def begin_at(
    player: Player,
    source: str,
    at: DecisionPoint,
    rival: str,
    name: str = "",
    *,
    language: Language = PYTHON,
    now: datetime | None = None,
) -> Try:
    """Queue a try of a text at a decision of a bot of `player` in a match: the text gets the lines that the bot got up to there, byte for byte.

    rival: the house bot of the following tries; it does not play in this one. Raise the errors of `begin`.
    """
    now = clock.now_or(now)
    rows = sight.readable(player.user).select_related("pool", "tournament")
    match = rows.filter(public_id=at.match).first()
    if match is None:
        raise Refused("there is no match {match!r}", match=at.match)
    if not pools.is_known(match.pool):
        raise Refused("match {match} was played by older rules, so its decisions cannot be repeated", match=at.match)
    if not at.until(conversations.told(match, at.board, at.sitting, at.seat, player)):
        raise Refused("the bot had no decision at this step of match {match}", match=at.match)
    return _begin(player, source, language, match.pool, _rival(rival), name, asdict(at), now)


def begin(
    author: Person,
    source: str,
    game: str,
    rival: str,
    name: str = "",
    *,
    language: Language = PYTHON,
    table: TryTable | None = None,
    boards: int = 1,
    like: str = "",
    first: int = 1,
    now: datetime | None = None,
) -> Try:
    """Queue a try of a text against the house bot called `rival`, which plays all other parties.

    boards: 1 or `SERIES`. like: the public id of an earlier try of the author at the same table; this one gets its cards, from board `first` on.
    Raise PackageRefused if the text could not be uploaded either, Refused, TooMany.
    """
    now = clock.now_or(now)
    table = table or TryTable()
    if game not in engine.games():
        raise Refused("there is no game {game!r}; choose one of {games}", game=game, games=", ".join(engine.games()))
    against = _rival(rival)
    if not against.plays(game):
        raise Refused("{bot!r} does not play {game}; choose another house bot", bot=rival, game=game)
    if boards not in (1, SERIES):
        raise Refused("a try has 1 board or {most}, not {boards}", most=SERIES, boards=boards)
    pool = pools.pool(game, table.players, table.options)
    model = _model(author, like, pool) if like else None
    return _begin(author, source, language, pool, against, name, None, now, boards=boards, model=model, first=first)


def _model(author: Person, public_id: str, pool: Pool) -> Match:
    """Return the work of the author's earlier try whose cards a new one shall have. Raise Refused if there is none at a table of `pool`."""
    own_works = own(author).filter(at__isnull=True).values("work")
    work = Match.work.defer(None).filter(pk__in=own_works, public_id=public_id).first()
    if work is None:
        raise Refused("those cards are not stored any more; press Try for new cards")
    if work.pool_id != pool.pk:
        raise Refused("those cards belong to another game or number of seats; press Try for new cards")
    return work


def _rival(name: str) -> BotVersion:
    versions = {version.bot.slug: version for version in rivals()}
    if name not in versions:
        raise Refused(
            "{rival!r} is not a house bot; choose one of: {there}",
            there=", ".join(versions) or "-",
            rival=name,
        )
    return versions[name]


def _begin(
    author: Person,
    source: str,
    language: Language,
    pool: Pool,
    rival: BotVersion,
    name: str,
    at: dict[str, Any] | None,
    now: datetime,
    *,
    boards: int = 1,
    model: Match | None = None,
    first: int = 1,
) -> Try:
    languages.package(checked(source), language, [pool.game])
    with transaction.atomic():
        _ask(author, boards, now)
        if own(author).filter(work__status__in=LIVE).exists():
            raise TooMany("your last try is still running; start this one when it is finished", retry_after=5)
        work = _row(author, pool, boards, now)
        if model is not None:
            work.secret, work.table = bytes(model.secret), model.table
            work.first_board = min(max(first, 1), SERIES)
        fairness.place([work])
        work.save(force_insert=True)
        row = Try.objects.create(
            work=work,
            rival=rival,
            name=name,
            source=source,
            language=language.key,
            at=at,
            created=now,
            **_author(author),
        )
        hints.matches_wait()
    return row


def own(author: Person) -> QuerySet[Try]:
    """Select the tries of a player or of a guest."""
    if isinstance(author, Player):
        return Try.objects.filter(owner=author)
    return Try.objects.filter(owner=None, guest=author.key)


def _author(author: Person) -> dict[str, Any]:
    """Return the columns that identify the author of a try."""
    return {"owner": author} if isinstance(author, Player) else {"guest": author.key, "guest_from": author.network}


def _ask(author: Person, boards: int, now: datetime) -> None:
    """Check the limits of an author; the caller has locked their tries. Raise Refused or TooMany."""
    if not isinstance(author, Player):
        _ask_guest(author, boards, now)
        return
    quotas.ask(author, quotas.TRIES if boards == 1 else quotas.SERIES, now=now)
    players.refuse_banned(author)


def _ask_guest(guest: Visitor, boards: int, now: datetime) -> None:
    """Check that a guest may try a text. Before that, tries are limited by address, so that a new cookie gains nothing."""
    if not settings.GUEST_TRIES:
        raise Refused("this needs an account; sign up, your code is kept")
    guests.lock()
    of_guests = Try.objects.filter(owner=None)
    live = of_guests.filter(work__status__in=LIVE)
    from_there = live.filter(guest_from=guest.network).exclude(guest_from="")
    if live.count() >= settings.GUEST_TRIES or from_there.count() >= max(1, settings.GUEST_TRIES // 2):
        raise TooMany(
            "other visitors are trying their bots; try again in a few seconds, or sign up: there is room for players",
            retry_after=10,
        )
    if boards > 1 and live.filter(work__boards_planned__gt=1).exists():
        raise TooMany(
            "another visitor's {boards} boards are being played; try again in a minute, or sign up: there is room for players",
            retry_after=60,
            boards=SERIES,
        )
    lately = of_guests.filter(created__gt=now - HOUR)
    lately_there = lately.filter(guest_from=guest.network).exclude(guest_from="")
    most, more = settings.GUEST_TRIES_PER_HOUR, counts_as(boards)
    if _counted(lately) + more > most or _counted(lately_there) + more > max(more, most // 2):
        raise TooMany(
            "visitors have used up the tries of this hour; sign up, or try again later: your code is kept",
            retry_after=600,
        )


def counts_as(boards: int) -> int:
    """Return the number of tries for which a try of a guest counts."""
    return 1 if boards == 1 else SERIES_COUNTS


def _counted(rows: QuerySet[Try]) -> int:
    return rows.count() + (SERIES_COUNTS - 1) * rows.filter(work__boards_planned__gt=1).count()


def adopt(player: Player, guest: Visitor) -> int:
    """Give the guest's tries to a player who has just signed in; return their number."""
    if not own(guest).exists():
        return 0
    with transaction.atomic():
        guests.lock()
        players.lock(player.pk)
        rows = list(own(guest).values_list("pk", "work"))
        Match.work.filter(pk__in=[work for _row, work in rows]).update(owner=player)
        Try.objects.filter(pk__in=[row for row, _work in rows]).update(owner=player, guest="", guest_from="")
    return len(rows)


def checked(source: str) -> bytes:
    """Return the bytes of a text from the editor. Raise Refused if it is empty, too long, or cannot be stored."""
    data = source.encode("utf-8", "surrogatepass")
    if not source.strip():
        raise Refused("there is no code; write a bot, or start from a template")
    if len(data) > MOST_SOURCE:
        raise Refused(
            "the text has {size} KB; the editor takes {most}, and a larger bot can be submitted as a file",
            size=-(-len(data) // 1024),
            most=MOST_SOURCE // 1024,
        )
    if "\0" in source:
        raise Refused("the text contains the character NUL, which cannot be stored; remove it")
    try:
        return source.encode()
    except UnicodeEncodeError:
        raise Refused("the text is not valid Unicode; write it again") from None


def _row(author: Person, pool: Pool, boards: int, now: datetime) -> Match:
    waits = isinstance(author, Player) and boards == 1
    public_id = "".join(secrets.choice(matches.ALPHABET) for _ in range(10))
    return Match(
        public_id=public_id,
        kind=MatchKind.TRY,
        pool=pool,
        owner=author if isinstance(author, Player) else None,
        key=f"try:{public_id}",
        table=f"try-{public_id}",
        secret=secrets.token_bytes(32),
        boards_planned=boards,
        rated=False,
        priority=PRIORITY if waits else PRIORITY_OF_OTHERS,
        expected_s=EXPECTED_S if boards == 1 else EXPECTED_SERIES_S,
        created=now,
        request=logs.asked_by(),
    )


@dataclass
class TryResult:
    """The result of a try, as JSON data. Everything except the replays is about the text alone."""

    stopped: bool = False  # True if the time ran out before the last sitting ended
    scores: list[int] = field(
        default_factory=list
    )  # Sums over the sittings of a single board, by party; party 0 is the text
    # The finished boards of a series, each with number and scores by party
    boards: list[dict[str, Any]] = field(default_factory=list)
    # The finished sittings, in order: seating (party by seat), scores by seat, record; in a series also the board
    sittings: list[dict[str, Any]] = field(default_factory=list)
    # [sitting, seat, line to the bot, its answer], ...; empty in a series
    lines: list[list[Any]] = field(default_factory=list)
    faults: list[dict[str, Any]] = field(default_factory=list)  # As engine.runner.FaultReport.
    stderr: str = ""
    decisions: int = 0
    logged: str = ""  # For a try at a decision: the action that the bot took in the match
    tier: str = ""  # The tier of the sandbox in which the bots ran

    def packed(self) -> bytes:
        """Serialise the result for the database."""
        return zlib.compress(json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=False).encode(), 6)


MOST_SERIES = 20  # The most series of a text that are added up, because each has to be unpacked


def opened(row: Try) -> TryResult | None:
    """Return the result of a try, or None before it has one."""
    return None if row.result is None else TryResult(**json.loads(zlib.decompress(bytes(row.result))))


def text_boards(row: Try) -> list[list[int]]:
    """Return the scores of the boards on which this text has played this rival at this table in its latest series, up to `row`; each deal once."""
    rows = (
        _series(row)
        .filter(source=row.source, language=row.language)
        .select_related("work")
        .defer("source")
        .order_by("-created", "-pk")
    )
    boards: dict[tuple[str, int], list[int]] = {}
    for earlier in reversed(rows[:MOST_SERIES]):
        for board in (opened(earlier) or TryResult()).boards:
            boards[earlier.work.table, board["number"]] = board["scores"]
    return list(boards.values())


def compare(row: Try) -> list[list[int]]:
    """Return for each deal of a series how this text and the last different text did on it; [] if there is no such text.

    A deal is a pair (this text, the other text) of differences between the score of the text and the mean of its rivals, times the number of
    rivals.
    """
    other = (
        _series(row).filter(work__table=row.work.table).exclude(source=row.source).order_by("-created", "-pk").first()
    )
    results = [opened(series) for series in (row, other) if series is not None]
    if len(results) < 2 or None in results:
        return []
    leads, leads_before = (
        {board["number"]: _lead(board["scores"]) for board in result.boards} for result in results if result
    )
    return [[leads[number], leads_before[number]] for number in leads if number in leads_before]


def _lead(scores: Sequence[int]) -> int:
    return scores[0] * (len(scores) - 1) - sum(scores[1:])


def _series(row: Try) -> QuerySet[Try]:
    """Return the finished series of the same author at the same table against the same rival, up to `row`.

    The limits of players and guests bound their number.
    """
    rows = Try.objects.filter(owner=row.owner_id, guest=row.guest, rival=row.rival_id, result__isnull=False)
    rows = rows.filter(created__lte=row.created)
    return rows.filter(work__pool=row.work.pool_id, work__boards_planned__gt=1)


@dataclass(frozen=True)
class Asked:
    """A line to the bot in a sitting, and the bot's answer; times in milliseconds, None if not measured."""

    number: int  # The number of the decision, from 1; 0 at the start and the end
    seat: int  # Counts from 1
    request: str
    answer: str
    legal: list[str] = field(default_factory=list)
    did: str = ""
    cpu: float | None = None
    wall: float | None = None


def asked(result: TryResult, number: int) -> list[Asked]:
    """Return each line to the bot in one sitting, in order."""
    times: dict[int, list[tuple[int, int]]] = defaultdict(list)
    if number < len(result.sittings):
        timings = result.sittings[number]["replay"].get("timings", {})
        for seat, cpu, wall in zip(*(timings.get(name, ()) for name in ("seats", "cpu", "wall")), strict=True):
            times[seat].append((cpu, wall))
    lines: list[Asked] = []
    for sitting, seat, request, answer in result.lines:
        if sitting == number:
            decisions = sum(line.number > 0 for line in lines)
            lines.append(_asked(decisions, seat, request, answer, times[seat]))
    return lines


def _asked(before: int, seat: int, request: str, answer: str, times: list[tuple[int, int]]) -> Asked:
    try:
        line: dict[str, Any] = json.loads(request)
    except ValueError:  # The line was too long and has been cut
        line = {"type": "act", "legal": []}
    if line.get("type") != "act":
        return Asked(0, seat + 1, request, answer)
    cpu, wall = times.pop(0) if times else (None, None)
    try:
        did = str(json.loads(answer)["do"])
    except (ValueError, TypeError, LookupError):
        did = answer[:80]
    measured = {"cpu": cpu / 1000, "wall": wall / 1000} if cpu is not None and wall is not None else {}
    return Asked(before + 1, seat + 1, request, answer, list(line["legal"]), did, **measured)


def record_of(result: TryResult, number: int) -> dict[str, Any]:
    """Return the record of a sitting without the notes of the house bots."""
    sitting = result.sittings[number]
    notes = sitting["replay"].get("notes", [])
    return {**sitting["replay"], "notes": [note for note in notes if sitting["seating"][note["seat"]] == 0]}


def find(author: Person, public_id: str) -> Try | None:
    """Return an author's own try by its public id. Nobody else, operators included, learns that it exists. One query."""
    rows = own(author).select_related("work__pool", "rival__bot", "owner").defer("work__secret")
    return rows.filter(work__public_id=public_id).first()


def let_go(*, now: datetime | None = None) -> int:
    """Remove old tries and return their number. Repeatable. A try that a worker is playing stays until the next call."""
    now, count = clock.now_or(now), 0
    aged = Q(created__lte=now - KEPT) | Q(owner=None, created__lte=now - guests.KEPT)
    old = Try.objects.filter(aged).exclude(work__status__in=Match.HELD).order_by("created")
    while works := list(old.values_list("work", flat=True)[:BATCH]):
        with transaction.atomic():
            count += Match.work.filter(pk__in=works).exclude(status__in=Match.HELD).delete()[1].get("league.Try", 0)
    return count
