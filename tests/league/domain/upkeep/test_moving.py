"""Replays of releases before the logs come into logs, all that is sound, and nothing is dropped before it was read back."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from django.core.management import call_command
from django.db import connection
from django.db.models import ProtectedError

from league.domain.matches import packing, replays
from league.domain.upkeep import invariants, moving
from league.domain.upkeep.restoring import restore_replays
from league.models import LogDictionary, Match, MatchLog, Sitting
from tests.support import rows
from tests.support.compose import TOP
from tests.support.league import NOW, accepted, play, started
from tests.support.loose import loosen
from tests.support.migrated import sqlite_file


@pytest.fixture
def matches(ana, berto) -> list[Match]:
    """Three matches, stored as a release before the logs did."""
    return rows.once(make_matches, ana, berto)


def make_matches(ana, berto) -> list[Match]:
    bots = [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "sol")]
    started(ana, bots)
    played = [play(match) for match in Match.objects.filter(status="queued").order_by("pk")]
    loosen(*played)
    return played


def told() -> list[bytes]:
    rows = Sitting.objects.select_related("board__match").order_by("board__match", "board__number", "number")
    return [packing.canonical(packing.kept(replays.unpack(row))) for row in rows]


def test_the_whole_league_moves_and_tells_the_same(matches: list[Match], capsys) -> None:
    before = told()

    call_command("pack_replays")

    assert "moved: 3 matches, 12 sittings" in capsys.readouterr().out
    assert told() == before
    assert not Sitting.objects.exclude(replay=b"", digest="").exists()
    assert MatchLog.objects.filter(dictionary=LogDictionary.objects.get()).count() == 3
    assert invariants.check_all(now=NOW) == []
    call_command("pack_replays")
    assert "nothing" in capsys.readouterr().out


def test_it_is_stopped_and_goes_on(matches: list[Match]) -> None:
    before = told()
    going = moving.move_all()
    assert next(going).match == matches[0].public_id
    going.close()

    assert MatchLog.objects.get().match == matches[0]
    assert told() == before
    assert [move.match for move in moving.move_all()] == [match.public_id for match in matches[1:]]
    assert told() == before


def test_a_match_that_breaks_in_the_middle_is_as_it_was(matches: list[Match]) -> None:
    """Between the log and the end of the old replays the database dies."""

    def die(execute, sql, params, many, context):
        if sql.startswith("UPDATE") and "league_sitting" in sql:
            raise KeyboardInterrupt
        return execute(sql, params, many, context)

    before = told()
    with connection.execute_wrapper(die), pytest.raises(KeyboardInterrupt):
        list(moving.move_all())

    assert not MatchLog.objects.exists()
    assert told() == before
    assert len(list(moving.move_all())) == 3
    assert told() == before


@pytest.mark.slow
def test_a_move_that_is_killed_goes_on(tmp_path: Path) -> None:
    """SIGKILL ends a real process in the middle of a match, on a database that outlives it."""
    file = shutil.copy(sqlite_file(), tmp_path / "league.sqlite3")
    variables = {name: value for name, value in os.environ.items() if name in ("HOME", "LANG", "PATH", "TMPDIR")}
    environment = {**variables, "DATABASE_URL": f"sqlite://{file}", "STATE_DIR": str(tmp_path), "DEBUG": "1"}
    command = [sys.executable, "-m", "tests.league.domain.upkeep.killed_move"]
    process = subprocess.run(command, env=environment, cwd=TOP, capture_output=True, text=True)
    assert process.returncode == 0, process.stderr
    assert "moved: 2 matches" in process.stdout


def test_what_is_damaged_is_named_and_left(matches: list[Match], capsys) -> None:
    row = Sitting.objects.filter(board__match=matches[1]).order_by("pk").first()
    Sitting.objects.filter(pk=row.pk).update(replay=bytes(row.replay)[:-9])

    call_command("pack_replays")

    out = capsys.readouterr().out
    assert f"not moved: {matches[1].public_id}: the stored replay of board 1, seating 1" in out
    assert set(MatchLog.objects.values_list("match", flat=True)) == {matches[0].pk, matches[2].pk}
    restore_replays(actor="test", now=NOW)
    call_command("pack_replays")
    assert "moved: 1 matches" in capsys.readouterr().out
    assert invariants.check_all(now=NOW) == []


def test_a_replay_from_before_digests_moves_only_if_it_has_the_scores_of_its_row(matches: list[Match]) -> None:
    Sitting.objects.update(digest="")
    row = Sitting.objects.filter(board__match=matches[0]).order_by("pk").first()
    Sitting.objects.filter(pk=row.pk).update(scores=[9, 9, 9, 9])

    moves = list(moving.move_all())

    assert [bool(move.why) for move in moves] == [True, False, False]
    assert "scores that differ" in moves[0].why


def test_a_dictionary_that_logs_need_cannot_be_removed(matches: list[Match]) -> None:
    list(moving.move_all())

    with pytest.raises(ProtectedError):
        LogDictionary.objects.get().delete()
