"""Rows of a league for tests, made by the league's own functions. Ana and Berto are players; nobody else knows their bots."""

from __future__ import annotations

import hashlib
import itertools
import random
from collections.abc import Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.conf import settings
from django.db import transaction

import engine
from engine.runner import BoardResult, FaultReport, MatchResult, PartyReport, SittingResult
from league.domain.bots import bots, consent, packages
from league.domain.bots.willing import AWAY
from league.domain.core import journal, names, search_words, transitions
from league.domain.matches import leases, matches, reports, validation
from league.domain.people import players
from league.domain.ratings import pools
from league.domain.tournaments import formats as league_formats
from league.domain.tournaments import progress, tournaments
from league.enums import EntryPolicy, MatchStatus, TournamentStatus, VersionStatus
from league.models import Bot, BotVersion, Entry, LeagueEvent, Match, Party, Player, Rating, Tournament
from league.pure import formats
from league.service import logs
from tests.support import rows

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
BOT = b"from tute_bot import Bot, run\n\n\nclass Mine(Bot):\n    def act(self, view, legal):\n        return legal[0]\n\n\nrun(Mine())\n"
SECRET = bytes(range(32))
_serial = itertools.count(1)

# Detail, request and answer of the fault of `crash`, for the owner of the bot alone.
WORDS_OF_FAULT = ("exit code 1: secret trace", "the last request", "the last answer")


def later(seconds: float) -> datetime:
    """Return NOW plus `seconds`."""
    return NOW + timedelta(seconds=seconds)


def source() -> bytes:
    """Return a bot whose bytes nobody has uploaded before."""
    return BOT + f"# {next(_serial)}\n".encode()


def uploaded(player: Player, name: str, *, games: Sequence[str] = ("partnership",), now: datetime = NOW) -> BotVersion:
    """Upload a new version. Its status is validating, its validation matches are queued."""
    return bots.upload(player, name, source(), "bot.py", games, secret=SECRET, now=now)


def willing(version: BotVersion, policy: str = EntryPolicy.ANYBODY) -> BotVersion:
    """Let anybody enter the bot, or the players whom `policy` names."""
    consent.set_policy(version.bot, policy, actor=version.bot.owner.name, now=NOW)
    return version


def accepted(
    player: Player,
    name: str,
    *,
    games: Sequence[str] = ("partnership", "corriente", "cabrero"),
    policy: str = EntryPolicy.ANYBODY,
) -> BotVersion:
    """Return a version that may be entered, by anybody unless `policy` says otherwise. Its validation matches are cancelled, so that none is queued.

    The first version of a bot is inserted, which costs a fifth of an upload. tests/league/test_builders.py compares its rows with those of an upload.
    """
    if Bot.objects.filter(slug=bots.slug(name)).exists():
        return accepted_by_upload(player, name, games=games, policy=policy)
    with transaction.atomic():
        return _inserted(player, name, games, policy)


def accepted_by_upload(player: Player, name: str, *, games: Sequence[str], policy: str) -> BotVersion:
    """Return the same as `accepted`, made by the league's own functions."""
    version = willing(uploaded(player, name, games=games), policy)
    for match in Match.objects.filter(parties__version=version, kind="validation").distinct():
        transitions.move(match, "cancelled", now=NOW)
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    return version


def _inserted(player: Player, name: str, games: Sequence[str], policy: str) -> BotVersion:
    content, slug = packages.inspect(source(), "bot.py", games), bots.slug(name)
    names.take(names.BOT, slug, holder=f"bot:{slug}")
    states = {"is_house": player.name == players.HOUSE, "owner_banned": player.banned is not None}
    leaves = policy in (EntryPolicy.ASK, EntryPolicy.NOBODY) and not states["owner_banned"]
    away = NOW + AWAY if leaves else None
    bot = Bot.objects.create(slug=slug, owner=player, created=NOW, entry_policy=policy, away_until=away, **states)
    search_words.put(bot, slug)
    manifest = content.manifest
    version = BotVersion.objects.create(
        bot=bot,
        number=1,
        package=packages.store(content),
        runtime=manifest.runtime,
        entry=manifest.entry,
        games=list(manifest.games),
        status=VersionStatus.ACCEPTED,
        created=NOW,
    )
    pools.ensure_default_pools(validation.games(version))
    plan = next(validation.plan_games(version, 1, SECRET))
    match = Match.objects.create(
        public_id=matches.public_id(plan),
        kind=plan.kind,
        key=plan.key,
        pool=plan.pool,
        table=plan.table,
        secret=plan.secret,
        boards_planned=plan.boards,
        rated=False,
        limits={},
        priority=plan.priority,
        status=MatchStatus.CANCELLED,
        created=NOW,
        owner=player,
        expected_s=validation.GAME_S * len(validation.games(version)),
    )
    Party.objects.bulk_create(
        [Party(match=match, number=number, version=seat) for number, seat in enumerate(plan.versions)]
    )
    data = {"version": 1, "sha256": content.sha256, "pk": version.pk}
    lines = [("version.uploaded", f"bot:{slug}", player.name, data)]
    if policy != EntryPolicy.USUAL:
        lines.append(("bot.entry_policy", f"bot:{slug}", player.name, {"was": EntryPolicy.USUAL, "to": policy}))
    lines.append(("match.moved", transitions.subject(match), "", {"was": "queued", "to": "cancelled"}))
    lines.append(("version.moved", transitions.subject(version), "", {"was": "validating", "to": "accepted"}))
    journal.write(
        [LeagueEvent(at=NOW, kind=kind, subject=about, actor=actor, data=data) for kind, about, actor, data in lines]
    )
    return version


def in_turn(first: Player, other: Player, *names: str) -> list[BotVersion]:
    """Return accepted versions of bots of these names, of two owners in turn. They are created once, before anything else in a test."""
    return rows.once(make_in_turn, first, other, words=names)


def make_in_turn(first: Player, other: Player, *names: str) -> list[BotVersion]:
    return [accepted((first, other)[number % 2], name) for number, name in enumerate(names)]


def started(
    owner: Player,
    versions: Sequence[BotVersion],
    *,
    game: str = "partnership",
    players: int | None = None,
    boards: int = 2,
    name: str = "Cup",
    mixed: bool = False,
    options: dict[str, Any] | None = None,
) -> Tournament:
    """Start a round robin that counts for the ratings, as if its owner had been an operator when it was created.

    If nobody has to be asked, all but its schedule is inserted, which costs a quarter. tests/league/test_builders.py compares the rows.
    """
    how: dict[str, Any] = {"boards": boards, "players": players, "options": options, "mixed": mixed}
    if all(isinstance(version, BotVersion) and _is_free(version, owner) for version in versions):
        with transaction.atomic():
            tournament = _inserted_tournament(owner, versions, game, name, **how)
        progress.schedule(tournament, now=NOW)
        return tournament
    return started_by_the_league(owner, versions, game=game, name=name, **how)


def started_by_the_league(
    owner: Player, versions: Sequence[BotVersion | Bot], *, game: str = "partnership", name: str = "Cup", **how: Any
) -> Tournament:
    """Return the same as `started`, made by the league's own functions."""
    tournament = counted(tournaments.create(owner, name, game, versions=versions, secret=SECRET, now=NOW, **how))
    tournaments.start(tournament, now=NOW)
    return tournament


def _is_free(version: BotVersion, owner: Player) -> bool:
    return version.bot.owner_id == owner.pk or version.bot.entry_policy == EntryPolicy.ANYBODY


def _inserted_tournament(
    owner: Player, versions: Sequence[BotVersion], game: str, name: str, *, boards: int, mixed: bool, **table: Any
) -> Tournament:
    tournaments.take_name(owner, name, now=NOW)
    tournament = Tournament.objects.create(
        slug=tournaments.free_slug(name),
        name=name,
        owner=owner,
        counts=True,
        pool=pools.pool(game, mixed=mixed, **table),
        boards=boards,
        schedule=formats.REVISION,
        secret=SECRET,
        secret_sha256=hashlib.sha256(SECRET).hexdigest(),
        created=NOW,
        status=TournamentStatus.RUNNING,
        started=NOW,
        request=logs.asked_by(),
    )
    search_words.put(tournament, name, tournament.slug)
    elo = dict(Rating.objects.filter(pool=tournament.pool, version__in=versions).values_list("version", "elo"))
    seeds = sorted(versions, key=lambda version: -elo.get(version.pk, float("-inf")))
    numbers = sorted(version.pk for version in versions)
    Entry.objects.bulk_create(
        Entry(tournament=tournament, version=row, number=numbers.index(row.pk), seed=1 + seeds.index(row))
        for row in versions
    )
    form, field = league_formats.field_of_tournament(tournament)
    size = form.size(field)
    booked = {"planned_matches": size.matches[1], "booked_boards": size.boards[1]}
    Tournament.objects.filter(pk=tournament.pk).update(**booked)
    about = transitions.subject(tournament)
    lines = [(owner.name, "created", {}), *((owner.name, "entered", {"version": str(version)}) for version in versions)]
    journal.write(
        [
            LeagueEvent(at=NOW, kind=f"tournament.{what}", subject=about, actor=actor, data=data)
            for actor, what, data in [*lines, ("", "moved", {"was": "open", "to": "running"})]
        ]
    )
    tournament.refresh_from_db()
    return tournament


def counted(tournament: Tournament) -> Tournament:
    """Let a tournament count for the ratings, whoever owns it."""
    Tournament.objects.filter(pk=tournament.pk).update(counts=True)
    tournament.counts = True
    return tournament


def running(worker: str = "w1", *, now: datetime = NOW) -> Match:
    """Lease and start the next queued match."""
    match = leases.claim(worker, now=now)
    assert match is not None
    leases.start(match, now=now)
    return match


def result(match: Match, *, winner: int | None = None, faults: Sequence[FaultReport] = ()) -> MatchResult:
    """Return a true result of `match`: the engine plays its boards, at random if no `winner` is given.

    `winner` is the party that gets the better score on every board, whatever the cards say.
    """
    game = pools.game_of(match.pool)
    parties = match.parties.count()
    boards = []
    for number in range(match.first_board, match.first_board + match.boards_planned):
        seed = engine.board_seed(bytes(match.secret), game.key, match.table, number)
        sittings = [
            _sitting(game, seed, match.public_id, number, place, seating, faults)
            for place, seating in enumerate(game.sittings(parties))
        ]
        scores = [sum(s.scores[s.seating.index(party)] for s in sittings) for party in range(parties)]
        if winner is not None:
            scores = [100 if party == winner else 50 - party for party in range(parties)]
        boards.append(BoardResult(number, True, scores, sittings))
    names = [str(party.version) for party in match.parties.select_related("version__bot").order_by("number")]
    party_reports = [
        PartyReport(name, [f for f in faults if f.party == place], f"log of {name}", 0.5, 1.0, 40, 0.1)
        for place, name in enumerate(names)
    ]
    return MatchResult(
        match.public_id, boards, party_reports, {"engine": engine.__version__, "tier": "landlock"}, 1.0, 40 * parties
    )


def _sitting(
    game: engine.Game,
    seed: bytes,
    match: str,
    board: int,
    number: int,
    seating: tuple[int, ...],
    faults: Sequence[FaultReport],
) -> SittingResult:
    cards = _random_deal(game, seed, number)
    meta = {"match": match, "board": board, "sitting": number, "seating": list(seating)}
    replay = engine.replay.make(cards, meta)
    replay["events"] = [dict(event) for event in replay["events"]]
    replay["notes"] = [{"step": 0, "seat": 0, "note": "mine"}]
    own_faults = tuple(fault for fault in faults if (fault.board, fault.sitting) == (board, number))
    return SittingResult(number, seating, cards.scores(), own_faults, replay)


@lru_cache(maxsize=1000)
def _random_deal(game: engine.Game, seed: bytes, number: int) -> engine.State:
    """Play a deal at random and cache it: the leagues of tests share their secret and so their deals. Do not change the result."""
    cards = game.new_match(seed=seed, deals=1)
    rng = random.Random(f"{seed.hex()}/{number}")
    while not cards.is_over:
        cards.apply(rng.choice(cards.legal_actions()))
    return cards


def begun(match: Match, *, now: datetime = NOW) -> Match:
    """Start a queued match as worker w1. A claim leaves the same rows, but reads the whole queue first."""
    row = Match.work.select_related("tournament", "pool").get(pk=match.pk)
    until = now + timedelta(seconds=settings.LEASE_S)
    lease = {"worker": "w1", "token": row.token + 1, "attempts": row.attempts + 1, "lease_until": until}
    fresh = {"progress": 0, "decided": None, "reason": "", "host": leases.label(row)}
    transitions.move(row, MatchStatus.LEASED, now=now, actor="w1", **lease, **fresh)
    leases.start(row, now=now)
    return row


def play(match: Match, *, winner: int | None = None, now: datetime = NOW) -> Match:
    """Play and report a queued match; return its row."""
    row = begun(match, now=now)
    assert reports.report(row, result(row, winner=winner), now=now) == reports.Receipt.STORED
    row.refresh_from_db()
    return row


def crash(match: Match, version: BotVersion) -> Match:
    """Play a match in which `version` crashes on the first board."""
    work = leases.claim("w1", prefer=match.pk, now=NOW)
    assert work is not None
    leases.start(work, now=NOW)
    party = work.parties.filter(version=version).order_by("number")[0].number  # It may hold two seats in its validation
    fault = FaultReport(party, 0, 1, 0, 3, "crash", *WORDS_OF_FAULT)
    reports.report(work, result(work, faults=[fault]), now=NOW)
    work.refresh_from_db()
    return work


def with_token(match: Match, token: int) -> Match:
    """Return a match as a worker has it whose lease has this token."""
    other = copy(match)
    other.token = token
    return other
