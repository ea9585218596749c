"""The role of the workers can do builds, fetches, steps of tunings and parts of studies, and changes nothing that plays (docker/grant_roles.py)."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pytest
from django.conf import settings
from django.db.utils import ProgrammingError

import engine
from engine.packages.building import Built
from engine.packages.fetching import Fetched
from league.domain.bots import bots, builds, fetches, packages
from league.domain.jobs.handlers.builds import BuildHandler
from league.domain.jobs.handlers.fetches import FetchHandler
from league.domain.jobs.handlers.studies import PartResult, StudyHandler
from league.domain.jobs.handlers.tunings import TuningHandler
from league.domain.studies import asking as study_asking
from league.domain.studies import parts
from league.domain.tunings import asking, steps
from league.enums import VersionStatus
from league.models import BotVersion, Build, Fetch, GitLink, Package, Study, StudyPart, Tuning, TuningStep
from tests.league.domain.bots.test_builds import KIT, zipped
from tests.league.domain.studies.test_studies import boards_of, house_bots  # noqa: F401 - a fixture
from tests.league.domain.tunings.test_tunings import outcome, tunable
from tests.support.league import NOW
from tests.support.roles import become, granted

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif("sqlite" in settings.DATABASES["default"]["ENGINE"], reason="SQLite has no roles"),
]


@pytest.fixture
def runner() -> Iterator[None]:
    """Everything after `become` is done as the workers do it."""
    with granted():
        yield


def test_the_role_of_the_workers_builds_and_changes_no_package(runner, ana, monkeypatch) -> None:
    monkeypatch.setattr(builds, "languages_here", lambda: ("c",))
    version = bots.upload(ana, "rufo", zipped((KIT / "bot.c").read_text()), "rufo.zip", now=NOW)
    handler, program = BuildHandler(), b"\x7fELF"

    become("tute_runner")
    assert not Package.objects.exists(), "nobody has leased the build"
    job = handler.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    source = packages.stored(BotVersion.objects.select_related("bot", "package").get(pk=version.pk))
    assert source.manifest.build == "c"
    rows = Build.objects.filter(pk=job.subject.pk)
    assert rows.update(log="half way") == 1
    versions = BotVersion.objects.filter(pk=version.pk)
    for forbidden in (
        rows.delete,
        partial(rows.update, version=version.pk),
        partial(rows.update, language="go"),
        partial(versions.update, package="x"),
        partial(versions.update, source=None),
        partial(Package.objects.create, sha256="x", data=program, size=1, files=1),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert handler.report(job, Built(None, "log", "no", "gcc", "x" * 64), now=NOW) == "stored"
    assert rows.update(log="later") == 0, "what is done stays as it is"

    become("NONE")
    assert builds.settle(now=NOW) == 1
    version.refresh_from_db()
    assert (version.status, version.fault, version.fault_detail) == (VersionStatus.REJECTED, "build", "no")


def test_the_role_of_the_workers_fetches_for_nobody_else(runner, ana, monkeypatch, settings) -> None:
    monkeypatch.setattr(fetches, "is_possible_here", lambda: True)
    settings.GIT_HOSTS = ["forge.example"]
    row = fetches.ask(ana, "rufo", "https://forge.example/ana/rufo", "v1", now=NOW)
    handler = FetchHandler()

    become("tute_runner")
    job = handler.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    rows = Fetch.objects.filter(pk=row.pk)
    for forbidden in (
        rows.delete,
        partial(rows.update, bot_name="trufo"),
        partial(rows.update, player=None),
        partial(rows.update, version=None),
        GitLink.objects.exists,
    ):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert handler.report(job, Fetched("c" * 40, b"no zip"), now=NOW) == "stored"
    assert rows.update(result=b"later") == 0, "what is done stays as it is"

    become("NONE")
    assert fetches.settle(now=NOW) == 1
    row.refresh_from_db()
    assert (row.version, row.result, bool(row.why)) == (None, None, True)


def test_the_role_of_the_workers_plays_steps_of_tunings_and_counts_none(runner, ana) -> None:
    version = tunable(ana)
    row = asking.begin(version, "a_dos", ana, now=NOW)
    handler = TuningHandler()

    become("tute_runner")
    assert not Package.objects.exists(), "nobody has leased a step"
    job = handler.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    assert packages.stored(BotVersion.objects.select_related("package").only("package__data").get(pk=version.pk))
    for forbidden in (
        row.delete,
        partial(Tuning.objects.update, values={}),
        TuningStep.objects.all().delete,
        partial(TuningStep.objects.update, change={}),
        partial(TuningStep.objects.create, tuning=row, number=99, secret=b"", plus={}, minus={}, change={}),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert handler.report(job, outcome(won=8), now=NOW) == "stored"
    assert TuningStep.objects.filter(pk=job.subject.pk).update(finished=NOW) == 0, "what is done stays as it is"

    become("NONE")
    assert steps.settle(now=NOW) == 1


@pytest.mark.usefixtures("house_bots")
def test_the_role_of_the_workers_plays_parts_of_studies_and_counts_none(runner, ana) -> None:
    row = study_asking.begin(engine.load("a_dos"), ana, boards=64, now=NOW)
    handler = StudyHandler()

    become("tute_runner")
    job = handler.claim("host:1", now=NOW)
    assert job is not None
    job.beat(now=NOW)
    for forbidden in (
        row.delete,
        partial(Study.objects.update, report={}),
        StudyPart.objects.all().delete,
        partial(StudyPart.objects.update, counted=True),
        partial(StudyPart.objects.create, study=row, first=999),
    ):
        with pytest.raises(ProgrammingError, match="permission denied"):
            forbidden()
    assert handler.report(job, PartResult(parts.pack(boards_of(job.subject)), 1.0, 1.0), now=NOW) == "stored"
    assert StudyPart.objects.filter(pk=job.subject.pk).update(finished=NOW) == 0, "what is done stays as it is"

    become("NONE")
    assert parts.settle(now=NOW) == 1
    become("tute_runner")
    report = next(job for _ in range(2) if not (job := handler.claim("host:1", now=NOW)).subject.first)
    assert handler.run(report, (), None, None) is not None
