"""Processes that work at one league at once: `python -m tests.league.domain.matches.forks` on the database of the environment.

It loads the league once. Each line of its input names a work and what each process is given; as many processes are forked, each with a connection of
its own; when all are prepared they go on together. Each line of its output is the list of what they answered.
"""

# ruff: noqa: E402 - Django first
from __future__ import annotations

import json
import multiprocessing
import os
import sys
from collections.abc import Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "league.settings")

import django

django.setup()

from django.conf import settings
from django.db import connections, transaction

from league.domain.core import queue
from league.domain.core.errors import Refused
from league.domain.matches import leases, reports
from league.domain.people import players
from league.domain.tournaments import tournaments
from league.domain.upkeep import reconcile
from league.models import Board, Job, Judgement, Match, Party, Player, Sitting
from tests.support import league
from tests.support.league import NOW

FORK = multiprocessing.get_context("fork")
PATIENCE_S = 400

# Each prepares, yields, and after the common start returns its answer.
Work = Callable[[Any], Iterator[None]]


def make(value: Any) -> Iterator[None]:
    """Seven bots of two players, and 21 matches that wait."""
    ana, berto = players.create("ana"), players.create("berto")
    versions = [league.accepted((ana, berto)[i % 2], f"bot-{i}") for i in range(7)]
    league.started(ana, versions, boards=1)
    yield


def claim_all(value: Any) -> Iterator[None]:
    """Every match that can be had: [number, token] of each."""
    yield
    claims = []
    while match := leases.claim("w", now=NOW):
        claims.append([match.pk, match.token])
    return claims


def start(value: Any) -> Iterator[None]:
    """One match, begun."""
    yield
    match = leases.claim("w", now=NOW)
    assert match is not None
    leases.start(match, now=NOW)


def report(value: Any) -> Iterator[None]:
    """The result of the match that runs: what the league says to it."""
    match = Match.objects.get(status="running")
    outcome = league.result(match)
    yield
    return str(reports.report(match, outcome, now=NOW))


def work(value: Any) -> Iterator[None]:
    """Three matches, played; a cursor stands open while others use the connection."""
    yield
    receipts = []
    boards = Board.objects.order_by("pk").iterator(chunk_size=1)
    for _ in range(3):
        match = leases.claim("w", now=NOW)
        assert match is not None
        leases.start(match, now=NOW)
        next(boards, None)
        assert queue.beat(match, now=NOW)
        receipts.append(str(reports.report(match, league.result(match), now=NOW)))
    return receipts


def add_jobs(value: Any) -> Iterator[None]:
    """A job about each match."""
    yield
    for match in Match.objects.all():
        row = Judgement.objects.create(match=match, kind="open", judge="open-1", created=NOW)
        queue.add("counting", judgement=row, now=NOW)


def end_all(value: Any) -> Iterator[None]:
    """Every job that can be had: [number, token] of each; every other one is given back once, all are ended."""
    yield
    claims = []
    while row := _claimed():
        claims.append([row.pk, row.token])
        assert queue.beat(row, now=NOW)
        if row.pk % 2 and row.token == 1:
            with transaction.atomic():
                queue.release(row, now=NOW)
        else:
            queue.finish(row)
    return claims


def lease_job(value: Any) -> Iterator[None]:
    """One job, leased."""
    yield
    assert _claimed()


def end(value: Any) -> Iterator[None]:
    """The job that is leased, ended: what the league says to it."""
    row = Job.objects.get(state="leased")
    yield
    try:
        queue.finish(row)
    except queue.LeaseLost:
        return "lost"
    return "ended"


def _claimed() -> Job | None:
    with transaction.atomic():
        rows = queue.waiting("counting", now=NOW).order_by("position", "id")
        return queue.claim(rows, "w", queue.AttemptTerms(attempts=1), now=NOW)


def forget(value: Any) -> Iterator[None]:
    """No match of a tournament."""
    yield
    Match.objects.filter(kind="tournament").delete()


def schedule(value: Any) -> Iterator[None]:
    """Schedule matches; return the number inserted."""
    yield
    return reconcile.reconcile(now=NOW).inserted


def create(name: Any) -> Iterator[None]:
    """A tournament of that name, by who may have two."""
    settings.QUOTA_TOURNAMENTS = 2
    ana = Player.objects.get(name="ana")
    yield
    try:
        tournaments.create(ana, name, "partnership", boards=1)
    except Refused:
        return "refused"
    return "made"


def hold(value: Any) -> Iterator[None]:
    """A claim that is not committed while another process claims: the match of each."""
    yield
    with transaction.atomic():
        match = leases.claim("w", now=NOW)
        assert match is not None
        [other] = at_once(claim, [None])
    return [match.pk, other]


def claim(value: Any) -> Iterator[None]:
    """One match."""
    yield
    match = leases.claim("w", now=NOW)
    return match and match.pk


def count(value: Any) -> Iterator[None]:
    """Matches of tournaments, their parties, boards, sittings."""
    yield
    matches = Match.objects.filter(kind="tournament")
    parties = Party.objects.filter(match__in=matches)
    return [matches.count(), parties.count(), Board.objects.count(), Sitting.objects.count()]


def _one(work: Work, value: Any, prepared: Any, end: Connection, inherited: list[Any]) -> None:
    for connection in inherited:  # the parent's, which alone may use it or end it: kept, and no more this process's
        del connections[connection.alias]
    steps = work(value)
    next(steps)
    prepared.wait(PATIENCE_S)
    try:
        next(steps)
    except StopIteration as over:
        connections.close_all()
        end.send(over.value)


def at_once(work: Work, values: list[Any]) -> list[Any]:
    """Run a work in one process for each value and return their answers."""
    prepared = FORK.Barrier(len(values))
    pipes = [FORK.Pipe(duplex=False) for _ in values]
    processes = [
        FORK.Process(target=_one, args=(work, value, prepared, end, connections.all(initialized_only=True)))
        for value, (_, end) in zip(values, pipes, strict=True)
    ]
    for process in processes:
        process.start()
    for _, end in pipes:
        end.close()  # Else the death of a process goes unnoticed
    answers = [start.recv() for start, _ in pipes]
    for process in processes:
        process.join()
    return answers


def main() -> None:
    """Serve until the input ends."""
    functions = (
        make,
        claim_all,
        add_jobs,
        end_all,
        lease_job,
        end,
        start,
        report,
        work,
        forget,
        schedule,
        create,
        hold,
        count,
    )
    works = {function.__name__: function for function in functions}
    for line in sys.stdin:
        name, values = json.loads(line)
        print(json.dumps(at_once(works[name], values)), flush=True)


if __name__ == "__main__":
    main()
