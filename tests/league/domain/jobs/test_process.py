"""Real workers, real bots in the sandbox, a real scheduler; killed in the middle, too."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from django.db import transaction
from django.test import Client

import engine
from league.domain.bots import bots
from league.domain.core import clock, transitions
from league.domain.matches import matches, replays
from league.domain.people import players
from league.domain.ratings import ratings
from league.domain.tournaments import progress, standings, tournaments
from league.enums import MatchStatus, TournamentStatus, VersionStatus
from league.models import Board, BotVersion, LeagueEvent, Match, Party, Rating, Sitting, Worker
from tests.support.league import SECRET, counted, source, willing
from tests.support.live import LiveLeague
from tests.support.processes import wait_for

pytestmark = [pytest.mark.slow, pytest.mark.django_db(transaction=True), pytest.mark.timeout(900)]

FIRST = """from tute_bot import Bot, run


class First(Bot):
    def act(self, view, legal):
        {before}
        return legal[{pick}]


run(First())
"""


def code(pick: int = 0, before: str = "pass") -> bytes:
    """A bot that always takes the action at one place of the list, after a line of its own. No two are equal."""
    return FIRST.format(pick=pick, before=before).encode() + source().splitlines()[-1]


def over(**which: object) -> Callable[[], bool]:
    def fact() -> bool:
        return not Match.objects.filter(status__in=["queued", "leased", "running"], **which).exists()

    return fact


def entered(name: str, data: bytes, owner: str, game: str = "partnership") -> BotVersion:
    player = players.Player.objects.filter(name=owner).first() or players.create(owner)
    return willing(bots.upload(player, name, data, "bot.py", [game], secret=SECRET))


def entered_unsealed(name: str, data: bytes, game: str = "partnership") -> BotVersion:
    """Enter a bot that sees the clock. Sealed, a sleep would be over at once."""
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("bot.py", data)
        archive.writestr(
            "bot.toml",
            f'name = "{name}"\nruntime = "python"\nentry = "bot.py"\ngames = ["{game}"]\nsealable = false\n',
        )
    return willing(bots.upload(players.create(name), name, packed.getvalue(), "bot.zip", secret=SECRET))


def admitted(name: str, data: bytes, game: str) -> BotVersion:
    """Return an unsealed version that was accepted without a validation. No worker sees its match, taken back in the same transaction."""
    with transaction.atomic():
        version = entered_unsealed(name, data, game)
        for match in Match.objects.filter(parties__version=version).distinct():
            transitions.move(match, MatchStatus.CANCELLED, now=clock.now_or(None))
        transitions.move(version, VersionStatus.ACCEPTED, now=clock.now_or(None))
    return version


def test_uploads_are_validated_and_a_tournament_is_played(live: LiveLeague) -> None:
    good = [entered(name, code(pick), name) for pick, name in enumerate(("uno", "dos", "tres"), -1)]
    crash = entered("malo", code(before="raise SystemExit(3)"), "malo")
    cheat = entered("tramposo", code(before="return 'play 9z'"), "tramposo")
    live.start("worker")
    live.start("scheduler")
    live.wait_until(over(), "the validation matches")

    states = dict(BotVersion.objects.values_list("bot__slug", "status"))
    assert states == {
        "uno": VersionStatus.ACCEPTED,
        "dos": VersionStatus.ACCEPTED,
        "tres": VersionStatus.ACCEPTED,
        "malo": VersionStatus.REJECTED,
        "tramposo": VersionStatus.REJECTED,
    }, live.logs()
    crash.refresh_from_db()
    cheat.refresh_from_db()
    assert (crash.fault, cheat.fault) == ("crash", "illegal_action")

    cup = counted(tournaments.create(good[0].bot.owner, "Cup", "partnership", boards=2, versions=good, secret=SECRET))
    tournaments.start(cup)
    live.wait_until(over(), "the tournament")
    live.wait_until(
        lambda: not cup.matches.filter(counted=None).exists() and tournaments.Tournament.objects.get().finished,
        "its end and ratings",
    )

    cup.refresh_from_db()
    assert cup.status == TournamentStatus.FINISHED
    assert [match.attempts for match in cup.matches.all()] == [1, 1, 1]
    assert Board.objects.filter(match__tournament=cup).count() == 6
    for sitting in Sitting.objects.filter(board__match__tournament=cup):
        engine.replay.verify(replays.unpack(sitting))
    table = standings.standings(cup)
    assert sum(row.result.boards for row in table.rows) == 12
    assert {row.faults for row in table.rows} == {0}
    assert Rating.objects.count() == 3
    assert ratings.refresh(cup.pool) is False
    log = live.logs()
    for match in cup.matches.all():
        assert f"match {match.public_id}: stored" in log
        assert f"[match={match.public_id} attempt=1 tournament=cup]" in log
    assert Worker.objects.get().tier in ("landlock", "namespaces")
    deals_are_those_that_were_promised(cup)
    a_flood_delays_another_by_two_matches_at_most(live, good)


def a_flood_delays_another_by_two_matches_at_most(live: LiveLeague, versions: list[BotVersion]) -> None:
    """A real worker beside the simulation of tests/league/domain/matches/test_fairness.py: it has one match in hand, and one it goes on with."""
    flooder, honest, _ = (version.bot.owner for version in versions)
    flood = []
    for number in range(12):
        flood.append(tournaments.create(flooder, f"Flood {number}", "partnership", boards=2, versions=versions))
        tournaments.start(flood[-1])
    cup = tournaments.create(honest, "Mine", "partnership", boards=1, versions=versions[:2])
    theirs = Match.objects.filter(tournament__in=flood)
    live.wait_until(lambda: theirs.filter(status=MatchStatus.RUNNING).exists(), "the first matches of the flood")
    tournaments.start(cup)
    created = cup.matches.get().created
    live.wait_until(lambda: cup.matches.get().started, "the first match of another")
    first = cup.matches.get()
    before = theirs.filter(started__lt=first.started)
    assert before.filter(finished__gt=created).count() <= 2
    for tournament in flood:
        progress.cancel(tournament, actor=flooder.name)


def deals_are_those_that_were_promised(cup: tournaments.Tournament) -> None:
    """Check that the site's logs and the tournament's JSON with its secret are enough for `tute verify --reveal`."""
    reader = Client()
    with tempfile.TemporaryDirectory() as folder:
        cup_file = Path(folder) / "cup.json"
        cup_file.write_bytes(reader.get(f"/api/v1/tournaments/{cup.slug}").content)
        logs = []
        for match in cup.matches.all():
            logs.append(Path(folder) / f"{match.public_id}.jsonl")
            logs[-1].write_bytes(b"".join(reader.get(f"/m/{match.public_id}.jsonl").streaming_content))
        words = [
            sys.executable,
            "-m",
            "engine.cli",
            "verify",
            "--reveal",
            cup_file,
            "--commitment",
            cup.secret_sha256,
            *logs,
        ]
        process = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert process.returncode == 0, process.stdout + process.stderr
    assert "12 of 12 replays are valid" in process.stdout
    assert process.stdout.count("boards 1 to 2") == 3


def bots_of(worker: int) -> set[int]:
    """Processes that a worker started and that live; the kernel's own list, so that nothing is forgotten."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                parents[int(folder.name)] = int((folder / "stat").read_text().rpartition(")")[2].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
    pids: set[int] = set()
    fresh = {worker}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - pids
        pids |= fresh
    return pids


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def slow_cup() -> tournaments.Tournament:
    """A started tournament of one match that takes some ten seconds.

    Both take the first action: the last one would resign.
    """
    pair = [
        admitted(name, code(0, f"import time; time.sleep({pause})"), "corriente")
        for pause, name in ((0.015, "uno"), (0.016, "dos"))
    ]
    cup = counted(tournaments.create(pair[0].bot.owner, "Cup", "corriente", boards=4, versions=pair, secret=SECRET))
    tournaments.start(cup)
    return cup


def test_killed_worker_costs_nothing_and_its_match_counts_once(live: LiveLeague) -> None:
    first = live.start("worker", LEASE_S="15")  # short, and longer than a busy machine holds a process up
    live.start("scheduler")
    cup = slow_cup()
    live.wait_until(
        lambda: cup.matches.filter(status=MatchStatus.RUNNING, progress__gt=0).exists(), "a match in the middle"
    )
    seated = bots_of(first.pid)
    assert len(seated) >= 4

    os.kill(first.pid, signal.SIGKILL)
    wait_for(lambda: not any(alive(pid) for pid in seated), "the bots of the killed worker to end", 60)
    live.start("worker")
    live.wait_until(over(tournament=cup), "the match to be played again")

    match = cup.matches.get()
    assert (match.status, match.attempts, match.token) == (MatchStatus.FINISHED, 2, 2)
    assert (Board.objects.filter(match=match).count(), Sitting.objects.filter(board__match=match).count()) == (4, 8)
    moved = [
        (event.data["was"], event.data["to"])
        for event in LeagueEvent.objects.filter(subject=f"match:{match.public_id}", kind="match.moved").order_by("id")
    ]
    again = [("queued", "leased"), ("leased", "running")]
    assert moved == [*again, ("running", "queued"), *again, ("running", "finished")]
    live.wait_until(lambda: Rating.objects.count() == 2, "the ratings")
    assert {rating.boards for rating in Rating.objects.all()} == {4}
    assert Party.objects.filter(match=match).exclude(fault="").count() == 0


def test_stopped_worker_gives_its_match_back_at_once(live: LiveLeague) -> None:
    first = live.start("worker")
    live.start("scheduler")
    cup = slow_cup()
    live.wait_until(lambda: cup.matches.filter(status=MatchStatus.RUNNING).exists(), "a running match")

    assert first.stop(signal.SIGTERM, seconds=60) == 0

    match = cup.matches.get()
    assert (match.status, match.attempts) == (MatchStatus.QUEUED, 0)
    given_back = LeagueEvent.objects.filter(subject=f"match:{match.public_id}", data__to="queued").get()
    assert "was told to stop" in given_back.data["why"]
    assert not Worker.objects.exists()
    live.start("worker")
    live.wait_until(over(tournament=cup), "the match to be played by another worker")
    assert cup.matches.get().status == MatchStatus.FINISHED


def test_worker_without_a_sandbox_refuses_and_the_queue_says_why() -> None:
    live = LiveLeague(SANDBOX_TIER="none", SANDBOX_MIN_TIER="landlock")
    try:
        entered("uno", code(), "uno")
        live.start("worker")
        live.start("scheduler")
        live.wait_until(lambda: Match.objects.exclude(reason="").exists() and Worker.objects.exists(), "a reason")

        live.wait_until(lambda: "every worker refuses" in Match.objects.get().reason, "the reason of the worker")
        match = Match.objects.get()
        assert (match.status, match.attempts) == (MatchStatus.QUEUED, 0)
        assert "weaker than SANDBOX_MIN_TIER=landlock" in match.reason
        assert "weaker than" in live.processes[0].tail()
    finally:
        live.close()


def test_an_upload_is_validated_beside_sleepers_that_hold_every_worker(live: LiveLeague) -> None:
    """They stand still in the middle of a decision and play on when the upload is done: no match starts again.

    They are not sealed: to a sealed bot a sleep is over at once.
    """
    snooze = "import time; time.sleep(1.5)"
    pair = [entered_unsealed(name, code(pick, snooze)) for pick, name in ((0, "uno"), (-1, "dos"))]
    for match in Match.objects.all():
        matches.cancel(match, actor="test", why="not this", now=None)
    BotVersion.objects.update(status=VersionStatus.ACCEPTED)
    cup = tournaments.create(pair[0].bot.owner, "Cup", "partnership", boards=2, versions=pair, secret=SECRET)
    tournaments.start(cup)
    live.start("worker")
    live.start("scheduler")
    live.wait_until(lambda: cup.matches.filter(status=MatchStatus.RUNNING).exists(), "the sleepers to play")

    honest = entered("tres", code(), "tres")
    live.wait_until(
        lambda: BotVersion.objects.get(pk=honest.pk).status == VersionStatus.ACCEPTED, "the upload's validation"
    )

    match = cup.matches.get()
    assert (match.slow, match.gave_way, match.attempts, match.token) == (True, 1, 1, 1)
    assert match.status == MatchStatus.RUNNING
    trial = Match.objects.get(key=f"v:{honest.pk}:1")
    assert trial.started is not None
    assert (trial.worker, trial.started > match.started) == (match.worker, True)
    live.wait_until(lambda: Worker.objects.get().match_id == match.pk, "the sleepers to play on")
    print("the validation began after", (trial.started - trial.created).total_seconds())
