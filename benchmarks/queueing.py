"""Claims per second from a queue of 100,000 matches, with 1,000 workers. Part of benchmarks/league.py."""

from __future__ import annotations

import os
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import timedelta
from multiprocessing import get_context
from statistics import median
from typing import Any

WORKERS = 1000
QUEUED = int(os.environ.get("QUEUED", "100000"))  # Number of waiting matches.
CLIENTS = 4  # Number of processes that claim.
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
        (Worker(name=f"h{i}:1", started=now, seen=now + timedelta(days=1), tier="landlock") for i in range(WORKERS)),
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
    print(f"{QUEUED} matches wait, {WORKERS} workers\n")
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
