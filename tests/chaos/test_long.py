"""Random trouble, for as long as one likes: `make chaos` (CHAOS_S=600: seconds; CHAOS_SEED=1)."""

from __future__ import annotations

import json
import os
import random
import shutil
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.chaos import disk
from tests.chaos.conftest import SOON, Troubled
from tests.chaos.people import SERIES, STAGES, Guest, Owner, Person, Thread
from tests.chaos.trouble import PLACES, PLACES_OF_THE_WEB
from tests.support.processes import Process

pytestmark = [pytest.mark.soak, pytest.mark.timeout(0)]

AT_ONCE = 4  # processes besides the web
STORM_S = 150
CALM_S = 600  # more than the rest of a round takes on any machine
GAMES = [("cup-a", "a_dos"), ("cup-b", "brisca"), ("cup-c", "individual"), ("cup-d", "two_player")]
LIMITS = {
    "QUOTA_TOURNAMENTS": "5",
    "QUOTA_CHALLENGES": "6",
    "QUOTA_VALIDATIONS": "2",
    "UPLOADS_PER_HOUR": "5",
    "API_UPLOADS_PER_HOUR": "10000",
}
SETTLED = "SELECT count(*) FROM league_botversion WHERE status = 'validating'"
POSTGRES = "PostgreSQL"
CHALLENGED = "SELECT count(*) FROM league_match WHERE kind = 'challenge' AND status <> 'finished'"
UNASKED = """
    SELECT t.slug FROM league_entry e JOIN league_tournament t ON t.id = e.tournament_id
    JOIN league_botversion v ON v.id = e.version_id JOIN league_bot b ON b.id = v.bot_id AND b.slug = 'hermit'
    WHERE NOT EXISTS (SELECT FROM league_entryrequest r WHERE r.bot_id = b.id AND r.status = 'granted'
        AND (r.tournament_id = t.id OR r.event_id = t.event_id))
"""
JOURNAL = "SELECT id, md5(e::text) FROM league_leagueevent e"


class Storm:
    """One tournament in trouble; every choice is drawn from the seed."""

    def __init__(
        self, league: Troubled, disks: dict[str, disk.Disk], chance: random.Random, answers: Callable[[], int]
    ) -> None:
        """answers: how many requests of people were answered."""
        self.league = league
        self.disks = disks
        self.chance = chance
        self.answers, self.answered = answers, 0
        self.act_counts: Counter[str] = Counter()
        self.alive: list[Process] = []
        self.web: Process | None = None
        self.journal: dict[int, str] = {}
        redis = league.redis
        self.pairs: dict[str, tuple[Callable[[], None], Callable[[], None]]] = {
            "Redis away": (redis.stop, redis.start),
            "Redis hung": (redis.hang, redis.go_on),
            "Redis full": (redis.fill, redis.have_room),
            **{f"disk of {name} full": (device.fill, device.have_room) for name, device in disks.items()},
        }
        if POSTGRES in disks:
            self.pairs["disk of PostgreSQL full"] = disks[POSTGRES].fill, self._let_postgres_write
        self.acts: dict[str, Callable[[], None]] = {
            "process": self._start,
            "kill -9": lambda: self._random_process().kill(),
            "SIGTERM": lambda: self._random_process().stop(seconds=30) and None,
            "kill -9 of the web": lambda: self._end_web(signal.SIGKILL),
            "SIGTERM to the web": lambda: self._end_web(signal.SIGTERM),
            "hang": self._hang,
            "empty Redis": redis.empty,
            "PostgreSQL away": lambda: league.postgres.restart(signal.SIGINT),
            "PostgreSQL crash": lambda: league.postgres.restart(signal.SIGQUIT),
            "read the journal": self.read_journal,
            **{name: lambda name=name: self._for_a_while(name) for name in self.pairs},
        }

    def blow(self) -> None:
        """Cause one more misfortune."""
        self.alive = [process for process in self.alive if process.popen.poll() is None]
        if self.web is None or self.web.popen.poll() is not None:
            self.web, self.answered = self._begin("web", PLACES_OF_THE_WEB), self.answers()
        here = len(self.alive)
        used = 0.7 if self.answers() > self.answered + 5 else 0  # one that nobody has met is not worth it
        often = {"process": 8 if here < AT_ONCE else 0, "kill -9": here, "SIGTERM": here / 3, "hang": here / 8}
        rarely = {
            "empty Redis": 1.0,
            "read the journal": 1.0,
            "kill -9 of the web": used,
            "SIGTERM to the web": used / 2,
        }
        what = self.chance.choices(list(self.acts), [(often | rarely).get(name, 0.5) for name in self.acts])[0]
        self.act_counts[what] += 1
        self.acts[what]()

    def read_journal(self) -> None:
        """Check that the journal still contains all its earlier lines, unchanged."""
        try:
            journal = dict(self.league.stack.rows(JOURNAL))
        except psycopg.OperationalError:
            return
        assert journal.items() >= self.journal.items(), set(self.journal.items()) - set(journal.items())
        self.journal = journal

    def _random_process(self) -> Process:
        return self.alive.pop(self.chance.randrange(len(self.alive)))

    def _start(self) -> None:
        self.alive.append(self._begin(self.chance.choice(["worker", "worker", "scheduler"]), PLACES))

    def _begin(self, name: str, places: dict[str, Any]) -> Process:
        trouble = {}
        if self.chance.random() < 0.4:
            trouble["die_at"] = self.chance.choice(list(places))
        if self.chance.random() < 0.3:
            trouble["skew_s"] = str(self.chance.uniform(-9000, 9000))
        if self.chance.random() < 0.4:
            trouble["messages"] = self.chance.choice(["twice", "none"])
        for what in trouble:
            self.act_counts[what] += 1
        return self.league.start(name, **trouble)

    def _end_web(self, how: signal.Signals) -> None:
        assert self.web is not None
        if how == signal.SIGKILL:
            self.web.kill()
        else:
            self.web.stop(seconds=30)

    def _hang(self) -> None:
        """Longer than a lease: what it held is played by another one before it goes on."""
        process = self.chance.choice(self.alive)
        os.killpg(process.pid, signal.SIGSTOP)
        time.sleep(self.chance.uniform(0, 2 * float(SOON)))
        os.killpg(process.pid, signal.SIGCONT)

    def _let_postgres_write(self) -> None:
        self.disks[POSTGRES].have_room()
        self.league.postgres.come_back()

    def _for_a_while(self, name: str) -> None:
        go, come = self.pairs[name]
        go()
        time.sleep(self.chance.uniform(0, 3))
        come()


class Round:
    """A league from its first card on: people use it, a storm goes over it, and then it comes to rest."""

    def __init__(self, league: Troubled, chance: random.Random) -> None:
        self.league = league
        self.counts: Counter[str] = Counter()
        self.owner = Owner(league, random.Random(chance.random()), self.counts, wild=True)
        self.guest = Guest(league, random.Random(chance.random()), self.counts)

    def answers(self) -> int:
        """Return the number of requests that were answered."""
        return sum(times for what, times in self.counts.items() if what.isdigit())

    def play(self, storm: Storm) -> None:
        """Both, and the rest."""
        threads = [Thread(lambda: self.owner.run(GAMES)), Thread(self.guest.run)]
        until = time.monotonic() + STORM_S
        while time.monotonic() < until and not any(thread.error for thread in threads):
            storm.blow()
            time.sleep(storm.chance.uniform(0, 2))
        for process in storm.alive:
            if storm.chance.random() < 0.5:
                process.kill()
        if storm.web is not None:
            storm.web.kill()  # one whose processes die in every second create would be asked for all of them again
        for name in ("scheduler", "worker", "worker", "web"):
            self.league.start(name)
        self.owner.calm.set()
        self.guest.calm.set()
        for thread in threads:
            thread.result(CALM_S)
        self.league.finish(CALM_S)
        self.league.until(lambda: self.league.stack.rows(SETTLED) == [(0,)], "the end of validations", CALM_S)
        self.league.until(lambda: self.league.stack.rows(CHALLENGED) == [(0,)], "the end of challenges", CALM_S)
        storm.read_journal()

    def check(self, quiet: dict[str, Any]) -> None:
        """Check what must hold after the storm."""
        assert self.league.findings() == []
        people: list[Person] = [*self.owner.people.values(), self.guest.me, self.owner.hermit]
        for person in people:
            person.asks_again()
        self._made_once()
        table = json.loads(self.league.table())
        self._kept_its_word()
        names = {"pairs", "seats", *self.owner.created} - self.owner.cancelled
        assert list(differences(select(quiet, names), select(table, names))) == []

    def _made_once(self) -> None:
        slugs = self.league.stack.rows("SELECT slug FROM league_tournament ORDER BY slug")
        assert slugs == [(name,) for name in sorted(["pairs", "seats", *self.owner.created, *self.guest.fairs])]
        status = dict(self.league.stack.rows("SELECT slug, status FROM league_tournament"))
        gone = self.owner.cancelled | set(self.guest.fairs)
        assert {name for name in status if status[name] == "cancelled"} == gone
        assert self.league.stack.rows("SELECT slug, status FROM league_event") == [("series", "finished")]
        uploads = self.league.stack.rows(
            "SELECT v.id, v.status FROM league_botversion v JOIN league_bot b ON b.id = v.bot_id WHERE b.slug LIKE 'guest-%%'"
        )
        assert {version for version, _ in uploads} == self.guest.taken
        assert {status for _, status in uploads} <= {"accepted"}, uploads

    def _kept_its_word(self) -> None:
        """Check that each challenge was played once, that no request is open, and that nobody was entered without consent."""
        played = self.league.stack.rows("SELECT public_id, status FROM league_match WHERE kind = 'challenge'")
        assert sorted(played) == [(match, "finished") for match in sorted(self.guest.challenges)]
        assert self.league.stack.rows("SELECT id FROM league_entryrequest WHERE status = 'asked'") == []
        assert self.league.stack.rows(UNASKED) == []


def select(table: dict[str, Any], names: set[str]) -> dict[str, Any]:
    """Select the part of a table that follows from these tournaments alone: each has a pool of its own."""
    games = {"pairs": "partnership", "seats": "gana_pierde_3", **dict(GAMES), **dict.fromkeys(STAGES, SERIES["game"])}
    return {
        "matches": {key: match for key, match in table["matches"].items() if key.split(":")[0] in names},
        "cups": {name: table["cups"][name] for name in sorted(names)},
        "pools": {games[name]: table["pools"][games[name]] for name in sorted(names)},
    }


def differences(quiet: Any, other: Any, where: str = "") -> Iterator[str]:
    """Yield the places where two tables differ, and both values."""
    if isinstance(quiet, dict) and isinstance(other, dict):
        for name in sorted(quiet.keys() | other.keys()):
            yield from differences(quiet.get(name), other.get(name), f"{where}/{name}")
    elif isinstance(quiet, list) and isinstance(other, list) and len(quiet) == len(other):
        for number, pair in enumerate(zip(quiet, other, strict=True)):
            yield from differences(*pair, f"{where}/{number}")
    elif quiet != other:
        yield f"{where}: {quiet} in the quiet league, {other} in the storm"


@pytest.fixture
def disks(first_moment: Troubled) -> dict[str, disk.Disk]:
    """Small disks of their own for the processes that unpack bots and for PostgreSQL: where we are root, else none.

    They go with this process, however it ends: PostgreSQL writes to the end.
    """
    if not disk.may_be_made():
        return {}
    disk.be_apart()
    disks_by_name = {
        "worker": disk.Disk(first_moment.stack.folder / "state-worker", 400),
        POSTGRES: disk.Disk(first_moment.postgres.folder / "disk", 600),
    }
    first_moment.postgres.move(disks_by_name[POSTGRES].folder)
    return disks_by_name


def test_random_trouble_changes_nothing(disks: dict[str, disk.Disk], first_moment: Troubled) -> None:
    """One league after the other: a storm, then calm; the table is always that of the quiet one."""
    league = first_moment
    league.stack.settings |= LIMITS | {"DISK_FREE_MB": "8", "ALLOWED_HOSTS": "league.test"}
    try:
        quiet = undisturbed(league)
        league.stack.settings["LEASE_S"] = SOON
        seed = int(os.environ.get("CHAOS_SEED", "1"))
        chance = random.Random(seed)
        until = time.monotonic() + float(os.environ.get("CHAOS_S", "600"))
        rounds, counts, attempts = 0, Counter[str](), 0
        while time.monotonic() < until:
            league.reset()
            now = Round(league, chance)
            storm = Storm(league, disks, chance, now.answers)
            now.play(storm)
            now.check(quiet)
            rounds += 1
            counts += storm.act_counts + now.counts
            attempts += sum(times for (times,) in league.attempts())
            print(f"round {rounds}: {dict(sorted((storm.act_counts + now.counts).items()))}", flush=True)
        print(f"seed {seed}: {rounds} rounds, {attempts} attempts, {dict(sorted(counts.items()))}")
    except BaseException:
        print(f"what the processes said: {keep_logs(league, os.environ.get('CHAOS_SEED', '1'))}", flush=True)
        raise


def keep_logs(league: Troubled, name: str) -> Path:
    """Copy the logs of a league to where they outlive it."""
    place = Path(os.environ.get("STATE_DIR", "var/test")) / f"chaos-{name}"
    shutil.rmtree(place, ignore_errors=True)
    place.mkdir(parents=True)
    for log in league.stack.folder.glob("*.log"):
        shutil.copy(log, place)
    return place


def undisturbed(league: Troubled) -> dict[str, Any]:
    """Return the table of a league that is used as in the storm, but without one."""
    league.reset()
    for name in ("web", "scheduler", "worker"):
        league.start(name)
    Owner(league, random.Random(0), Counter(), wild=False).run(GAMES)
    league.finish()
    assert league.findings() == []
    return dict(json.loads(league.table()))
