"""Versions that are source: built by a worker that has the compiler, checked like uploads, and then played."""

from __future__ import annotations

import base64
import io
import json
import os
import zipfile
from datetime import timedelta

import pytest
from django.conf import settings
from django.db import transaction

from engine.packages import archive
from engine.packages.building import Built
from engine.runner import runtimes
from league.domain.bots import bots, builds, packages
from league.domain.core import clock, queue, transitions
from league.domain.core.errors import Refused
from league.domain.jobs.handlers import registry
from league.domain.jobs.handlers.base import Signals
from league.domain.jobs.handlers.builds import BuildHandler
from league.domain.jobs.worker import WorkerLoop
from league.domain.matches import leases, validation, workers
from league.domain.notices import spreading
from league.domain.people import exporting, quotas
from league.enums import BotState, MatchStatus, VersionStatus
from league.models import BotVersion, Build, Job, LeagueEvent, Match, Notice, Package, Worker
from tests.support import languages
from tests.support.league import NOW, accepted, later, started
from tests.support.runtimes import lend

KIT = settings.BASE_DIR / "bots" / "kits" / "c"


def zipped(text: str, *, build: str = "c") -> bytes:
    """The kit in C as source, with this text as its bot."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        packed.writestr("bot.toml", f'name = "rufo"\nbuild = "{build}"\nentry = "bot.c"\ngames = ["a_dos"]\n')
        packed.writestr("bot.c", text)
        for name in ("tute.h", "sense.h"):
            packed.writestr(name, (KIT / name).read_text())
    return buffer.getvalue()


def uploaded(player, text: str = (KIT / "bot.c").read_text(), **more) -> BotVersion:
    return bots.upload(player, f"{player.name}s bot", zipped(text, **more), "rufo.zip", now=NOW)


def build(worker: WorkerLoop, *, now=NOW) -> None:
    """Let the worker do the next build, and the scheduler act on it."""
    handler = next(handler for handler in registry.idle_handlers() if handler.kinds == (builds.JOB,))
    job = handler.claim(worker.name, now=now)
    assert job is not None
    worker.run(job)
    builds.settle(now=now)


def test_source_for_webassembly_is_deterministic_and_sealed(ana) -> None:
    version = uploaded(ana, build="c-wasm")

    assert (version.runtime, version.deterministic, version.sealable) == ("wasm", True, True)
    assert version.build.language == "c-wasm"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("language", "tool", "runtime", "entry", "begins"),
    [("c", "cc", "binary", "bot.c", b"\x7fELF"), ("java", "javac", "java", "Bot.java", b"PK\x03\x04")],
)
@pytest.mark.django_db  # a worker goes by the clock of the machine
def test_source_is_built_validated_and_played(ana, berto, worker, language, tool, runtime, entry, begins) -> None:
    kit = archive.read_path(KIT.with_name(language))
    games = kit.files["bot.toml"].replace(b"games = []", b'games = ["a_dos"]')
    zipped_kit = archive.BotPackage(kit.manifest, {**kit.files, "bot.toml": games}).zip()
    languages.find(tool)
    version = bots.upload(ana, "anas bot", zipped_kit, "rufo.zip", now=NOW)
    source = version.package_id

    assert (version.runtime, version.entry, version.status) == (runtime, entry, VersionStatus.VALIDATING)
    assert not Match.objects.exists()
    build(worker)

    version.refresh_from_db()
    assert (version.source_id, version.uploaded_id, version.entry) == (source, source, "program")
    playing = packages.stored(version)
    assert playing.files["program"][:4] == begins
    assert (playing.manifest.runtime, playing.manifest.build) == (runtime, "")
    row = version.build
    assert (row.toolchain[:3], len(row.digest), row.result, row.why) == (tool.replace("cc", "gcc")[:3], 64, None, "")
    assert LeagueEvent.objects.get(kind="version.built").data["sha256"] == version.package_id
    assert not Job.objects.filter(kind=builds.JOB).exists()
    while worker.look():
        pass
    version.refresh_from_db()
    assert (version.status, version.fault_detail, version.refused) == (VersionStatus.ACCEPTED, "", [])
    # The author gets the source back, and nobody can upload it again
    assert archive.read_stored(packages.uploaded(version)).sha256 == source
    assert dict(packages.files(version))[entry] == kit.files[entry]
    with pytest.raises(Refused, match="another player has uploaded these exact files"):
        bots.upload(berto, "bertos bot", zipped_kit, "rufo.zip", now=NOW)
    assert quotas._bytes(ana, NOW) == version.package.size + version.source.size
    exporting.write(ana, own := io.BytesIO(), site="http://here")
    with zipfile.ZipFile(own) as packed:
        assert packed.read("bots/anas-bot-v1.zip") == packages.uploaded(version)


PYTHON = {
    "bot.toml": 'name = "lola"\nbuild = "cython"\nentry = "bot.py"\ngames = ["a_dos"]\n',
    "bot.py": "import fast\nfrom tute_bot import Bot, run\n\n\nclass Lola(Bot):\n    def act(self, view, legal):\n"
    "        return fast.choose(legal)\n\n\nrun(Lola())\n",
    "fast.pyx": "def choose(list legal):\n    cdef str best = legal[0]\n    return best\n",
}


def packed_python(**files: str) -> bytes:
    """The bot in Python with a compiled part, as source."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as packed:
        for name, text in {**PYTHON, **files}.items():
            packed.writestr(name, text)
    return buffer.getvalue()


@pytest.mark.slow
@pytest.mark.django_db  # a worker goes by the clock of the machine
def test_compiled_parts_of_python_play_where_that_python_is(ana, worker) -> None:
    languages.find("python")
    version = bots.upload(ana, "", packed_python(), "lola.zip", now=NOW)
    assert version.runtime == "python"
    build(worker)

    version.refresh_from_db()
    assert (version.runtime, version.entry) == (f"python {runtimes.SERIES}", "bot.py"), version.build.log
    assert version.build.toolchain.startswith("Cython ")
    while worker.look():
        pass
    version.refresh_from_db()
    assert (version.status, version.fault_detail, version.refused) == (VersionStatus.ACCEPTED, "", [])


def compiled_for(series: str) -> archive.BotPackage:
    """The bot in Python, with a module for this release."""
    module = base64.b64encode(b"\x7fELF" + series.encode()).decode()
    name = f"fast.cpython-{series.replace('.', '')}-x86_64-linux-gnu.so"
    return archive.read(packed_python(), "lola.zip").with_result(json.dumps({name: module}).encode())


def finished(version: BotVersion, result: bytes | None, why: str = "") -> None:
    """Store what a worker reports of a build, and let the scheduler act on it, twice."""
    queue.withdraw(builds.JOB, build=version.build)
    Build.objects.filter(version=version).update(result=result, why=why, finished=NOW)
    builds.settle(now=NOW)
    assert builds.settle(now=NOW) == 0
    version.refresh_from_db()


def test_a_match_waits_until_compiled_parts_are_built_for_the_new_python(ana, berto, monkeypatch) -> None:
    version = bots.upload(ana, "", packed_python(), "lola.zip", now=NOW)
    finished(version, compiled_for("3.2").zip())
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    Match.objects.all().delete()
    workers.register("old", tier="landlock", builds=["cython"], now=NOW)
    Worker.objects.update(runtimes=["python", "python 3.2", "build:cython"])
    assert builds.rebuild(now=NOW) == 0, "a worker plays it"
    old, source = version.package_id, version.source_id
    match = started(ana, [version, accepted(berto, "rufo")], game="a_dos").matches.get()

    def course() -> tuple[int, bool]:
        workers.explain(now=NOW)
        with transaction.atomic():
            is_claimed = bool(leases.claim("here", now=NOW))
            transaction.set_rollback(True)
        return builds.rebuild(now=NOW), is_claimed

    Worker.objects.update(runtimes=["python", f"python {runtimes.SERIES}"])
    assert course() == (0, False), "nobody can build it"
    match.refresh_from_db()
    assert (match.reason, match.held_back, match.attempts) == (workers.COMPILED, True, 0)
    Worker.objects.update(runtimes=["python", f"python {runtimes.SERIES}", "build:cython"])
    assert course() == (1, False)
    assert course() == (0, False), "it is queued once"
    job = Job.objects.get(kind=builds.JOB)
    assert (job.build, job.owner) == (version.build, None)
    queue.withdraw(builds.JOB, build=version.build)
    builds.settle(now=NOW)
    assert Job.objects.get(kind=builds.JOB).owner is None, "a lost job is queued again"

    finished(version, compiled_for(runtimes.SERIES).zip())
    assert (version.status, version.runtime) == (VersionStatus.ACCEPTED, f"python {runtimes.SERIES}")
    assert (version.package_id, version.source_id) == (compiled_for(runtimes.SERIES).sha256, source)
    assert not Package.objects.filter(pk=old).exists()
    assert not Match.objects.filter(kind="validation", parties__version=version).exists()
    assert course() == (0, True)
    match.refresh_from_db()
    assert (match.reason, match.held_back) == ("", False)


@pytest.mark.parametrize(
    ("runtime", "is_built", "reports", "again"),
    [
        pytest.param("python 3.2", True, [("landlock", "python 3.2"), ("landlock", "python {}")], False, id="played"),
        pytest.param("python 3.2", True, [("", "python 3.2"), ("landlock", "python {}")], True, id="refused"),
        pytest.param("python-numpy {}", True, [("landlock", "python {}")], False, id="no-numpy"),
        pytest.param("python-numpy 3.2", True, [("landlock", "python {}")], True, id="no-numpy-either"),
        pytest.param("python 3.2", False, [("landlock", "python {}")], False, id="built-by-its-author"),
        pytest.param("python {}", True, [("landlock", "python 3.2")], False, id="workers-lie"),
    ],
)
def test_only_what_another_python_can_mend_waits_for_it(ana, berto, runtime, is_built, reports, again) -> None:
    version = bots.upload(ana, "", packed_python(), "lola.zip", now=NOW)
    finished(version, compiled_for("3.2").zip())
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    Match.objects.all().delete()
    if not is_built:
        version.build.delete()
        BotVersion.objects.update(source=None)
    BotVersion.objects.filter(pk=version.pk).update(runtime=runtime.format(runtimes.SERIES))
    for number, (tier, name) in enumerate(reports):
        workers.register(f"{number}", tier=tier, now=NOW)
        names = ["python", name.format(runtimes.SERIES), "build:cython"]
        Worker.objects.filter(name=f"{number}").update(runtimes=names)
    match = started(ana, [version, accepted(berto, "rufo")], game="a_dos").matches.get()

    workers.explain(now=NOW)
    match.refresh_from_db()
    assert (match.reason == workers.COMPILED, match.held_back) == (again, again)
    others_play_it = runtime == "python 3.2" and reports[0] == ("landlock", "python 3.2")
    assert bool(leases.claim("here", now=NOW)) is not (again or others_play_it)
    assert builds.rebuild(now=NOW) == again


def test_source_that_the_new_python_refuses_holds_up_no_match(ana) -> None:
    version = bots.upload(ana, "", packed_python(), "lola.zip", now=NOW)
    finished(version, compiled_for("3.2").zip())
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    workers.register("new", tier="landlock", builds=["cython"], now=NOW)
    for status, number in ((VersionStatus.REJECTED, 0), (VersionStatus.ACCEPTED, 1)):
        BotVersion.objects.update(status=status)
        assert builds.rebuild(now=NOW) == number
    finished(version, None, "error: no such thing")

    assert (version.status, version.runtime, version.fault) == (VersionStatus.ACCEPTED, "python", "")
    assert version.build.why == "error: no such thing"
    assert builds.rebuild(now=NOW) == 0
    spreading.run(now=NOW)
    assert Notice.objects.get(player=ana).text == "not_rebuilt"
    assert LeagueEvent.objects.get(kind="version.unbuilt").data == {"why": "error: no such thing"}


@pytest.mark.slow
@pytest.mark.django_db  # a worker goes by the clock of the machine
def test_source_that_the_compiler_refuses_is_a_refused_version(ana, worker) -> None:
    languages.find("cc")
    version = uploaded(ana, "#include <stdio.h>\nint main(void) { return puts(42) + nothing; }\n")
    build(worker)

    version.refresh_from_db()
    assert (version.status, version.fault) == (VersionStatus.REJECTED, "build")
    assert "error: ‘nothing’ undeclared" in version.fault_detail
    assert "warning: passing argument 1" in version.build.log
    with pytest.raises(Refused, match="was not built"):
        validation.validate_again(version, now=NOW)


def test_a_worker_without_the_compiler_leaves_the_build_to_others(ana, monkeypatch) -> None:
    uploaded(ana)
    handler = next(handler for handler in registry.idle_handlers() if handler.kinds == (builds.JOB,))

    for languages_here in (("go",), ()):
        monkeypatch.setattr(builds, "languages_here", lambda here=languages_here: here)
        assert handler.claim("w:1", now=NOW) is None
        assert not handler.is_overdue(now=NOW)


@pytest.mark.slow
def test_a_sandbox_that_failed_once_is_tested_again(worker, settings, monkeypatch) -> None:
    languages.find("cc")
    settings.STATE_DIR = worker.proven_sandbox().state_dir
    lend(settings.STATE_DIR / "sandbox")
    builds._languages_in.cache_clear()
    path = os.environ["PATH"]
    monkeypatch.setenv("PATH", "")
    assert builds.languages_here() == ()
    monkeypatch.setenv("PATH", path)
    assert builds.languages_here() == (), "a look costs no test"
    monkeypatch.setattr(builds, "AGAIN", timedelta(microseconds=1))
    assert "c" in builds.languages_here()
    builds._languages_in.cache_clear()


def test_a_build_without_job_is_queued_again(ana) -> None:
    version = uploaded(ana)
    queue.withdraw(builds.JOB, build=version.build)

    assert builds.settle(now=later(60)) == 0
    job = Job.objects.get(kind=builds.JOB)
    assert (job.build_id, job.not_before) == (version.build.pk, later(60) + timedelta(minutes=10))


def test_the_scheduler_checks_what_a_worker_stored(ana) -> None:
    rows = []
    for number, result in enumerate((None, b"PK\x03\x04 no zip", zipped("int main(void) {}"))):
        version = uploaded(ana, f"int main(void) {{ return {number}; }}")
        Build.objects.filter(version=version).update(finished=NOW, result=result)
        rows.append(version)
    assert builds.settle(now=NOW) == len(rows)
    assert builds.settle(now=NOW) == 0
    assert {BotVersion.objects.get(pk=row.pk).fault for row in rows} == {"build"}


def test_source_is_refused_at_the_door(ana) -> None:
    for text, why, other in (
        ('build = "cobol"\nentry = "bot.c"', "unknown build", "x.h"),
        ('build = "go"\nentry = "bot.c"', "no source for build", "x.h"),
        ('build = "c"\nruntime = "python"\nentry = "bot.c"', "leave out runtime", "x.h"),
        ('build = "c"\nentry = "bot.c"', "nothing called program", "Program/x.h"),
        ('build = "cython"\nruntime = "node"\nentry = "bot.c"', "leave out runtime or write python-numpy", "x.py"),
        ('build = "mypyc"\nentry = "bot.c"', "no source for build", "x.py"),
    ):
        buffer = io.BytesIO()
        with zipfile.ZipFile(buffer, "w") as packed:
            packed.writestr("bot.toml", f'name = "rufo"\n{text}\n')
            packed.writestr("bot.c", "int main(void) {}")
            packed.writestr(other, "")
        with pytest.raises(packages.PackageRefused, match=why):
            bots.upload(ana, "", buffer.getvalue(), "rufo.zip", now=NOW)


def test_a_version_that_no_worker_can_build_says_so_and_is_refused_after_a_week(ana) -> None:
    version = uploaded(ana)
    assert builds.why_waiting(version, now=NOW) is None, "no worker runs: that is the reason"
    workers.register("w:0", tier="", refusal="no Landlock here", builds=["c"], now=NOW)
    assert builds.languages_now(now=NOW) == []
    assert builds.settle(now=later(8 * 86400)) == 0
    version.refresh_from_db()
    assert version.status == VersionStatus.VALIDATING, "no worker runs, so none may be the one that is missing"

    workers.register("w:1", tier="landlock", builds=["go"], now=NOW)
    assert "no worker here builds c; the league builds now: go." in str(builds.why_waiting(version, now=NOW))
    workers.register("w:2", tier="landlock", builds=["c"], now=NOW)
    assert builds.why_waiting(version, now=NOW) is None

    end = version.build.created + builds.PATIENCE
    workers.register("w:1", tier="landlock", builds=["go"], now=end)
    builds.settle(now=end)
    version.refresh_from_db()
    assert version.status == VersionStatus.VALIDATING, "a worker with the compiler was there lately"
    Worker.objects.filter(name="w:2").delete()
    builds.settle(now=end - timedelta(seconds=1))
    version.refresh_from_db()
    assert version.status == VersionStatus.VALIDATING
    builds.settle(now=end)
    version = BotVersion.objects.get(pk=version.pk)
    assert (version.status, version.fault) == (VersionStatus.REJECTED, "infrastructure")
    assert (
        version.fault_detail == "no worker of this league built c within 7 days; ask the operator, then upload it again"
    )
    assert not Job.objects.filter(kind=builds.JOB).exists()
    with pytest.raises(Refused, match="was not built"):
        validation.validate_again(version, now=end)
    assert uploaded(ana).number == 2, "the same source may be sent again"


def test_a_retired_bot_is_built_again_only_for_its_queued_matches(ana, berto) -> None:
    version = bots.upload(ana, "", packed_python(), "lola.zip", now=NOW)
    finished(version, compiled_for("3.2").zip())
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    Match.objects.all().delete()
    match = started(ana, [version, accepted(berto, "rufo")], game="a_dos").matches.get()
    bots.set_state(version.bot, BotState.RETIRED, actor="ana", now=NOW)
    workers.register("new", tier="landlock", builds=["cython"], now=NOW)
    Match.objects.filter(pk=match.pk).update(status=MatchStatus.CANCELLED)
    assert builds.rebuild(now=NOW) == 0
    Match.objects.filter(pk=match.pk).update(status=MatchStatus.QUEUED)
    assert builds.rebuild(now=NOW) == 1


def test_what_a_bot_writes_in_its_trial_can_be_stored(ana, monkeypatch) -> None:
    version = uploaded(ana)
    monkeypatch.setattr(builds, "languages_here", lambda: ("c",))
    handler = BuildHandler()
    job = handler.claim("w:1", now=NOW)
    assert job is not None
    handler.report(job, Built(None, "log\0", "crash\0", "cc", "digest"), now=NOW)
    build = Build.objects.get(version=version)
    assert (build.log, build.why) == ("log\ufffd", "crash\ufffd"), "PostgreSQL has no NUL in text"


@pytest.mark.slow
@pytest.mark.django_db  # a worker goes by the clock of the machine
@pytest.mark.parametrize(
    ("text", "works"),
    [
        (PYTHON["fast.pyx"], True),
        ("import removed_from_python\n", False),
        ("while True:\n    pass\n", True),  # Perhaps the machine was busy: its matches judge it.
    ],
)
def test_what_is_built_again_plays_only_if_it_passes_a_trial(ana, worker, text, works) -> None:
    languages.find("python")
    version = bots.upload(ana, "", packed_python(**{"fast.pyx": text}), "lola.zip", now=NOW)
    finished(version, compiled_for("3.2").zip())
    transitions.move(version, VersionStatus.ACCEPTED, now=NOW)
    Match.objects.all().delete()
    now = clock.present()
    workers.register("new", tier="landlock", builds=["cython"], now=now)
    assert builds.rebuild(now=now) == 1
    build(worker, now=now)

    version.refresh_from_db()
    why = version.build.why
    assert version.status == VersionStatus.ACCEPTED
    assert version.runtime == (f"python {runtimes.SERIES}" if works else "python"), version.build.log
    assert ("" if works else "it compiles, but fails at a_dos: crash") in why
    assert bool(why) is not works
    assert ("No module named 'removed_from_python'" in version.build.log) is not works
    assert LeagueEvent.objects.filter(kind="version.unbuilt").exists() is not works


@pytest.mark.slow
@pytest.mark.parametrize(("text", "passes"), [("while True:\n            pass", True), ("return 'no'", False)])
def test_a_bot_that_is_slow_in_its_trial_still_plays(ana, worker, text, passes) -> None:
    code = PYTHON["bot.py"].replace("return fast.choose(legal)", text).replace("import fast\n", "")
    package = archive.read(code.encode(), "lola.py")
    version = bots.upload(ana, "lola", package.zip(), "lola.zip", now=NOW)
    built = BuildHandler()._tried(
        version, Built(package, "", "", "", "0" * 64), package, worker, Signals(lambda: False)
    )
    assert built is not None
    assert (built.package is not None, bool(built.why)) == (passes, not passes)
