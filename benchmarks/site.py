"""The cost of reading a large league: every kind of page and list, as a Markdown table, on PostgreSQL.

    .venv/bin/python benchmarks/site.py [--bots 10000] [--matches 100000] [--seed 1] [--only WORDS] [--weigh]

It fills a league by bulk inserts, reproducible by the seed: bots with ratings in all games, matches with their boards, tournaments of 64 entries, and
one of 256 in each of three formats. Then it reads each address without a browser, and next to it a view of the same league that does SELECT 1 behind
the same middleware. Lists of the API are read with 100 rows, tournament pages are those of the largest tournaments, and owners read private pages.

CPU is the time of the web process and its PostgreSQL backend together, the median of several reads. Shares are requests per second relative to SELECT
1. A *miss* is an answer that no cache holds, *kept* one from the response cache, *304* one that the client has. *first* is the first miss of a
process, which fills its process cache (`league.service.process_cache`). The aims: a miss takes at most 30 ms for a list of 100 rows and 100 ms for a
page.

`--weigh` measures no time: it reads each address once, and fails if an answer is too heavy, makes too many queries or is an error.
"""

from __future__ import annotations

import argparse
import gzip
import io
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # Replace this folder, in which a module has the name of one of Python's own.

GAME, OTHER = "partnership", "corriente"  # The two games that all bots play.
LARGE = 256  # Entries of the largest tournaments.
SWISS_ROUNDS = 10
USUAL = 64  # Entries of all other tournaments.
BOARDS = 2  # Boards of a match.
IN_OTHERS = 10  # One bot in ten plays all the other games.
FORMATS = ("round_robin", "single_elimination")
EVENT, CIRCUIT, REAL, CLASS = "The event", "The circuit", "The real one", "the-class"
ROWS = 100  # Of a list.
MOST_OF_EVENT = 32
PARAMETER = {"start": 1.0, "least": 0.0, "most": 2.0, "step": 0.1}
CHOICES = ("t1", "t3", "tf", "tx", "o1")  # Of each type of hand.
MOST_PACKED = 100_000  # Most bytes of any page or answer, compressed by gzip.
MOST_QUERIES = 40


class FilledLeague:
    """A league filled by bulk inserts. Ids continue from the existing rows; everything else depends only on the seed."""

    def __init__(self, bots: int, matches: int, seed: int) -> None:
        import numpy as np
        from django.db import connection

        from league.domain.core import clock

        with connection.cursor() as cursor:
            # While filling, PostgreSQL checks no foreign keys.
            cursor.execute("SET session_replication_role = replica")
        self.rng = np.random.default_rng(seed)
        self.now = clock.present()
        self.versions = self._people(bots)
        self.strength = dict(zip(self.versions, self.rng.normal(0, 1, bots).tolist(), strict=True))
        self.pools = self._pools()
        remaining = matches - self._large()
        number = 0
        while remaining > 0:
            remaining -= self._usual(number)
            number += 1
        self._ratings()
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = origin")
        self._all_kinds()

    def _all_kinds(self) -> None:
        """Create, by the functions of the league, what bulk inserts do not make: an event, a circuit, a match with replays, ..."""
        from functools import partial

        from django.conf import settings

        from engine.judging import Child
        from league.domain.audits import sampling
        from league.domain.bots import consent, tries
        from league.domain.consultations import asking as consultations
        from league.domain.jobs.handlers import analysis
        from league.domain.judgements import asking
        from league.domain.tables import seating
        from league.domain.tournaments import circuits, events
        from league.models import Bot, BotVersion, Match, Player
        from tests.support import consulting, jobs
        from tests.support import league as made

        owner = Player.objects.order_by("pk")[1]  # The owner of bot-1.
        own = list(BotVersion.objects.filter(bot__owner=owner).select_related("bot").order_by("pk")[:MOST_OF_EVENT])
        stages = [
            {"format": "swiss", "boards": BOARDS, "advance": 8},
            {"format": "single_elimination", "boards": BOARDS},
        ]
        events.create(owner, {"name": EVENT, "game": GAME, "stages": stages}, own, now=self.now)
        circuits.create(owner, CIRCUIT, GAME, days="mon", at="20:00", time_zone="Europe/Madrid", now=self.now)
        Match.objects.filter(status="queued").update(held_back=True)
        real = [made.accepted(owner, f"real-{number}") for number in range(2)]
        [match] = made.started(owner, real, name=REAL, boards=16).matches.all()
        match = made.play(match, now=self.now)
        settings.AUDIT_PERCENT = 100
        sampling.draw(now=self.now)
        Match.work.filter(status="queued").update(held_back=True)
        asking.ask(match, "open", owner, now=self.now)
        analysis.Child = partial(Child, nodes=30)  # Its results do not matter here.
        job = jobs.ANALYSIS.claim("host:1", now=self.now)
        if job is None or not jobs.run(job):
            raise RuntimeError("no judgement was made")
        Bot.objects.filter(slug=real[1].bot.slug).update(is_house=True)
        consultations.ask(consulting.told(match), 1, 0, 0, real[1].bot.slug, owner, now=self.now)
        with tempfile.TemporaryDirectory() as folder:
            if not consulting.carry_out(Path(folder), now=self.now):
                raise RuntimeError("no bot was asked")
        consent.set_policy(real[0].bot, "anybody", actor=owner.name)
        seating.sit(owner, GAME, real[1].bot.slug)
        tries.begin(owner, made.BOT.decode(), GAME, real[1].bot.slug)
        self._lists(owner, match)

    def _lists(self, owner: Any, match: Any) -> None:
        """Insert ROWS rows of each list of the API that would otherwise have few: those of `owner`, a team, a class, an arena, the lobby."""
        from datetime import timedelta

        from league import models as rows
        from league.domain.people import tokens

        now, numbers = self.now, range(ROWS)
        people = list(rows.Player.objects.exclude(pk=owner.pk).order_by("pk")[:ROWS])
        bots = list(rows.Bot.objects.exclude(owner=owner).order_by("pk")[:ROWS])
        event, circuit = rows.Event.objects.get(name=EVENT), rows.Circuit.objects.get(name=CIRCUIT)
        pool, own = self.pools[GAME], rows.BotVersion.objects.filter(bot__slug="bot-1").get()
        secret, word = bytes(32), "{:064x}".format
        teams = rows.Team.objects.bulk_create(rows.Team(name=f"team-{number}", created=now) for number in numbers)
        circuits = rows.Circuit.objects.bulk_create(
            rows.Circuit(
                slug=f"circuit-{number}",
                name=f"Circuit {number}",
                owner=owner,
                game=GAME,
                days="mon",
                at="20:00",
                time_zone="UTC",
                created=now,
            )
            for number in numbers
        )
        arenas = rows.Arena.objects.bulk_create(
            rows.Arena(slug=f"arena-{number}", pool=pool, start=now, ends=now, created=now) for number in numbers
        )
        act = {"action": "pause", "why": "to measure", "effects": ["bot-1 is paused"]}
        place = {"match": match, "board": 1, "sitting": 0}
        tables = rows.Table.objects.bulk_create(
            rows.Table(
                public_id=f"w{number}",
                player=person,
                pool=pool,
                boards=1,
                secret=secret,
                created=now,
                since=now,
                shared=True,
                gathering=True,
                listed=True,
            )
            for number, person in enumerate(people)
        )
        school_class = rows.SchoolClass.objects.create(slug=CLASS, name="The class", places=ROWS, created=now)
        rows.ClassMember.objects.create(
            school_class=school_class, player=owner, role="teacher", name=owner.name, joined=now
        )
        members = rows.ClassMember.objects.bulk_create(
            rows.ClassMember(school_class=school_class, player=person, role="student", name=person.name, joined=now)
            for person in people
        )
        assignments = rows.Assignment.objects.bulk_create(
            rows.Assignment(
                school_class=school_class,
                number=number + 1,
                title="Beat it",
                pool=pool,
                rival=own,
                rule="better",
                opens=now,
                due=now,
                attempts=3,
                marks=10,
                clean_marks=5,
                place_marks=0,
                late_percent=0,
                is_extra=False,
                secret=secret,
                created=now,
            )
            for number in numbers
        )
        for new in (
            [
                rows.Event(
                    slug=f"event-{number}",
                    name=f"Event {number}",
                    owner=owner,
                    document=event.document,
                    secret=secret,
                    secret_sha256=word(number),
                    created=now,
                )
                for number in numbers
            ],
            [
                rows.Season(circuit=other, number=number, due=now + timedelta(days=number), opened=now)
                for other in circuits
                for number in range(1, 11)
            ],
            [rows.TeamMember(team=team, player=owner, role="owner", invited=now, since=now) for team in teams],
            [rows.LeagueEvent(at=now, kind="team.named", subject=f"team:{teams[0].pk}") for _ in numbers],
            [
                rows.LeagueEvent(at=now, kind="operator.acted", subject="bot:bot-1", actor="olga", data=act)
                for _ in numbers
            ],
            [rows.ArenaEntry(arena=arenas[0], player=person, joined=now, games=1) for person in people],
            [
                rows.Notice(
                    player=owner,
                    kind="asked",
                    about=f"request:{number}",
                    text="requested",
                    words={"player": "player-2", "bot": "bot-1", "tournament": EVENT},
                    created=now,
                )
                for number in numbers
            ],
            [
                rows.ApiToken(player=owner, label="one", prefix="tute", sha256=word(number), created=now)
                for number in range(tokens.MOST - 1)
            ],
            [rows.Block(owner=owner, blocked=person, created=now) for person in people],
            [rows.EntryRequest(bot=bot, asker=owner, created=now, event=event) for bot in bots],
            [rows.EntryRequest(bot=bot, asker=owner, created=now, circuit=circuit) for bot in bots],
            [rows.BotOffer(bot=bot, receiver=owner, created=now) for bot in bots],
            [
                rows.Season(circuit=circuit, number=number + 1, due=now + timedelta(days=number), opened=now)
                for number in numbers
            ],
            [
                rows.TablePerson(table=table, number=0, player=person)
                for table, person in zip(tables, people, strict=True)
            ],
            [
                rows.TableChallenge(table=tables[0], challenger=people[0], player=person, created=now)
                for person in people[1:]
            ],
            [rows.TableChallenge(table=table, challenger=table.player, player=owner, created=now) for table in tables],
            [
                rows.HandIn(
                    assignment=assignments[0], member=member, attempt=1, version=own, created=now, is_late=False
                )
                for member in members
            ],
            [rows.Comment(author=person, text="Well played", created=now, **place) for person in people],
            [
                rows.Tuning(
                    version=own,
                    player=owner,
                    game=GAME,
                    parameters=[PARAMETER | {"name": f"p{place}"} for place in range(10)],
                    values={f"p{place}": 1.0 for place in range(10)},
                    course=[[4 * step, *[1.0] * 10] for step in range(200)],
                    boards=800,
                    begun=now,
                    decided=now,
                )
                for number in numbers
            ],
            [
                rows.ChoiceSum(
                    pool=other,
                    kind="lead",
                    hand=f"t{number % 10}-h{number // 10 % 3}-p{number // 30}" if number else "",
                    band=band,
                    choice=choice,
                    matches=ROWS,
                    number=ROWS,
                    worth=ROWS,
                    worth_worth=ROWS,
                    worth_number=ROWS,
                    number_number=ROWS,
                    number_all=ROWS,
                    bots=63,
                )
                for other in self.pools.values()
                for number in range(60)
                for band in range(6)
                for choice in ("", *CHOICES)
            ],
        ):
            type(new[0]).objects.bulk_create(new)

    def _people(self, bots: int) -> list[int]:
        """Create players with about 40 bots each, and one accepted version of every bot; return the ids of the versions."""
        from django.contrib.auth.models import User

        from league.models import Bot, BotVersion, Package, Player

        names = [f"player-{number}" for number in range(max(2, bots // 40))]
        users = User.objects.bulk_create([User(username=name) for name in names])
        owners = Player.objects.bulk_create([Player(user=user, name=user.username, created=self.now) for user in users])
        package = Package.objects.create(sha256="0" * 64, data=b"x", size=1, files=1)
        new_bots = Bot.objects.bulk_create(
            [Bot(owner=owners[number % len(owners)], slug=f"bot-{number}", created=self.now) for number in range(bots)],
            2000,
        )
        versions = BotVersion.objects.bulk_create(
            [
                BotVersion(
                    bot=bot,
                    number=1,
                    package=package,
                    runtime="python",
                    entry="bot.py",
                    status="accepted",
                    created=self.now,
                )
                for bot in new_bots
            ],
            2000,
        )
        return [version.pk for version in versions]

    def _pools(self) -> dict[str, Any]:
        import engine
        from league.domain.ratings import pools

        return {key: pools.pool(key) for key in engine.games()}

    def _tournament(self, name: str, entries: int, format: str, game: str) -> Any:
        """Create a tournament that has started, without matches."""
        from league.domain.tournaments import tournaments
        from league.models import BotVersion, Entry

        chosen = self.rng.choice(len(self.versions), entries, replace=False)
        versions = BotVersion.objects.select_related("bot").in_bulk([self.versions[index] for index in chosen])
        owner = next(iter(versions.values())).bot.owner
        tournament = tournaments.create(owner, name, game, boards=BOARDS, format=format, now=self.now)
        rows = [
            Entry(tournament=tournament, version_id=version, number=number, seed=number + 1)
            for number, version in enumerate(versions)
        ]
        Entry.objects.bulk_create(rows)
        tournament.status, tournament.started = "running", self.now
        tournament.save()
        return tournament

    def _usual(self, number: int) -> int:
        """Create a round robin of 64 entries; return the number of its matches."""
        cup = self._tournament(f"Cup {number}", USUAL, "round_robin", (GAME, OTHER)[number % 2])
        count = self._all_meet(cup)
        cup.status, cup.finished = "finished", self.now
        cup.save()
        return count

    def _large(self) -> int:
        """Create the tournaments of 256 entries: a round robin, a Swiss one, a knock-out. Return the number of their matches."""
        from league.domain.tournaments import fixtures, progress
        from league.models import Match
        from league.pure.formats import Pairing
        from league.pure.formats.sheet import table_name

        meet = self._tournament("Large round_robin", LARGE, "round_robin", GAME)
        self._all_meet(meet)
        for format in FORMATS[1:]:
            cup = self._tournament(f"Large {format}", LARGE, format, GAME)
            while progress.schedule(cup, now=self.now) or progress.advance(cup, now=self.now):
                queued = Match.objects.filter(tournament=cup, status="queued")
                self._finish(list(queued.order_by("id").values_list("pk", flat=True)))
                cup.refresh_from_db()
                if cup.status == "finished":
                    break
        swiss = self._tournament("Large swiss", LARGE, "swiss", GAME)
        # The pairings do not matter here, and Swiss pairing would take minutes.
        drawn = [
            Pairing(number + 1, table_name(pair), pair, 1, BOARDS)
            for number in range(SWISS_ROUNDS)
            for pair in _circle(LARGE, number)
        ]
        fixtures.insert(swiss, drawn, now=self.now)
        self._finish(list(Match.objects.filter(tournament=swiss).order_by("id").values_list("pk", flat=True)))
        return Match.objects.count()

    def _all_meet(self, tournament: Any) -> int:
        """Create and finish all matches of a round robin; the last match of a tournament of 256 stays queued. Return their number."""
        from league.models import Match, Party, Round

        entries = list(tournament.entries.order_by("number").values_list("version_id", flat=True))
        size = len(entries)
        rounds = Round.objects.bulk_create(
            Round(tournament=tournament, number=number + 1) for number in range(size - 1)
        )
        pairs = [(a, b) for a in range(size) for b in range(a + 1, size)]
        rows = (
            (
                f"{tournament.pk:x}-{a:x}-{b:x}"[:12],
                rounds[(a + b) % (size - 1)].pk,
                f"t:{tournament.pk}:{a}-{b}",
                f"{a}-{b}",
            )
            for a, b in pairs
        )
        common = {
            "kind": "tournament",
            "pool_id": tournament.pool_id,
            "tournament_id": tournament.pk,
            "secret": bytes(32),
            "boards_planned": BOARDS,
            "owner_id": tournament.owner_id,
            "created": self.now,
            "status": "queued",
            "host": "{}",
            "limits": "{}",
        }
        _insert(Match, ("public_id", "round_id", "key", "table"), rows, common)
        ids = list(Match.objects.filter(tournament=tournament).order_by("id").values_list("pk", flat=True))
        seats = (
            (pk, number, entries[seat]) for pk, pair in zip(ids, pairs, strict=True) for number, seat in enumerate(pair)
        )
        _insert(Party, ("match_id", "number", "version_id"), seats, {"faults": "[]", "broken_off": "[]"})
        self._finish(ids[:-1] if size == LARGE else ids)
        return len(ids)

    def _finish(self, ids: Sequence[int]) -> None:
        """Finish matches, with board scores that follow from the strengths of the two bots, some thousand per hour of the league's time."""
        from datetime import timedelta

        from django.db import connection

        from league.models import Board, Party

        seats: dict[int, list[tuple[int, int]]] = {}
        parties = Party.objects.filter(match__in=ids).order_by("match_id", "number")
        for pk, match, version in parties.values_list("pk", "match_id", "version_id"):
            seats.setdefault(match, []).append((pk, version))
        noise = self.rng.normal(0, 1.5, (len(ids), BOARDS))
        boards, results, points = [], [], []
        pool_of = dict(_match_pools(ids))
        for place, match in enumerate(ids):
            (first, a), (second, b) = seats[match]
            shares = [int(max(0, min(260, 130 + 40 * (self.strength[a] - self.strength[b] + x)))) for x in noise[place]]
            boards += [(match, number + 1, f"[{share}, {260 - share}]") for number, share in enumerate(shares)]
            won, drawn = sum(share > 130 for share in shares), sum(share == 130 for share in shares)
            lost = BOARDS - won - drawn
            results += [(first, sum(shares), won, drawn, lost), (second, 260 * BOARDS - sum(shares), lost, drawn, won)]
            elo = 1000 + 200 * self.strength[a]
            at = self.now - timedelta(seconds=len(ids) - place)
            points += [(match, a, pool_of[match], elo, 40.0, 1.0, at), (match, b, pool_of[match], elo, 40.0, -1.0, at)]
        _insert(Board, ("match_id", "number", "scores"), boards, {})
        from league.models import RatingPoint

        _insert(RatingPoint, ("match_id", "version_id", "pool_id", "elo", "margin", "change", "at"), points, {})
        with connection.cursor() as cursor:
            cursor.execute("CREATE TEMP TABLE result (id bigint, points int, wins int, draws int, losses int)")
            _copy(cursor, "result", ("id", "points", "wins", "draws", "losses"), results)
            cursor.execute(
                "UPDATE league_party p SET points = r.points, wins = r.wins, draws = r.draws, losses = r.losses"
                " FROM result r WHERE r.id = p.id"
            )
            cursor.execute("DROP TABLE result")
            cursor.execute(
                "UPDATE league_match SET status = 'finished', started = %(now)s, counted = %(now)s, drawn = %(now)s, token = 1,"
                " finished = %(now)s - (%(last)s - id) * interval '1 second' WHERE id = ANY(%(ids)s)",
                {"now": self.now, "last": ids[-1] if ids else 0, "ids": list(ids)},
            )

    def _ratings(self) -> None:
        """Insert ratings as a fit would: all bots in two pools, every tenth bot in all others."""
        from league.models import Rating

        rows = []
        for key, pool in self.pools.items():
            versions = self.versions if key in (GAME, OTHER) else self.versions[::IN_OTHERS]
            elos = {version: 1000 + 200 * self.strength[version] + self.rng.normal(0, 30) for version in versions}
            for rank, version_id in enumerate(sorted(versions, key=lambda version: -elos[version])):
                share = (elos[version_id] + 500) / 3000
                ranks = (max(1, rank - 20), rank + 20)
                elo, margin = elos[version_id], 40.0
                certain = elo - 2.5 * margin
                rows.append(
                    (pool.pk, version_id, elo, margin, certain, 200, 60, share, 0.5, 0, *ranks, 0.6, share, 0.01)
                )
        names = (
            *("pool_id", "version_id", "elo", "margin", "certain", "boards", "opponents"),
            *("score", "points_per_board", "faults"),
            *("rank_best", "rank_worst", "los_next", "field_score", "field_sd"),
        )
        _insert(Rating, names, rows, {"provisional": False, "listed": True, "updated": self.now})


def _circle(size: int, number: int) -> list[tuple[int, int]]:
    """Return a round of a round robin by the circle method."""
    line = [0, *((place + number) % (size - 1) + 1 for place in range(size - 1))]
    return [(line[place], line[-1 - place]) for place in range(size // 2)]


def _match_pools(ids: Sequence[int]) -> Iterator[tuple[int, int]]:
    from league.models import Match

    return Match.objects.filter(pk__in=ids).values_list("pk", "pool_id").iterator()


def _copy(cursor: Any, table: str, names: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    columns = ", ".join(f'"{name}"' for name in names)
    with cursor.copy(f"COPY {table} ({columns}) FROM STDIN") as copy:
        for row in rows:
            copy.write_row(row)


_analysed_tables: set[str] = set()  # Tables that have become large and were analysed then.


def _insert(model: Any, names: Sequence[str], rows: Iterable[Sequence[Any]], common: dict[str, Any]) -> None:
    """Insert rows: `names` are the columns that differ; each other column has one value, from `common` or its default."""
    from django.db import connection

    table = model._meta.db_table
    fields = [field for field in model._meta.concrete_fields if not field.primary_key]
    others = [field for field in fields if field.column not in names]
    values = [common.get(field.column, None if field.null else field.get_default()) for field in others]
    columns = ", ".join(f'"{name}"' for name in [*names, *(field.column for field in others)])
    with connection.cursor() as cursor:
        quoted = ", ".join(f'"{name}"' for name in names)
        cursor.execute(f"CREATE TEMP TABLE filled AS SELECT {quoted} FROM {table} LIMIT 0")  # noqa: S608
        cursor.execute("ALTER TABLE filled ADD COLUMN place bigserial")
        _copy(cursor, "filled", names, rows)
        placeholders = ", ".join(["%s"] * len(values))
        cursor.execute(
            f"INSERT INTO {table} ({columns}) SELECT {quoted}{', ' if placeholders else ''}{placeholders} FROM filled ORDER BY place",  # noqa: S608
            values,
        )
        cursor.execute("DROP TABLE filled")
        if table not in _analysed_tables:  # Otherwise the next plan would assume an empty table.
            cursor.execute(f"ANALYZE {table}")
            _analysed_tables.add(table)


@dataclass
class ReadCost:
    """The measurements of one address."""

    name: str
    path: str
    status: str = ""
    raw: int = 0  # Bytes.
    packed: int = 0  # Bytes after gzip.
    queries: int = 0
    first: float = 0.0  # CPU seconds of the first miss.
    miss: float = 0.0  # CPU seconds of a miss.
    hit: float | None = None  # CPU seconds of the same answer from the response cache; None if it is not stored
    same: float | None = None  # CPU seconds of a 304 answer.


class Reader:
    """Reads addresses in this process through the WSGI application, and measures."""

    def __init__(self) -> None:
        from django.db import connection
        from django.http import HttpResponse
        from django.urls import path

        import league.urls

        def select_1(request: Any) -> Any:
            with connection.cursor() as cursor:
                cursor.execute("SELECT 1")
                return HttpResponse(b'{"one":%d}' % cursor.fetchone()[0], content_type="application/json")

        league.urls.urlpatterns.insert(0, path("select-1", select_1))
        from league.wsgi import application

        self.application = application  # A league.response_cache.ResponseCache.
        self.credentials: dict[str, str] = {}
        self.connection = connection
        self.ask("/select-1")

    def ask(self, path: str, **headers: str) -> tuple[str, dict[str, str], bytes]:
        """Return status, headers and body of an answer."""
        address, _, query = path.partition("?")
        start: list[Any] = []
        environ = {
            "REQUEST_METHOD": "GET",
            "SCRIPT_NAME": "",
            "PATH_INFO": address,
            "QUERY_STRING": query,
            "SERVER_NAME": "localhost",
            "SERVER_PORT": "80",
            "SERVER_PROTOCOL": "HTTP/1.1",
            "REMOTE_ADDR": "127.0.0.1",
            "wsgi.version": (1, 0),
            "wsgi.url_scheme": "http",
            "wsgi.input": io.BytesIO(),
            "wsgi.errors": sys.stderr,
            "wsgi.multithread": False,
            "wsgi.multiprocess": True,
            "wsgi.run_once": False,
            **self.credentials,
            **headers,
        }
        answer = self.application(environ, lambda status, lines, *_: start.extend((status, dict(lines))))
        body = b"".join(answer)
        if hasattr(answer, "close"):
            answer.close()
        return start[0], start[1], body

    @property
    def backend(self) -> int:
        """Return the CPU clock of the server process of this connection."""
        self.connection.ensure_connection()  # The process is a new one if a page has closed the connection.
        return int(~self.connection.connection.info.backend_pid << 3 | 2)

    def cpu(self) -> float:
        """Return the CPU seconds of this process and its backend so far."""
        return time.process_time() + time.clock_gettime(self.backend)

    def sign_in(self, credentials: dict[str, str]) -> None:
        """Read with this session or token from now on."""
        self.credentials = credentials

    def seconds(self, path: str, times: int, **headers: str) -> float:
        """Return the CPU seconds of one read, measured over `times` reads."""
        began = self.cpu()
        for _ in range(times):
            self.ask(path, **headers)
        return (self.cpu() - began) / times

    def look(self, name: str, path: str) -> ReadCost:
        """Measure one address."""
        from django.test.utils import CaptureQueriesContext

        self.forget()
        first = self.seconds(path, 1)
        self.application.store.clear()
        with CaptureQueriesContext(self.connection) as queries:
            status, _headers, body = self.ask(path)
        read = ReadCost(name, path, status[:3], len(body), len(gzip.compress(body, 6)), len(queries), first)
        once = self.miss(path)
        times = max(1, min(30, int(0.3 / once)))
        read.miss = min(once, median(self.miss(path) for _ in range(times)))
        if len(self.application.store):
            tag = self.ask(path)[1]["ETag"]
            packed = {"HTTP_ACCEPT_ENCODING": "gzip"}
            read.hit = median(self.seconds(path, 20, **packed) for _ in range(5))
            read.same = median(self.seconds(path, 20, HTTP_IF_NONE_MATCH=tag) for _ in range(5))
        return read

    def forget(self) -> None:
        """Clear all caches of this process."""
        from league.service import process_cache

        self.application.store.clear()
        process_cache.clear()

    def miss(self, path: str) -> float:
        """Return the CPU seconds of a miss."""
        self.application.store.clear()
        return self.seconds(path, 1)


def addresses() -> dict[str, str]:
    """Return the addresses: pages, then lists of the API."""
    from league.domain.core import paging
    from league.domain.puzzles import shelf
    from league.models import Circuit, Consultation, Event, Party, Pool, Table, Tournament, Try

    consultation = Consultation.objects.select_related("version__bot").get()
    event, circuit = Event.objects.get(name=EVENT).slug, Circuit.objects.get(name=CIRCUIT).slug
    played = Party.objects.select_related("version__bot").filter(match__tournament__name=REAL).order_by("pk")[0].version
    pool = Pool.objects.filter(game=GAME).order_by("pk")[0].pk
    large = {cup.format: cup.slug for cup in Tournament.objects.filter(name__startswith="Large")}
    meet, knock_out, swiss = (large[name] for name in (*FORMATS, "swiss"))
    return {
        "home": "/",
        "games": "/g/",
        "game": f"/g/{GAME}/",
        "overall": "/overall/",
        "bots": "/bots/",
        "bot": "/bots/bot-1/",
        "encounter": "/bots/bot-1/vs/bot-2/",
        "player": "/players/player-1/",
        "matches": "/m/",
        "matches of a game": f"/m/?game={GAME}",
        "match": f"/m/{_match()}/",
        "tournaments": "/t/",
        "tournament": f"/t/{meet}/",
        "tournament, knock-out": f"/t/{knock_out}/",
        "tournament, Swiss": f"/t/{swiss}/",
        "standings as CSV": f"/t/{meet}/standings.csv",
        "events": "/e/",
        "event": f"/e/{event}/",
        "circuit": f"/c/{circuit}/",
        "version with audits": f"/bots/{played.bot.slug}/v1/",
        "bot with a judgement": f"/bots/{played.bot.slug}/",
        "match, judged": f"/m/{_match()}/?j=open",
        "match, a bot asked": f"/m/{_match()}/?b=1&s=0&w={consultation.version.bot.slug}&at=0",
        "board": f"/m/{_match()}/b/1/",
        "replay of a sitting": f"/m/{_match()}/replay.json?b=1&s=0",
        "player, news": "/players/player-1/news.atom",
        "TV": "/tv/",
        "puzzles": "/puzzles/",
        "puzzle": f"/puzzles/{next(iter(shelf.shelf().by_id))}/",
        "explorer": f"/g/{GAME}/?tab=explorer",
        "calendar": "/calendar/",
        "arena": "/arenas/arena-0/",
        "lobby": "/lobby/",
        "open data": "/data/",
        "search": "/search/?q=bot-12",
        "team": "/teams/team-0/",
        "class (its teacher)": f"/class/{CLASS}/",
        "mistakes (their player)": "/puzzles/mistakes/",
        "notices (their reader)": "/notices/",
        "documents": "/docs/protocol/",
        "status": "/status/",
        "account (its owner)": "/accounts/me/",
        "overview (an operator)": "/operators/",
        "search (an operator)": "/operators/?q=bot-",
        "person (an operator)": "/operators/?subject=player:player-2",
        "requests (their owner)": "/accounts/requests/",
        "editor (its author)": "/editor/",
        "tables (who sits)": "/play/",
        "table (who sits)": f"/tables/{Table.objects.get(shared=False).public_id}/",
        "try (its author)": f"/tries/{Try.objects.get().work.public_id}/",
        "new tournament (its owner)": f"/t/new/?game={GAME}",
        "API leaderboard": f"/api/v1/pools/{pool}/leaderboard?page_size=100",
        "API leaderboard, row 1,000": f"/api/v1/pools/{pool}/leaderboard?cursor={_deep(pool)}&page_size=100",
        "API overall": "/api/v1/overall?page_size=100",
        "API pools": "/api/v1/pools?page_size=100",
        "API history": f"/api/v1/pools/{pool}/history?page_size=100",
        "API games": "/api/v1/games",
        "API leaderboard, the active": f"/api/v1/pools/{pool}/leaderboard?show=active&page_size=100",
        "API leaderboard, those of the house": f"/api/v1/pools/{pool}/leaderboard?show=house&page_size=100",
        "API leaderboard, of an owner": f"/api/v1/pools/{pool}/leaderboard?owner=player-1&page_size=100",
        "API leaderboard, the fast": f"/api/v1/pools/{pool}/leaderboard?limit=fast&page_size=100",
        "API leaderboard, the small": f"/api/v1/pools/{pool}/leaderboard?limit=small&page_size=100",
        "API leaderboard, the open": f"/api/v1/pools/{pool}/leaderboard?limit=open&page_size=100",
        "API leaderboard, every version": f"/api/v1/pools/{pool}/leaderboard?every_version=true&page_size=100",
        "API leaderboard (a token)": f"/api/v1/pools/{pool}/leaderboard?page_size=100",
        "API bots": "/api/v1/bots?page_size=100",
        "API bots, row 1,000": f"/api/v1/bots?cursor={paging.write_cursor([1000], back=False)}&page_size=100",
        "API bots of an owner": "/api/v1/bots?owner=player-1&page_size=100",
        "API bots (a token)": "/api/v1/bots?page_size=100",
        "API versions": "/api/v1/versions?page_size=100",
        "API players": "/api/v1/players?page_size=100",
        "API matches": "/api/v1/matches?page_size=100",
        "API matches, row 100,000": f"/api/v1/matches?cursor={paging.write_cursor([100_000], back=False)}&page_size=100",
        "API matches of a game": f"/api/v1/matches?game={GAME}&page_size=100",
        "API matches of a rare game": "/api/v1/matches?game=brisca&page_size=100",
        "API matches of a bot": "/api/v1/matches?bot=bot-1&page_size=100",
        "API matches of a player": "/api/v1/matches?player=player-1&page_size=100",
        "API matches that wait": "/api/v1/matches?status=queued&page_size=100",
        "API matches of a tournament": f"/api/v1/matches?tournament={meet}&page_size=100",
        "API matches of a bot in a game": f"/api/v1/matches?bot=bot-1&game={GAME}&status=finished&page_size=100",
        "API matches (a token)": "/api/v1/matches?page_size=100",
        "API matches of a player (a token)": "/api/v1/matches?player=player-1&page_size=100",
        "API match (a token)": f"/api/v1/matches/{_match()}",
        "API match": f"/api/v1/matches/{_match()}",
        "API boards": f"/api/v1/matches/{_match()}/boards?page_size=100",
        "API replay": f"/api/v1/matches/{_match()}/boards/1/sittings/0/replay",
        "API judgement": f"/api/v1/matches/{_match()}/analysis/open",
        "API answers": f"/api/v1/matches/{_match()}/boards/1/sittings/0/seats/0/answers/{consultation.version.bot.slug}",
        "API audits": f"/api/v1/versions/{played.pk}/audits",
        "API ratings of a version": f"/api/v1/versions/{played.pk}/ratings?page_size=100",
        "API encounters": "/api/v1/bots/bot-1/versus/bot-2?page_size=100",
        "API formats": "/api/v1/formats",
        "API events": "/api/v1/events?page_size=100",
        "API event": f"/api/v1/events/{event}",
        "API circuits": "/api/v1/circuits?page_size=100",
        "API circuit": f"/api/v1/circuits/{circuit}",
        "API schema": "/api/v1/schema",
        "API tournaments": "/api/v1/tournaments?page_size=100",
        "API tournament": f"/api/v1/tournaments/{meet}",
        "crosstable as a picture": f"/t/{meet}/crosstable.png",
        "API entries": f"/api/v1/tournaments/{meet}/entries?page_size=100",
        "API standings": f"/api/v1/tournaments/{meet}/standings?page_size=100",
        "API rounds": f"/api/v1/tournaments/{meet}/rounds?page_size=100",
        "API standings, Swiss": f"/api/v1/tournaments/{swiss}/standings?page_size=100",
        "API bracket": f"/api/v1/tournaments/{knock_out}/bracket",
        "API choices": f"/api/v1/games/{GAME}/choices?page_size=100",
        "API tunings of a bot (a token)": "/api/v1/bots/bot-1/tunings?page_size=100",
        "API queue": "/api/v1/queue",
        "API versions of a bot": "/api/v1/bots/bot-1/versions?page_size=100",
        "API boss leagues of a bot": "/api/v1/bots/bot-1/leagues?page_size=100",
        "API analysis sums of a bot": f"/api/v1/bots/{played.bot.slug}/judged?page_size=100",
        "API comments": f"/api/v1/matches/{_match()}/boards/1/sittings/0/comments?page_size=100",
        "API boards of 50 matches": f"/api/v1/boards?match={_matches(meet)}&page_size=100",
        "API open data": "/api/v1/data?page_size=100",
        "API arenas": "/api/v1/arenas?page_size=100",
        "API standing of an arena": "/api/v1/arenas/arena-0/standing?page_size=100",
        "API lobby": "/api/v1/lobby?page_size=100",
        "API seasons": f"/api/v1/circuits/{circuit}/seasons?page_size=100",
        "API requests for an event": f"/api/v1/events/{event}/requests?page_size=100",
        "API requests for a circuit": f"/api/v1/circuits/{circuit}/requests?page_size=100",
        "API requests for a tournament": f"/api/v1/tournaments/{meet}/requests?page_size=100",
        "API challenges to a table (a token)": "/api/v1/tables/w0/challenges?page_size=100",
        "API own challenges (a token)": "/api/v1/me/challenges?page_size=100",
        "API own requests (a token)": "/api/v1/me/requests?page_size=100",
        "API own notices (a token)": "/api/v1/me/notices?page_size=100",
        "API own blocks (a token)": "/api/v1/me/blocks?page_size=100",
        "API own tokens (a token)": "/api/v1/tokens?page_size=100",
        "API own offers (a token)": "/api/v1/me/offers?page_size=100",
        "API own teams (a token)": "/api/v1/me/teams?page_size=100",
        "API history of a team (a token)": "/api/v1/teams/team-0/history?page_size=100",
        "API own classes (a token)": "/api/v1/me/classes?page_size=100",
        "API marks of a class (a token)": f"/api/v1/classes/{CLASS}/marks?page_size=100",
        "API assignments (a token)": f"/api/v1/classes/{CLASS}/assignments?page_size=100",
        "API hand-ins (a token)": f"/api/v1/classes/{CLASS}/assignments/1/hand-ins?page_size=100",
        "API journal (an operator)": "/api/v1/operators/journal?page_size=100",
    }


def lists_left_out() -> list[str]:
    """Return the lists of the API that no address reads."""
    from django.urls import resolve

    from league.api import urls
    from league.api.http.base import ListView

    read = {resolve(path.partition("?")[0]).url_name for path in addresses().values() if path.startswith("/api/")}
    classes = {pattern.name: getattr(pattern.callback, "cls", object) for pattern in urls.urlpatterns}
    return sorted(
        name
        for name, view in classes.items()
        if issubclass(view, ListView) and hasattr(view, "get") and name not in read
    )


def _deep(pool: int) -> str:
    """Return the cursor in the middle of a leaderboard of 2,000 bots."""
    from league.domain.core import paging
    from league.domain.ratings.leaderboards import BEST
    from league.models import Rating

    row = Rating.objects.filter(pool=pool).order_by(*BEST.names)[Rating.objects.filter(pool=pool).count() // 2]
    return paging.write_cursor(BEST.values(row), back=False)


def _match() -> str:
    from league.models import Match

    return Match.objects.get(tournament__name=REAL).public_id


def _matches(slug: str) -> str:
    """Return the ids of enough matches for 100 boards."""
    from league.models import Match

    rows = Match.objects.filter(tournament__slug=slug, status="finished").order_by("pk")
    return ",".join(rows.values_list("public_id", flat=True)[: ROWS // BOARDS])


def _signed() -> Callable[[str], dict[str, str]]:
    """Return a function that gives the headers that the read of a name has: a session of player-1 or of an operator, a token or nothing."""
    from league.domain.people import players, tokens
    from league.models import Player

    owner = Player.objects.get(name="player-1")
    owner.tokens.filter(label="benchmark").delete()
    token = {"HTTP_AUTHORIZATION": f"Bearer {tokens.create(owner, 'benchmark')[1]}"}
    session = {"HTTP_COOKIE": _cookie("player-1")}
    operator = Player.objects.filter(name="olga").first() or players.create("olga", staff=True)
    kinds = {"(a token)": token, "(an operator)": {"HTTP_COOKIE": _cookie(operator.name)}}
    return lambda name: kinds.get(name[name.rfind("(") :], session) if name.endswith(")") else {}


def _cookie(name: str) -> str:
    """Return the session cookie of a player."""
    from django.conf import settings
    from django.contrib.auth.models import User
    from django.test import Client

    client = Client()
    client.force_login(User.objects.get(username=name))
    return f"{settings.SESSION_COOKIE_NAME}={client.cookies[settings.SESSION_COOKIE_NAME].value}"


def measure(only: Sequence[str]) -> None:
    """Print the table."""
    from django.db import connection

    connection.settings_dict["CONN_MAX_AGE"] = None  # One backend throughout, because its clock is read.
    reader = Reader()
    credentials_of = _signed()
    floor = median(reader.seconds("/select-1", 100) for _ in range(5))
    print(f"\nSELECT 1: {1e6 * floor:.0f} us of CPU\n")
    print("| what | status | kB | kB gzip | queries | first, CPU ms | miss, CPU ms | miss | kept | 304 |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for name, path in addresses().items():
        if only and not any(word in name for word in only):
            continue
        reader.sign_in(credentials_of(name))
        read = reader.look(name, path)
        reader.sign_in({})
        base = median(reader.seconds("/select-1", 30) for _ in range(3))
        shares = [f"{100 * base / seconds:.0f} %" if seconds else "-" for seconds in (read.miss, read.hit, read.same)]
        print(
            f"| {name} | {read.status} | {read.raw / 1000:.1f} | {read.packed / 1000:.1f} | {read.queries} |"
            f" {1000 * read.first:.1f} | {1000 * read.miss:.1f} | {' | '.join(shares)} |",
            flush=True,
        )


def weigh() -> list[str]:
    """Return the errors of the answers: wrong status, too heavy, too many queries."""
    from django.db import connection
    from django.test.utils import CaptureQueriesContext

    reader = Reader()
    credentials_of = _signed()
    wrong = [f"{name}: no address reads this list" for name in lists_left_out()]
    for name, path in addresses().items():
        reader.sign_in(credentials_of(name))
        reader.forget()
        with CaptureQueriesContext(connection) as queries:
            status, _headers, body = reader.ask(path)
        packed = len(gzip.compress(body, 6))
        print(f"{name}: {status[:3]}, {packed / 1000:.1f} kB gzip, {len(queries)} queries", flush=True)
        if status[:3] != "200" or packed > MOST_PACKED or len(queries) > MOST_QUERIES:
            wrong.append(f"{name} ({path}): {status}, {packed} bytes gzip, {len(queries)} queries")
    return wrong


def work(words: argparse.Namespace) -> None:
    """Fill and read the league, in the process that has the database."""
    from django.db import connection

    from league.models import Match

    if not Match.objects.exists():
        began = time.process_time()
        FilledLeague(words.bots, words.matches, words.seed)
        with connection.cursor() as cursor:
            cursor.execute("VACUUM ANALYZE")
        print(f"filled in {time.process_time() - began:.0f} CPU s: {words.bots} bots, {Match.objects.count()} matches")
    if not words.weigh:
        measure(words.only)
    elif wrong := weigh():
        sys.exit("too much, or not there:\n" + "\n".join(wrong))


def read_words() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bots", type=int, default=10_000)
    parser.add_argument("--matches", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", nargs="*", default=[], help="lines whose name holds one of these words")
    parser.add_argument("--weigh", action="store_true", help="measure no time, and fail for what is too much")
    parser.add_argument(
        "--database",
        default="",
        help="a filled database, or an empty one to fill and keep; without it one is made and removed",
    )
    return parser.parse_args()


def main() -> None:
    """Create a database or take the named one, and run `work` with it."""
    words = read_words()
    if os.environ.get("SITE_BENCHMARK"):
        import django

        django.setup()
        work(words)
        return
    from tests.support.postgres import PostgresServer

    server = None if words.database else PostgresServer(durable=True)
    many = dict.fromkeys(
        ("API_ANON_PER_MINUTE", "API_USER_PER_MINUTE", "HEAVY_PAGES_PER_MINUTE", "DOWNLOADS_PER_MINUTE"), "100000000"
    )
    environment = {
        **os.environ,
        **many,
        "DATABASE_URL": words.database or (server.create_database() if server else ""),
        "SECRET_KEY": "only for this benchmark",
        "ALLOWED_HOSTS": "localhost",
        "HTTPS": "0",
        "MAX_ENTRIES": str(LARGE),
        "QUOTA_TOURNAMENTS": "1000000",
        "QUOTA_BOTS": "1000000",
        "QUOTA_BOARDS": "1000000000",
        "UPLOADS_PER_HOUR": "1000",
        "LOG_LEVEL": "ERROR",
        "DJANGO_SETTINGS_MODULE": "league.settings",
        "SITE_BENCHMARK": "1",
    }
    try:
        subprocess.run(
            [sys.executable, "manage.py", "migrate", "--verbosity", "0"], cwd=ROOT, env=environment, check=True
        )
        subprocess.run([sys.executable, __file__, *sys.argv[1:]], cwd=ROOT, env=environment, check=True)
    finally:
        if server:
            server.close()


if __name__ == "__main__":
    main()
