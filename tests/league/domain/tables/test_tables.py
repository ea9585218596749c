"""Tables of people: who may sit down, what is written when, and a real worker that has the bots, is stopped, is killed, and is not missed."""

from __future__ import annotations

import json
import os
import random
import shutil
import tempfile
from collections.abc import Iterator
from copy import copy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.db import connection

import engine
from engine.runner.table import NEXT, Question, SeatView, TableResult, Taken
from engine.sandbox import Sandbox
from engine.sandbox.cgroups import reservations, slots
from league.domain.bots import bots, house
from league.domain.core.errors import Refused, TooMany
from league.domain.jobs import tables as running
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import workers
from league.domain.people import bans, players, quotas
from league.domain.tables import holding, seating
from league.domain.tournaments import tournaments
from league.domain.upkeep import reconcile
from league.enums import VersionStatus
from league.models import BotVersion, Job, LeagueEvent, Match, Player, Table, TableAction, Worker
from league.service import listening
from tests.support import rows, seats
from tests.support.league import NOW, accepted, counted, later
from tests.support.live import LiveLeague
from tests.support.processes import wait_for
from tests.support.runtimes import lend
from tests.support.seats import rated

CRASHES = b"""import json, sys
for line in sys.stdin:
    told = json.loads(line)
    if told["type"] == "hello":
        answer = {"type": "ready"}
    elif told["id"] == 2:
        sys.exit("secret trace")
    else:
        answer = {"id": told["id"], "do": told["legal"][0], "note": "secret trace"}
    print(json.dumps(answer), flush=True)
"""
DEALT = [{"e": "deal", "deal": 1, "hand": ["1o", "3o"]}]


@pytest.fixture
def greedy(db) -> BotVersion:
    """Create a house bot."""
    return rows.once(make_greedy)


def make_greedy() -> BotVersion:
    return accepted(house.player(now=NOW), "greedy")


def sat(player: Player, *, after: float = 0, game: str = "partnership", boards: int = 1) -> Table:
    return seating.sit(player, game, "greedy", boards=boards, now=later(after))


def asked(lease: holding.TableLease, number: int, actions: list[Taken] | None = None, *, after: float = 0) -> None:
    """The worker asks the person."""
    legal = ["play 1o", "play 3o"]
    holding.ask(lease, Question(number, 1, legal, ["1o", "3o"], DEALT, []), actions or [], now=later(after))


def claimed(*, after: float = 0, worker: str = "host:1") -> holding.TableLease:
    lease = holding.claim(worker, now=later(after))
    assert lease is not None
    return lease


def status(row: Table) -> str:
    row.refresh_from_db()
    return row.status


# ---- rows


def test_who_may_sit_down_at_what(ana, berto, greedy, settings) -> None:
    accepted(ana, "rufo", games=["corriente"])
    assert [version.bot.slug for version in seating.rivals(ana)] == ["greedy", "rufo"]
    assert [version.bot.slug for version in seating.rivals(berto)] == ["greedy"]
    for who, choice, why in (
        (ana, ("chess", "greedy"), "unknown game"),
        (ana, ("partnership", "nobody"), "Choose one of: greedy, rufo"),
        (ana, ("partnership", "rufo"), "does not play partnership"),
        (ana, ("partnership", "greedy", "rufo"), "does not play partnership"),
        (berto, ("corriente", "rufo"), "'rufo' is not a house bot"),
        (ana, ("partnership", "greedy", "", 5), "1 to 4 boards"),
    ):
        with pytest.raises(Refused, match=why):
            seating.sit(who, *choice, now=NOW)
    assert Table.objects.count() == 0

    row = seating.sit(ana, "corriente", "rufo", boards=2, now=NOW)
    assert [(seat.number, seat.version.bot.slug) for seat in row.seats.all()] == [(1, "rufo")]
    with pytest.raises(Refused, match="you are already sitting at a table"):
        sat(ana)
    settings.TABLES = 1
    with pytest.raises(TooMany, match="all 1 tables"):
        sat(berto)
    assert seating.leave(ana, row.public_id, now=NOW)
    assert not seating.leave(ana, row.public_id, now=NOW)
    assert (status(row), LeagueEvent.objects.filter(subject=f"table:{row.public_id}").count()) == ("left", 2)
    pairs = seating.sit(ana, "partnership", "greedy", "greedy", now=NOW)
    assert [seat.number for seat in pairs.seats.order_by("number")] == [1, 2, 3]
    seating.leave(ana, pairs.public_id, now=NOW)

    settings.QUOTA_TABLES = 2
    with pytest.raises(TooMany, match="started 2 tables"):
        sat(ana)
    assert quotas.limit(ana, quotas.TABLES, now=NOW).again == later(3600)
    bans.ban(berto, actor="root", why="x", now=NOW)
    with pytest.raises(Refused, match="banned"):
        sat(berto)
    settings.TABLES = 0
    with pytest.raises(Refused, match="nobody can play at tables"):
        sat(berto)
    assert Match.work.exclude(kind="validation").count() == 0  # a table is no match


def test_an_answer_counts_once_and_only_where_it_is_asked(ana, berto, greedy) -> None:
    row = sat(ana)
    lease = claimed()
    assert holding.claim("host:2", now=NOW) is None
    for number, what in ((0, "play 1o"), (1, "play 1o")):
        with pytest.raises(Refused, match="answered already"):
            seating.act(ana, row.public_id, number, what, now=NOW)
    asked(lease, 2, [Taken(1, "play 7o"), Taken(2, "play 6o")])
    assert holding.answer(lease, 2) is None
    for player, number, what, why in (
        (berto, 0, "play 1o", "no such table"),
        (ana, 1, "play 1o", "answered already"),
        (ana, 0, "play 2o", "not possible now"),
    ):
        with pytest.raises(Refused, match=why):
            seating.act(player, row.public_id, number, what, now=NOW)
    seating.act(ana, row.public_id, 0, "play 3o", now=NOW)
    with pytest.raises(Refused, match="answered already"):
        seating.act(ana, row.public_id, 0, "play 1o", now=NOW)
    assert holding.answer(lease, 2) == "play 3o"
    assert not holding.rest(lease, 2, now=NOW)  # they have just answered
    assert holding.taken(row) == [Taken(1, "play 7o"), Taken(2, "play 6o"), Taken(0, "play 3o")]

    holding.finish(
        lease, TableResult([[1, 0, 1, 0]], [{"x": 1}], [SeatView(0, [], DEALT)], [Taken(1, "play 4o")]), 3, now=NOW
    )
    row.refresh_from_db()
    assert (row.status, row.turn, seats.person(row).legal, seats.person(row).hand, seating.opened(row)) == (
        "finished",
        None,
        [],
        [],
        [{"x": 1}],
    )
    assert [taken.action for taken in holding.taken(row)][3:] == ["play 4o"]
    with pytest.raises(holding.LeaseLost):
        holding.finish(lease, TableResult(), 4, now=NOW)
    with pytest.raises(Refused, match="is finished"):
        seating.act(ana, row.public_id, 4, "play 1o", now=NOW)


def test_who_thinks_for_long_needs_no_worker_and_who_is_away_ends_it(ana, berto, greedy, settings) -> None:
    first, second = sat(ana), sat(berto, after=1)
    lease = claimed(after=2)
    assert lease.row.pk == first.pk
    assert lease.secret == bytes(Table.objects.values_list("secret", flat=True).get(pk=first.pk))
    asked(lease, 0, after=3)
    assert holding.rest(lease, 0, now=later(70))
    assert status(first) == "resting"
    with pytest.raises(holding.LeaseLost):
        holding.answer(lease, 0)
    seating.act(ana, first.public_id, 0, "play 1o", now=later(80))
    assert status(first) == "waiting"
    assert claimed(after=81).row.pk == second.pk  # The longest wait comes first
    again = claimed(after=82)
    assert (again.row.pk, again.job.pk != lease.job.pk, again.job.attempts) == (first.pk, True, 1)
    asked(again, 1, after=83)
    assert holding.rest(again, 1, now=later(84))

    report = reconcile.reconcile(now=later(85))
    assert (report.unheld, report.abandoned) == (0, 0)
    settings.LEASE_S = 30
    report = reconcile.reconcile(now=later(83 + settings.TABLE_AWAY_S + 1))
    assert (report.unheld, report.abandoned) == (1, 2)
    assert (status(first), first.reason) == ("abandoned", "its player was away")
    assert (status(second), second.reason) == ("void", "no worker was free for it")
    sat(ana, after=5000)


def test_a_worker_that_is_lost_or_fails_costs_nothing(ana, berto, greedy) -> None:
    row = sat(ana)
    lease = claimed()
    asked(lease, 1, [Taken(1, "play 7o")])
    again = replace(lease, job=copy(lease.job))
    again.job.token += 1
    for both in ([lease, again], [again, lease]):
        again.lost = False
        holding.beat(both, now=later(0))
        assert (lease.lost, again.lost) == (False, True), "of two leases of one worker the token decides"
    assert reconcile.reconcile(now=later(31)).unheld == 1  # silent past its lease while the person thinks
    assert status(row) == "resting"
    with pytest.raises(holding.LeaseLost):
        asked(lease, 2)
    seating.act(ana, row.public_id, 0, "play 1o", now=later(32))
    for attempt in (1, 2, 3):
        assert status(row) == "waiting"
        again = claimed(after=32 + 20 * attempt)
        assert holding.taken(row) == [Taken(1, "play 7o"), Taken(0, "play 1o")]
        holding.fail(again, OSError("/a/folder/of/ours is full"), now=later(33 + 20 * attempt))
        assert holding.claim("host:1", now=later(33 + 20 * attempt)) is None  # it waits a little
    assert (status(row), row.reason) == ("void", "OSError: ours is full")

    other = sat(berto, after=100)
    lease = claimed(after=101)
    greedy.bot.stopped = later(102)
    greedy.bot.save()
    holding.release(lease, "told to stop", now=later(103))
    assert (status(other), Job.objects.get(table=other).attempts) == ("waiting", 0)
    assert holding.claim("host:1", now=later(104)) is None
    assert (status(other), other.reason) == ("void", "a bot at this table is paused")


def test_a_table_is_left_to_a_worker_with_the_runtimes_of_its_bots(ana, greedy, monkeypatch, tmp_path) -> None:
    sat(ana)
    BotVersion.objects.filter(pk=greedy.pk).update(runtime="node")
    workers.register("other:1", tier="landlock", now=NOW)
    Worker.objects.update(runtimes=["python", "node"])
    monkeypatch.setenv("PATH", str(tmp_path))  # This machine has no node.
    assert holding.claim("host:1", now=NOW) is None

    Worker.objects.update(runtimes=["python"])
    claimed()


def test_advice_is_asked_for_where_it_was_wished_before_the_cards_were_dealt(ana, berto, greedy) -> None:
    plain = sat(berto)
    asked(claimed(after=1), 0)
    with pytest.raises(Refused, match="started without advice"):
        seating.ask_advice(berto, plain.public_id, 0, now=NOW)

    row = seating.sit(ana, "partnership", "greedy", advice=True, now=later(2))
    assert row.seats.count() == 4
    assert seats.names(row) == ["ana", "greedy", "greedy", "greedy"]
    lease = claimed(after=3)
    for player, number in ((ana, 0), (berto, 0)):
        with pytest.raises(Refused, match=r"nothing to decide|no such table"):
            seating.ask_advice(player, row.public_id, number, now=NOW)
    asked(lease, 0, after=4)
    assert not holding.wants_advice(lease)
    seating.ask_advice(ana, row.public_id, 0, now=later(5))
    seating.ask_advice(ana, row.public_id, 0, now=later(5))
    assert holding.wants_advice(lease)
    assert not holding.rest(lease, 0, now=later(6)), "somebody waits"
    holding.advise(lease, 1, "play 1o")
    assert holding.wants_advice(lease), "that was another decision"
    holding.advise(lease, 0, "play 3o")
    holding.advise(lease, 0, "play 1o")
    assert (status(row), seats.person(row).advice) == ("held", "play 3o")
    seating.ask_advice(ana, row.public_id, 0, now=later(7))
    assert status(row) == "held"
    assert seats.person(row).advice == "play 3o", "told once"
    assert holding.rest(lease, 0, now=later(8))
    seating.act(ana, row.public_id, 0, "play 1o", now=later(9))
    assert (status(row), seats.person(row).advice, seats.person(row).advice_asked) == ("waiting", "", None)

    # A question at a resting table has it taken up; a worker that is lost then costs nothing
    lease = claimed(after=10)
    asked(lease, 1, after=11)
    assert holding.rest(lease, 1, now=later(12))
    seating.ask_advice(ana, row.public_id, 1, now=later(13))
    assert status(row) == "waiting"
    lease = claimed(after=14)
    assert holding.wants_advice(lease)
    holding.release(lease, "told to stop", now=later(15))
    assert status(row) == "waiting"
    lease = claimed(after=16)
    asked(lease, 1, after=17)
    holding.advise(lease, 1, None)
    assert (status(row), seats.person(row).advice) == ("held", "?")
    seating.leave(ana, row.public_id, now=later(18))
    with pytest.raises(Refused, match="this table is finished"):
        seating.ask_advice(ana, row.public_id, 1, now=later(19))
    greedy.bot.is_house = False
    greedy.bot.save()
    accepted(ana, "greedy2")
    with pytest.raises(Refused, match="so there is no advice"):
        seating.sit(ana, "partnership", "greedy2", advice=True, now=later(20))


def test_only_the_files_of_the_release_play_without_a_sandbox(ana, greedy) -> None:
    assert house.loaded(greedy) is None, "a bot of the house, with other files"
    assert house.loaded(accepted(ana, "own")) is None
    ((version, _),) = house.enter(["greedy"], now=NOW)
    spec = house.loaded(version)
    assert spec is not None
    assert (spec.sha256, spec.path) == (version.package_id, settings.BASE_DIR / house.FOLDER / "greedy")


def test_a_folder_of_the_release_that_is_no_package_costs_no_table(settings, tmp_path, caplog) -> None:
    for name, manifest in (
        ("broken", "name ="),
        ("script", 'name = "script"\nentry = "bot.js"\nruntime = "node"\ngames = ["a_dos"]\n'),
    ):
        folder = tmp_path / house.FOLDER / name
        folder.mkdir(parents=True)
        (folder / "bot.toml").write_text(manifest)
        (folder / "bot.js").write_text("")
    shutil.copytree(settings.BASE_DIR / house.FOLDER / "greedy", tmp_path / house.FOLDER / "greedy")
    settings.BASE_DIR = tmp_path
    read = house._shipped.__wrapped__()
    assert [spec.path.name for spec in read.values()] == ["greedy"]
    assert "the house bot broken plays in the sandbox at tables" in caplog.text


# ---- played by real workers


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="tute-table-") as name:
        Path(name).chmod(0o755)
        lend(Path(name))
        yield Path(name)


@pytest.fixture
def worker(folder: Path) -> Iterator[WorkerLoop]:
    worker = WorkerLoop(folder / "bots")
    worker.box = Sandbox(tier="auto", state_dir=folder)
    yield worker
    worker.stopping.set()
    worker.tables.close()
    worker.ahead.close()


@pytest.fixture
def people(transactional_db) -> Player:
    for version, _ in house.enter():
        Match.objects.filter(parties__version=version).delete()
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    return players.create("ana")


def is_asked(row: Table) -> bool:
    """Return True if it is the person's turn, or the table is over."""
    row.refresh_from_db()
    return row.turn is not None or row.status not in ("waiting", "held")


def answers(row: Table, player: Player, rng: random.Random, most: int = 10_000) -> None:
    """Play a table at random until it is over, or for `most` answers."""
    for _ in range(most):
        wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
        if row.turn is None:
            return
        seating.act(player, row.public_id, row.question, rng.choice(seats.person(row).legal))


@pytest.mark.timeout(600)
def test_a_table_is_played_by_a_worker_that_thinks_of_nobody_elses_cards(people, worker, settings) -> None:
    settings.TABLES_PER_WORKER = 1
    row = seating.sit(people, "partnership", "greedy", "random", boards=2)
    assert worker.tables.look()
    assert not worker.tables.look()  # there is room for one
    rng = random.Random(1)
    boards: dict[int, list[list[dict]]] = {}
    while True:
        wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
        boards.setdefault(row.board, []).append(seats.person(row).events)
        if row.turn is None:
            break
        if seats.person(row).legal != [NEXT]:
            assert sorted(seats.person(row).legal) == sorted(set(seats.person(row).legal))
            assert {text[5:] for text in seats.person(row).legal if text.startswith("play")} <= set(
                seats.person(row).hand
            )
        seating.act(people, row.public_id, row.question, rng.choice(seats.person(row).legal))
    assert status(row) == "finished"
    records = seating.opened(row)
    assert [engine.replay.verify(record) for record in records] == [None, None]
    # What was sent is what the seat may know of the very record, from its beginning on
    for number, record in enumerate(records, 1):
        expected = json.loads(json.dumps(engine.redact(record["events"], 0)))
        for events in boards[number]:
            sent = [{name: value for name, value in event.items() if name != "board"} for event in events]
            assert sent == expected[: len(sent)]
        assert len(sent) == len(expected)
    assert row.scores == [record["scores"] for record in records]
    wait_for(lambda: not worker.tables._held, "the worker has let it go", 60)
    assert TableAction.objects.filter(table=row).count() > 20


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_table_goes_on_from_its_journal_after_its_worker_was_killed(people, worker, folder, settings) -> None:
    row = seating.sit(people, "brisca", "greedy", boards=1)
    secret = bytes(Table.objects.values_list("secret", flat=True).get(pk=row.pk))
    live, rng = LiveLeague(LEASE_S="2"), random.Random(3)
    try:
        other = live.start("worker")
        answers(row, people, rng, most=2)
        wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
        before, events = holding.taken(row), seats.person(row).events
        assert (row.status, len(before)) == ("held", row.turn)
        other.kill()
    finally:
        live.close()
    wait_for(lambda: reconcile.reconcile().unheld or status(row) == "resting", "its lease runs out", 60)
    assert status(row) == "resting"
    assert row.turn is not None
    answers(row, people, rng, most=1)
    assert worker.tables.look()
    wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
    assert seats.person(row).events[: len(events)] == events
    answers(row, people, rng)
    assert status(row) == "finished"
    assert holding.taken(row)[: len(before)] == before
    (record,) = seating.opened(row)
    engine.replay.verify(record)
    assert record["seed"] == engine.board_seed(secret, "brisca", f"table-{row.public_id}", 1).hex()


@pytest.mark.timeout(600)
@pytest.mark.slow
@pytest.mark.parametrize("pooled", [False, True])
def test_an_answer_wakes_the_worker_and_is_found_where_none_can_wake_it(people, worker, monkeypatch, pooled) -> None:
    monkeypatch.setattr(running, "ALONE_S", 3600.0)  # an idle reader does not look in time on its own
    if pooled:  # each transaction may be another session
        monkeypatch.setitem(connection.settings_dict, "DISABLE_SERVER_SIDE_CURSORS", True)
    else:
        monkeypatch.setattr(running, "DEAF_S", 3600.0)
    row = seating.sit(people, "brisca", "greedy")
    assert worker.tables.look()
    answers(row, people, random.Random(5), most=6)
    wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
    assert row.turn > 6
    assert listening.LISTENER.is_listening is not pooled
    seating.leave(people, row.public_id)
    wait_for(lambda: not worker.tables._held, "the worker has let it go", 60)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_advice_comes_from_the_bot_of_the_house_that_is_rated_highest(people, worker, monkeypatch) -> None:
    monkeypatch.setattr(running, "ALONE_S", 3600.0)  # a wake-up brings it
    monkeypatch.setattr(running, "DEAF_S", 3600.0)
    rated(BotVersion.objects.get(bot__slug="counting"), "brisca", 1300)
    row = seating.sit(people, "brisca", "random", advice=True)
    assert seats.bots(row)[0] == "counting"
    assert worker.tables.look()
    for _ in range(3):
        wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
        seating.ask_advice(people, row.public_id, row.question)
        wait_for(lambda: row.people.exclude(advice="").exists(), "the advice", 120, every=0.01)
        row.refresh_from_db()
        assert seats.person(row).advice in seats.person(row).legal
        seating.act(people, row.public_id, row.question, seats.person(row).advice)
    seating.leave(people, row.public_id)
    wait_for(lambda: not worker.tables._held, "the worker has let it go", 60)


def test_a_worker_takes_the_tables_that_wait_at_once_as_far_as_there_is_room(people, worker, settings) -> None:
    settings.TABLES_PER_WORKER = 2
    rows = [seating.sit(players.create(f"player-{number}"), "brisca", "greedy") for number in range(3)]
    assert worker.tables.look()
    assert [status(row) for row in rows] == ["held", "held", "waiting"]
    assert not worker.tables.look()


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_rated_matches_and_people_hold_nobody_up(people, worker, settings, monkeypatch) -> None:
    """A single worker shares its time: a person who thinks costs no match its turn, and matches cost no person theirs."""
    settings.TABLES_PER_WORKER, settings.TABLE_REST_S = 1, 3600
    monkeypatch.setattr(running, "CROWDED_S", 3600.0)
    first = seating.sit(people, "brisca", "greedy")
    second = seating.sit(players.create("berto"), "brisca", "greedy")
    assert worker.tables.look()
    wait_for(lambda: is_asked(first), "the person is asked", 120, every=0.01)
    assert not worker.tables.look(), "a worker has room for so many tables"
    bots = [BotVersion.objects.get(bot__slug=name) for name in ("greedy", "random", "counting")]
    tournaments.start(counted(tournaments.create(people, "Cup", "brisca", boards=1, versions=bots)))
    rated = list(Match.objects.filter(kind="tournament", rated=True).order_by("virtual_s", "id"))
    assert len(rated) == 3
    while worker.look():  # the person thinks
        pass
    assert set(Match.objects.filter(kind="tournament").values_list("status", flat=True)) == {"finished"}
    assert (status(first), status(second)) == ("held", "waiting")

    monkeypatch.setattr(running, "CROWDED_S", 0.0)  # a person who thinks makes way for one who waits
    with worker._busy:  # the worker is busy, like during a match
        wait_for(lambda: status(first) == "resting", "the first one makes way", 60)
        wait_for(worker.tables.look, "there is room", 60)
        wait_for(lambda: is_asked(second), "the second one is asked", 120, every=0.01)
        seating.act(people, first.public_id, first.question, seats.person(first).legal[0])
        wait_for(lambda: status(second) == "resting", "the second one makes way", 60)
        wait_for(worker.tables.look, "there is room", 60)
    moved = LeagueEvent.objects.filter(kind__in=["match.moved", "table.moved"]).order_by("pk")
    taken = [line.subject for line in moved if line.data["to"] in ("leased", "held")]
    tables = [f"table:{row.public_id}" for row in (first, second, first)]
    assert taken == [tables[0], *(f"match:{match.public_id}" for match in rated), *tables[1:]]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_a_stopped_worker_gives_its_tables_back_and_a_bot_that_fails_ends_them(people, worker) -> None:
    row = seating.sit(people, "brisca", "greedy")  # no deal of it can end in the first tricks, as one with a tute does
    assert worker.tables.look()
    answers(row, people, random.Random(1), most=2)
    wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
    worker.stopping.set()
    worker.tables.close()
    assert status(row) == "resting"
    worker.stopping.clear()
    seating.leave(people, row.public_id)

    version = bots.upload(people, "rufo", CRASHES, "bot.py", ["brisca"])
    BotVersion.objects.filter(pk=version.pk).update(status=VersionStatus.ACCEPTED)
    other = seating.sit(people, "brisca", "rufo", boards=2)
    assert worker.tables.look()
    answers(other, people, random.Random(1))
    assert (status(other), other.fault) == ("finished", "crash")
    (record,) = seating.opened(other)
    assert (len(other.scores), record["notes"], record["forfeit"]["seats"]) == (1, [], [1])
    assert "secret trace" not in json.dumps([record, seats.person(other).events, other.reason])


@pytest.mark.skipif(os.getuid() != 0, reason="only the bots of a worker that is root have users of their own")
@pytest.mark.timeout(600)
def test_a_table_without_users_for_its_bots_waits_for_them(people, worker, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv(reservations.SETTING, str(tmp_path))
    monkeypatch.setattr(slots, "SHARE", 3 / len(slots.users()))
    monkeypatch.setattr(running, "FULL_S", 0.0)
    slot = slots.acquire(leaves_room=True)
    bots.upload(people, "rufo", CRASHES.replace(b"== 2", b"== 0"), "bot.py", ["partnership"])
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    row = seating.sit(people, "partnership", "rufo")
    for _ in range(4):  # A fault of ours would void it after three attempts.
        assert worker.tables.look()
        wait_for(lambda: not worker.tables._held, "the worker gives the table back", 60, every=0.01)
        assert (status(row), row.reason, Job.objects.get(table=row).attempts) == ("waiting", holding.NO_SEATS, 0)
    monkeypatch.setattr(running, "FULL_S", 3600.0)
    assert worker.tables.look()
    wait_for(lambda: not worker.tables._held, "the worker gives the table back", 60, every=0.01)
    assert not worker.tables.look(), "it tries again after a pause"
    assert slots.acquire().user, "a match finds a user"

    slot.release()
    worker.tables._full_until = 0.0
    assert worker.tables.look()
    wait_for(lambda: is_asked(row), "the person is asked", 120, every=0.01)
    assert (status(row), row.reason) == ("held", "")
    seating.leave(people, row.public_id)


def test_who_answers_in_the_moment_in_which_a_table_is_given_up_plays_on(ana, greedy, settings) -> None:
    """The row was read before the answer: it waits for advice then and afterwards, but since a later time."""
    row = seating.sit(ana, "partnership", "greedy", advice=True, now=NOW)
    lease = claimed(after=1)
    asked(lease, 0, after=2)
    assert holding.rest(lease, 0, now=later(3))
    seating.ask_advice(ana, row.public_id, 0, now=later(4))
    away = later(5 + settings.TABLE_AWAY_S)
    answered = []

    def meanwhile(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        result = execute(sql, params, many, context)
        if sql.startswith("SELECT") and "waiting" in map(str, params or ()) and not answered:
            answered.append(sql)
            seating.act(ana, row.public_id, 0, "play 1o", now=away)
        return result

    assert status(row) == "waiting"
    with connection.execute_wrapper(meanwhile):
        assert holding.abandon(now=away) == 0

    assert answered
    assert (status(row), row.since) == ("waiting", away)
    assert claimed(after=6 + settings.TABLE_AWAY_S).row.pk == row.pk
