"""The queue with 100,000 waiting matches and 1,000 workers: claims per second, workers without bots. Parts of benchmarks/league.py."""

from __future__ import annotations

import heapq
import os
import random
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from multiprocessing import get_context
from statistics import median, quantiles
from typing import Any

CREW = int(os.environ.get("CREW", "1000"))  # Number of simulated workers.
QUEUED = int(os.environ.get("QUEUED", "100000"))  # Number of waiting matches.
SECONDS = float(os.environ.get("SECONDS", "60"))  # Seconds of the simulation; 300 is the full length.
# Seconds that a match takes: 16 boards, 32 sittings of about a second.
MATCH_S = float(os.environ.get("MATCH_S", "30"))
BEAT_S = 5.0
ACTS = ("claim", "start", "beat", "report")
CLIENTS = 4  # Number of processes that claim, or that simulate the workers.
BOARDS = 16
# Time for claims of one kind. In it a quiet machine claims a third of the queue. The largest matches, which take longer
# to claim, come after that.
ROUND_S = 1.0
EXPECTED_S = 0.03  # Duration of a match: one claim takes as many matches as fit into a second.


def address() -> str:
    """Return the address of the database for psycopg."""
    from django.conf import settings

    what = settings.DATABASES["default"]
    return f"postgresql://{what['USER']}:{what['PASSWORD']}@{what['HOST']}:{what['PORT']}/{what['NAME']}"


def fill() -> None:
    """Create 200 bots of 20 owners, a running tournament for each owner with all matches queued, and the workers."""
    from django.db import connection

    from league.domain.core import clock
    from league.domain.matches import snapshot
    from league.domain.people import players
    from league.domain.ratings import pools
    from league.domain.tournaments import tournaments
    from league.models import Bot, BotVersion, Match, Package, Worker
    from tests.support.league import SECRET

    now, pool = clock.present(), pools.pool("partnership")
    owners = [players.create(f"player-{number}") for number in range(20)]
    package = Package.objects.create(sha256="0" * 64, data=b"", size=0, files=0)
    bots = Bot.objects.bulk_create(Bot(owner=owners[i % 20], slug=f"bot-{i}", created=now) for i in range(200))
    versions = BotVersion.objects.bulk_create(
        BotVersion(bot=bot, number=1, package=package, runtime="python", entry="b", status="accepted", created=now)
        for bot in bots
    )
    cups = [tournaments.create(owner, f"Cup {owner}", "partnership", boards=BOARDS, secret=SECRET) for owner in owners]
    for cup in cups:
        type(cup).objects.filter(pk=cup.pk).update(status="running", started=now)
    common: dict[str, Any] = {"kind": "tournament", "pool": pool, "boards_planned": BOARDS, "created": now}
    models = [
        Match(public_id=f"m{i}", key=f"k{i}", table=f"t{i}", tournament=cup, owner=cup.owner, secret=SECRET, expected_s=EXPECTED_S, **common)
        for i, cup in enumerate(cups)
    ]  # fmt: skip
    Match.objects.bulk_create(models)
    _multiply(versions[0].pk, len(versions))
    Worker.objects.bulk_create(
        (Worker(name=f"h{i}:1", started=now, seen=now + timedelta(days=1), tier="landlock") for i in range(CREW)),
        batch_size=200,
    )
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE")
    snapshot.update()


def _multiply(first_version: int, versions: int) -> None:
    """Copy the single match of each tournament until all are queued, two bots each. It uses SQL, because Django would need minutes."""
    from django.db import connection

    from league.models import Match

    own = {
        "public_id": "public_id || '-' || n",
        "key": "key || '-' || n",
        "table": "\"table\" || '-' || n",
        "turn": "n",
        "virtual_s": "n",
    }
    names = [field.column for field in Match._meta.concrete_fields if field.column != "id"]
    into = ", ".join(f'"{name}"' for name in names)
    chosen = ", ".join(own.get(name, f'"{name}"') for name in names)
    rows = f"INSERT INTO league_match ({into}) SELECT {chosen} FROM league_match, generate_series(1, %s) n"  # noqa: S608  # our own names
    seats = (
        "INSERT INTO league_party (match_id, number, version_id, fault, fault_detail, faults, broken_off, stderr) "
        "SELECT id, n, %s + (7 * id + 13 * n) %% %s, '', '', '[]', '[]', '' FROM league_match, generate_series(0, 1) n WHERE kind = 'tournament'"
    )
    with connection.cursor() as cursor:
        cursor.execute(rows, [QUEUED // 20 - 1])
        cursor.execute(seats, [first_version, versions])


def _set_apart() -> None:
    """Give matches, seats, versions and boards ids that occur nowhere else, so that each id in a recorded statement can be recognised."""
    from django.db import connection

    tables = ("league_match", "league_party", "league_botversion", "league_board")
    with connection.cursor() as cursor:
        for place, table in enumerate(tables, 1):
            cursor.execute(f"ALTER TABLE {table} ALTER COLUMN id RESTART WITH {place * 100_000_000}")


class Tape:
    """A recording of the statements of one call. A bare client replays it without Django's share of the time, which the workers would pay."""

    def __init__(self) -> None:
        self.statements: list[tuple[str, tuple[Any, ...]]] = []

    def __call__(self, execute: Any, words: str, parameters: Any, many: bool, context: Any) -> Any:
        """Record a statement and run it."""
        self.statements.append((words, tuple(parameters or ())))
        return execute(words, parameters, many, context)


def _say_again(
    address: str, statements: list[tuple[str, tuple[Any, ...]]], ids: list[int], seconds: float
) -> tuple[int, list[float]]:
    """Claim and do nothing else for `seconds`. Return the number of matches, and the seconds of each claim."""
    import psycopg

    taken, took = 0, []
    with psycopg.connect(address, autocommit=True, cursor_factory=psycopg.ClientCursor) as link:
        until = time.perf_counter() + seconds
        while (began := time.perf_counter()) < until:
            new: dict[int, int] = {}
            with link.transaction():
                for words, parameters in statements:
                    own_parameters = tuple(
                        new.get(value, value) if type(value) is int else value for value in parameters
                    )
                    cursor = link.execute(words, own_parameters)
                    if "chosen" in words:
                        fresh = [row[0] for row in cursor.fetchall()]
                        free = [pk for pk in ids if pk not in new]
                        new |= dict(zip(free, fresh, strict=False))
                        taken += len(fresh)
            took.append(time.perf_counter() - began)
    return taken, took


# The least that a claim can cost: one statement, one commit. It is measured on the matches themselves, with all their
# indexes, and on a copy with only the columns that a claim needs and the one index that it reads.
FLOOR = (
    "UPDATE {table} SET status = 'leased', token = token + 1 WHERE id IN (SELECT id FROM {table} WHERE status = 'queued' AND NOT held_back "
    "ORDER BY priority DESC, virtual_s, id LIMIT {most} FOR UPDATE SKIP LOCKED) RETURNING id AS chosen"
)
BARE = "bare_queue"


def _make_bare() -> None:
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute(f"DROP TABLE IF EXISTS {BARE}")
        cursor.execute(
            f"CREATE TABLE {BARE} AS SELECT id, status, held_back, priority, virtual_s, token FROM league_match"  # noqa: S608
        )
        cursor.execute(f"ALTER TABLE {BARE} ADD PRIMARY KEY (id)")
        cursor.execute(
            f"CREATE INDEX ON {BARE} (priority DESC, virtual_s, id) WHERE status = 'queued' AND NOT held_back"
        )
        cursor.execute(f"VACUUM ANALYZE {BARE}")


def claims() -> None:
    """Measure claims per second from the long queue, one and several at a time, next to the least that PostgreSQL needs for a claim here."""
    from django.db import connection

    from league.domain.matches import leases, snapshot

    fill()
    print(f"{QUEUED} matches wait, {CREW} workers\n")
    print("| claims | clients | matches a second | of the floor | ms a claim: median, p99 |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for most in (1, snapshot.FLOOD, snapshot.BATCH):
        _make_bare()
        tape, began, count = Tape(), time.process_time(), 0
        snapshot.update()
        for number in range(20):
            count += len(leases.claim_several(f"h{number}:1", most))
        used = (time.process_time() - began) / count
        with connection.execute_wrapper(tape):
            matches = leases.claim_several("h0:1", most)
        assert len(matches) == most, len(matches)
        ids = [match.pk for match in matches]
        statements = [(words, parameters) for words, parameters in tape.statements if "SAVEPOINT" not in words]
        connection.close()
        ways = {f"{most} at a time, {len(statements)} statements": statements}
        for table in (BARE, "league_match"):
            ways[f"floor: {most} of {table} in one statement"] = [(FLOOR.format(table=table, most=most), ())]
        for clients in (1, CLIENTS):
            rates, tails = {}, {}
            for name, words in ways.items():
                rates[name], tails[name] = _crowd(clients, words, ids)
            base = rates[f"floor: {most} of league_match in one statement"]
            for name, rate in rates.items():
                print(f"| {name} | {clients} | {rate:.0f} | {rate / base:.2f} | {tails[name]} |", flush=True)
        print(f"| through Django: {1000 * used:.2f} ms of CPU here a match | | | | |", flush=True)


def _crowd(clients: int, statements: list[tuple[str, tuple[Any, ...]]], ids: list[int]) -> tuple[float, str]:
    """Return the matches per second of `clients` clients, and the time of a claim as text."""
    with ProcessPoolExecutor(clients, get_context("fork")) as crowd:
        runs = [crowd.submit(_say_again, address(), statements, ids, ROUND_S) for _ in range(clients)]
        answers = [run.result() for run in runs]
    took = sorted(second for _, part in answers for second in part)
    rate = sum(number for number, _ in answers) / ROUND_S
    return rate, f"{1000 * median(took):.1f}, {1000 * took[int(0.99 * len(took))]:.1f}"


def _server() -> dict[str, int]:
    """Return the server's counters: commits, bytes of the write-ahead log, rows updated in place and otherwise."""
    import psycopg

    with psycopg.connect(address(), autocommit=True) as link:
        link.execute("SELECT pg_stat_clear_snapshot()")
        row = link.execute(
            "SELECT (SELECT xact_commit FROM pg_stat_database WHERE datname = current_database()), "
            "(pg_current_wal_insert_lsn() - '0/0'::pg_lsn)::bigint, "
            "(SELECT n_tup_hot_upd FROM pg_stat_user_tables WHERE relname = 'league_match'), "
            "(SELECT n_tup_upd FROM pg_stat_user_tables WHERE relname = 'league_match')"
        ).fetchone()
    assert row
    return dict(zip(("commits", "wal", "hot", "updates"), map(int, row), strict=True))


@dataclass
class Life:
    """The statements of a worker in each step of a match, recorded once through Django and replayed for other matches by a bare client.

    A thousand workers are a thousand processes on many hosts. Here two processes stand for them, which would spend their time in Django.
    """

    acts: dict[str, list[tuple[str, tuple[Any, ...]]]]
    at: datetime  # Time of the recording.
    worker: str
    match: int
    public_id: str
    seats: list[tuple[int, int]]  # Party and version.
    boards: list[int]


def _record(worker: str) -> Life:
    """Record the statements of one match in every act of a worker."""
    from django.db import connection, transaction

    from league.domain.core import clock, queue
    from league.domain.matches import leases, reports, workers
    from league.models import Board
    from tests.support.league import result

    tapes = {act: Tape() for act in ACTS}
    now = clock.present()
    with connection.execute_wrapper(tapes["claim"]):
        match = leases.claim(worker, now=now)
    assert match
    seats = [(party.pk, party.version_id) for party in match.parties.all()]
    with connection.execute_wrapper(tapes["start"]), transaction.atomic():
        leases.start(match, now=now)
        workers.note_alive(worker, match=match, now=now)
    with connection.execute_wrapper(tapes["beat"]), transaction.atomic():
        assert queue.beat(match, progress=50, now=now)
        workers.note_alive(worker, match=match, now=now)
    played = result(match)
    with connection.execute_wrapper(tapes["report"]):
        receipt = reports.report(match, played, now=now)
    assert receipt == reports.Receipt.STORED
    boards = list(Board.objects.filter(match=match).order_by("number").values_list("pk", flat=True))
    acts = {
        act: [statement for statement in tape.statements if "SAVEPOINT" not in statement[0]]
        for act, tape in tapes.items()
    }
    return Life(acts, now, worker, match.pk, match.public_id, seats, boards)


class SimulatedWorker:
    """One worker of the simulation, and its present match."""

    def __init__(self, life: Life, name: str) -> None:
        self.life, self.name = life, name
        self.numbers: dict[int, int] = {}
        self.texts = {life.worker: name}

    def act(self, link: Any, act: str) -> None:
        """Send the statements of an act. Raise ValueError if an answer differs from the recorded one."""
        if act == "claim":
            self.numbers, self.texts = {}, {self.life.worker: self.name}
        late = datetime.now(UTC) - self.life.at
        with link.transaction():
            for words, parameters in self.life.acts[act]:
                cursor = link.execute(words, [self._adapted(value, late) for value in parameters])
                rows = cursor.fetchall() if cursor.description else []
                if words.startswith("UPDATE") and cursor.rowcount < 1 and "league_" in words:
                    raise ValueError(f"{act} of {self.name} changed nothing: {words[:80]}")
                self._learn(words, cursor, rows)

    def _adapted(self, value: Any, late: timedelta) -> Any:
        if isinstance(value, bool):
            return value
        if isinstance(value, int):
            return type(value)(self.numbers.get(value, value))
        if isinstance(value, datetime):
            return value + late
        if isinstance(value, str) and type(value) is str:
            for old, new in self.texts.items():
                value = value.replace(old, new)
            return value
        if isinstance(value, list | tuple):
            return type(value)(self._adapted(item, late) for item in value)
        return value

    def _learn(self, words: str, cursor: Any, rows: list[Any]) -> None:
        life = self.life
        if "chosen" in words:
            if not rows:
                raise ValueError(f"{self.name} was given nothing")
            self.numbers[life.match] = rows[0][0]
        elif words.startswith('SELECT "league_match"."id", "league_match"."public_id"') and rows:
            self.texts[life.public_id] = rows[0][1]
        elif words.startswith('SELECT "league_party"."id", "league_party"."match_id"'):
            version = [column.name for column in cursor.description].index("version_id")
            for (party, version_id), row in zip(life.seats, rows, strict=True):
                self.numbers |= {party: row[0], version_id: row[version]}
        elif 'INSERT INTO "league_board"' in words:
            self.numbers |= dict(zip(life.boards, (row[0] for row in rows), strict=True))


def _stand_for(names: list[str], seconds: float, life: Life) -> dict[str, Any]:
    """Run the acts of these workers when they are due, for `seconds`. Return the times of each act, and the errors."""
    import psycopg

    draw, took, errors, late = random.Random(names[0]), {act: [] for act in ACTS}, [], 0.0
    stands = [SimulatedWorker(life, name) for name in names]
    begun, used = time.monotonic(), time.process_time()
    acts = [(begun + draw.uniform(0, MATCH_S), number, "claim") for number in range(len(names))]
    acts += [(begun + draw.uniform(0, BEAT_S), number, "beat") for number in range(len(names))]
    heapq.heapify(acts)
    playing: set[int] = set()
    with psycopg.connect(address(), autocommit=True, cursor_factory=psycopg.ClientCursor) as link:
        while acts and acts[0][0] < begun + seconds:
            at, number, act = heapq.heappop(acts)
            if (wait := at - time.monotonic()) > 0:
                time.sleep(wait)
            late = max(late, -wait)
            next_acts = {"claim": "start", "start": "report", "report": "claim", "beat": "beat"}
            pause = {"start": draw.uniform(0.5, 1.5) * MATCH_S, "beat": BEAT_S}.get(act, 0.0)
            heapq.heappush(acts, (at + pause, number, next_acts[act]))
            if act == "beat" and number not in playing:
                continue
            began = time.perf_counter()
            try:
                stands[number].act(link, act)
            except (psycopg.Error, ValueError) as error:
                errors.append(f"{act} of {names[number]}: {type(error).__name__}: {error}")
            took[act].append(time.perf_counter() - began)
            if act in ("start", "report"):
                (playing.add if act == "start" else playing.discard)(number)
        # The CPU clock of the server process of this client.
        server = time.clock_gettime(~link.info.backend_pid << 3 | 2)
    spent = {"cpu": time.process_time() - used, "server": server, "seconds": time.monotonic() - begun}
    return {"took": took, "errors": errors, "late": late, **spent}


def crew() -> None:
    """Let the workers claim, start, send heartbeats and report as if each played real matches."""
    from django.db import connection

    from league.domain.matches import snapshot

    _set_apart()
    fill()
    life = _record("h0:1")
    names = [f"h{i}:1" for i in range(1, CREW)]
    connection.close()
    before, load = _server(), os.getloadavg()[0]
    with ProcessPoolExecutor(CLIENTS, get_context("fork")) as crowd:
        runs = [crowd.submit(_stand_for, names[part::CLIENTS], SECONDS, life) for part in range(CLIENTS)]
        looks = 0
        # Meanwhile this process updates the snapshot as the scheduler would.
        while not all(run.done() for run in runs):
            snapshot.update()
            looks += 1
            time.sleep(snapshot.EVERY_S)
        answers = [run.result() for run in runs]
    connection.close()
    time.sleep(1.2)  # The server updates its counters with a delay.
    after = _server()
    errors = [error for answer in answers for error in answer["errors"]]
    reported = sum(len(answer["took"]["report"]) for answer in answers)
    # This is longer than SECONDS if the machine does not keep up.
    lasted = max(answer["seconds"] for answer in answers)
    summary = f"{SECONDS:g} s of theirs in {lasted:.0f} s, {reported} matches reported"
    print(f"{CREW} workers, {QUEUED} matches wait, {MATCH_S:g} s a match, {summary}\n")
    print("| act | times a second | ms: median | p99 |\n| --- | ---: | ---: | ---: |")
    for act in ACTS:
        took = [second for answer in answers for second in answer["took"][act]]
        tail = quantiles(took, n=100)[98] if len(took) > 1 else 0.0
        print(f"| {act} | {len(took) / lasted:.1f} | {1000 * median(took):.1f} | {1000 * tail:.1f} |")
    clients, server = (1000 * sum(answer[who] for answer in answers) / reported for who in ("cpu", "server"))
    print(
        f"\nCPU for each match, with its signs of life: {clients:.1f} ms of the clients, {server:.1f} ms of the server"
    )
    print(f"load average {load:.1f} before, {os.getloadavg()[0]:.1f} after")
    grown = {name: after[name] - before[name] for name in before}
    print(
        f"\nerrors: {len(errors)} {errors[:3] or ''}; at most {max(answer['late'] for answer in answers):.1f} s late; a match: "
        f"{grown['wal'] / reported:.0f} bytes of WAL, {(grown['commits'] - looks) / reported:.1f} commits "
        f"({MATCH_S / BEAT_S:.0f} of them signs of life); {grown['hot'] / grown['updates']:.0%} of the changes of matches touched no index",
        flush=True,
    )
