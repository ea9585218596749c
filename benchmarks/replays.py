"""Measure the size of a league's results and replays on PostgreSQL, and the time to write and read them. Print Markdown.

    .venv/bin/python benchmarks/replays.py [MATCHES]            matches of each game (default 12)
    .venv/bin/python benchmarks/replays.py train FOLDER LOG...  make a dictionary from logs of `tute play --log`, one per game

The engine plays boards of every game at random and reports them as matches of 8 boards, recorded like those of the runner: bots are asked for one
decision in three, and each has three random times. Bytes are the sizes of the tables with indexes and TOAST, divided by the number of sittings.
Reading is the CPU time of one sitting from the row to the plain record; the floor is `SELECT 1` on the same connection plus parsing the finished
record as JSON.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import sys
import time
from functools import partial
from pathlib import Path
from statistics import median, quantiles
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

TABLES = ("league_board", "league_sitting", "league_matchlog")
BOARDS = 8
SIZE = 8192  # Bytes of a dictionary; twice as many save 1 %.


def main() -> None:
    """Measure on a server of the test tools, or train a dictionary."""
    if sys.argv[1:2] == ["train"]:
        train(Path(sys.argv[2]), [Path(name) for name in sys.argv[3:]])
        return
    from benchmarks.league import on_postgres

    os.environ["MATCHES"] = sys.argv[1] if len(sys.argv) > 1 else "12"
    on_postgres("measure", "replays")


def records(game: Any, match: str, dice: random.Random) -> dict[tuple[int, int], dict[str, Any]]:
    """Return the records of a match of BOARDS boards, by board and sitting."""
    from dataclasses import asdict

    import engine
    from engine.runner.limits import Limits
    from tests.support.playing import choose

    by_place = {}
    seatings = game.sittings(len(game.sides))
    for board in range(1, BOARDS + 1):
        for sitting, seating in enumerate(seatings):
            state = game.new_match(seed=f"{match}/{board}", deals=game.board_deals)
            while not state.is_over:
                state.apply(choose(state, dice))
            meta = {
                "match": match,
                "table": "1-2",
                "secret_sha256": hashlib.sha256(match.encode()).hexdigest(),
                "boards": [1, BOARDS],
            }
            meta |= {"board": board, "sitting": sitting, "seating": list(seating), "parties": ["rufo v1", "lola v12"]}
            record = engine.replay.make(state, meta)
            steps = [step for step in range(len(state.taken_actions)) if dice.random() < 2 / 3]
            record |= {"faults": [], "notes": [], "timings": {"unit": "us", "steps": steps}}
            record["timings"]["seats"] = [dice.randrange(game.players) for _ in steps]
            for kind in ("cpu", "wall", "latency"):
                record["timings"][kind] = [int(dice.lognormvariate(7, 1)) for _ in steps]
            record["pass"] = {"boards": list(range(1, BOARDS + 1)), "limits": asdict(Limits()), "pass_s": 40.0}
            record["pass"] |= {"seeds": [dice.getrandbits(31) for _ in range(game.players)]}
            record["pass"] |= {"sealed": [True] * game.players}
            by_place[board, sitting] = record
    return by_place


def train(folder: Path, logs: list[Path]) -> None:
    """Train a dictionary on one board of each match at a time and write it into `folder`, under its hash."""
    import zstandard

    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")
    import django

    django.setup()
    from league.domain.matches import packing

    samples = []
    for log in logs:
        by_board: dict[int, dict[tuple[int, int], dict[str, Any]]] = {}
        for record in map(json.loads, log.read_text().splitlines()):
            board, sitting = record["meta"]["board"], record["meta"]["sitting"]
            by_board.setdefault(board, {})[board, sitting] = record
        samples += [text for sitting_records in by_board.values() for text in packing.texts(sitting_records)]
    data = zstandard.train_dictionary(SIZE, samples).as_bytes()
    name = hashlib.sha256(data).hexdigest()
    (folder / name).write_bytes(data)
    print(
        f"{name}: {len(data)} bytes from {len(samples)} samples; add it to the end of USED in league/domain/matches/logs.py"
    )


def measure() -> None:
    """Fill a league with MATCHES matches of each game and print the space that they take."""
    from django.db import connection
    from django.utils import timezone

    import engine
    from league.domain.matches import logs
    from league.domain.ratings import pools
    from league.models import Board, Match, Sitting

    matches = int(os.environ["MATCHES"])
    dice, now = random.Random(1), timezone.now()
    sittings = 0
    packing_s, stored = [], []
    for key in engine.games():
        game = engine.load(key)
        pool = pools.pool(key)
        for number in range(matches):
            name = hashlib.sha256(f"{key}/{number}".encode()).hexdigest()[:10]
            played = json.loads(json.dumps([[place, row] for place, row in records(game, name, dice).items()]))
            by_place = {(board, sitting): record for (board, sitting), record in played}
            match = Match.objects.create(
                public_id=name, kind="tournament", pool=pool, key=name, table="1-2", secret=bytes(32),
                boards_planned=BOARDS, status="finished", created=now, finished=now,
            )  # fmt: skip
            rows = Board.objects.bulk_create(
                Board(match=match, number=board, scores=[1000 + board, 2000 - board]) for board in range(1, BOARDS + 1)
            )
            Sitting.objects.bulk_create(
                Sitting(board=rows[b - 1], number=s, seating=record["meta"]["seating"], scores=record["scores"])
                for (b, s), record in by_place.items()
            )
            began = time.process_time()
            data = logs.pack_records(by_place)
            packing_s.append((time.process_time() - began) / len(by_place))
            logs.store(match, data, finished=now)
            sittings += len(by_place)
            stored.append((match.pk, list(by_place)))
    with connection.cursor() as cursor:
        for table in TABLES:
            cursor.execute(f"VACUUM ANALYZE {table}")
        sizes = {}
        for table in TABLES:
            # Leave out the free space maps, which are large only in a small league.
            cursor.execute(
                "SELECT pg_relation_size(oid) + coalesce(pg_relation_size(nullif(reltoastrelid, 0)), 0),"
                " pg_indexes_size(oid) + coalesce(pg_indexes_size(nullif(reltoastrelid, 0)), 0) FROM pg_class WHERE relname = %s",
                [table],
            )
            sizes[table] = cursor.fetchone()
    print(f"{sittings} sittings of {len(engine.games())} games, {BOARDS} boards a match\n")
    print("| a sitting | bytes |\n| --- | ---: |")
    for table, (data_size, index_size) in sizes.items():
        print(f"| {table}, rows | {data_size / sittings:.0f} |\n| {table}, indexes | {index_size / sittings:.0f} |")
    total = sum(map(sum, sizes.values())) / sittings
    print(f"| **all** | **{total:.0f}** |\n")

    reads, floors, parses = [], [], []
    for pk, places in dice.sample(stored, min(len(stored), 200)):
        board, sitting = dice.choice(places)
        reads.append(_timed(partial(_read, pk, board, sitting)))
        text = json.dumps(_read(pk, board, sitting))
        floors.append(_timed(partial(_select_one, connection)))
        parses.append(_timed(partial(json.loads, text)))
    print("| CPU ms | p50 | p99 | over SELECT 1 and a JSON reader |\n| --- | ---: | ---: | ---: |")
    floor = median(floors) + median(parses)
    for what, times in (("read one sitting", reads), ("SELECT 1", floors), ("read its JSON", parses)):
        print(
            f"| {what} | {1e3 * median(times):.2f} | {1e3 * quantiles(times, n=100)[98]:.2f} | {median(times) / floor:.1f} |"
        )
    print(
        f"| write: prove and pack, a sitting | {1e3 * median(packing_s):.2f} | {1e3 * quantiles(packing_s, n=100)[98]:.2f} | |"
    )


def _timed(work: Any) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def _read(pk: int, board: int, sitting: int) -> dict[str, Any]:
    from league.domain.matches import replays
    from league.models import Sitting

    row = Sitting.objects.select_related("board__match").get(board__match=pk, board__number=board, number=sitting)
    return replays.unpack(row)


def _select_one(connection: Any) -> None:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchone()


if __name__ == "__main__":
    main()
