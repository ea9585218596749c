"""The production league, started by hand from the commands of docker-compose.yml on a real PostgreSQL and Redis."""

from __future__ import annotations

import os
import random
import signal
import time
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
import redis

import engine
from tests.ops.test_readme import first_bot
from tests.support.bots import HONEST
from tests.support.processes import wait_for
from tests.support.redis import RedisServer
from tests.support.stack import Stack

pytestmark = pytest.mark.timeout(900)

BOARDS = 100  # A match takes some seconds: long enough to be found half played
LONG = 400  # seconds for work that takes some ten on an idle machine


def enter_house(stack: Stack, *names: str) -> None:
    """Enter all house bots, or the named ones, validated by whatever worker is running."""
    stack.manage("enter_house", *names)
    all_accepted(stack)


ENTER = """
import os, sys
import django
os.environ["DJANGO_SETTINGS_MODULE"] = "league.settings"
django.setup()
from league.domain.bots import bots, consent
from league.domain.people import players
players.create("house", reserved=True)
for number in range(int(sys.argv[2])):
    source = f"{sys.argv[1]}# {number}".encode()
    version = bots.upload(players.create(f"player-{number}"), f"bot-{number}", source, "bot.py", ["partnership"])
    consent.set_policy(version.bot, "anybody", actor=f"player-{number}")
"""


def enter_small(stack: Stack, number: int = 3) -> None:
    """Bots of as many players that play one game: their validation takes less time than what is tried."""
    stack.program("-c", ENTER, HONEST, str(number))
    all_accepted(stack)


def all_accepted(stack: Stack) -> None:
    """Wait for the validation of all bots; each has passed it."""
    pending = "SELECT count(*) FROM league_botversion WHERE status = 'validating'"
    wait_for(lambda: stack.rows(pending) == [(0,)], f"the validation matches\n{stack.logs()}", LONG, every=0.2)
    versions = (
        "SELECT b.slug, v.status, v.fault FROM league_botversion v JOIN league_bot b ON b.id = v.bot_id ORDER BY 1"
    )
    assert {(status, fault) for _, status, fault in stack.rows(versions)} == {("accepted", "")}, stack.rows(versions)


def a_cup(stack: Stack, name: str = "Cup", boards: int = BOARDS) -> None:
    """Start a round robin of all bots, which counts for the ratings."""
    bots = [f"--bot={slug}" for (slug,) in stack.rows("SELECT slug FROM league_bot ORDER BY slug")]
    words = [name, "--owner=house", "--game=partnership", f"--boards={boards}", *bots, "--start"]
    stack.manage("create_tournament", *words)


def finish(stack: Stack, seconds: float = LONG) -> None:
    """Wait for the end of all tournaments."""
    status = "SELECT DISTINCT status FROM league_tournament"
    wait_for(lambda: stack.rows(status) == [("finished",)], f"the tournaments' end\n{stack.logs()}", seconds, every=0.2)


def results(stack: Stack) -> list[tuple[object, ...]]:
    """Per match of the cup: its key, and per party what it won and lost."""
    return stack.rows(
        """SELECT m.key, b.slug, p.number, p.points, p.wins, p.draws, p.losses FROM league_match m
        JOIN league_party p ON p.match_id = m.id JOIN league_botversion v ON v.id = p.version_id JOIN league_bot b ON b.id = v.bot_id
        WHERE m.kind = 'tournament' ORDER BY m.key, p.number"""
    )


def counted_once(stack: Stack, tournaments: int) -> None:
    """Check that every match of the cups is finished, and that its boards, sittings, end and rating are stored exactly once."""
    matches = stack.rows("SELECT id, status, boards_planned FROM league_match WHERE kind = 'tournament' ORDER BY id")
    ((bots,),) = stack.rows("SELECT count(*) FROM league_bot")
    assert len(matches) == tournaments * bots * (bots - 1) // 2
    assert {status for _, status, _ in matches} == {"finished"}
    boards = stack.rows(
        "SELECT match_id, count(*), count(DISTINCT b.number) FROM league_board b JOIN league_match m ON m.id = b.match_id "
        "WHERE m.kind = 'tournament' GROUP BY match_id ORDER BY match_id"
    )
    assert boards == [(identity, planned, planned) for identity, _, planned in matches]
    total = sum(planned for _, _, planned in matches)
    sittings = (
        "SELECT count(*) FROM league_sitting s JOIN league_board b ON b.id = s.board_id "
        "JOIN league_match m ON m.id = b.match_id WHERE m.kind = 'tournament'"
    )
    assert stack.rows(sittings) == [(2 * total,)]
    assert sum(wins + draws + losses for *_, wins, draws, losses in results(stack)) == 2 * total
    ends = "SELECT count(*) FROM league_leagueevent WHERE kind = 'match.moved' AND data->>'to' = 'finished' GROUP BY subject"
    assert {count for (count,) in stack.rows(ends)} == {1}
    # Rated once, too: a board is in the sums of exactly two versions.
    rated = (
        "SELECT sum(r.boards) FROM league_rating r JOIN league_pool p ON p.id = r.pool_id WHERE p.game = 'partnership'"
    )
    wait_for(lambda: stack.rows(rated) == [(2 * total,)], f"ratings of all boards\n{stack.logs()}", LONG, every=0.2)


@pytest.mark.slow
def test_every_match_is_counted_once_though_a_worker_is_killed(league_stack: Stack) -> None:
    """Kill -9 of a worker in the middle of a match: another one plays it again, from its first board, on the same deals."""
    stack = league_stack
    stack.start("scheduler")
    first = stack.start("worker", LEASE_S="4")
    enter_small(stack)
    a_cup(stack)
    halfway = (
        "SELECT id FROM league_match WHERE kind = 'tournament' AND status = 'running' AND progress BETWEEN 1 AND 35"
    )
    victim = wait_for(lambda: stack.rows(halfway), f"a match that is being played\n{stack.logs()}", LONG, every=0.02)[
        0
    ][0]
    bots = psutil.Process(first.pid).children(recursive=True)
    assert bots, "a match is being played, so bots are running"
    first.kill()
    _, alive = psutil.wait_procs(bots, timeout=60)
    assert alive == [], "the bots of a killed worker die with it"

    stack.start("worker")
    stack.start("worker")
    finish(stack)

    attempts = stack.rows("SELECT attempts FROM league_match WHERE id = %s", victim)
    assert attempts == [(2,)]
    counted_once(stack, tournaments=1)


def everything_up(stack: Stack) -> None:
    """Web, scheduler and a worker, healthy by the checks of the compose file."""
    for name in ("web", "scheduler", "worker"):
        stack.start(name)
    for name in ("web", "scheduler", "worker"):
        try:
            wait_for(lambda name=name: stack.check(name)[0], f"{name} to be healthy", LONG, every=0.5)
        except TimeoutError:
            raise AssertionError(f"{stack.check(name)[1]}\n{stack.logs()}") from None


def a_stopped_scheduler_is_not_well(stack: Stack) -> None:
    """Check that the health checks see it, though its process is there and nothing piles up. Its row is made an hour old."""
    scheduler = next(process for process in stack.processes if process.name == "scheduler")
    scheduler.popen.send_signal(signal.SIGSTOP)
    with psycopg.connect(stack.database_url) as database:
        database.execute("UPDATE league_scheduler SET seen = seen - interval '1 hour'")
    for live in (True, False):
        assert stack.check("scheduler", live=live) == (False, f"unhealthy: the scheduler {scheduler.pid} is stopped")
    assert "tute_scheduler_age_seconds 36" in stack.request("GET", "/metrics")[1]
    scheduler.popen.send_signal(signal.SIGCONT)
    wait_for(lambda: stack.check("scheduler")[0], "a scheduler that is well again", LONG, every=0.5)


@pytest.mark.slow
def test_a_stranger_uploads_a_bot_by_rest_and_plays_a_tournament_to_its_end(
    league_stack: Stack, redis_server: RedisServer, tmp_path: Path
) -> None:
    stack = league_stack
    redis_server.denied()
    stack.settings |= {"AUDIT_PERCENT": "100", "LOG_FORMAT": "json", "LOG_LEVEL": "DEBUG", "TRUST_PROXY": "1"}
    everything_up(stack)
    a_stopped_scheduler_is_not_well(stack)
    enter_house(stack, "random", "greedy")
    stack.manage("create_player", "ana", "--no-password")
    token = stack.manage("create_token", "ana").strip()
    stack.manage("create_player", "olga", "--staff", "--no-password")
    operator = stack.manage("create_token", "olga").strip()  # Her events count for the ratings.

    good = stack.upload(token, "rufo", first_bot().encode(), "upload-of-rufo")
    bad = stack.upload(token, "tramposa", b"import sys\nsys.exit(3)\n")
    assert (good["status"], bad["status"]) == ("validating", "validating")

    def judged() -> bool:
        return "validating" not in [stack.call("GET", f"/versions/{row['id']}", token)["status"] for row in (good, bad)]

    wait_for(judged, f"the validation matches\n{stack.logs()}", LONG, every=0.3)
    assert stack.call("GET", f"/versions/{good['id']}", token)["status"] == "accepted"
    version = stack.call("GET", f"/versions/{bad['id']}", token)
    assert (version["status"], version["fault"]) == ("rejected", "crash")
    assert "3" in version["fault_detail"]

    bots = ["rufo", "random", "greedy"]
    request = {"name": "Copa", "game": "partnership", "boards": 3, "bots": bots, "start": True}
    cup = stack.call("POST", "/tournaments", operator, request, "the-cup-of-olga")["slug"]

    def over() -> bool:
        return bool(stack.call("GET", f"/tournaments/{cup}", token)["status"] == "finished")

    wait_for(over, f"the end of the tournament\n{stack.logs()}", LONG, every=0.3)
    standings = stack.call("GET", f"/tournaments/{cup}/standings", token)
    assert standings["matches"]["finished"] == 3
    assert sorted(cell["boards"] for cell in standings["crosstable"]) == [3] * 6
    requests = {"the-cup-of-olga": 3, "upload-of-rufo": 1}  # The log of the web has these as numbers of requests
    for number, matches in requests.items():
        kinds = [line for line in stack.lines("worker") if line.get("request") == number]
        assert len({line["match"] for line in kinds}) == matches
        assert {line["logger"] for line in kinds} >= {"league.jobs", "engine.sandbox"}
    assert all("request" in line for line in stack.lines("worker") if line.get("tournament") == cup)
    pool = stack.call("GET", f"/tournaments/{cup}", token)["pool"]["id"]
    wait_for(lambda: len(leaders(stack, pool, token)) == 3, f"the leaderboard\n{stack.logs()}", LONG, every=0.3)
    anchor = next(row for row in leaders(stack, pool, token) if row["bot"] == "greedy")
    assert anchor["elo"] == pytest.approx(1000)
    assert redis_server.denied() == []  # The rights of the processes' users in Redis are enough

    verified = 0
    for match in stack.call("GET", f"/matches?tournament={cup}", token)["results"]:
        for sitting in (0, 1):
            replay = stack.call("GET", f"/matches/{match['id']}/boards/1/sittings/{sitting}/replay", token)
            engine.replay.verify(replay)
            verified += 1
    assert verified == 6

    audits = "SELECT verdict, fault FROM league_audit WHERE verdict <> ''"
    wait_for(lambda: stack.rows(audits), f"an audit\n{stack.logs()}", LONG, every=0.2)
    assert {(verdict, fault) for verdict, fault in stack.rows(audits)} <= {("same", ""), ("alike", "")}
    # All of this was done as roles that may do no more than it takes
    assert "permission denied" not in stack.logs()
    assert "row-level security" not in stack.logs()
    kinds = stack.rows("SELECT DISTINCT kind FROM league_leagueevent WHERE actor LIKE '%%:%%'")
    assert {kind for (kind,) in kinds} >= {
        "match.moved",
        "audit.moved",
        "audit.finished",
        "version.moved",
        "worker.started",
    }
    assert may(stack, "runner", RUNNER_MAY_NOT) == []
    assert may(stack, "web", WEB_MAY_NOT) == []


def leaders(stack: Stack, pool: int, token: str) -> list[dict[str, Any]]:
    """Return the rows of a leaderboard, each with the name of its bot."""
    rows = stack.call("GET", f"/pools/{pool}/leaderboard", token)["results"]
    return [{**row, "bot": row["version"]["bot"]} for row in rows]


# What somebody who has broken out of a sandbox might try with the address of the workers, in a league that has played.
# Refused outright, or no row is there for it: the same to whoever tries.
RUNNER_MAY_NOT = """
SELECT * FROM auth_user
SELECT * FROM django_session
SELECT * FROM django_admin_log
SELECT * FROM league_apitoken
SELECT * FROM league_idempotencykey
SELECT * FROM league_player
SELECT * FROM league_event
SELECT * FROM league_rating
SELECT secret FROM league_match
SELECT secret FROM league_tournament
SELECT * FROM league_match
SELECT actor FROM league_leagueevent
SELECT data FROM league_package p JOIN league_botversion v ON v.package_id = sha256 JOIN league_bot b ON b.id = v.bot_id WHERE slug = 'tramposa'
SELECT 1 WHERE league_secret_of_lease(1, 1) IS NOT NULL
CREATE TABLE mine (id int)
UPDATE league_player SET user_id = user_id
UPDATE league_bot SET owner_id = owner_id
UPDATE league_bot SET slug = 'mine'
UPDATE league_bot SET is_house = true
UPDATE league_bot SET state = 'retired'
UPDATE league_botversion SET package_id = package_id
UPDATE league_botversion SET status = 'rejected'
UPDATE league_botversion SET games = '[]'
UPDATE league_package SET data = ''
UPDATE league_pool SET options = '{}'
UPDATE league_rating SET elo = 3000
UPDATE league_poolsums SET matches = 0
UPDATE league_tournament SET status = 'finished'
UPDATE league_entry SET place = 1
UPDATE league_match SET secret = ''
UPDATE league_match SET rated = false
UPDATE league_match SET counted = NULL
UPDATE league_match SET priority = 100
UPDATE league_match SET status = 'queued' WHERE status IN ('finished', 'void', 'cancelled')
UPDATE league_match SET token = token + 1 WHERE status = 'finished'
UPDATE league_party SET points = 1000
UPDATE league_party SET version_id = version_id
UPDATE league_board SET scores = '[]'
UPDATE league_sitting SET replay = ''
UPDATE league_matchlog SET data = ''
UPDATE league_logdictionary SET data = ''
UPDATE league_audit SET conclusion = 'honest'
UPDATE league_leagueevent SET actor = 'nobody'
DELETE FROM league_leagueevent
DELETE FROM league_match
DELETE FROM league_board
DELETE FROM league_bot
DELETE FROM league_matchlog
DELETE FROM league_logdictionary
DELETE FROM league_package
TRUNCATE league_leagueevent
INSERT INTO league_player (name, user_id, created) VALUES ('mine', 1, now())
INSERT INTO league_apitoken (player_id, label, prefix, sha256, created) VALUES (1, '', '', '', now())
INSERT INTO league_package (sha256, data, size, files) VALUES ('a', '', 0, 0)
INSERT INTO league_rating (pool_id, version_id) VALUES (1, 1)
INSERT INTO league_board (match_id, number, scores) SELECT id, 1000, '[]' FROM league_match WHERE status = 'finished'
INSERT INTO league_matchlog (match_id, data, digest) SELECT m.id, '', '' FROM league_match m WHERE m.status = 'finished' ON CONFLICT DO NOTHING
INSERT INTO league_matchlog (match_id, data, digest) SELECT m.id, '', '' FROM league_match m WHERE m.status = 'queued'
INSERT INTO league_logdictionary (sha256, data) VALUES ('a', '')
INSERT INTO league_party (match_id, number, version_id, fault) SELECT id, 9, 1, '' FROM league_match WHERE kind = 'tournament'
INSERT INTO league_match (status, kind, rated) VALUES ('running', 'tournament', true)
INSERT INTO league_match (status, kind, rated) VALUES ('finished', 'validation', true)
INSERT INTO league_leagueevent (at, kind, subject, actor, data) VALUES (now(), 'match.moved', 'match:1', 'ana', '{}')
INSERT INTO league_leagueevent (at, kind, subject, actor, data) VALUES (now(), 'match.moved', 'match:1', '', '{}')
INSERT INTO league_leagueevent (at, kind, subject, actor, data) VALUES (now(), 'match.unrated', 'match:1', 'host:1', '{}')
INSERT INTO league_leagueevent (at, kind, subject, actor, data) VALUES (now(), 'worker.stopped', 'worker:host:2', 'host:1', '{}')
ALTER TABLE league_match DISABLE ROW LEVEL SECURITY
SET ROLE tute
"""
WEB_MAY_NOT = """
UPDATE league_leagueevent SET actor = 'nobody'
DELETE FROM league_leagueevent
TRUNCATE league_leagueevent
TRUNCATE league_match
DROP TABLE league_leagueevent
ALTER TABLE league_leagueevent OWNER TO tute_web
CREATE TABLE mine (id int)
DELETE FROM django_migrations
DELETE FROM league_logdictionary
UPDATE league_logdictionary SET data = ''
SET ROLE tute
"""


def may(stack: Stack, role: str, statements: str) -> list[str]:
    """Return the statements, one a line, that have an effect when the role of that name runs them. Each is rolled back."""
    url = (stack.folder / "secrets" / f"{role}_database_url").read_text()
    permitted = []
    with psycopg.connect(url) as connection:
        for statement in statements.strip().splitlines():
            try:
                if connection.execute(statement.encode()).rowcount != 0:
                    permitted.append(statement)
            except psycopg.errors.InsufficientPrivilege:
                pass
            connection.rollback()
    return permitted


@pytest.mark.slow
def test_an_upgrade_grants_again(league_stack: Stack) -> None:
    """Additional grants are revoked, and a second run does no harm."""
    with psycopg.connect(league_stack.database_url) as owner:
        owner.execute("GRANT SELECT, UPDATE ON auth_user TO tute_runner")
        owner.execute("GRANT SELECT (secret) ON league_match TO tute_runner")
        owner.execute("GRANT DELETE ON league_leagueevent TO tute_web")
    query = "SELECT id FROM auth_user UNION SELECT 1"  # one row at least, where it is allowed
    assert may(league_stack, "runner", query) == [query]
    assert "tute_runner" in league_stack.run("migrate")
    assert may(league_stack, "runner", f"{query}\nSELECT count(secret) FROM league_match") == []
    assert may(league_stack, "web", WEB_MAY_NOT) == []


COUNTER = "tute:1:api-user:u1:7"
OF_OPERATORS = [
    ("FLUSHALL",),
    ("FLUSHDB",),
    ("CONFIG", "GET", "*"),
    ("CONFIG", "SET", "maxmemory", "1"),
    ("ACL", "LIST"),
    ("ACL", "SETUSER", "web", "+@all"),
    ("KEYS", "*"),
    ("SCAN", "0"),
    ("CLIENT", "KILL", "TYPE", "normal"),
    ("DEL", "matches"),
    ("EVAL", "return 1", "0"),
    ("SCRIPT", "FLUSH"),
    ("SUBSCRIBE", "all"),
    ("MONITOR",),
    ("SHUTDOWN",),
    ("GET", "another"),
    ("LPUSH", "another", "0"),
]
OF_THE_WEB = [("GET", COUNTER), ("SET", COUNTER, "0"), ("INCRBY", COUNTER, "1"), ("LPUSH", COUNTER, "0")]


@pytest.mark.parametrize(
    ("user", "denied"),
    [("web", [("BRPOP", "matches", "1")]), ("scheduler", OF_THE_WEB), ("runner", OF_THE_WEB)],
    ids=["web", "scheduler", "runner"],
)
def test_each_redis_user_may_do_what_it_needs_and_nothing_else(
    redis_server: RedisServer, user: str, denied: list[tuple[str, ...]]
) -> None:
    """That it is enough, every match of this file and of tests/chaos shows: their processes are these users."""
    redis_server.empty()
    with redis.Redis.from_url(redis_server.url) as operator:
        operator.set(COUNTER, 599)
    with redis.Redis.from_url(redis_server.urls[user]) as client:
        assert client.lpush("matches", "a hint") == 1
        if user == "web":
            assert client.incr(COUNTER) == 600
        else:
            assert client.brpop(["matches"], timeout=1) == (b"matches", b"a hint")
        for words in (*OF_OPERATORS, *denied):
            with pytest.raises(redis.exceptions.NoPermissionError):
                client.execute_command(*words)
    with redis.Redis(port=redis_server.port) as nobody, pytest.raises(redis.exceptions.AuthenticationError):
        nobody.ping()
    redis_server.empty()


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_a_league_that_is_never_left_in_peace(league_stack: Stack, redis_server: RedisServer) -> None:
    """Kill workers and schedulers and empty the broker for SOAK_S seconds; then every match exists once."""
    stack, chance = league_stack, random.Random(7)
    stack.settings["LEASE_S"] = "4"
    stack.settings["MAX_ATTEMPTS"] = "1000"  # here it is always the worker that fails, and never for good
    running = {name: stack.start(name.rstrip("12")) for name in ("scheduler", "worker1", "worker2")}
    enter_house(stack)
    until = time.monotonic() + float(os.environ.get("SOAK_S", "300"))
    cups, kills = 0, 0
    while time.monotonic() < until:
        if cups == 0 or stack.rows("SELECT count(*) FROM league_match WHERE status = 'queued'")[0][0] < 3:
            cups += 1
            a_cup(stack, f"Cup {cups}", boards=40)
        time.sleep(chance.uniform(2, 8))
        name = chance.choice(["scheduler", "worker1", "worker2", "worker2"])
        running[name].kill()
        kills += 1
        if chance.random() < 0.3:
            redis_server.empty()
        time.sleep(chance.uniform(0, 2))
        running[name] = stack.start(name.rstrip("12"))
    finish(stack, seconds=900)
    counted_once(stack, tournaments=cups)
    print(f"{cups} tournaments and {kills} kills")
