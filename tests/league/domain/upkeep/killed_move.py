"""A move of old replays that is killed, on the database of the environment: `python -m tests.league.domain.upkeep.killed_move`."""

# ruff: noqa: E402 - Django first
from __future__ import annotations

import os
import signal
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

import django

django.setup()

from django.core.management import call_command
from django.db import connection

from league.domain.matches import packing, replays
from league.domain.people import players
from league.domain.upkeep import invariants
from league.models import Match, MatchLog, Sitting
from tests.support.league import NOW, accepted, play, started
from tests.support.loose import loosen


def told() -> list[bytes]:
    """Every replay of the league, as it is shown."""
    rows = Sitting.objects.select_related("board__match").order_by("board__match", "board__number", "number")
    return [packing.canonical(packing.kept(replays.unpack(row))) for row in rows]


def move_and_die() -> int:
    """Move in a child that SIGKILL ends between the second match's log and the end of its old replays; return the signal."""
    connection.close()
    if child := os.fork():
        return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    ends = 0

    def die(execute: Any, sql: str, *rest: Any) -> Any:
        nonlocal ends
        if sql.startswith("UPDATE") and "league_sitting" in sql:
            ends += 1
            if ends == 2:
                os.kill(os.getpid(), signal.SIGKILL)
        return execute(sql, *rest)

    with connection.execute_wrapper(die):
        call_command("pack_replays")
    os._exit(0)


def main() -> None:
    """Three matches of an old release; asserts what is there after the kill, and after another run."""
    ana, berto = players.create("ana"), players.create("berto")
    started(ana, [accepted(ana, "rufo"), accepted(berto, "lola"), accepted(berto, "sol")])
    played = [play(match) for match in Match.objects.filter(status="queued").order_by("pk")]
    loosen(*played)
    before = told()

    assert move_and_die() == -signal.SIGKILL
    assert [log.match for log in MatchLog.objects.select_related("match")] == played[:1]
    assert Sitting.objects.exclude(replay=b"", digest="").count() == len(before) * 2 // 3
    assert told() == before

    call_command("pack_replays")
    assert MatchLog.objects.count() == len(played)
    assert not Sitting.objects.exclude(replay=b"", digest="").exists()
    assert told() == before
    assert invariants.check_all(now=NOW) == []


if __name__ == "__main__":
    main()
