"""Faults of the platform, caused by real means: the match is tried again on the same cards, then void with its reason shown.

A killed worker stands in test_worker.py, and in tests/chaos a worker killed at every stage, and a database and a broker that go away.
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import zipfile
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta
from pathlib import Path

import pytest
from django.conf import settings
from django.db.models import F

import engine
from engine.runner import runtimes
from engine.runner.trial import CHECKS
from engine.sandbox.files import keeping
from engine.sandbox.process import spawn, wall
from league.domain.bots import bots
from league.domain.core import clock, transitions
from league.domain.jobs.disk import DiskSpace
from league.domain.jobs.handlers.matches import match_spec
from league.domain.jobs.handlers.queued import MatchLease, claim
from league.domain.jobs.handlers.validation import play_trials
from league.domain.jobs.worker import WorkerLoop, open_sandbox
from league.domain.matches import leases, replays, validation, workers
from league.domain.people import players
from league.domain.tournaments import tournaments
from league.domain.upkeep import metrics
from league.domain.upkeep.reconcile import reconcile
from league.enums import MatchStatus, VersionStatus
from league.models import Board, LeagueEvent, Match, Package, Party, Pool, Sitting
from tests.support.bots import FRAME, NOT_A_PROGRAM, without_segments
from tests.support.league import SECRET, source, willing
from tests.support.parts import mostly_slow

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]
SLOW = b"""import time
from tute_bot import Bot, run


class Mine(Bot):
    def act(self, view, legal):
        %s
        return legal[0]


run(Mine())
"""
LINGERS = SLOW % b"sum(range(750_000))"
THINKS = SLOW % b"until = time.process_time() + 0.25\n        while time.process_time() < until: pass"
BIG = 8 << 20  # bytes of a bot's file
ROOM = 6 << 20  # that a file may have on the full disk


@pytest.fixture
def worker() -> Iterator[WorkerLoop]:
    """This process as a worker that has proved its sandbox."""
    settings.STATE_DIR.mkdir(parents=True, exist_ok=True)
    folder = Path(tempfile.mkdtemp(prefix="faults-", dir=settings.STATE_DIR))
    folder.chmod(0o755)
    here = WorkerLoop(folder / "bots")
    here.box = open_sandbox()
    yield here
    keeping.release(here.folder, before=time.monotonic())
    shutil.rmtree(folder)


def waiting(code: Callable[[], bytes] = source) -> Match:
    """A queued match of two accepted bots, two boards."""
    versions = []
    for name in ("uno", "dos"):
        uploaded = bots.upload(players.create(name), name, code(), "bot.py", ["partnership"], secret=SECRET)
        version = willing(uploaded)
        for match in Match.objects.filter(parties__version=version, kind="validation").distinct():
            transitions.move(match, "cancelled", now=clock.now_or(None))
        transitions.move(version, VersionStatus.ACCEPTED, now=clock.now_or(None))
        versions.append(version)
    cup = tournaments.create(versions[0].bot.owner, "Cup", "partnership", boards=2, versions=versions, secret=SECRET)
    tournaments.start(cup)
    return cup.matches.get()


def attempt(
    worker: WorkerLoop, match: Match, broken: Callable[[WorkerLoop], AbstractContextManager[None]] | None = None
) -> Match:
    """The next attempt, however long it was to wait; what is broken was whole when the match was claimed."""
    claim = leases.claim(worker.name, prefer=match.pk, now=clock.now_or(None) + timedelta(minutes=5))
    assert claim is not None
    assert claim.pk == match.pk
    with broken(worker) if broken else contextlib.nullcontext():
        worker.run(MatchLease(Match.objects.get(pk=claim.pk)))
    match.refresh_from_db()
    return match


# ---- the ways to fail


@contextmanager
def limited(what: int, most: int) -> Iterator[None]:
    soft, hard = resource.getrlimit(what)
    resource.setrlimit(what, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(what, (soft, hard))


@contextmanager
def no_descriptors(worker: WorkerLoop) -> Iterator[None]:
    """Enough are left for the rest of the worker and for one bot, not for four."""
    top = max(int(name) for name in os.listdir("/proc/self/fd"))  # noqa: PTH208 - numbers, not paths
    with limited(resource.RLIMIT_NOFILE, top + 16):
        taken = []
        with contextlib.suppress(OSError):
            while True:
                taken.append(os.dup(0))
        for fd in taken[-14:]:
            os.close(fd)
        try:
            yield
        finally:
            for fd in taken[:-14]:
                os.close(fd)


def full_disk(worker: WorkerLoop) -> AbstractContextManager[None]:
    """A bot's file cannot be written to its end."""
    return limited(resource.RLIMIT_FSIZE, ROOM)


@contextmanager
def broken_runtime(worker: WorkerLoop) -> Iterator[None]:
    """Overwrite the bots' interpreter but keep its size and time, in a runtime of our own: other tests use the shared one."""
    assert worker.box is not None
    shared = worker.box.state_dir
    with tempfile.TemporaryDirectory(prefix="tute-state-") as folder:
        Path(folder).chmod(0o755)
        worker.box.state_dir = Path(folder)
        runtime = runtimes.get("python", worker.box.state_dir)
        loader = Path(runtime.argv(str(runtime.root), "", "bot.py")[0])
        facts = loader.stat()
        loader.chmod(0o755)
        loader.write_bytes(bytes(facts.st_size))
        loader.chmod(facts.st_mode)
        os.utime(loader, ns=(facts.st_atime_ns, facts.st_mtime_ns))
        try:
            yield
            assert runtimes.get("python", worker.box.state_dir) == runtime  # it was unpacked again
            assert loader.read_bytes().strip(b"\0")
        finally:
            worker.box.state_dir = shared


@contextmanager
def damaged_package(worker: WorkerLoop) -> Iterator[None]:
    """A row of the database lost some bytes."""
    row = Package.objects.first()
    assert row is not None
    whole = bytes(row.data)
    Package.objects.filter(pk=row.pk).update(data=Package.objects.exclude(pk=row.pk).first().data)
    yield
    Package.objects.filter(pk=row.pk).update(data=whole)


@contextmanager
def senseless_option(worker: WorkerLoop) -> Iterator[None]:
    """The referee raises an exception."""
    before = dict(Pool.objects.values_list("pk", "options"))
    Pool.objects.update(options={"undertrump": "perhaps"})
    yield
    for key, options in before.items():
        Pool.objects.filter(pk=key).update(options=options)


@contextmanager
def killed_forkserver(worker: WorkerLoop) -> Iterator[None]:
    """The kernel, short of memory, or an operator ends the process that all bots of a worker die with."""
    over = threading.Event()

    def kill() -> None:
        while not over.wait(0.02):
            started = [command(pid) for pid in leaves(os.getpid())]
            if len([words for words in started if b"bot.py" in words and b"bwrap" not in words.split(b"\0")[0]]) == 4:
                os.kill(spawn.ready(), signal.SIGKILL)
                return

    thread = threading.Thread(target=kill)
    thread.start()
    yield
    over.set()
    thread.join()


def command(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""


def leaves(pid: int) -> list[int]:
    """The processes below that have no child."""
    below: list[int] = []
    try:
        for task in Path(f"/proc/{pid}/task").iterdir():
            below += map(int, (task / "children").read_text().split())
    except OSError:
        return []
    return [leaf for child in below for leaf in leaves(child)] if below else [pid]


@contextmanager
def overload(worker: WorkerLoop) -> Iterator[None]:
    """Every core is busy with other programs, and patience (a minute at least) is short."""
    # a session each: kernels that share the processor among sessions give the bots, which have their own, no more than these
    busy = [sys.executable, "-c", "while True: pass"]
    others = [subprocess.Popen(busy, start_new_session=True) for _ in range(12 * (os.cpu_count() or 1))]
    patience = wall._AT_LEAST_S, wall._TOO_LONG
    wall._AT_LEAST_S, wall._TOO_LONG = 0.3, 0.0
    try:
        yield
    finally:
        wall._AT_LEAST_S, wall._TOO_LONG = patience
        for other in others:
            other.kill()
            other.communicate()


WAYS = {
    "out of file descriptors": (no_descriptors, source, "open files"),
    "disk full": (full_disk, lambda: padded(), "File too large"),
    "sandbox refused": (broken_runtime, source, "SandboxError|broken off"),
    "damaged row": (damaged_package, source, "the row is damaged"),
    "referee exception": (senseless_option, source, "undertrump"),
    "bots killed with the forkserver": (
        killed_forkserver,
        lambda: LINGERS + source().splitlines()[-1],
        "killed from outside|it did not start the bot",  # Killed as it was started, or later
    ),
}


def padded() -> bytes:
    lines = [b"# %015d" % (number * 7919 % 10**9) for number in range(BIG // 18)]
    return source() + b"\n".join(lines) + b"\n"


# ---- what becomes of the match


@pytest.mark.slow
@pytest.mark.parametrize("way", WAYS)
def test_a_fault_of_ours_costs_nobody_anything(way: str, worker: WorkerLoop, client) -> None:
    broken, code, words = WAYS[way]
    match = waiting(code)

    attempt(worker, match, broken)

    assert (match.status, match.attempts) == (MatchStatus.QUEUED, 1)
    assert match.not_before is not None
    assert_says(match.reason, f"attempt 1: .*({words})")
    assert not Board.objects.exists()
    assert not Party.objects.filter(match=match).exclude(fault="").exists()
    assert match.reason in page(client, match)

    attempt(worker, match)
    assert (match.status, match.attempts, match.reason) == (MatchStatus.FINISHED, 2, "")
    assert not Party.objects.filter(match=match).exclude(fault="").exists()
    assert_dealt_as_committed(match)


@pytest.mark.slow
def test_files_that_the_disk_has_emptied_cost_no_bot_anything(worker: WorkerLoop) -> None:
    """A loss of power can leave unpacked bots with their names but without their contents."""
    match = waiting()
    match_spec(match, worker.folder)
    unpacked = [path for path in worker.folder.rglob("*") if path.is_file() and path.name == "bot.py"]
    for path in unpacked:
        path.write_bytes(b"")

    attempt(worker, match)

    assert (len(unpacked), match.status, match.attempts) == (2, MatchStatus.FINISHED, 1)
    assert not Party.objects.exclude(fault="").exists()


@pytest.mark.slow
def test_a_worker_whose_disk_is_full_takes_no_match_until_there_is_room(worker: WorkerLoop, settings, client) -> None:
    """The disk is full from its start: it proves its sandbox when there is room for it."""
    match = waiting()
    settings.DISK_FREE_MB = 10**9
    full = WorkerLoop(worker.folder)
    full.open()
    try:
        assert not full.look()

        match.refresh_from_db()
        assert (match.status, match.attempts) == (MatchStatus.QUEUED, 0)
        why = "fewer than DISK_FREE_MB=1000000000: make room on the disk of STATE_DIR"
        assert why in workers.queue().starved
        reconcile(now=clock.now_or(None))
        assert "has" in page(client, match)
        assert why in page(client, match)
        assert 'tute_workers{state="refusing"} 1' in metrics.metrics_page()

        settings.DISK_FREE_MB = 0
        assert full.look()
    finally:
        full.close()
    match.refresh_from_db()
    assert (match.status, match.attempts) == (MatchStatus.FINISHED, 1)
    kinds = LeagueEvent.objects.filter(subject=f"worker:{full.name}").order_by("pk").values_list("kind", flat=True)
    assert list(kinds) == ["worker.refused", "worker.resumed", "worker.stopped"]


def test_a_disk_that_takes_no_write_or_has_no_room_for_files_is_full(worker: WorkerLoop, settings) -> None:
    settings.DISK_FREE_MB = 0
    assert DiskSpace(worker.folder.parent, worker.folder).why_not() == ""
    with limited(resource.RLIMIT_FSIZE, 100):
        assert "cannot be written to (File too large)" in DiskSpace(worker.folder.parent, worker.folder).why_not()
    assert "No such file" in DiskSpace(worker.folder / "nowhere", worker.folder).why_not()
    assert not list(worker.folder.parent.glob(".room-*"))


def test_unused_bots_of_matches_tables_and_remote_bots_are_removed(worker: WorkerLoop, tmp_path: Path) -> None:
    for place in (worker.folder, worker.tables.folder, worker.remote.folder):
        (place / "old").mkdir(parents=True)
        (place / "old" / "bot.py").write_text("1")
    assert DiskSpace(tmp_path, *worker.disk.bots).tidy(to_nothing=True) == ["old"] * 3


@contextmanager
def lost_disk(worker: WorkerLoop) -> Iterator[None]:
    """A row is damaged, and the disk of the worker has gone since the claim."""
    worker.disk.state_dir = worker.folder / "nowhere"
    with damaged_package(worker):
        yield


@pytest.mark.slow
def test_no_attempt_is_counted_while_the_disk_cannot_be_written(worker: WorkerLoop) -> None:
    match = attempt(worker, waiting(), lost_disk)
    assert (match.status, match.attempts) == (MatchStatus.QUEUED, 0)
    assert "its disk cannot be written to (No such file" in match.reason


@pytest.mark.slow
def test_bots_that_play_are_kept_and_others_make_room(worker: WorkerLoop) -> None:
    match = waiting()
    names = {bot.path.name for bot in match_spec(match, worker.folder).parties}

    assert keeping.prune(worker.folder, 0) == []
    keeping.release(worker.folder, before=time.monotonic())
    assert set(keeping.prune(worker.folder, 0)) == names

    assert {bot.path.name for bot in match_spec(match, worker.folder).parties} == names
    assert all((worker.folder / name / "bot.py").stat().st_size for name in names)


@pytest.mark.parametrize(
    "way", mostly_slow(["out of file descriptors", "referee exception"], "referee exception".__eq__)
)
def test_what_does_not_go_away_makes_the_match_void(way: str, worker: WorkerLoop, client) -> None:
    broken, code, words = WAYS[way]
    match = waiting(code)

    for _ in range(settings.MAX_ATTEMPTS):
        attempt(worker, match, broken)
    assert leases.expire() == 1
    match.refresh_from_db()

    assert (match.status, match.attempts) == (MatchStatus.VOID, settings.MAX_ATTEMPTS)
    assert_says(match.reason, f"void after {settings.MAX_ATTEMPTS} attempts; the last one failed: .*({words})")
    assert match.reason in page(client, match)
    assert not Party.objects.exclude(fault="").exists()
    assert not Board.objects.exists()


@pytest.mark.slow
def test_a_machine_that_is_overloaded_beyond_measure_gives_the_match_back(worker: WorkerLoop) -> None:
    match = waiting(lambda: THINKS + source().splitlines()[-1])
    Match.objects.update(limits={**match.limits, "move_s": 0.3, "bank_s": 0.0, "wall_factor": 1.0, "wall_extra_s": 0.0})

    with overload(worker):
        attempt(worker, match)

    assert (match.status, match.attempts) == (MatchStatus.QUEUED, 1)
    assert_says(match.reason, "this machine is overloaded: a bot waited for a processor")
    assert not Party.objects.exclude(fault="").exists()


def assert_says(text: str, pattern: str) -> None:
    import re

    assert re.search(pattern, text), text


def assert_dealt_as_committed(match: Match) -> None:
    """Every board was dealt from the secret that the match had before anything failed."""
    game = engine.load("partnership")
    for sitting in Sitting.objects.filter(board__match=match).select_related("board"):
        replay = replays.unpack(sitting)
        seed = engine.board_seed(bytes(match.secret), game.key, match.table, sitting.board.number)
        assert replay["seed"] == seed.hex()
        engine.replay.verify(replay)


def page(client, match: Match) -> str:
    from html import unescape

    return unescape(client.get(f"/m/{match.public_id}/").content.decode())


def test_a_program_that_the_kernel_refuses_is_its_authors_fault_and_not_ours(worker: WorkerLoop) -> None:
    """It passes every look at an upload, and cannot be started."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.toml", NOT_A_PROGRAM)
        archive.writestr("bot", without_segments())
    version = bots.upload(players.create("roto"), "roto", packed.getvalue(), "roto.zip", None, secret=SECRET)
    match = Match.objects.get(kind="validation")

    match = attempt(worker, match)

    version.refresh_from_db()
    assert (match.status, match.attempts) == (MatchStatus.FINISHED, 1)
    assert (version.status, version.fault) == (VersionStatus.REJECTED, "crash")
    why = "while starting: bot cannot be sealed: it has no loadable segment"
    assert match.parties.get(number=0).fault_detail == why


@pytest.mark.slow
def test_a_validation_plays_every_game_and_each_is_accepted_or_refused_by_itself(worker: WorkerLoop) -> None:
    """A bot that cannot bear the words of one of its games."""
    body = "def act(m):\n    if m['legal'][-1].startswith('sing'): raise KeyError(m['legal'][-1])\n    return good(m)"
    code = FRAME.format(body=body).encode()
    games = ["bato", "partnership"]
    version = bots.upload(players.create("coja"), "coja", code, "bot.py", games, secret=SECRET)
    match = Match.objects.get()

    match = attempt(worker, match)

    version.refresh_from_db()
    assert (match.status, match.attempts, match.pool.game) == (MatchStatus.FINISHED, 1, "bato")
    assert (version.status, version.refused) == (VersionStatus.ACCEPTED, ["partnership"])
    played = Match.objects.exclude(pk=match.pk).get()
    assert (played.status, played.pool.game, played.worker) == (MatchStatus.FINISHED, "partnership", match.worker)
    assert "KeyError" in played.parties.get(number=0).stderr
    checks = validation.last_checks(version)
    assert [check.name for check in checks if check.game == "bato"] == list(CHECKS[:-1])  # it declares nothing
    assert {check.fault for check in checks if check.game == "bato"} == {""}
    assert {check.fault for check in checks if check.game == "partnership"} >= {"crash"}
    assert reconcile(now=clock.now_or(None)).inserted == 0


@pytest.mark.slow
def test_games_that_a_validation_has_no_time_for_are_refused(worker: WorkerLoop) -> None:
    code = FRAME.format(body="")
    version = bots.upload(players.create("lenta"), "lenta", code.encode(), "bot.py", ["bato", "codillo"], secret=SECRET)
    match = Match.objects.get()
    assert worker.box is not None
    spec = match_spec(match, worker.folder)
    steps: list[tuple[int, int]] = []

    trials = play_trials(
        match,
        spec,
        worker.box,
        worker.folder,
        first=None,
        stop=lambda: False,
        progress=lambda *at: steps.append(at),
        most_s=0.0,
    )

    assert [trial.game for trial in trials] == ["bato", "codillo"]
    assert not any(check.fault for check in trials[0].checks)
    (late,) = trials[1].checks
    assert late.fault is not None
    assert (late.fault.kind, trials[1].result) == ("timeout", None)
    assert steps == [(1, 2)]
    assert version.games == ["bato", "codillo"]


# Answers in the game QUICK only.
SLOW_BOT = """
import json, sys
for line in sys.stdin:
    data = json.loads(line)
    if data["type"] == "hello":
        quick = data["game"] == "QUICK"
        print('{"type":"ready"}', flush=True)
    elif quick and data.get("legal"):
        print(json.dumps({"id": data["id"], "do": data["legal"][0]}), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize("quick", ["", "bato"])
def test_a_bot_that_is_slow_in_its_first_two_games_is_not_tried_in_others(worker: WorkerLoop, quick: str) -> None:
    code = SLOW_BOT.replace("QUICK", quick)
    games = ["bato", "codillo", "partnership", "corriente"]
    version = bots.upload(players.create("lenta"), "lenta", code.encode(), "bot.py", games, secret=SECRET)
    (lease,) = claim(worker.name, most=1)

    assert worker.run(lease) == "stored"

    version.refresh_from_db()
    untried = {check.game for check in validation.last_checks(version) if "not tried" in check.fault_detail}
    if quick:
        assert (version.status, sorted(version.refused), untried) == (VersionStatus.ACCEPTED, sorted(games[1:]), set())
    else:
        assert (version.status, version.fault) == (VersionStatus.REJECTED, "timeout")
        assert re.search(r"board 1, sitting \d, step", version.fault_detail), "the decision that took too long"
        assert untried == {"corriente", "partnership"}


@pytest.mark.slow
def test_an_upload_that_was_to_pass_is_given_back_where_the_slow_match_is_another_workers_by_now(
    worker: WorkerLoop,
) -> None:
    match = waiting()
    claim = leases.claim(worker.name, prefer=match.pk)
    assert claim is not None
    leases.start(claim)
    version = bots.upload(players.create("tres"), "tres", source(), "bot.py", ["partnership"], secret=SECRET)
    work = MatchLease(Match.objects.get(pk=claim.pk))
    work.in_the_way = True
    Match.objects.filter(pk=claim.pk).update(token=F("token") + 1)

    worker._let_pass(work)

    assert (work.lost, work.in_the_way) == (True, False)
    match.refresh_from_db()
    assert match.gave_way == 0
    uploads = Match.objects.filter(kind="validation", parties__version=version).distinct()
    assert {(upload.status, upload.attempts) for upload in uploads} == {(MatchStatus.QUEUED, 0)}
    why = f"the match at hand of worker {worker.name} is no longer its own"
    assert {upload.reason for upload in uploads} == {f"attempt 1: {why}"}
