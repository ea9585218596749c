"""Exactly once through any trouble: real PostgreSQL, Redis and processes; whatever happens, the final table is that of an undisturbed run."""

from __future__ import annotations

import os
import signal
import socket
from pathlib import Path

import pytest

from tests.chaos.conftest import LONG, OVER, Troubled
from tests.chaos.trouble import PLACES
from tests.support.compose import TOP

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]

OF_THE_SCHEDULER = ("in the count", "after the count", "at the end", "in the end")
AHEAD = ("claimed ahead", "bots started ahead")
NEVER = (*OF_THE_SCHEDULER, "in the schedule", *(AHEAD if len(os.sched_getaffinity(0)) < 2 else ()))
OF_A_WORKER = tuple(
    place for place in dict.fromkeys((*AHEAD, *PLACES)) if place not in NEVER
)  # only what is untried is claimed ahead
LOST = "SELECT count(*) FROM league_leagueevent WHERE kind = 'match.moved' AND data ->> 'why' LIKE 'worker %% was lost'"
FINISHED = "SELECT count(*) FROM league_match WHERE kind = 'tournament' AND status = 'finished'"
PLAYING = "SELECT count(*) FROM league_match WHERE status = 'running'"
HELD = "SELECT count(*) FROM league_match WHERE status IN ('leased', 'running')"


def wait_for_matches(league: Troubled, number: int) -> None:
    league.until(lambda: league.stack.rows(FINISHED)[0][0] >= number, f"{number} finished matches")


def test_the_run_without_trouble_is_whole(first_moment: Troubled) -> None:
    """Else all the others would compare nothing with nothing."""
    table = first_moment.undisturbed
    assert table.count('"status": "finished"') == 10 + 2
    assert len(set(first_moment.attempts())) == 1


def test_kill_9_of_a_worker_at_every_stage(league: Troubled) -> None:
    """One after the other, each at another stage of the match it plays or of its next one; a last one finishes the work."""
    league.start("scheduler")
    for place in OF_A_WORKER:
        process = league.start("worker", die_at=place)
        league.dead(process)
        if place in ("claimed", *AHEAD):
            statuses = league.stack.rows("SELECT status FROM league_match WHERE worker LIKE %s", f"%:{process.pid}")
            assert ("leased",) in statuses, (place, statuses)
    league.start("worker")
    league.finish()

    ((lost,),) = league.stack.rows(LOST)
    assert len(OF_A_WORKER) - 1 <= lost <= 2 * len(OF_A_WORKER)  # "after the report" it is done
    taken_back = sum(attempts for (attempts,) in league.attempts()) - 10
    assert taken_back == lost, league.stack.logs()  # each once
    league.check()


def test_kill_9_of_the_scheduler_at_every_stage(league: Troubled) -> None:
    """Between the last board and the end of a tournament, and within the transactions that count a match."""
    league.start("worker")
    for place in OF_THE_SCHEDULER:
        process = league.start("scheduler", die_at=place)
        if place in ("at the end", "in the end"):  # whoever is first ends a tournament; only two can be ended
            league.until(
                lambda process=process: process.popen.poll() is not None or league.stack.rows(OVER) == [(0,)], "the end"
            )
            process.kill()
        else:
            league.dead(process)
    league.start("scheduler")
    league.finish()
    league.check()


def test_a_scheduler_that_loses_a_loop_says_so_and_ends(league: Troubled) -> None:
    """It logs why and exits with 1, so that it is started again; until then the health check finds no scheduler."""
    league.start("worker")
    process = league.start("scheduler", die_at="in the count", by="SystemExit")
    league.until(lambda: process.popen.poll() is not None, "the end of the scheduler")
    assert process.popen.returncode == 1, process.tail()
    assert "is lost: SystemExit" in process.tail()
    well, why = league.stack.check("scheduler")
    assert not well
    assert "no scheduler lives here" in why
    league.start("scheduler")
    league.finish()
    league.check()


def test_kill_9_while_the_schedule_is_made(league: Troubled) -> None:
    """Some matches are missing; those that insert them die on the way; two schedulers do it at once in the end."""
    missing = "DELETE FROM league_{} WHERE {} IN (SELECT id FROM league_match WHERE kind = 'tournament')"
    with league.database() as connection:
        connection.execute(missing.format("party", "match_id").encode())
        connection.execute(missing.format("match", "id").encode())
    league.dead(league.start("scheduler", die_at="in the schedule"))
    assert league.stack.rows("SELECT count(*) FROM league_match WHERE kind = 'tournament'") == [(0,)]

    for _ in range(2):
        league.start("scheduler")
        league.start("worker")
    league.finish()
    league.check()


def test_every_message_is_delivered_twice_and_two_schedulers_work_at_once(league: Troubled) -> None:
    for _ in range(2):
        league.start("scheduler", messages="twice")
        league.start("worker", messages="twice")
    league.finish()

    assert {attempts for (attempts,) in league.attempts()} == {1}, league.stack.logs()
    league.check()


def test_every_message_is_lost(league: Troubled) -> None:
    """Senders and receivers share nothing but the database."""
    league.start("scheduler", messages="none")
    for _ in range(2):
        league.start("worker", messages="none")
    league.finish()

    assert {attempts for (attempts,) in league.attempts()} == {1}, league.stack.logs()
    league.check()


def test_redis_is_stopped_hung_full_and_empty(league: Troubled) -> None:
    """Nobody ends, matches go on at the pace of the fallback, and all take hints again as soon as it is back."""
    processes = [league.start("scheduler"), league.start("worker"), league.start("worker")]

    def all_wait_for_hints() -> None:
        league.until(lambda: league.redis.listeners() == 3, "three processes that take hints", 60)

    def reasons() -> dict[str, str]:
        return dict(
            league.stack.rows("SELECT name, broker FROM league_worker UNION SELECT name, broker FROM league_scheduler")
        )

    all_wait_for_hints()
    wait_for_matches(league, 1)
    league.redis.stop()
    wait_for_matches(league, 3)  # workers look for themselves
    league.until(
        lambda: any("Connection" in why for why in reasons().values()), "a process that says why no hints come"
    )
    league.redis.start()
    all_wait_for_hints()

    league.redis.hang()
    wait_for_matches(league, 5)
    league.redis.go_on()
    all_wait_for_hints()

    league.redis.fill()
    wait_for_matches(league, 7)
    league.redis.have_room()
    league.redis.empty()
    all_wait_for_hints()

    league.finish()
    league.until(lambda: set(reasons().values()) == {""}, "processes that all hear hints")
    assert [process.popen.poll() for process in processes] == [None] * 3, league.stack.logs()
    assert set(reasons()) == {f"{socket.gethostname()}:{process.pid}" for process in processes}
    league.check()


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGQUIT], ids=["restart", "crash"])
def test_postgresql_goes_away_in_the_middle(league: Troubled, how: signal.Signals) -> None:
    league.start("scheduler")
    league.start("worker")
    league.start("worker")
    for number in (1, 3, 6):
        wait_for_matches(league, number)
        league.postgres.restart(how)
    league.finish()
    league.check()


def test_clocks_are_wrong_by_hours(league: Troubled) -> None:
    """A lease is a time that one process writes and another one reads. One of them dies with a lease in its hands, too."""
    league.start("scheduler", skew_s="5400")
    league.dead(league.start("worker", skew_s="7200", die_at="in the middle of a board"))
    league.start("worker", skew_s="-7200")
    league.start("worker", skew_s="3600")
    league.finish()

    assert league.stack.rows(LOST) == [(1,)]  # nobody took a living worker's match
    league.check()


def test_workers_are_drained_by_sigterm(league: Troubled) -> None:
    """Each gets SIGTERM in the middle of a match, gives it back at once, and exits with 0. One holds its next match, too."""
    league.start("scheduler")
    if AHEAD[1] not in NEVER:  # first: where few matches wait there may be no next one
        process = league.start("worker", die_at=AHEAD[1], by="SIGTERM")
        assert process.popen.wait(LONG) == 0, process.tail()
        previous = league.stack.rows(
            "SELECT data ->> 'was' FROM league_leagueevent WHERE data ->> 'to' = 'queued' AND actor LIKE %s",
            f"%:{process.pid}",
        )
        assert previous
        assert set(previous) <= {
            ("leased",),
            ("running",),
        }
        assert league.stack.rows(HELD) == [(0,)]
    for number in (1, 3, 5):
        process = league.start("worker")
        wait_for_matches(league, number)
        league.until(lambda: league.stack.rows(PLAYING) != [(0,)], "a match that is being played")
        assert process.stop(seconds=60) == 0, process.tail()
        assert league.stack.rows(HELD) == [(0,)]
    league.start("worker")
    league.finish()

    assert {attempts for (attempts,) in league.attempts()} == {1}, league.stack.logs()  # giving back costs no attempt
    league.check()


def test_workers_of_two_releases_play_one_queue(league: Troubled) -> None:
    """One leaves the matches of a game whose rules are others there, and says so; every result tells whose code it is from."""
    league.start("scheduler")
    league.start("worker", commit="newer", rules="partnership=7")
    source = "FROM league_match m JOIN league_pool p ON p.id = m.pool_id WHERE m.kind = 'tournament'"
    theirs = f"SELECT count(*) {source} AND p.game = 'gana_pierde_3' AND m.status <> 'finished'"
    why = "no worker that runs plays by revision 1 of the rules of partnership;%%"
    unfinished = f"SELECT DISTINCT m.status, m.attempts, m.reason LIKE '{why}' {source} AND p.game = 'partnership'"
    league.until(lambda: league.stack.rows(theirs) == [(0,)], "the matches that both can play")
    league.until(lambda: league.stack.rows(unfinished) == [("queued", 0, True)], "matches that say what they wait for")
    league.start("worker", commit="older")
    league.finish()

    played = f"SELECT DISTINCT p.game, m.host ->> 'commit', m.host -> 'revision' {source} ORDER BY 1"
    assert league.stack.rows(played) == [("gana_pierde_3", "newer", 1), ("partnership", "older", 1)]
    league.check()


def test_a_backup_in_the_middle_of_play_goes_on_in_a_new_place_to_the_same_table(
    league: Troubled, tmp_path: Path
) -> None:
    """It runs the commands of docs/operations/backup.md while a match is played. Matches that finish after the backup are lost with the old place."""
    section = (
        (TOP / "docs" / "operations" / "backup.md")
        .read_text()
        .partition("\n## Backup and restore\n")[2]
        .partition("\n## ")[0]
    )
    commands = [line.strip() for line in section.splitlines() if line.startswith("    docker compose ")]
    backup, (stop, *restore, up) = commands[0], commands[1:]
    assert stop == "docker compose stop web scheduler worker"
    assert up.startswith("docker compose up")
    league.start("scheduler")
    league.start("worker")
    wait_for_matches(league, 2)
    league.until(lambda: league.stack.rows(PLAYING) != [(0,)], "a match that is being played")
    league.documented(backup, tmp_path)
    then = league.stack.rows(FINISHED)[0][0]
    wait_for_matches(league, then + 1)
    league.reset()  # nothing of the old place is left

    restored = Troubled(like=league)
    try:
        for command in restore:
            restored.documented(command, tmp_path)
        lost_before = restored.stack.rows(HELD)
        assert lost_before != [(0,)]
        assert 2 <= restored.stack.rows(FINISHED)[0][0] <= then
        with restored.database() as connection:  # half a minute later
            connection.execute(
                "UPDATE league_match SET lease_until = lease_until - interval '1 hour' WHERE lease_until IS NOT NULL"
            )
        restored.stack.run("migrate")
        restored.start("scheduler")
        restored.start("worker")
        restored.finish()
        assert restored.stack.rows(LOST) == lost_before
        restored.check()
    finally:
        restored.close()
