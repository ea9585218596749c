"""Random trouble, for as long as one likes: `make chaos` (CHAOS_S=600: seconds; CHAOS_SEED=1)."""

from __future__ import annotations

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable

import pytest

from tests.chaos.conftest import SOON, Troubled
from tests.chaos.trouble import PLACES
from tests.support.processes import Process
from tests.support.redis import RedisServer

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

AT_ONCE = 4  # processes
REDIS: dict[str, tuple[Callable[[RedisServer], None], Callable[[RedisServer], None]]] = {
    "Redis away": (RedisServer.stop, RedisServer.start),
    "Redis hung": (RedisServer.hang, RedisServer.go_on),
    "Redis full": (RedisServer.fill, RedisServer.have_room),
}


class Storm:
    """One tournament in trouble; every choice is drawn from the seed."""

    def __init__(self, league: Troubled, chance: random.Random) -> None:
        self.league = league
        self.chance = chance
        self.done: Counter[str] = Counter()
        self.alive: list[Process] = []

    def blow(self) -> None:
        """One more misfortune."""
        self.alive = [process for process in self.alive if process.popen.poll() is None]
        what = self.chance.choices(
            ["process", "kill -9", "SIGTERM", "empty Redis", *REDIS, "PostgreSQL away", "PostgreSQL crash"],
            [8 if len(self.alive) < AT_ONCE else 0, len(self.alive), len(self.alive) / 3, 1, 0.5, 0.5, 0.5, 0.5, 0.5],
        )[0]
        self.done[what] += 1
        if what == "process":
            self.alive.append(self._process())
        elif what == "kill -9":
            self._one().kill()
        elif what == "SIGTERM":
            self._one().stop(seconds=30)
        elif what == "empty Redis":
            self.league.redis.empty()
        elif what in REDIS:
            go, come = REDIS[what]
            go(self.league.redis)
            time.sleep(self.chance.uniform(0, 3))
            come(self.league.redis)
        else:
            self.league.postgres.restart(signal.SIGQUIT if what == "PostgreSQL crash" else signal.SIGINT)

    def _one(self) -> Process:
        return self.alive.pop(self.chance.randrange(len(self.alive)))

    def _process(self) -> Process:
        trouble = {}
        if self.chance.random() < 0.4:
            trouble["die_at"] = self.chance.choice(list(PLACES))
        if self.chance.random() < 0.3:
            trouble["skew_s"] = str(self.chance.uniform(-9000, 9000))
        if self.chance.random() < 0.4:
            trouble["messages"] = self.chance.choice(["twice", "none"])
        for name in trouble:
            self.done[name] += 1
        return self.league.start(self.chance.choice(["worker", "worker", "scheduler"]), **trouble)


def test_random_trouble_changes_nothing(first_moment: Troubled) -> None:
    """One tournament after the other: a storm until half of it is played or a minute is over, then calm; the table is always the same."""
    league = first_moment
    league.stack.settings["LEASE_S"] = SOON
    chance = random.Random(int(os.environ.get("CHAOS_SEED", "1")))
    until = time.monotonic() + float(os.environ.get("CHAOS_S", "600"))
    rounds, done, attempts = 0, Counter[str](), 0
    while time.monotonic() < until:
        league.reset()
        storm = Storm(league, chance)
        calm = time.monotonic() + 60
        while time.monotonic() < calm and len(league.unfinished()) > 0:
            storm.blow()
            time.sleep(chance.uniform(0, 2))
        league.start("scheduler")
        league.start("worker")
        league.finish(300)
        league.check()
        rounds, done = rounds + 1, done + storm.done
        attempts += sum(times for (times,) in league.attempts())
    print(f"{rounds} rounds of 2 tournaments (10 matches), {attempts} attempts, {dict(sorted(done.items()))}")
