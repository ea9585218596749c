"""A large league for benchmarks, filled by bulk inserts: bots with ratings, matches with boards, tournaments, and rows of every list."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

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
