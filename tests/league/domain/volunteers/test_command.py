"""`tute volunteer` against a real server: it works, costs nothing if it is killed, and is shut out for lies or refused for another program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

import pytest

import engine
from engine.judging import Child
from league.domain.core import clock
from league.domain.jobs.handlers import analysis
from league.domain.judgements import asking
from league.domain.people import players
from league.domain.volunteers import checks, keys, work
from league.enums import JudgementKind, JudgementStatus
from league.models import Job, Judgement, Match, Volunteer, VolunteerTask
from tests.support import jobs
from tests.support.league import accepted, play, started
from tests.support.processes import wait_for

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.slow]


@pytest.fixture(autouse=True)
def _few_nodes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(analysis, "USUAL_NODES", 300)
    monkeypatch.setattr(work, "USUAL_NODES", 300)
    monkeypatch.setattr(analysis, "Child", partial(Child, nodes=300))


@pytest.fixture
def match(ana, berto) -> Match:
    """Finished, with two analyses that its player asked for a minute ago."""
    match = play(started(ana, [accepted(ana, "rufo"), accepted(berto, "lola")], boards=1).matches.get())
    for kind in JudgementKind:
        asking.ask(match, kind, ana, now=clock.present() - work.FIRST)
    return match


@contextmanager
def volunteer(url: str, key: str, folder: Path, program: Path | None = None) -> Iterator[subprocess.Popen[str]]:
    """Run the command, with another copy of the engine if there is one."""
    file = folder / "key.txt"
    file.write_text(f"{key}\n")
    words = [sys.executable, "-P", "-m", "engine.cli", "volunteer", url, "--key-file", str(file)]
    path = os.environ | {"PYTHONPATH": str(program or Path(engine.__file__).parents[1])}
    with subprocess.Popen(words, env=path, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as process:
        try:
            yield process
        finally:
            process.kill()


def reported() -> int:
    return VolunteerTask.objects.exclude(reported=None).count()


def test_a_volunteer_works_and_a_killed_one_costs_nothing(live_server, match, tmp_path: Path, settings) -> None:
    settings.LEASE_S = 2
    slow = Judgement.objects.filter(kind="fair")
    Job.objects.filter(judgement__in=slow).update(not_before=clock.present() + work.HOLD)
    row, key = keys.create(players.create("vera"), "cellar", actor="olga")
    with volunteer(live_server.url, key, tmp_path) as process:
        wait_for(lambda: VolunteerTask.objects.exists(), "its first task", 60)
        process.kill()
    (lost,) = VolunteerTask.objects.all()
    if lost.reported is None:  # It may have been quick.
        wait_for(lambda: jobs.ANALYSIS.expire() == 1, "the end of its lease", 60)
    assert not work.beat(row, lost.pk, 1, 50)
    Job.objects.update(not_before=None)
    with volunteer(live_server.url, key, tmp_path) as process:
        wait_for(lambda: VolunteerTask.objects.filter(judgement__in=slow).exclude(reported=None), "a result", 120)
        process.send_signal(2)
        assert "tute: interrupted; tasks done: 1" in process.communicate(timeout=300)[0]
        assert process.returncode == 130
    for _ in range(2):
        assert jobs.run(jobs.ANALYSIS.claim("host:1"))
    checks.settle()
    row.refresh_from_db()
    assert (row.shut_out, row.agreed > 0, VolunteerTask.objects.count()) == (None, True, 0)
    assert set(Judgement.objects.values_list("status", "limited")) == {(JudgementStatus.DONE, False)}


def test_a_lying_program_is_shut_out_and_another_program_refused(live_server, match, tmp_path: Path) -> None:
    shutil.copytree(Path(engine.__file__).parent, tmp_path / "copy" / "engine")
    _, key = keys.create(players.create("vera"), "cellar", actor="olga")
    command = tmp_path / "copy" / "engine" / "cli" / "volunteer.py"
    text = command.read_text()
    command.write_text(text.replace("(row.step, row.lost,", "(row.step, row.lost + 1,"))
    assert command.read_text() != text
    with volunteer(live_server.url, key, tmp_path, tmp_path / "copy") as process:
        wait_for(lambda: reported() == 1, "its lie", 120)
        lie = VolunteerTask.objects.exclude(reported=None).order_by("pk")[0]
        wait_for(lambda: _done_by_a_worker(lie.judgement_id), "the repetition", 120)
        checks.settle()
        output = process.communicate(timeout=120)[0]
    assert Volunteer.objects.get().evidence
    assert process.returncode != 0
    assert "revoked" in output

    _, key = keys.create(players.create("wim"), "cellar", actor="olga")
    source = tmp_path / "copy" / "engine" / "search" / "solving" / "judging.py"
    source.write_text(source.read_text() + "\n")
    with volunteer(live_server.url, key, tmp_path, tmp_path / "copy") as process:
        output = process.communicate(timeout=120)[0]
    assert process.returncode != 0
    assert f"judges with tute {engine.__version__}" in output
    assert "make fast" in output


def _done_by_a_worker(judgement: int) -> bool:
    job = jobs.ANALYSIS.claim("host:1")
    if job is not None:
        jobs.run(job)
    return Judgement.objects.get(pk=judgement).status == JudgementStatus.DONE
