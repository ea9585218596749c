"""Compare the times of pages and API while Redis hangs with those while it answers, on the production stack with PostgreSQL and Redis.

    .venv/bin/python benchmarks/redis.py [requests]

Redis is stopped (SIGSTOP) and continued four times; requests go one after another to a league with the house bots. A ratio near 1 means that no
request waits for Redis, not even the first ones after each change, which count too.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from statistics import median, quantiles

ROOT = Path(__file__).resolve().parent.parent
sys.path[0] = str(ROOT)  # Replace this folder, in which a module has the name of the Redis client.

from tests.support.postgres import PostgresServer  # noqa: E402
from tests.support.processes import wait_for  # noqa: E402
from tests.support.redis import RedisServer  # noqa: E402
from tests.support.stack import Stack  # noqa: E402

PAGES = ("/api/v1/games", "/api/v1/matches", "/", "/status/")
MANY = {"API_ANON_PER_MINUTE": "1000000", "HEAVY_PAGES_PER_MINUTE": "1000000", "LOG_LEVEL": "ERROR"}
TURNS = 4


def measure(stack: Stack, redis: RedisServer, each: int) -> dict[tuple[str, bool], list[float]]:
    """Return the seconds of each request, by page and whether Redis was well."""
    seconds: dict[tuple[str, bool], list[float]] = {(page, well): [] for page in PAGES for well in (True, False)}
    for _ in range(TURNS):
        for well in (True, False):
            if not well:
                redis.hang()
            for number in range(each * len(PAGES) // TURNS):
                page = PAGES[number % len(PAGES)]
                began = time.perf_counter()
                status, _text = stack.request("GET", page)
                seconds[page, well].append(time.perf_counter() - began)
                if status != 200:
                    raise RuntimeError(f"{page} answered {status}")
            if not well:
                redis.go_on()
                time.sleep(4)  # Wait until the league asks Redis again.
    return seconds


def main() -> None:
    """Set up the stack, measure, and print a table."""
    each = int(sys.argv[1]) if len(sys.argv) > 1 else 400
    postgres = PostgresServer()
    redis = RedisServer()
    stack = Stack(database_url=postgres.create_database(), broker_urls=redis.urls, **MANY)
    try:
        stack.run("migrate")
        stack.manage("enter_house")
        stack.start("web")
        wait_for(lambda: stack.check("web")[0], "the web", 120, every=0.5)
        for page in PAGES * 8:
            stack.request("GET", page)
        seconds = measure(stack, redis, each)
    finally:
        stack.close()
        redis.close()
        postgres.close()
    print(f"| {each} requests each | well: median, p99, worst ms | hung: median, p99, worst ms | ratio of p99 |")
    print("| --- | ---: | ---: | ---: |")
    for page in PAGES:
        times = {well: seconds[page, well] for well in (True, False)}
        late = {well: quantiles(times[well], n=100)[-1] for well in times}
        words = [f"{1e3 * median(t):.0f}, {1e3 * late[well]:.0f}, {1e3 * max(t):.0f}" for well, t in times.items()]
        print(f"| `{page}` | {words[0]} | {words[1]} | {late[False] / late[True]:.2f} |")


if __name__ == "__main__":
    main()
