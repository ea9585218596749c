"""The production league, started by hand from the commands of docker-compose.yml on a real PostgreSQL and Redis."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest

import engine
from tests.ops.test_readme import first_bot
from tests.support.processes import wait_for
from tests.support.stack import Stack

BOARDS = 100  # of each match: several seconds
LONG = 240  # seconds for work that takes some ten on an idle machine


def enter_house(stack: Stack) -> None:
    """The house bots, validated by whatever runner is running."""
    stack.manage("enter_house")
    pending = "SELECT count(*) FROM league_botversion WHERE status = 'validating'"
    wait_for(lambda: stack.rows(pending) == [(0,)], f"the validation matches\n{stack.logs()}", LONG, every=0.2)
    versions = (
        "SELECT b.slug, v.status, v.fault FROM league_botversion v JOIN league_bot b ON b.id = v.bot_id ORDER BY 1"
    )
    assert {(status, fault) for _, status, fault in stack.rows(versions)} == {("accepted", "")}, stack.rows(versions)


def the_cup(stack: Stack) -> None:
    """A round robin of the house bots, long enough to be interrupted."""
    bots = [f"--bot={slug}" for (slug,) in stack.rows("SELECT slug FROM league_bot ORDER BY slug")]
    words = ["Cup", "--owner=house", "--game=partnership", f"--boards={BOARDS}", *bots, "--start"]
    stack.manage("create_tournament", *words)


def finish(stack: Stack) -> None:
    """Wait for the end of the tournament."""
    status = "SELECT status FROM league_tournament"
    wait_for(
        lambda: stack.rows(status) == [("finished",)], f"the end of the tournament\n{stack.logs()}", LONG, every=0.2
    )


def results(stack: Stack) -> list[tuple[object, ...]]:
    """Per match of the cup: its key, and per party what it won and lost."""
    return stack.rows(
        """SELECT m.key, b.slug, p.number, p.points, p.wins, p.draws, p.losses FROM league_match m
        JOIN league_party p ON p.match_id = m.id JOIN league_botversion v ON v.id = p.version_id JOIN league_bot b ON b.id = v.bot_id
        WHERE m.kind = 'tournament' ORDER BY m.key, p.number"""
    )


def test_every_match_is_counted_once_though_a_runner_is_killed(league_stack: Stack) -> None:
    """kill -9 of a runner in the middle of a match: another one plays it again, from its first board, on the same deals."""
    stack = league_stack
    stack.start("scheduler")
    first = stack.start("runner")
    enter_house(stack)
    the_cup(stack)
    halfway = (
        "SELECT id FROM league_match WHERE kind = 'tournament' AND status = 'running' AND progress BETWEEN 1 AND 95"
    )
    victim = wait_for(lambda: stack.rows(halfway), f"a match that is being played\n{stack.logs()}", LONG, every=0.02)[
        0
    ][0]
    bots = psutil.Process(first.pid).children(recursive=True)
    assert bots, "a match is being played, so bots are running"
    first.kill()
    _, alive = psutil.wait_procs(bots, timeout=5)
    assert alive == [], "the bots of a killed runner die with it"

    stack.start("runner")
    stack.start("runner")
    finish(stack)

    matches = stack.rows(
        "SELECT id, status, attempts, boards_planned FROM league_match WHERE kind = 'tournament' ORDER BY id"
    )
    n = len({slug for _, slug, *_ in results(stack)})
    assert len(matches) == n * (n - 1) // 2
    assert {status for _, status, *_ in matches} == {"finished"}
    assert {identity: attempts for identity, _, attempts, _ in matches}[victim] == 2
    boards = stack.rows(
        "SELECT match_id, count(*), count(DISTINCT b.number) FROM league_board b JOIN league_match m ON m.id = b.match_id "
        "WHERE m.kind = 'tournament' GROUP BY match_id ORDER BY match_id"
    )
    assert boards == [(identity, BOARDS, BOARDS) for identity, *_ in matches]
    sittings = "SELECT count(*) FROM league_sitting s JOIN league_board b ON b.id = s.board_id JOIN league_match m ON m.id = b.match_id"
    assert stack.rows(sittings + " WHERE m.kind = 'tournament'") == [(2 * BOARDS * len(matches),)]
    for _, _, _, _, wins, draws, losses in results(stack):
        assert wins + draws + losses == BOARDS
    ends = "SELECT subject, count(*) FROM league_leagueevent WHERE kind = 'match.moved' AND data->>'to' = 'finished' GROUP BY subject"
    assert {count for _, count in stack.rows(ends)} == {1}
    # Rated once, too: a board is in the sums of exactly two versions.
    rated = (
        "SELECT sum(r.boards) FROM league_rating r JOIN league_pool p ON p.id = r.pool_id WHERE p.game = 'partnership'"
    )
    wait_for(
        lambda: stack.rows(rated) == [(2 * BOARDS * len(matches),)],
        f"ratings of all boards\n{stack.logs()}",
        60,
        every=0.2,
    )


def everything_up(stack: Stack) -> None:
    """Web, scheduler and a runner, healthy by the checks of the compose file."""
    for name in ("web", "scheduler", "runner"):
        stack.start(name)
    for name in ("web", "scheduler", "runner"):
        try:
            wait_for(lambda name=name: stack.check(name)[0], f"{name} to be healthy", 60, every=0.5)
        except TimeoutError:
            raise AssertionError(f"{stack.check(name)[1]}\n{stack.logs()}") from None


def test_a_stranger_uploads_a_bot_by_rest_and_plays_a_tournament_to_its_end(
    league_stack: Stack, tmp_path: Path
) -> None:
    stack = league_stack
    everything_up(stack)
    enter_house(stack)
    stack.manage("create_player", "ana", "--no-password")
    token = stack.manage("create_token", "ana").strip()

    good = stack.upload(token, "rufo", first_bot().encode())
    bad = stack.upload(token, "tramposa", b"import sys\nsys.exit(3)\n")
    assert (good["status"], bad["status"]) == ("validating", "validating")

    def judged() -> bool:
        return "validating" not in [stack.call("GET", f"/versions/{row['id']}", token)["status"] for row in (good, bad)]

    wait_for(judged, f"the validation matches\n{stack.logs()}", LONG, every=0.3)
    assert stack.call("GET", f"/versions/{good['id']}", token)["status"] == "accepted"
    found = stack.call("GET", f"/versions/{bad['id']}", token)
    assert (found["status"], found["fault"]) == ("rejected", "crash")
    assert "3" in found["fault_detail"]

    bots = ["rufo", "random", "greedy"]
    wanted = {"name": "Copa", "game": "partnership", "boards": 3, "bots": bots, "start": True}
    cup = stack.call("POST", "/tournaments", token, wanted)["slug"]

    def over() -> bool:
        return bool(stack.call("GET", f"/tournaments/{cup}", token)["status"] == "finished")

    wait_for(over, f"the end of the tournament\n{stack.logs()}", LONG, every=0.3)
    standings = stack.call("GET", f"/tournaments/{cup}/standings", token)
    assert standings["matches"]["finished"] == 3
    assert sorted(cell["boards"] for cell in standings["crosstable"]) == [3] * 6
    pool = stack.call("GET", f"/tournaments/{cup}", token)["pool"]["id"]
    wait_for(lambda: len(leaders(stack, pool, token)) == 3, f"the leaderboard\n{stack.logs()}", 60, every=0.3)
    anchor = next(row for row in leaders(stack, pool, token) if row["bot"] == "greedy")
    assert anchor["elo"] == pytest.approx(1000)

    verified = 0
    for match in stack.call("GET", f"/matches?tournament={cup}", token)["results"]:
        for sitting in (0, 1):
            replay = stack.call("GET", f"/matches/{match['id']}/boards/1/sittings/{sitting}/replay", token)
            engine.replay.verify(replay)
            verified += 1
    assert verified == 6


def leaders(stack: Stack, pool: int, token: str) -> list[dict[str, Any]]:
    """The rows of a leaderboard, each with the name of its bot."""
    rows = stack.call("GET", f"/pools/{pool}/leaderboard", token)["results"]
    return [{**row, "bot": row["version"]["bot"]} for row in rows]


def test_the_role_of_the_runners_sees_no_account(league_stack: Stack) -> None:
    url = (league_stack.folder / "secrets" / "runner_database_url").read_text()
    with psycopg.connect(url, autocommit=True) as runner:
        assert runner.execute("SELECT count(*) FROM league_match").fetchone() == (0,)
        for table in ("auth_user", "django_session", "django_admin_log", "league_apitoken", "league_idempotencykey"):
            with pytest.raises(psycopg.errors.InsufficientPrivilege):
                runner.execute(f"SELECT * FROM {table}".encode())
        with pytest.raises(psycopg.errors.InsufficientPrivilege):
            runner.execute("CREATE TABLE mine (id int)")
    assert "tute_runner may use" in league_stack.run("migrate")  # an upgrade grants again, without harm
