"""Tries: an author sees how the text of a bot plays before it is uploaded.

A try is one board of a game against a house bot, or one decision that a bot of the author had in a match, put to the text. A worker plays it in
the sandbox like every match. It waits in the queue with the priority of uploads, where owners take turns. No bot or version is created, no name is
taken, nothing is rated, paused or counted, and only its author sees it. It has `MOST_S` seconds; a player has one at a time, and a number an hour.
After `KEPT` it is removed with its result.
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

from django.db import transaction

import engine
from engine.runner.rebuild import Exchange
from league.domain.bots import packages
from league.domain.core import clock, hints
from league.domain.core.errors import Refused, TooMany
from league.domain.matches import conversations, fairness, matches, sight, validation
from league.domain.people import quotas
from league.domain.ratings import pools
from league.enums import BotState, MatchKind, MatchStatus, VersionStatus
from league.models import BotVersion, Match, Player, Pool, Try
from league.service import logs

FILE = "bot.py"  # the name of the text in its tracebacks
MOST_SOURCE = 64 * 1024  # bytes of UTF-8
MOST_S = 20.0  # Seconds of wall time, with the start of the bots; sittings that ended by then are kept
EXPECTED_S = 3.0  # Seconds of a try with a bot that answers quickly
PRIORITY = validation.PRIORITY  # its author waits
KEPT = timedelta(days=7)
LIVE = (MatchStatus.QUEUED, MatchStatus.LEASED, MatchStatus.RUNNING)
BATCH = 200  # rows of one DELETE


def rivals() -> list[BotVersion]:
    """Return the house bots that a text may be tried against: the newest accepted version of each active one, by name. One query."""
    rows = BotVersion.objects.filter(bot__is_house=True, bot__state=BotState.ACTIVE, status=VersionStatus.ACCEPTED)
    newest: dict[str, BotVersion] = {}
    for version in rows.filter(bot__stopped=None).select_related("bot").order_by("bot__slug", "number"):
        newest[version.bot.slug] = version
    return list(newest.values())


@dataclass(frozen=True)
class Moment:
    """A decision of a bot in a match. board: its number; sitting, seat from 0; step: the actions of the sitting before it."""

    match: str
    board: int
    sitting: int
    seat: int
    step: int

    def until(self, lines: Sequence[Exchange]) -> Sequence[Exchange]:
        """Return the lines to the bot in the pass up to this decision; none if it was asked nothing there."""
        here = (self.board, self.step)
        for place, line in enumerate(lines):
            if (line.board, line.step) == here and line.answer is not None and line.step >= 0:
                return lines[: place + 1]
        return []


def begin_at(
    player: Player, source: str, at: Moment, rival: str, name: str = "", *, now: datetime | None = None
) -> Try:
    """Queue a try of a text at a decision that a bot of `player` had in a match: it is sent what the bot was sent until then, byte for byte.

    rival: the house bot of the tries that follow; it does not play in this one. Raises as `begin`.
    """
    now = clock.now_or(now)
    rows = sight.matches(Match.objects.select_related("pool", "tournament"), player.user, now=now)
    match = rows.filter(public_id=at.match).first()
    if match is None:
        raise Refused("there is no match {match!r}", match=at.match)
    if not pools.is_known(match.pool):
        raise Refused("match {match} was played by other rules than those of now", match=at.match)
    if not at.until(conversations.told(match, at.board, at.sitting, at.seat, player)):
        raise Refused("the bot was asked nothing at this step of match {match}", match=at.match)
    return _begin(player, source, match.pool, _rival(rival), name, asdict(at), now)


def begin(player: Player, source: str, game: str, rival: str, name: str = "", *, now: datetime | None = None) -> Try:
    """Queue a try of a Python text at a game against the house bot called `rival`, which takes all other places.

    Raises PackageRefused if the text could not be uploaded either, Refused, TooMany.
    """
    now = clock.now_or(now)
    if game not in engine.games():
        raise Refused("there is no game {game!r}; choose one of {games}", game=game, games=", ".join(engine.games()))
    against = _rival(rival)
    if not against.plays(game):
        raise Refused("{bot!r} does not play {game}; choose another bot of the house", bot=rival, game=game)
    return _begin(player, source, pools.pool(game), against, name, None, now)


def _rival(name: str) -> BotVersion:
    versions = {version.bot.slug: version for version in rivals()}
    if name not in versions:
        raise Refused(
            "a text is tried against a bot of the house: {there}; {rival!r} is none",
            there=", ".join(versions) or "-",
            rival=name,
        )
    return versions[name]


def _begin(
    player: Player, source: str, pool: Pool, rival: BotVersion, name: str, at: dict[str, Any] | None, now: datetime
) -> Try:
    packages.inspect(checked(source), FILE, [pool.game])
    with transaction.atomic():
        quotas.ask(player, quotas.TRIES, now=now)
        # Read behind the lock: the request may have begun before a ban
        if Player.objects.filter(pk=player.pk, banned__isnull=False).exists():
            raise Refused("this account is banned, so it cannot sit down")
        if Match.line.filter(tried__owner=player, status__in=LIVE).exists():
            raise TooMany("your last try is not over yet; look at it, and try again then", retry_after=5)
        work = _row(player, pool, now)
        fairness.place([work])
        work.save(force_insert=True)
        row = Try.objects.create(work=work, owner=player, rival=rival, name=name, source=source, at=at, created=now)
        hints.matches_wait()
    return row


def checked(source: str) -> bytes:
    """Return the bytes of a text from the editor. Raises Refused if it is empty, too long, or cannot be stored."""
    data = source.encode("utf-8", "surrogatepass")
    if not source.strip():
        raise Refused("there is no text; write a bot, or load the ten lines again")
    if len(data) > MOST_SOURCE:
        raise Refused(
            "the text has {size} KB; the editor takes {most}, and a larger bot is uploaded as a file",
            size=-(-len(data) // 1024),
            most=MOST_SOURCE // 1024,
        )
    if "\0" in source:
        raise Refused("the text contains the character NUL, which cannot be stored; remove it")
    try:
        return source.encode()
    except UnicodeEncodeError:
        raise Refused("the text is not valid Unicode; write it again") from None


def _row(player: Player, pool: Pool, now: datetime) -> Match:
    public_id = "".join(secrets.choice(matches.ALPHABET) for _ in range(10))
    return Match(
        public_id=public_id,
        kind=MatchKind.TRY,
        pool=pool,
        owner=player,
        key=f"try:{public_id}",
        table=f"try-{public_id}",
        secret=secrets.token_bytes(32),
        boards_planned=1,
        rated=False,
        priority=PRIORITY,
        expected_s=EXPECTED_S,
        created=now,
        request=logs.asked_by(),
    )


@dataclass
class Result:
    """The result of a try, as JSON data. Except for the replays, all of it is about the text."""

    stopped: bool = False  # its time was over before the last sitting ended
    scores: list[int] = field(default_factory=list)  # Sums over the sittings, by party; party 0 is the text
    # Each sitting that ended, in order: seating (party by seat), scores by seat, record
    sittings: list[dict[str, Any]] = field(default_factory=list)
    lines: list[list[Any]] = field(default_factory=list)  # sitting, seat, line to the bot, its answer
    faults: list[dict[str, Any]] = field(default_factory=list)  # engine.runner.FaultReport
    stderr: str = ""
    decisions: int = 0
    logged: str = ""  # The action of the bot in the match, for a try at a decision
    tier: str = ""  # The tier of the sandbox

    def packed(self) -> bytes:
        """Serialise the result for the database."""
        return zlib.compress(json.dumps(asdict(self), separators=(",", ":"), ensure_ascii=False).encode(), 6)


def opened(row: Try) -> Result | None:
    """Return the result of a try, or None before it has one."""
    return None if row.result is None else Result(**json.loads(zlib.decompress(bytes(row.result))))


@dataclass(frozen=True)
class Asked:
    """A line to the bot in a sitting, and its answer; times in milliseconds, None if not measured."""

    number: int  # The number of the decision, from 1; 0 at the start and the end
    seat: int  # Counts from 1
    request: str
    answer: str
    legal: list[str] = field(default_factory=list)
    did: str = ""
    cpu: float | None = None
    wall: float | None = None


def asked(result: Result, number: int) -> list[Asked]:
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
    except ValueError:  # it was too long and is cut
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


def record_of(result: Result, number: int) -> dict[str, Any]:
    """Return the record of a sitting without the notes of the house bots."""
    sitting = result.sittings[number]
    notes = sitting["replay"].get("notes", [])
    return {**sitting["replay"], "notes": [note for note in notes if sitting["seating"][note["seat"]] == 0]}


def of_player(player: Player, public_id: str) -> Try | None:
    """Return a player's own try by its public id. No one else, operators included, learns that it exists. One query."""
    rows = Try.objects.select_related("work__pool", "rival__bot", "owner").defer("work__secret")
    return rows.filter(work__public_id=public_id, owner=player).first()


def let_go(*, now: datetime | None = None) -> int:
    """Remove old tries and return their number. Harmless to repeat. A try that a worker holds stays until the next call."""
    now, count = clock.now_or(now), 0
    old = Try.objects.filter(created__lte=now - KEPT).exclude(work__status__in=fairness.HELD).order_by("created")
    while works := list(old.values_list("work", flat=True)[:BATCH]):
        with transaction.atomic():
            count += Match.work.filter(pk__in=works).exclude(status__in=fairness.HELD).delete()[1].get("league.Try", 0)
    return count
